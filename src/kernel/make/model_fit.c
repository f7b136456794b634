/* model_fit.c - how much of a model's light taps hold. */
#include "base/mem.h"
#include "kernel/make/model_maker.h"

/* Rings, each a hundredth wider than the one before, and their light. */
enum { RINGS = 1320 };
typedef struct {
    maker m;
    double light[RINGS], step;
} rings;

static void rings_free(rings *k) {
    maker_free(&k->m);
}

static double ring_radius(const rings *k, int i) {
    return NEAREST * steady_exp((i + 0.5) * k->step);
}

/* Adds up the light of green, or of all channels, over the directions if these matter. */
static bool fill_ring(void *ctx, size_t i, int worker, err *e) {
    rings *k = ctx;
    const maker *m = &k->m;
    double at = ring_radius(k, (int)i), sum = 0;
    int n = m->turns ? (int)clamp_double(8 * at / m->turns, 48, m->opening ? 720 : 20000) : 1;
    const double part = m->share ? (m->share[0] + m->share[1] + m->share[2]) / MODEL_CHANNELS : 0;
    for (int d = 0; d < n; d++)
        for (int kind = 0; kind < (m->share ? 2 : 1); kind++) {
            double light, a = maker_sector(m) * (d + 0.5) / n;
            maker_light(m, m->patterns / 2, steady_cos(a), steady_sin(a), &at, 1,
                        m->share                              ? kind
                        : m->of->spectrum == MODEL_CHANNELLED ? 1
                                                              : MODEL_GREEN,
                        &light);
            sum += (kind ? part : 1 - part) * light / n;
        }
    k->light[i] = sum * at * at; /* of a ring of width at * step */
    return true;
}

static double kept_by(const rings *k, uint32_t side) {
    /* Without a fade the corners hold light, too: as a disc of the square's area. */
    double border = border_of(side), now = 0, light = 0, reach = k->m.r->fade < 1 ? 1 : 1.13;
    for (int i = 0; i < RINGS; i++) {
        double at = ring_radius(k, i) / border;
        light += k->light[i];
        if (at < reach) now += k->light[i] * fade_at(k->m.r->fade, at);
    }
    return light > 0 ? now / light : 1;
}

/* The pattern of an opening goes on beyond 50 of its radii as its edges make it. */
static bool measure(rings *k, const model_request *r, par *threads, err *e) {
    double p[MODEL_PARAMETERS];
    k->step = steady_log(MODEL_SIDE / 2 / NEAREST) / RINGS;
    return model_resolve(p, r, e) && maker_open(&k->m, r, 50 * p[0], threads, e) &&
           par_for(threads, RINGS, fill_ring, k, e);
}

bool model_kept(double *kept, uint32_t *side, const model_request *r, double enough, par *threads,
                err *e) {
    OWN(rings) k = {0};
    if (!measure(&k, r, threads, e)) return false;
    *side = min_u32(r->w, r->h);
    *kept = kept_by(&k, *side);
    while (*side <= MODEL_SIDE && kept_by(&k, *side) < enough) *side += *side / 8 + 1;
    if (*side > MODEL_SIDE) *side = 0;
    return true;
}

bool model_fit(model_request *r, double enough, par *threads, err *e) {
    static const uint32_t USUAL[] = {64, 96, 128, 192, 256, 384, 512, 768, MODEL_AUTO};
    OWN(rings) k = {0};
    if (!measure(&k, r, threads, e)) return false;
    size_t i = 0;
    while (USUAL[i] < MODEL_AUTO && kept_by(&k, USUAL[i]) < enough) i++;
    r->w = r->h = USUAL[i];
    return true;
}
