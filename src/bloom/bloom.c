#include "bloom/bloom.h"

#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/cache.h"
#include "bloom/kernel_input.h"
#include "image/layers.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* What depends on the size of an image and is kept while it stays the same. */
typedef struct {
    uint32_t w, h, channels;
    psf kernel;
    double tap[ENGINE_CHANNELS];
    plan plan;
    bool patient; /* a longer set-up pays */
    bool valid;
} setup;

struct bloom {
    bloom_settings s;
    par *threads;
    kernel_input kernel;
    char folder[CACHE_PATH]; /* the cache; "": there is none */
    engine_device device[ENGINE_DEVICES];
    device_speed speed[ENGINE_DEVICES];
    uint32_t devices; /* 0: not listed yet, or there are none */
    engine *engine;
    engine_device on; /* the engine's */
    setup now;
    void *plane[ENGINE_CHANNELS]; /* between the image's type and the engine's; NULL: not needed */
    size_t plane_bytes;
};

void bloom_defaults(bloom_settings *s) {
    *s = (bloom_settings){.tolerance = 1e-3, .slots = 1, .cache_size = CACHE_BUDGET};
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- opening -------------------------------------------------------------------------------- */

static const char *folder(const bloom *b) {
    return b->folder[0] ? b->folder : NULL;
}

static void list_devices(bloom *b) {
    if (b->devices) return;
    b->devices = engine_devices(b->device, ENGINE_DEVICES);
    for (uint32_t i = 0; i < b->devices; i++)
        b->speed[i] = device_speed_load(&b->device[i], par_threads(b->threads), folder(b));
}

bloom *bloom_open(const bloom_settings *s, const char *kernel, par *threads, err *e) {
    bloom *b = mem_new(1, sizeof *b, "bloom", e);
    if (!b) return NULL;
    b->s = *s;
    b->threads = threads;
    if (!cache_path(b->folder, s->cache_dir)) b->folder[0] = 0;
    if (!kernel_input_load(&b->kernel, kernel, threads, e)) goto fail;
    return b;
fail:
    bloom_close(&b);
    return NULL;
}

static void drop_setup(bloom *b) {
    psf_free(&b->now.kernel);
    b->now = (setup){0};
}

void bloom_close(bloom **pb) {
    bloom *b = *pb;
    if (!b) return;
    drop_setup(b);
    engine_close(&b->engine);
    kernel_input_free(&b->kernel);
    for (int c = 0; c < ENGINE_CHANNELS; c++) mem_free(b->plane[c]);
    mem_free(b);
    *pb = NULL;
}

/* --- preparing a size ----------------------------------------------------------------------- */

static plan_request request_of(const bloom *b, const psf *k, uint32_t w, uint32_t h,
                               uint32_t channels) {
    return (plan_request){.size = {w, h},
                          .reach_lo = {k->cx, k->cy},
                          .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                          .border = {b->s.border[PLAN_X], b->s.border[PLAN_Y]},
                          .order = b->s.order,
                          .precision = b->s.precision,
                          .channels = channels,
                          .spectra = k->channels};
}

static int forecast(bloom *b, const plan_request *ask, device_forecast *to, err *e) {
    list_devices(b);
    device_wish wish = {b->s.device, b->s.images, b->s.vram_limit};
    return device_choose(to, &wish, b->device, b->speed, b->devices, ask, e);
}

/* Measured FFT plans take up to a second, once, and save about a fifth of each image's time. */
static bool worth_patience(const device_seconds *t, uint32_t images) {
    return 0.2 * t->image * images > 1;
}

/* Listing devices loads every graphics driver of the machine, for 0.04 s and more, and no GPU has
 * started in less than this: a run that the CPU does in the meantime need not ask. */
static const double SOONEST_GPU = 0.1; /* s */

static bool cpu_is_certain(const bloom *b, const plan_request *ask, device_forecast *f,
                           engine_device *d) {
    const char *want = b->s.device;
    bool any = !want || strcmp(want, "auto") == 0;
    if ((!any && strcmp(want, "cpu") != 0) || !engine_devices_cpu(d)) return false;
    device_speed speed = device_speed_load(d, par_threads(b->threads), folder(b));
    device_wish wish = {want, b->s.images, 0};
    if (device_choose(f, &wish, d, &speed, 1, ask, NULL) < 0) return false;
    uint32_t images = b->s.images ? b->s.images : 1;
    return !any || f->time.start + images * f->time.image < SOONEST_GPU;
}

/* The device and the plan on it: no device work yet. */
static bool choose(bloom *b, const plan_request *ask, setup *s, engine_device *d, err *e) {
    device_forecast f[ENGINE_DEVICES];
    int i = 0;
    if (!cpu_is_certain(b, ask, f, d)) {
        if ((i = forecast(b, ask, f, e)) < 0) return false;
        *d = b->device[i];
    }
    s->plan = f[i].plan;
    s->patient = worth_patience(&f[i].time, b->s.images);
    return true;
}

static bool open_engine(bloom *b, const engine_device *d, err *e) {
    if (b->engine && b->on.class == d->class && b->on.index == d->index) return true;
    engine_close(&b->engine);
    b->on = *d;
    b->engine = engine_open(d, b->threads, folder(b), e);
    return b->engine != NULL;
}

/* What the spectrum at the plan's lengths comes from: the user's .spectrum file where the image
 * needs the kernel as it is in there, else the cache. An exact spectrum needs the taps only. */
static bool find_source(bloom *b, spectrum *to, const psf *k, bool exact, bloom_report *r, err *e) {
    const spectrum *ready = &b->kernel.ready;
    cache_place place = {b->s.cache_dir, b->s.cache_size};
    if (exact) return psf_copy(&to->kernel, k, e);
    if (b->kernel.is_spectrum && psf_same(k, &ready->kernel)) return spectrum_copy(to, ready, e);
    return cache_spectrum(to, k, &place, b->threads, &r->spectrum_cached, e);
}

/* The kernel's spectrum at the plan's lengths. */
static bool make_lines(bloom *b, spectrum_lines *l, const setup *s, bloom_report *r, err *e) {
    bool float64 = s->plan.sample_bytes == 8;
    bool exact = float64 || b->s.spectrum == SPECTRUM_EXACT;
    spectrum source = {0};
    bool ok = find_source(b, &source, &s->kernel, exact, r, e) &&
              spectrum_at(l, &source, b->s.spectrum, s->plan.first, s->plan.axis[0].length,
                          s->plan.axis[1].length, float64, b->threads, e);
    spectrum_free(&source);
    return ok;
}

static bool prepare(bloom *b, uint32_t w, uint32_t h, uint32_t channels, bloom_report *r, err *e) {
    if (b->now.valid && b->now.w == w && b->now.h == h && b->now.channels == channels) return true;
    drop_setup(b);
    setup s = {.w = w, .h = h, .channels = channels};
    spectrum_lines lines = {0};
    engine_device d;
    bool ok = kernel_input_psf(&s.kernel, &b->kernel, &b->s, channels, w, h, e);
    plan_request ask = request_of(b, &s.kernel, w, h, channels);
    ok = ok && choose(b, &ask, &s, &d, e) && open_engine(b, &d, e);
    double start = now();
    ok = ok && make_lines(b, &lines, &s, r, e);
    r->spectrum_seconds += now() - start;
    engine_options o = {.slots = 1, .timestamps = true, .patient = s.patient};
    ok = ok && engine_prepare(b->engine, &s.plan, &lines, &o, e);
    if (ok) {
        for (uint32_t c = 0; c < channels; c++) s.tap[c] = lines.tap[lines.channels == 1 ? 0 : c];
        s.valid = true;
        b->now = s;
    } else {
        psf_free(&s.kernel);
    }
    spectrum_lines_free(&lines);
    return ok;
}

/* Of the image's first colour group. */
static bool first_request(const bloom *b, const image_header *h, plan_request *ask, err *e) {
    for (int i = 0; i < h->parts; i++) {
        layer_map m;
        psf k = {0};
        const image_part *part = &h->part[i];
        uint32_t width = image_width(part), height = image_height(part);
        if (!layer_map_make(&m, part, b->s.layers, b->s.exclude, e)) return false;
        int groups = m.groups;
        uint32_t channels = groups ? (uint32_t)m.group[0].channels : 0;
        layer_map_free(&m);
        if (!groups) continue;
        bool ok = kernel_input_psf(&k, &b->kernel, &b->s, channels, width, height, e);
        if (ok) *ask = request_of(b, &k, width, height, channels);
        psf_free(&k);
        return ok;
    }
    return err_set(e, ERR_DATA, "the image has no colour layer");
}

bool bloom_plan(bloom *b, const image_header *h, plan *p, engine_device *d, err *e) {
    plan_request ask;
    setup s;
    bool ok = first_request(b, h, &ask, e) && choose(b, &ask, &s, d, e);
    if (ok) *p = s.plan;
    return ok;
}

int bloom_forecast(bloom *b, const image_header *h, const engine_device **list, device_forecast *to,
                   uint32_t *count, err *e) {
    plan_request ask;
    if (!first_request(b, h, &ask, e)) return -1;
    int best = forecast(b, &ask, to, e);
    *list = b->device;
    *count = b->devices;
    return best;
}

/* --- pixels --------------------------------------------------------------------------------- */

/* Planes of one group between the image's type and the engine's. */
typedef struct {
    const bloom *b;
    image *img;
    int part;
    const int *channel;
    void *plane[ENGINE_CHANNELS]; /* what the engine reads and writes: the bloom's, or the image's
                                     own where it has the engine's type */
} group_planes;

static pixel_type type_of(const group_planes *g, size_t c) {
    return g->img->head.part[g->part].channel[g->channel[c]].type;
}

static bool is_own(const group_planes *g, size_t c) {
    return type_of(g, c) == PIXEL_FLOAT && g->b->now.plan.sample_bytes == 4;
}

static bool find_planes(group_planes *g, bloom *b, err *e) {
    const setup *s = &b->now;
    size_t bytes = (size_t)s->w * s->h * s->plan.sample_bytes;
    for (uint32_t c = 0; c < ENGINE_CHANNELS && b->plane_bytes != bytes; c++) {
        mem_free(b->plane[c]);
        b->plane[c] = NULL;
    }
    b->plane_bytes = bytes;
    for (uint32_t c = 0; c < s->channels; c++) {
        g->plane[c] = g->img->plane[g->part][g->channel[c]];
        if (is_own(g, c)) continue;
        if (!b->plane[c] && !(b->plane[c] = mem_raw(bytes, 1, "planes", e))) return false;
        g->plane[c] = b->plane[c];
    }
    return true;
}

enum { BLOCK = 1 << 15 };

static size_t blocks_of(const setup *s) {
    return ((size_t)s->w * s->h + BLOCK - 1) / BLOCK;
}

static bool load_block(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const group_planes *g = ctx;
    const setup *s = &g->b->now;
    size_t blocks = blocks_of(s), all = (size_t)s->w * s->h, first = index % blocks * BLOCK;
    size_t c = index / blocks, n = all - first < BLOCK ? all - first : BLOCK;
    if (is_own(g, c)) return true;
    float f[BLOCK];
    bool wide = s->plan.sample_bytes == 8;
    float *to = wide ? f : (float *)g->plane[c] + first;
    image_to_float(to, g->img->plane[g->part][g->channel[c]], type_of(g, c), first, n);
    if (wide)
        for (size_t i = 0; i < n; i++) ((double *)g->plane[c])[first + i] = f[i];
    return true;
}

static bool store_block(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const group_planes *g = ctx;
    const setup *s = &g->b->now;
    size_t blocks = blocks_of(s), all = (size_t)s->w * s->h, first = index % blocks * BLOCK;
    size_t c = index / blocks, n = all - first < BLOCK ? all - first : BLOCK;
    if (is_own(g, c)) return true;
    pixel_type t = type_of(g, c);
    float f[BLOCK], *from = (float *)g->plane[c] + first;
    if (s->plan.sample_bytes == 8) {
        for (size_t i = 0; i < n; i++) f[i] = (float)((double *)g->plane[c])[first + i];
        from = f;
    }
    if (t == PIXEL_HALF && g->b->s.half_overflow == OVERFLOW_CLAMP)
        for (size_t i = 0; i < n; i++) from[i] = fminf(fmaxf(from[i], -65504.0f), 65504.0f);
    image_from_float(g->img->plane[g->part][g->channel[c]], t, first, from, n);
    return true;
}

static bool run_engine(bloom *b, const group_planes *g, bloom_report *r, err *e) {
    const setup *s = &b->now;
    double tap[ENGINE_CHANNELS], gain[ENGINE_CHANNELS], t = b->s.sharpen;
    for (uint32_t c = 0; c < s->channels; c++) {
        tap[c] = (1 - t) * s->tap[c] + t;
        gain[c] = 1 - t;
    }
    engine_frame f = {(const void *const *)g->plane, g->plane, tap, gain};
    engine_times times;
    if (!engine_run(b->engine, &f, &times, e)) return false;
    r->times.upload += times.upload;
    r->times.download += times.download;
    r->times.total += times.total;
    for (uint32_t i = 0; i < s->plan.passes; i++) r->times.pass[i] += times.pass[i];
    return true;
}

static bool bloom_group(bloom *b, image *img, int part, const layer_group *g, bloom_report *r,
                        err *e) {
    const image_part *p = &img->head.part[part];
    int channel[LAYER_MAX_CHANNELS];
    uint32_t n = (uint32_t)g->channels;
    for (uint32_t c = 0; c < n; c++) channel[c] = g->channel[c];
    if (b->s.alpha == ALPHA_CONVOLVE && g->alpha >= 0) channel[n++] = g->alpha;
    if (!prepare(b, image_width(p), image_height(p), n, r, e)) return false;
    group_planes planes = {b, img, part, channel, {0}};
    size_t pieces = blocks_of(&b->now) * n;
    if (!find_planes(&planes, b, e) || !par_for(b->threads, pieces, load_block, &planes, e) ||
        !run_engine(b, &planes, r, e) || !par_for(b->threads, pieces, store_block, &planes, e))
        return false;
    r->plan = b->now.plan;
    r->device = b->on;
    r->groups++;
    return true;
}

bool bloom_image(bloom *b, image *img, bloom_report *r, err *e) {
    *r = (bloom_report){0};
    if (b->s.sharpen == 1) return true; /* the whole kernel is its centre: nothing changes */
    for (int part = 0; part < img->head.parts; part++) {
        layer_map m;
        if (!layer_map_make(&m, &img->head.part[part], b->s.layers, b->s.exclude, e)) return false;
        bool ok = true;
        for (int g = 0; ok && g < m.groups; g++) {
            ok = bloom_group(b, img, part, &m.group[g], r, e);
            if (!ok && m.group[g].name[0]) err_in(e, "layer '%s'", m.group[g].name);
        }
        layer_map_free(&m);
        if (!ok) return false;
    }
    if (!r->groups)
        return err_set(e, ERR_DATA, "the image has no colour layer to bloom; --layers names some");
    return true;
}
