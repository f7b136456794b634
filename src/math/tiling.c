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
/* Reading a sample that is unpacked already takes about as long as this many. */
static const double SAMPLE = 6;
/* Channels one after the other cost a little more, as each is measured and joined by itself. */
static const double ALONE = 1.02;

/* --- one axis ------------------------------------------------------------------------------- */

/* A way of cutting one axis, or of leaving it whole. */
typedef struct {
    bool cut;
    uint32_t tile, kept, count, piece, pieces;
    uint32_t length; /* of the transform; where nothing is cut, about */
    double cost;     /* of the transform */
} cutting;

/* Tiles grow in steps of about a fortieth, and of a tenth where the kernel is in pieces: enough to
 * choose from. */
enum { CUTTINGS = 1024, STEP = 40, STEP_OF_PIECES = 10 };
/* A piece has no fewer taps than this. */
enum { LEAST_PIECE = 8 };

static cutting make_cutting(uint32_t size, uint32_t taps, uint32_t length, uint32_t unit,
                            uint32_t piece) {
    cutting c = {.cut = true,
                 .tile = length,
                 .piece = piece,
                 .pieces = ceil_div_u32(taps, piece),
                 .length = length,
                 .cost = length_cost_cpu(length)};
    c.kept = min_u32((length - (piece - 1)) / unit * unit, size);
    c.count = ceil_div_u32(size, c.kept);
    return c;
}

static uint32_t list_cuttings(cutting to[CUTTINGS], const tiling_request *r, uint32_t axis) {
    const plan_request *ask = &r->ask;
    uint32_t before = ask->reach_hi[axis], after = ask->reach_lo[axis], size = ask->size[axis];
    uint32_t unit = axis == PLAN_Y ? r->rows : 1, n = 0, taps = before + after + 1;
    uint32_t margins = ask->border[axis] == BORDER_ZERO ? max_u32(before, after) : before + after;
    uint32_t whole = length_next(size + margins, 2);
    to[n++] = (cutting){false, size, size, 1, taps, 1, whole, length_cost_cpu(whole)};
    for (uint32_t piece = taps;; piece = ceil_div_u32(piece, 2)) {
        if (piece < taps && piece < LEAST_PIECE) break;
        /* A tile as large as the image is of use only where it sees a piece of the kernel. */
        uint64_t least = (uint64_t)piece - 1 + unit, end = piece < taps ? least + size : size;
        uint32_t step = piece < taps ? STEP_OF_PIECES : STEP;
        for (uint32_t l = least < end ? length_next((uint32_t)least, 2) : 0;
             l && l < end && n < CUTTINGS; l = length_next(l + l / step + 1, 2))
            to[n++] = make_cutting(size, taps, l, unit, piece);
        if (piece == 1) break;
    }
    return n;
}

/* --- both axes ------------------------------------------------------------------------------ */

/* A way of making the image. */
typedef struct {
    const cutting *x, *y;
    uint32_t channels; /* bloomed at a time */
    bool again;        /* the rows are read again for each of these */
} way;

static bool in_pieces(const way *w) {
    return w->x->pieces > 1 || w->y->pieces > 1;
}

/* Returns whether a transform sees only a part of the kernel. */
static bool is_apart(const tiling_request *r, const way *w) {
    return in_pieces(w) || (r->ask.spectra > 1 && w->channels < r->ask.channels);
}

/* The bytes of the kernel: of all of it, or of the part that a transform sees, the taps, the tail
 * and the ledger's table, and two copies of the taps while a spectrum is made. A session keeps some
 * parts that are not in use, and the whole kernel is there beside them. */
