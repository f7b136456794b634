/* gpu_engine.c - the plan on a Vulkan device: what all frames share, and the frames in flight.
 * gpu_frame.h tells how a frame goes. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_frame.h"
#include "engine/gpu/gpu_time.h"

#include <pthread.h>
#include <string.h>

typedef struct {
    engine base;
    const char *cache_dir; /* NULL: none */
    gpu_work w;
    pthread_mutex_t queues; /* held while a frame is given to them: one thread at a time may */
    uint32_t slots;
    gpu_frame slot[ENGINE_SLOTS];
} gpu_engine;

static gpu_engine *of(engine *e) {
    return (gpu_engine *)e;
}

/* --- release -------------------------------------------------------------------------------- */

/* Everything that prepare made. */
static void unprepare(gpu_engine *x) {
    gpu_work *w = &x->w;
    const gpu_device *g = &w->g;
    if (!g->dev) return;
    vkDeviceWaitIdle(g->dev);
    for (uint32_t i = 0; i < ENGINE_SLOTS; i++) gpu_frame_free(&x->slot[i], w);
    if (w->sets) vkDestroyDescriptorPool(g->dev, w->sets, NULL);
    w->sets = VK_NULL_HANDLE;
    for (uint32_t i = 0; w->spectrum && i < w->chunks; i++) gpu_buffer_free(&w->spectrum[i], g);
    mem_free(w->spectrum);
    w->spectrum = NULL;
    gpu_buffer_free(&w->scratch, g);
    gpu_buffer_free(&w->tiles, g);
    gpu_buffer_free(&w->split, g);
    gpu_buffer_free(&w->twiddles, g);
    gpu_buffer_free(&w->places, g);
    gpu_passes_free(&w->passes, g);
    x->slots = 0;
}

static void gpu_close(engine *base) {
    gpu_engine *x = of(base);
    unprepare(x);
    gpu_device_close(&x->w.g);
    pthread_mutex_destroy(&x->queues);
    mem_free(x);
}

/* --- tables and spectrum -------------------------------------------------------------------- */

static bool upload_twiddles(gpu_work *w, const gpu_twiddles *t, err *e) {
    gpu_buffer host = {0};
    bool ok = gpu_buffer_make(&w->twiddles, &w->g, t->bytes, GPU_ON_DEVICE, "twiddles", e) &&
              gpu_buffer_make(&host, &w->g, t->bytes, GPU_UPLOAD, "twiddles on the host", e);
    if (ok) gpu_twiddles_fill(host.map, &w->p, t);
    ok = ok && gpu_upload(&w->g, &w->twiddles, &host, e);
    gpu_buffer_free(&host, &w->g);
    return ok;
}

static bool upload_places(gpu_work *w, err *e) {
    gpu_buffer host = {0};
    const plan_axis *a = &w->p.axis[0];
    uint64_t bytes = a->one_pass ? 0 : a->length * sizeof(uint32_t);
    bool ok = gpu_buffer_make(&w->places, &w->g, bytes, GPU_ON_DEVICE, "places", e);
    if (!bytes) return ok;
    ok = ok && gpu_buffer_make(&host, &w->g, bytes, GPU_UPLOAD, "places on the host", e);
    if (ok) gpu_places_fill(host.map, a);
    ok = ok && gpu_upload(&w->g, &w->places, &host, e);
    gpu_buffer_free(&host, &w->g);
    return ok;
}

static bool upload_spectrum(gpu_work *w, const spectrum_lines *k, err *e) {
    uint64_t plane = w->p.spectrum_bytes / w->p.ask.spectra;
    w->spectrum = mem_new(w->chunks, sizeof *w->spectrum, "buffers", e);
    if (!w->spectrum) return false;
    for (uint32_t i = 0; i < w->chunks; i++) {
        bool one = w->p.ask.spectra == 1;
        uint32_t count = one ? 1 : gpu_chunk_channels(w, i);
        gpu_buffer host = {0};
        bool ok = gpu_buffer_make(&w->spectrum[i], &w->g, plane * count, GPU_ON_DEVICE,
                                  "kernel spectrum", e) &&
                  gpu_buffer_make(&host, &w->g, plane * count, GPU_UPLOAD,
                                  "kernel spectrum on the host", e) &&
                  gpu_spectrum_fill(host.map, k, &w->p, one ? 0 : i * w->p.channels_per_bind, count,
                                    w->threads, e) &&
                  gpu_upload(&w->g, &w->spectrum[i], &host, e);
        gpu_buffer_free(&host, &w->g);
        if (!ok) return false;
    }
    return true;
}

/* --- preparing ------------------------------------------------------------------------------ */

static bool make_set_pool(gpu_engine *x, err *e) {
    uint32_t sets = gpu_frame_sets(&x->w) * x->slots;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, BINDINGS * sets};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = sets,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VK_TRY(&x->w.g, vkCreateDescriptorPool(x->w.g.dev, &info, NULL, &x->w.sets), e);
    return true;
fail:
    return false;
}

/* What lies between the passes: of the channels that go through it at a time. */
static bool make_scratch(gpu_work *w, err *e) {
    const plan *p = &w->p;
    uint64_t half = p->scratch_bytes / p->ask.channels * p->channels_per_bind,
             lines = p->line_bytes / p->ask.channels * p->channels_per_bind;
    return gpu_buffer_make(&w->scratch, &w->g, half, GPU_ON_DEVICE, "half spectrum", e) &&
           gpu_buffer_make(&w->tiles, &w->g, p->tile_in != p->tile ? half : 0, GPU_ON_DEVICE,
                           "half spectrum in tiles", e) &&
           gpu_buffer_make(&w->split, &w->g, lines, GPU_ON_DEVICE, "split lines", e);
}

