#include "math/tiling.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "math/lengths.h"

#include <inttypes.h>
#include <math.h>

/* What is done to a pixel besides its transforms (measuring, joining, copying) takes about as long
 * as this many steps of a transform (docs/notebook.md, "Tiles"). */
static const double BESIDE = 50;
/* Channels one after the other cost a little more, as each is measured and joined by itself. */
static const double ALONE = 1.02;

/* --- one axis ------------------------------------------------------------------------------- */

/* A way of cutting one axis, or of leaving it whole. */
typedef struct {
    bool cut;
    uint32_t tile, kept, count;
    uint32_t length; /* of the transform; where nothing is cut, about */
} cutting;

/* Tiles grow in steps of about a fortieth: enough to choose from. */
enum { CUTTINGS = 256, STEP = 40 };

static uint32_t list_cuttings(cutting to[CUTTINGS], const tiling_request *r, uint32_t axis) {
    const plan_request *ask = &r->ask;
    uint32_t before = ask->reach_hi[axis], after = ask->reach_lo[axis], size = ask->size[axis];
    uint32_t unit = axis == PLAN_Y ? r->rows : 1, n = 0;
    uint32_t margins = ask->border[axis] == BORDER_ZERO ? max_u32(before, after) : before + after;
    to[n++] = (cutting){false, size, size, 1, length_next(size + margins, 2)};
    uint64_t least = (uint64_t)before + after + unit;
    for (uint32_t l = least < size ? length_next((uint32_t)least, 2) : 0;
         l && l < size && n < CUTTINGS; l = length_next(l + l / STEP + 1, 2)) {
        uint32_t kept = (l - before - after) / unit * unit;
        to[n++] = (cutting){true, l, kept, ceil_div_u32(size, kept), l};
    }
    return n;
}

/* --- both axes ------------------------------------------------------------------------------ */

static uint64_t bytes_of(const tiling_request *r, const cutting *x, const cutting *y,
                         uint32_t channels) {
    const plan_request *ask = &r->ask;
    uint64_t width = ask->size[PLAN_X], pixels = (uint64_t)x->tile * y->tile;
    uint64_t held = y->cut ? (uint64_t)y->kept + ask->reach_lo[PLAN_Y] + ask->reach_hi[PLAN_Y]
                           : y->tile;
    uint64_t spectra = ask->spectra > 1 ? channels : 1;
    uint64_t number = ask->precision == PRECISION_FLOAT64 ? 16 : 8;
    /* The image's own samples, and two sets of floats or one of floats and one of doubles. */
    uint64_t sample = r->sample_bytes + (number == 16 ? 12 : 8);
    uint64_t half = ((uint64_t)x->length / 2 + 9) * y->length * number;
    return r->fixed + width * (held * r->pixel_in + (uint64_t)y->kept * r->pixel_out) +
           pixels * channels * sample + half * (1 + spectra);
}

static double price_of(const tiling_request *r, const cutting *x, const cutting *y,
                       uint32_t channels) {
    double pixels = (double)x->tile * y->tile, all = (double)x->count * y->count;
    double steps = y->tile * length_cost_cpu(x->length) + x->length * length_cost_cpu(y->length);
    return all * r->ask.channels * (steps + BESIDE * pixels) *
           (channels < r->ask.channels ? ALONE : 1);
}

static tiling tiling_of(const tiling_request *r, const cutting *x, const cutting *y,
                        uint32_t channels) {
    const cutting *c[] = {x, y};
    tiling t = {.channels = channels,
                .bytes = bytes_of(r, x, y, channels),
                .price = price_of(r, x, y, channels)};
    for (int a = 0; a < PLAN_AXES; a++) {
        t.size[a] = r->ask.size[a];
        t.cut[a] = c[a]->cut;
        t.tile[a] = c[a]->tile;
        t.kept[a] = c[a]->kept;
        t.count[a] = c[a]->count;
        t.before[a] = c[a]->cut ? r->ask.reach_hi[a] : 0;
        t.after[a] = c[a]->cut ? r->ask.reach_lo[a] : 0;
    }
    return t;
}

