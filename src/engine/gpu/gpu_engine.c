/* gpu_engine.c - the plan on a Vulkan device: what all frames share, and the frames in flight.
 * gpu_frame.h says how a frame goes. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/gpu/gpu_frame.h"
#include "engine/gpu/gpu_time.h"

/* Frames of different slots may be loaded, submitted and waited for by different threads at the
 * same time. Everything else (prepare, repeat, close) happens while no frame is in flight, by one
 * thread, as engine.h demands; then no lock is needed. */
typedef struct {
    engine base;
    gpu_work w;                   /* its device from open to close, the rest from prepare on */
    engine_options o;             /* as prepared */
    uint32_t slots;               /* those of slot[] that are made; 0: not prepared */
    gpu_frame slot[ENGINE_SLOTS]; /* each belongs to the thread that uses it */
} gpu_engine;

static gpu_engine *of(engine *e) {
    return (gpu_engine *)e;
}

/* Frees everything that prepare made; accepts what is half made. */
static void gpu_engine_unprepare(gpu_engine *x) {
    gpu_work *w = &x->w;
    const gpu_device *g = &w->g;
    bool lost = false;
    if (!g->dev) return;
    if (g->shared->hangs) { /* it may still use all of this */
        *w = (gpu_work){.g = *g, .threads = w->threads};
        memset(x->slot, 0, sizeof x->slot);
        x->slots = 0;
        return;
    }
    for (uint32_t i = 0; i < x->slots; i++) lost |= x->slot[i].lost || x->slot[i].busy;
    if (lost) gpu_device_wait(g); /* all other frames have ended */
    for (uint32_t i = 0; i < ENGINE_SLOTS; i++) gpu_frame_free(&x->slot[i], w);
    for (uint32_t i = 0; w->spectrum && i < w->chunks; i++) gpu_buffer_free(&w->spectrum[i], g);
    mem_free(w->spectrum);
    w->spectrum = NULL;
    gpu_buffer_free(&w->scratch, g);
    gpu_buffer_free(&w->tiles, g);
    gpu_buffer_free(&w->twiddles, g);
    gpu_passes_free(&w->passes, g);
    x->slots = 0;
}

static void gpu_close(engine *base) {
    gpu_engine *x = of(base);
    gpu_engine_unprepare(x);
    gpu_device_close(&x->w.g);
    mem_free(x);
}

static bool upload_tables(gpu_work *w, err *e) {
    const gpu_twiddles *t = &w->passes.twiddles;
    gpu_buffer host = {0};
    if (!gpu_buffer_make(&host, &w->g, &(gpu_buffer_params){"twiddles", GPU_UPLOAD, t->bytes}, e))
        return false;
    gpu_twiddles_fill(host.map, &w->p, t);
    return gpu_upload(&w->twiddles, &w->g, &host, "twiddles", e);
}

/* Fills the spectra's buffers, and makes them where they are not there. The host
 * writes to them where it sees the device's memory. */
static bool upload_spectra(gpu_work *w, const spectrum_lines *k, err *e) {
    uint64_t plane = w->p.spectrum_bytes / w->p.ask.spectra;
    bool one = w->p.ask.spectra == 1, direct = w->direct[GPU_UP];
    if (!w->spectrum) w->spectrum = mem_new(w->chunks, sizeof *w->spectrum, "buffers", e);
    for (uint32_t i = 0; w->spectrum && i < w->chunks; i++) {
        gpu_spectrum_part part = {k, &w->p, one ? 0 : i * w->p.channels_per_bind,
                                  one ? 1 : gpu_chunk_channels(w, i)};
        gpu_buffer_params p = {"kernel spectrum", direct ? GPU_SHARED : GPU_UPLOAD,
                               plane * part.count};
        gpu_buffer host = {0}, *to = direct ? &w->spectrum[i] : &host;
        bool ok = (to->buf || gpu_buffer_make(to, &w->g, &p, e)) &&
                  gpu_spectrum_fill(to->map, &part, w->threads, e) &&
                  (direct || gpu_upload(&w->spectrum[i], &w->g, &host, "kernel spectrum", e));
        gpu_buffer_free(&host, &w->g);
        if (!ok) return false;
    }
    return w->spectrum != NULL;
}

