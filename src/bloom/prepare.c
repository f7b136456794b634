#include "bloom/prepare.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

const char *prepare_folder(const bloom *b) {
    return b->folder[0] ? b->folder : NULL;
}

/* --- device ---------------------------------------------------------------------------------- */

plan_request prepare_request(const bloom *b, const psf *k, const kernel_need *need,
                             plan_precision precision) {
    return (plan_request){.size = {need->w, need->h},
                          .reach_lo = {k->cx, k->cy},
                          .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                          .border = {b->s.border[PLAN_X], b->s.border[PLAN_Y]},
                          .order = b->s.order,
                          .precision = precision,
                          .channels = need->channels,
                          .spectra = k->channels,
                          .tapless = true,
                          .frames = b->s.slots};
}

static void list_devices(bloom *b) {
    if (b->devices) return;
    b->devices = engine_devices(b->device, ENGINE_DEVICES);
    for (uint32_t i = 0; i < b->devices; i++) {
        b->speed[i] = device_speed_load(&b->device[i], par_threads(b->threads), prepare_folder(b));
        device_tune_load(&b->tune[i], &b->device[i], prepare_folder(b));
    }
}

int prepare_forecast(bloom *b, const plan_request *ask, device_forecast *to, err *e) {
    list_devices(b);
    device_wish wish = {b->s.device, b->s.images, b->s.vram_limit, b->tune};
    return device_choose(to, &wish, b->device, b->speed, b->devices, ask, e);
}

/* Seconds that looking for the best FFT plans may take: no more than the half of what they save,
 * which is about a quarter of each image's time. Less than a second finds little. */
static double patience_for(const device_seconds *t, uint32_t images) {
    double saved = 0.25 * t->image * images;
    return saved > 2 ? fmin(0.5 * saved, 10) : 0;
}

/* Listing devices loads every graphics driver of the machine, for 0.04 s and more, and no GPU has
 * started in less than this: a run that the CPU does in the meantime need not ask. */
static const double SOONEST_GPU = 0.1; /* s */

static bool cpu_is_certain(const bloom *b, const plan_request *ask, device_forecast *f,
                           engine_device *d) {
    const char *want = b->s.device;
    bool any = !want || strcmp(want, "auto") == 0;
    if ((!any && strcmp(want, "cpu") != 0) || !engine_devices_cpu(d)) return false;
    device_speed speed = device_speed_load(d, par_threads(b->threads), prepare_folder(b));
    device_wish wish = {.want = want, .images = b->s.images};
    if (device_choose(f, &wish, d, &speed, 1, ask, NULL) < 0) return false;
    uint32_t images = b->s.images ? b->s.images : 1;
    return !any || f->time.start + images * f->time.image < SOONEST_GPU;
}

bool prepare_choice(bloom *b, const plan_request *ask, plan *p, engine_device *d, double *patience,
                    err *e) {
    device_forecast f[ENGINE_DEVICES];
    int i = 0;
    if (!cpu_is_certain(b, ask, f, d)) {
        if ((i = prepare_forecast(b, ask, f, e)) < 0) return false;
        *d = b->device[i];
    }
    *p = f[i].plan;
    if (patience) *patience = patience_for(&f[i].time, b->s.images);
    return true;
}

/* --- size ------------------------------------------------------------------------------------ */

void prepare_drop(bloom *b) {
    psf_free(&b->size.kernel);
    spread_free(&b->size.spread);
    sketch_kernel_free(&b->size.sketch);
    ledger_kernel_free(&b->size.ledger);
    for (int a = 0; a < PLAN_AXES; a++) mem_free(b->size.seen[a]);
    b->size = (bloom_size){0};
    b->straight = false;
}

static bool count_seen(bloom_size *s, err *e) {
    for (int a = 0; a < PLAN_AXES; a++) {
        const border_axis *axis = &s->spread.axis[a];
        s->seen[a] = mem_raw(axis->extent, sizeof(uint32_t), "border", e);
        if (!s->seen[a]) return false;
        for (uint32_t i = 0; i < axis->extent; i++) s->seen[a][i] = border_count(axis, i);
    }
    return true;
}