plan_request tiling_ask(const tiling *t, const plan_request *whole) {
    plan_request ask = *whole;
    for (int a = 0; a < PLAN_AXES; a++) {
        ask.size[a] = t->tile[a];
        if (t->cut[a]) ask.border[a] = BORDER_WRAP;
    }
    if (ask.spectra > 1) ask.spectra = t->channels;
    ask.channels = t->channels;
    return ask;
}

/* --- the choice ----------------------------------------------------------------------------- */

/* All cuttings of both axes. */
typedef struct {
    const tiling_request *r;
    cutting axis[PLAN_AXES][CUTTINGS];
    uint32_t count[PLAN_AXES];
    double most; /* samples of a tile: those with more are too much for every device */
} search;

static double samples_of(const tiling *t) {
    return (double)t->tile[PLAN_X] * t->tile[PLAN_Y] * t->channels;
}

/* Finds the cheapest tiling that fits; *least is what the smallest would take.
 * Returns false if there is none. */
static bool cheapest(tiling *best, const search *s, uint64_t *least) {
    const tiling_request *r = s->r;
    bool alone = r->alone && r->ask.channels > 1, found = false;
    for (uint32_t i = 0; i < s->count[PLAN_X]; i++)
        for (uint32_t k = 0; k < s->count[PLAN_Y]; k++)
            for (int one = 0; one <= alone; one++) {
                const cutting *x = &s->axis[PLAN_X][i], *y = &s->axis[PLAN_Y][k];
                uint32_t channels = one ? 1 : r->ask.channels;
                uint64_t bytes = bytes_of(r, x, y, channels);
                *least = min_u64(*least, bytes);
                if (bytes > r->memory) continue;
                if (found && price_of(r, x, y, channels) >= best->price) continue;
                tiling t = tiling_of(r, x, y, channels);
                if (samples_of(&t) > s->most) continue;
                *best = t;
                found = true;
            }
    return found;
}

static bool refuse(const tiling_request *r, uint64_t least, err *e) {
    char needs[32], has[32], limit[32];
    if (least <= r->memory)
        return err_set(e, ERR_CONFIG,
                       "no device can do the tiles that %" PRIu32 " x %" PRIu32
                       " pixels would be cut into; raise --vram-limit or use --device cpu",
                       r->ask.size[PLAN_X], r->ask.size[PLAN_Y]);
    return err_set(e, ERR_RETRY,
                   "%" PRIu32 " x %" PRIu32
                   " pixels do not fit into the memory, nor do the smallest tiles: they need %s, "
                   "and %s of the limit of %s is left; raise --mem-limit, or use a smaller kernel",
                   r->ask.size[PLAN_X], r->ask.size[PLAN_Y], text_bytes((double)least, needs),
                   text_bytes((double)r->memory, has), text_bytes((double)r->limit, limit));
}

/* What a device has no memory for has to be smaller, by this much at a time. */
static const double SMALLER = 0.94;

bool tiling_choose(tiling *t, const tiling_request *r, tiling_fits *fits, void *ctx, err *e) {
    uint64_t least = UINT64_MAX;
    search *s = mem_new(1, sizeof *s, "tiles", e);
    if (!s) return false;
    *s = (search){.r = r, .most = INFINITY};
    for (uint32_t a = 0; a < PLAN_AXES; a++) s->count[a] = list_cuttings(s->axis[a], r, a);
    bool found = false;
    while (!found && cheapest(t, s, &least)) {
        plan_request ask = tiling_ask(t, &r->ask);
        found = !fits || fits(ctx, &ask);
        s->most = samples_of(t) * SMALLER;
    }
    mem_free(s);
    return found || refuse(r, least, e);
}