static uint64_t kernel_bytes(const tiling_request *r, const way *w) {
    enum { KEPT = 3, COPIES = 2, OTHERS = 4 };
    bool lone = r->ask.spectra > 1 && w->channels < r->ask.channels;
    uint32_t spectra = r->ask.spectra > 1 ? w->channels : 1;
    uint32_t parts = w->x->pieces * w->y->pieces * (lone ? r->ask.channels : 1);
    uint64_t part = mem_rounded((uint64_t)w->x->piece * w->y->piece * spectra * sizeof(float));
    if (!is_apart(r, w)) return (KEPT + COPIES) * mem_rounded(r->kernel);
    return mem_rounded(r->kernel) + (KEPT * (1 + min_u32(parts - 1, OTHERS)) + COPIES) * part;
}

/* The bytes of half spectra: the transform's and the kernel's. A kernel's is made from its rows or
 * columns, transformed along one axis in double. While the spectrum of another part of the kernel
 * is made, the one before is still there, and so is the transform's. */
static uint64_t half_bytes(const tiling_request *r, const way *w) {
    const cutting *x = w->x, *y = w->y;
    uint64_t number = r->ask.precision == PRECISION_FLOAT64 ? 16 : 8;
    uint64_t spectra = r->ask.spectra > 1 ? w->channels : 1;
    uint64_t half = ((uint64_t)x->length / 2 + 9) * y->length * number;
    uint64_t rows = (uint64_t)min_u32(y->piece, y->length) * (x->length / 2 + 1);
    uint64_t columns = (uint64_t)min_u32(x->piece, x->length) * (y->length / 2 + 1);
    uint64_t of_kernel = mem_rounded(half * spectra), made = mem_rounded(half);
    uint64_t middle = mem_rounded(2 * sizeof(double) * max_u64(rows, columns));
    return is_apart(r, w) ? made + 2 * of_kernel + middle : of_kernel + max_u64(made, middle);
}

/* Returns the bytes of some rows of planes. pixel: the bytes of a pixel of all of them. */
static uint64_t rows_bytes(const tiling_request *r, uint64_t rows, uint32_t planes,
                           uint32_t pixel) {
    uint64_t all = r->ask.size[PLAN_X] * rows * pixel;
    return planes * mem_rounded(ceil_div_u64(all, planes));
}

/* Returns the rows that a row of tiles reads. */
static uint64_t rows_held(const way *w) {
    return w->y->cut ? (uint64_t)w->y->kept + w->y->piece - 1 : w->y->tile;
}

static uint64_t bytes_of(const tiling_request *r, const way *w) {
    bool pieces = in_pieces(w), wide = r->ask.precision == PRECISION_FLOAT64;
    uint64_t pixels = (uint64_t)w->x->tile * w->y->tile, kept = w->y->kept;
    /* The image's own samples, and two sets of floats or one of floats and one of doubles. */
    uint64_t samples = mem_rounded(pixels * (pieces ? 4 : r->sample_bytes)) +
                       mem_rounded(4 * pixels) + mem_rounded((wide ? 8 : 4) * pixels);
    uint64_t sums = (uint64_t)r->planes * sizeof(double);
    uint64_t held = w->again ? rows_bytes(r, rows_held(w), w->channels, w->channels * r->sample_in)
                             : rows_bytes(r, rows_held(w), r->planes, r->pixel_in);
    return r->fixed + kernel_bytes(r, w) + half_bytes(r, w) + held +
           rows_bytes(r, kept, r->planes, r->pixel_out) +
           (pieces ? rows_bytes(r, kept, r->planes, (uint32_t)sums) : 0) + w->channels * samples;
}

/* Returns the price of reading all that is read. Held rows stay for the next row of tiles, unless
 * other channels or other pieces of the kernel need other rows in between. */
static double price_of_reading(const tiling_request *r, const way *w) {
    double rows = w->y->count * (double)rows_held(w) * w->y->pieces, samples = r->planes * SAMPLE;
    if (w->again)
        rows *= w->x->pieces * (double)ceil_div_u32(r->planes, w->channels);
    else if (w->y->pieces == 1)
        rows = r->ask.size[PLAN_Y];
    return rows * r->ask.size[PLAN_X] * (r->unpack + (w->again ? w->channels * SAMPLE : samples));
}