/* Makes the buffers between the passes, for the channels that go through them at a time. */
static bool gpu_engine_make_scratch(gpu_work *w, err *e) {
    const plan *p = &w->p;
    uint64_t half = p->scratch_bytes / p->ask.channels * p->channels_per_bind;
    const gpu_buffer_params scratch = {"half spectrum", GPU_ON_DEVICE, half},
                            tiles = {"half spectrum in tiles", GPU_ON_DEVICE,
                                     p->tile_in != p->tile ? half : 0};
    return gpu_buffer_make(&w->scratch, &w->g, &scratch, e) &&
           gpu_buffer_make(&w->tiles, &w->g, &tiles, e);
}

static bool reserve_slot(void *ctx, size_t slot, int worker, err *e) {
    gpu_engine *x = ctx;
    return gpu_frame_reserve(&x->slot[slot], &x->w, e);
}

/* Returns whether only the spectrum has to be replaced. */
static bool is_prepared(const gpu_engine *x, const plan *p, const engine_options *o,
                        uint32_t slots) {
    if (x->slots != slots || x->o.staged != o->staged || x->o.lone != o->lone ||
        !plan_same(&x->w.p, p))
        return false;
    for (uint32_t i = 0; i < slots; i++)
        if (x->slot[i].lost) return false;
    return true;
}

/* A device of software has its buffers in the host's memory, a GPU what travels. */
static uint64_t gpu_bytes(engine_class class, const plan *p, uint32_t threads) {
    return class == ENGINE_SOFTWARE ? plan_device_bytes(p)
                                    : p->frames * (plan_bytes_up(p) + plan_bytes_down(p));
}

static bool gpu_prepare(engine *base, const plan *p, spectrum_lines *k, const engine_options *given,
                        err *e) {
    static const engine_options NONE = {0};
    gpu_engine *x = of(base);
    gpu_work *w = &x->w;
    const engine_options *o = given ? given : &NONE;
    uint32_t slots = o->slots ? o->slots : 1;
    if (w->g.shared->hangs) return gpu_failed(&w->g, VK_ERROR_DEVICE_LOST, "a frame before", e);
    if (is_prepared(x, p, o, slots) && upload_spectra(w, k, NULL)) return true;
    gpu_engine_unprepare(x);
    if (slots > ENGINE_SLOTS || p->ask.channels > ENGINE_CHANNELS)
        return err_set(e, ERR_INTERNAL, "%u slots and %u channels; %d and %d are the most", slots,
                       p->ask.channels, ENGINE_SLOTS, ENGINE_CHANNELS);
    w->p = *p;
    x->o = *o;
    w->chunks = ceil_div_u32(p->ask.channels, p->channels_per_bind);
    bool cached = false, shared = !o->staged && gpu_memory_is_shared(&w->g, &cached);
    w->direct[GPU_UP] = shared;
    w->direct[GPU_DOWN] = shared && cached;
    x->slots = slots;
    bool ok = gpu_passes_make(&w->passes, &w->g, p, w->g.subgroups && !o->lone, w->threads, e) &&
              upload_tables(w, e) && upload_spectra(w, k, e) && gpu_engine_make_scratch(w, e) &&
              par_for(w->threads, slots, reserve_slot, x, e);
    for (uint32_t i = 0; ok && i < slots; i++) ok = gpu_frame_make(&x->slot[i], w, e);
    if (!ok) gpu_engine_unprepare(x);
    return ok || err_in(e, "preparing %s", w->g.name);
}