static void choose_ways(gpu_work *w, bool staged) {
    bool cached = false, shared = !staged && gpu_memory_is_shared(&w->g, &cached);
    w->direct[GPU_UP] = shared;
    w->direct[GPU_DOWN] = shared && cached;
}

static bool gpu_prepare(engine *base, const plan *p, spectrum_lines *k, const engine_options *o,
                        err *e) {
    gpu_engine *x = of(base);
    gpu_work *w = &x->w;
    uint32_t slots = o && o->slots ? o->slots : 1;
    unprepare(x);
    if (slots > ENGINE_SLOTS || p->ask.channels > ENGINE_CHANNELS)
        return err_set(e, ERR_INTERNAL, "%u slots and %u channels; %d and %d are the most", slots,
                       p->ask.channels, ENGINE_SLOTS, ENGINE_CHANNELS);
    w->p = *p;
    base->sinks = p->ask.tapless && p->sample_bytes == sizeof(float);
    w->chunks = (p->ask.channels + p->channels_per_bind - 1) / p->channels_per_bind;
    x->slots = slots;
    choose_ways(w, o && o->staged);
    gpu_twiddles t = gpu_twiddles_layout(p);
    const gpu_passes_request r = {p, &t, x->cache_dir, w->threads};
    bool ok = gpu_passes_make(&w->passes, &w->g, &r, e) && upload_twiddles(w, &t, e) &&
              upload_places(w, e) && upload_spectrum(w, k, e) && make_scratch(w, e) &&
              make_set_pool(x, e);
    for (uint32_t i = 0; ok && i < x->slots; i++)
        ok = gpu_frame_make(&x->slot[i], w, o && o->timestamps, e);
    if (!ok) unprepare(x);
    return ok || err_in(e, "preparing %s", w->g.name);
}

/* --- frames --------------------------------------------------------------------------------- */

static bool submit(engine *base, uint32_t slot, const engine_frame *f, err *e) {
    gpu_engine *x = of(base);
    if (slot >= x->slots || x->slot[slot].busy)
        return err_set(e, ERR_INTERNAL, "slot %u of %u is not free", slot, x->slots);
    if (x->slot[slot].lost)
        return err_set(e, ERR_RETRY, "%s: slot %u of %u has lost a frame, and is not to be used",
                       x->w.g.name, slot, x->slots);
    if (!gpu_frame_load(&x->slot[slot], &x->w, f, e)) return false;
    pthread_mutex_lock(&x->queues);
    bool ok = gpu_frame_submit(&x->slot[slot], &x->w, e);
    pthread_mutex_unlock(&x->queues);
    return ok;
}

static bool wait_for(engine *base, uint32_t slot, engine_times *t, err *e) {
    gpu_engine *x = of(base);
    if (slot >= x->slots || !x->slot[slot].busy)
        return err_set(e, ERR_INTERNAL, "slot %u of %u has nothing to wait for", slot, x->slots);
    return gpu_frame_wait(&x->slot[slot], &x->w, t, e);
}

/* --- benchmarks ----------------------------------------------------------------------------- */

static void record_frame(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    const gpu_engine *x = ctx;
    gpu_frame_record_passes(&x->slot[0], &x->w, c, stamps, next);
}

static bool gpu_repeat(engine *base, const engine_frame *f, engine_repeat *r, err *e) {
    gpu_engine *x = of(base);
    uint32_t passes = x->w.p.passes;
    double step[PLAN_PASSES * ENGINE_CHANNELS];
    if (!engine_run(base, f, NULL, e)) return false; /* the data is there, and warm */
    gpu_timing t = {r->count, passes * x->w.chunks, record_frame, x};
    if (!gpu_time(&x->w.g, &t, &r->frame, step, e)) return false;
    for (uint32_t i = 0; i < passes; i++) r->pass[i] = 0;
    for (uint32_t i = 0; i < t.steps; i++) r->pass[i % passes] += step[i];
    if (!r->ceiling) return true;
    uint64_t bytes[PLAN_PASSES];
    for (uint32_t i = 0; i < passes; i++) bytes[i] = x->w.p.pass[i].bytes;
    err why = {0};
    if (gpu_time_copies(&x->w.g, r->count, bytes, passes, &r->copy, r->copy_pass, &why))
        return true;
    if (why.code != ERR_RETRY) return err_set(e, why.code, "%s", why.msg);
    log_debug("copies are not timed beside the passes: %s", why.msg); /* no room for them */
    r->copy = 0;
    memset(r->copy_pass, 0, sizeof r->copy_pass);
    return true;
}

static const engine_calls CALLS = {gpu_prepare, submit, wait_for, gpu_repeat, gpu_close};

/* --- opening -------------------------------------------------------------------------------- */

static engine *gpu_open(const engine_device *d, par *threads, const char *cache_dir, err *e) {
    gpu_engine *x = mem_new(1, sizeof *x, "engine", e);
    if (!x) return NULL;
    x->base.call = &CALLS;
    pthread_mutex_init(&x->queues, NULL);
    x->w.threads = threads;
    x->cache_dir = cache_dir;
    if (!gpu_device_open(&x->w.g, d, e)) goto fail;
    return &x->base;
fail:
    gpu_close(&x->base);
    return NULL;
}

const engine_kind ENGINE_KIND_GPU = {"gpu", gpu_device_list, gpu_open};