/* A part of the kernel is transformed for each row of tiles. */
static double price_of(const tiling_request *r, const way *w) {
    const cutting *x = w->x, *y = w->y;
    double pixels = (double)x->tile * y->tile, tiles = (double)x->count * y->count;
    double steps = y->tile * x->cost + x->length * y->cost;
    double all = tiles * r->planes * (steps + BESIDE * pixels);
    if (is_apart(r, w)) all += (double)y->count * r->ask.spectra * steps;
    all *= x->pieces * y->pieces * (w->channels < r->ask.channels ? ALONE : 1);
    return all + price_of_reading(r, w);
}

static tiling tiling_of(const tiling_request *r, const way *w) {
    const cutting *c[] = {w->x, w->y};
    tiling t = {.channels = w->channels,
                .apart = is_apart(r, w),
                .again = w->again,
                .bytes = bytes_of(r, w),
                .price = price_of(r, w)};
    for (int a = 0; a < PLAN_AXES; a++) {
        t.size[a] = r->ask.size[a];
        t.cut[a] = c[a]->cut;
        t.tile[a] = c[a]->tile;
        t.kept[a] = c[a]->kept;
        t.count[a] = c[a]->count;
        t.lo[a] = r->ask.reach_lo[a];
        t.taps[a] = t.lo[a] + 1 + r->ask.reach_hi[a];
        t.piece[a] = c[a]->piece;
        t.pieces[a] = c[a]->pieces;
    }
    return t;
}

plan_request tiling_ask(const tiling *t, const plan_request *whole) {
    plan_request ask = *whole;
    for (int a = 0; a < PLAN_AXES; a++) {
        ask.size[a] = t->tile[a];
        if (t->cut[a]) ask.border[a] = BORDER_WRAP;
        if (t->pieces[a] == 1) continue;
        ask.reach_lo[a] = 0;
        ask.reach_hi[a] = t->piece[a] - 1;
    }
    if (ask.spectra > 1) ask.spectra = t->channels;
    ask.channels = t->channels;
    ask.symmetric &= tiling_pieces(t) == 1;
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

/* Takes a way if it fits and is the cheapest so far; *least is what the smallest takes. */
static void consider(tiling *best, const search *s, const way *w, uint64_t *least) {
    const tiling_request *r = s->r;
    if (price_of(r, w) >= best->price) return;
    uint64_t bytes = bytes_of(r, w);
    *least = min_u64(*least, bytes);
    if (bytes > r->memory) return;
    tiling t = tiling_of(r, w);
    if (samples_of(&t) <= s->most) *best = t;
}

/* Finds the cheapest tiling that fits; *least is what the smallest would take.
 * Returns false if there is none. */
static bool cheapest(tiling *best, const search *s, uint64_t *least) {
    uint32_t all = s->r->ask.channels;
    *best = (tiling){.price = INFINITY};
    for (uint32_t i = 0; i < s->count[PLAN_X]; i++)
        for (uint32_t k = 0; k < s->count[PLAN_Y]; k++)
            for (int n = 0; n < 4; n++) {
                way w = {&s->axis[PLAN_X][i], &s->axis[PLAN_Y][k], n % 2 ? 1 : all, n / 2};
                bool same = (n % 2 && all == 1) || (w.again && w.channels == s->r->planes);
                if (!same) consider(best, s, &w, least);
            }
    return best->channels > 0;
}

static bool refuse(const tiling_request *r, uint64_t least, err *e) {
    char needs[32], has[32], limit[32];
    if (least <= r->memory)
        return err_set(e, ERR_CONFIG,
                       "no device can do the tiles that %" PRIu32 " x %" PRIu32
                       " pixels would be cut into; raise --vram-limit or use --device cpu",
                       r->ask.size[PLAN_X], r->ask.size[PLAN_Y]);
    return err_set(e, ERR_MEMORY,
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
        found = !fits || fits(ctx, t, &ask);
        s->most = samples_of(t) * SMALLER;
    }
    mem_free(s);
    return found || refuse(r, least, e);
}