static bool gpu_engine_submit(engine *base, uint32_t slot, const engine_frame *f, err *e) {
    gpu_engine *x = of(base);
    if (slot >= x->slots || x->slot[slot].busy)
        return err_set(e, ERR_INTERNAL, "slot %u of %u is not free", slot, x->slots);
    if (x->slot[slot].lost)
        return err_set(e, ERR_RETRY, "%s: slot %u of %u has lost a frame, and is not to be used",
                       x->w.g.name, slot, x->slots);
    if (x->w.g.shared->hangs) return gpu_failed(&x->w.g, VK_ERROR_DEVICE_LOST, "a frame before", e);
    return gpu_frame_load(&x->slot[slot], &x->w, f, e) &&
           gpu_frame_submit(&x->slot[slot], &x->w, e);
}

static bool gpu_engine_wait_for(engine *base, uint32_t slot, join_stats *st, engine_times *t,
                                err *e) {
    gpu_engine *x = of(base);
    if (slot >= x->slots || !x->slot[slot].busy)
        return err_set(e, ERR_INTERNAL, "slot %u of %u has nothing to wait for", slot, x->slots);
    return gpu_frame_wait(&x->slot[slot], &x->w, st, t, e);
}

static void record_frame(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    const gpu_engine *x = ctx;
    gpu_frame_record_passes(&x->slot[0], &x->w, c, stamps, next);
}

static bool gpu_repeat(engine *base, const engine_frame *f, engine_repeat *r, err *e) {
    gpu_engine *x = of(base);
    uint32_t passes = x->w.p.passes;
    double step[PLAN_PASSES * ENGINE_CHANNELS];
    if (!engine_run(base, f, NULL, e)) return false; /* puts the data on the device */
    gpu_timing t = {r->count, passes * x->w.chunks, record_frame, x};
    if (!gpu_time(&x->w.g, &t, &r->frame, step, e)) return false;
    for (uint32_t i = 0; i < passes; i++) r->pass[i] = 0;
    for (uint32_t i = 0; i < t.steps; i++) r->pass[i % passes] += step[i];
    uint64_t bytes[PLAN_PASSES];
    for (uint32_t i = 0; i < passes; i++) bytes[i] = x->w.p.pass[i].bytes;
    err why = {0};
    if (gpu_time_copies(&x->w.g, r, bytes, passes, &why)) return true;
    if (err_status(why.code) != ERR_RETRY) return err_set(e, why.code, "%s", why.msg);
    log_debug("copies are not timed beside the passes: %s", why.msg); /* no room for copies */
    r->copy = 0;
    memset(r->copy_pass, 0, sizeof r->copy_pass);
    return true;
}

static engine *beside(const engine *base, err *e);
static const engine_calls CALLS = {gpu_prepare, NULL,   gpu_engine_submit, gpu_engine_wait_for,
                                   gpu_repeat,  beside, gpu_close};

/* Makes an engine on a device, which another engine may have open. */
static engine *new_engine(const engine_device *d, const gpu_device *open, par *threads, err *e) {
    gpu_engine *x = mem_new(1, sizeof *x, "engine", e);
    if (!x) return NULL;
    x->base.call = &CALLS;
    x->w.threads = threads;
    if (open ? gpu_device_share(&x->w.g, open, e) : gpu_device_open(&x->w.g, d, e)) return &x->base;
    gpu_close(&x->base);
    return NULL;
}

static engine *gpu_open(const engine_device *d, par *threads, const char *cache_dir, err *e) {
    engine *made = new_engine(d, NULL, threads, e);
    const gpu_device *g = made ? &of(made)->w.g : NULL;
    if (made && !g->shared->pipelines.cache) gpu_cache_open(g, cache_dir);
    return made;
}

static engine *beside(const engine *base, err *e) {
    const gpu_engine *open = (const gpu_engine *)base;
    return new_engine(NULL, &open->w.g, open->w.threads, e);
}

const engine_kind ENGINE_KIND_GPU = {gpu_bytes,       gpu_device_list,  gpu_open,
                                     gpu_vulkan_open, gpu_device_ahead, gpu_device_rest};