/* What the transforms take on one core of the host, or while so many of its cores could have done
 * something else; for comparing methods, and of round numbers so that every machine of a kind
 * decides alike. Per step of device_steps, float32 and float64, and per byte moved. */
static const struct {
    double step, step64, byte;
} PRICE[] = {
    [ENGINE_CPU] = {0.25e-9, 0.6e-9, 0},
    [ENGINE_GPU] = {8 * 4e-12, 8 * 64e-12, 8 * 3e-10}, /* beside eight cores; doubles at 1/16 */
    [ENGINE_SOFTWARE] = {2e-8, 4e-8, 3e-10},
};

static double price(const engine_device *d, const plan *p) {
    bool wide = p->sample_bytes == 8;
    return device_steps(p) * (wide ? PRICE[d->class].step64 : PRICE[d->class].step) +
           device_travel_bytes(p) * PRICE[d->class].byte;
}

static bool find_prices(bloom *b, bloom_size *s, err *e) {
    plan p;
    engine_device d;
    plan_request ask = prepare_request(b, &s->kernel, &s->need, PRECISION_FLOAT64);
    s->seconds64 = prepare_choice(b, &ask, &p, &d, NULL, NULL) ? price(&d, &p) : INFINITY;
    if (b->s.precision != PRECISION_FLOAT64) ask.precision = PRECISION_FLOAT32;
    if (!prepare_choice(b, &ask, &p, &d, NULL, e)) return false;
    s->points = (double)p.axis[0].length * p.axis[1].length;
    s->seconds = p.sample_bytes == 8 ? s->seconds64 : price(&d, &p);
    return true;
}

static bool make_size(bloom *b, const kernel_need *need, err *e) {
    bloom_size *s = &b->size;
    double full[PSF_CHANNELS];
    s->need = *need;
    if (!kernel_input_psf(&s->kernel, b->kernel, &b->s, need, full, e)) return false;
    plan_request ask = prepare_request(b, &s->kernel, need, PRECISION_FLOAT32);
    if (!spread_make(&s->spread, &s->kernel, full, b->s.sharpen, &ask, e)) return false;
    for (uint32_t c = 0; c < need->channels; c++) {
        bool same = c > 0 && s->spread.kernels == 1;
        s->light[c] = same ? s->light[0] : spread_is_positive(&s->spread, c);
        for (int i = 0; i < ACCURACY_CORES; i++)
            s->tail[c][i] = same ? s->tail[0][i] : spread_tail(&s->spread, c, ACCURACY_CORE[i]);
    }
    return count_seen(s, e) && sketch_kernel_make(&s->sketch, &s->spread, e) &&
           ledger_kernel_make(&s->ledger, &s->spread, e) && find_prices(b, s, e);
}

bool prepare_size(bloom *b, const kernel_need *need, err *e) {
    if (b->size.valid && memcmp(&b->size.need, need, sizeof *need) == 0) return true;
    prepare_drop(b);
    b->size.valid = make_size(b, need, e);
    if (!b->size.valid) prepare_drop(b);
    return b->size.valid;
}

/* --- planes ---------------------------------------------------------------------------------- */

bool prepare_planes(bloom *b, int set, size_t sample_bytes, err *e) {
    const kernel_need *need = &b->size.need;
    size_t bytes = (size_t)need->w * need->h * sample_bytes;
    void **plane = b->plane[set];
    for (uint32_t c = 0; c < ENGINE_CHANNELS && b->plane_bytes[set] != bytes; c++) {
        mem_free(plane[c]);
        plane[c] = NULL;
    }
    b->plane_bytes[set] = bytes;
    for (uint32_t c = 0; c < need->channels; c++)
        if (!plane[c] && !(plane[c] = mem_raw(bytes, 1, "planes", e))) return false;
    return true;
}
