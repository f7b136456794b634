#include "math/tiling.h"

#include "base/mem.h"
#include "base/text.h"
#include "math/lengths.h"

/* What is done to a pixel besides its transforms (measuring, joining, copying) takes about as long
 * as this many steps of a transform (docs/inside/notebook.md, "Tiles"). */
static const double BESIDE = 50;

typedef struct {
    bool cut;
    uint32_t tile, kept, count, taps;
    uint32_t length; /* of the transform; where nothing is cut, about */
    double cost;     /* of the transform */
} cutting;

/* Tiles grow in steps of about a fortieth: enough to choose from. */
enum { CUTTINGS = 1024, STEP = 40 };

static uint32_t list_cuttings(cutting to[CUTTINGS], const tiling_request *r, uint32_t axis) {
    const plan_request *ask = &r->ask;
    uint32_t before = ask->reach_hi[axis], after = ask->reach_lo[axis], size = ask->size[axis];
    uint32_t unit = axis == PLAN_Y ? r->rows : 1, n = 0, taps = before + after + 1;
    uint32_t margins = ask->border[axis] == BORDER_ZERO ? max_u32(before, after) : before + after;
    uint32_t whole = length_next(size + margins, 2), most = whole + whole / 3;
    while (whole && whole <= most && !plan_holds(ask, axis, whole))
        whole = length_next(whole + 1, 2);
    if (whole && whole <= most)
        to[n++] = (cutting){false, size, size, 1, taps, whole, length_cost_cpu(whole)};
    /* A tile as large as the image is of no use. */
    uint64_t least = (uint64_t)taps - 1 + unit;
    for (uint32_t l = least < size ? length_next((uint32_t)least, 2) : 0; l && l < size;
         l = length_next(l + l / STEP + 1, 2)) {
        uint32_t kept = min_u32((l - (taps - 1)) / unit * unit, size);
        if (n == CUTTINGS) break;
        if (!plan_holds(ask, axis, l)) continue;
        to[n++] = (cutting){true, l, kept, ceil_div_u32(size, kept), taps, l, length_cost_cpu(l)};
    }
    return n;
}

typedef struct {
    const cutting *x, *y;
} way;

static double price_of(const tiling_request *r, const way *w) {
    const cutting *x = w->x, *y = w->y;
    double pixels = (double)x->tile * y->tile, tiles = (double)x->count * y->count;
    double steps = y->tile * x->cost + x->length * y->cost;
    return tiles * r->planes * (steps + BESIDE * pixels);
}

static tiling tiling_of(const tiling_request *r, const way *w) {
    const cutting *c[] = {w->x, w->y};
    tiling t = {.channels = r->ask.channels, .price = price_of(r, w)};
    for (int a = 0; a < PLAN_AXES; a++) {
        t.size[a] = r->ask.size[a];
        t.cut[a] = c[a]->cut;
        t.tile[a] = c[a]->tile;
        t.length[a] = c[a]->length;
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
    return ask;
}

typedef struct {
    const tiling_request *r;
    cutting axis[PLAN_AXES][CUTTINGS];
    uint32_t count[PLAN_AXES];
    double most; /* pixels of a tile: those with more are too much for every device */
} search;

static double pixels_of(const tiling *t) {
    return (double)t->tile[PLAN_X] * t->tile[PLAN_Y];
}

/* Finds the cheapest tiling that fits; *least is what the smallest would take.
 * Returns false if there is none. */
static bool cheapest(tiling *best, const search *s, uint64_t *least) {
    *best = (tiling){.price = INFINITY};
    for (uint32_t i = 0; i < s->count[PLAN_X]; i++)
        for (uint32_t k = 0; k < s->count[PLAN_Y]; k++) {
            const way w = {&s->axis[PLAN_X][i], &s->axis[PLAN_Y][k]};
            if (price_of(s->r, &w) >= best->price) continue;
            tiling t = tiling_of(s->r, &w);
            t.bytes = s->r->bytes(s->r->ctx, &t);
            *least = min_u64(*least, t.bytes);
            if (t.bytes <= s->r->memory && pixels_of(&t) <= s->most) *best = t;
        }
    return best->channels > 0;
}

/* Says why there is no cutting of an axis: a device holds too short lines for the kernel. */
static bool refuse_axis(const tiling_request *r, uint32_t axis, err *e) {
    const uint32_t taps = r->ask.reach_lo[axis] + 1 + r->ask.reach_hi[axis];
    return err_set(
        e, ERR_LINES,
        "%c axis: the smallest tile of a kernel of %u taps needs a line of %u, and the longest "
        "that the device holds is %u; use --device cpu, or a smaller kernel (--kernel-scale)",
        "xy"[axis], taps, length_next(taps - 1 + (axis == PLAN_Y ? r->rows : 1), 2),
        plan_longest(&r->ask, axis));
}

static bool refuse(const tiling_request *r, uint64_t least, err *e) {
    char needs[32], has[32], limit[32];
    if (least <= r->memory)
        return err_set(e, ERR_CONFIG,
                       "no device can do the tiles that %u x %u pixels would be cut into; raise "
                       "--vram-limit or use --device cpu",
                       r->ask.size[PLAN_X], r->ask.size[PLAN_Y]);
    return err_set(e, ERR_MEMORY,
                   "%u x %u pixels do not fit into the memory, nor do the smallest tiles of a "
                   "kernel of %u x %u taps: they need %s, and have %s of the limit of %s; raise "
                   "--mem-limit, or use a smaller kernel (--kernel-scale)",
                   r->ask.size[PLAN_X], r->ask.size[PLAN_Y],
                   r->ask.reach_lo[PLAN_X] + 1 + r->ask.reach_hi[PLAN_X],
                   r->ask.reach_lo[PLAN_Y] + 1 + r->ask.reach_hi[PLAN_Y],
                   text_bytes((double)least, needs), text_bytes((double)r->memory, has),
                   text_bytes((double)r->limit, limit));
}

/* What a device has no memory for has to be smaller, by this much at a time. */
static const double SMALLER = 0.94;

bool tiling_choose(tiling *t, const tiling_request *r, err *e) {
    uint64_t least = UINT64_MAX;
    OWN_MEM search *s = mem_new(1, sizeof *s, "tiles", e);
    if (!s) return false;
    *s = (search){.r = r, .most = r->most ? r->most : INFINITY};
    for (uint32_t a = 0; a < PLAN_AXES; a++)
        if (!(s->count[a] = list_cuttings(s->axis[a], r, a))) return refuse_axis(r, a, e);
    bool found = false;
    while (!found && cheapest(t, s, &least)) {
        plan_request ask = tiling_ask(t, &r->ask);
        found = !r->fits || r->fits(r->ctx, t, &ask);
        s->most = pixels_of(t) * SMALLER;
    }
    return found || refuse(r, least, e);
}
