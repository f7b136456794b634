#include "image/scan.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* 8 bits of exponent and 3 of the mantissa; the last bin ends at infinity. */
enum { BIN_SHIFT = 20, INFINITE = 0x7f800000, ROWS = 16, MAX_PIECES = 16, SPAN = SCAN_BLOCK };
_Static_assert(SCAN_BINS == INFINITE >> BIN_SHIFT, "bins end at infinity");

static uint32_t magnitude(float v) {
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u & 0x7fffffff;
}

uint32_t scan_bin(float v) {
    return magnitude(v) >> BIN_SHIFT;
}

float scan_bin_floor(uint32_t bin) {
    uint32_t u = bin << BIN_SHIFT;
    float v;
    if (bin >= SCAN_BINS) u = INFINITE;
    memcpy(&v, &u, sizeof v);
    return v;
}

double scan_median(const scan_channel *c) {
    uint64_t all = 0, below = 0;
    if (!c->count) return 0;
    for (uint32_t b = 1; b < SCAN_BINS; b++) all += c->count[b];
    for (uint32_t b = 1; b < SCAN_BINS; b++) {
        below += c->count[b];
        if (2 * below < all || !below) continue;
        double from = (double)scan_bin_floor(b), to = (double)scan_bin_floor(b + 1);
        return from > 0 ? sqrt(from * fmin(to, 3.4e38)) : to / 2;
    }
    return 0;
}

/* --- one piece: some rows of one channel ---------------------------------------------------- */

typedef float vec8f __attribute__((vector_size(32)));
typedef float vec8f_any __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t vec8i __attribute__((vector_size(32)));
typedef float vec4f __attribute__((vector_size(16)));
typedef double vec4d __attribute__((vector_size(32)));

/* Four tables in turn, so that neighbours of one magnitude do not wait for each other's count. What
 * is not finite falls behind the last bin. */
enum { TABLES = 4, ALL_BINS = 2048 };

typedef struct {
    uint32_t count[TABLES][ALL_BINS];
    uint64_t extra[ALL_BINS];
} bins;

typedef struct {
    scan_bad first[SCAN_BAD];
    uint64_t bad;
    double sum, squares;
    float least, greatest;
    bins *bins; /* NULL: no histogram */
} piece;

/* What a block has added up to so far, and how many blocks lie side by side. */
typedef struct {
    vec4d sum;
    vec8f least;
} block_totals;

typedef struct {
    const scan_request *r;
    scan *s;
    piece *piece;
    block_totals *block; /* of worker i at block + i * across */
    uint32_t across;
    uint32_t pieces, rows; /* per channel */
    bool wide;
    uint32_t lone[2]; /* columns [0], [1] exclusive: seen once, and no column beyond is */
} job;

#define PICK8(mask, a, b) (vec8f)(((mask) & (vec8i)(a)) | (~(mask) & (vec8i)(b)))

typedef struct {
    vec4d squares;
    vec8f greatest;
} span_totals;

/* As the compiler makes the best of it: one instruction. */
#define DOUBLES(v, i)                                    \
    (vec4d) {                                            \
        (v)[i], (v)[(i) + 1], (v)[(i) + 2], (v)[(i) + 3] \
    }

/* Written once, made in two versions: math/vector.h has the reasons. Sums of floats in double, in
 * the same order on every processor. Blocks of `run` samples, the last one shorter. */
static inline __attribute__((always_inline)) void add_up_any(block_totals *block, span_totals *to,
                                                             const float *v, uint32_t n,
                                                             uint32_t run) {
    vec4d squares = to->squares;
    vec8f greatest = to->greatest;
    for (uint32_t first = 0; first < n; first += run, block++) {
        uint32_t i = first, end = n - first < run ? n : first + run;
        vec4d sum = block->sum;
        vec8f least = block->least;
        for (; i + 8 <= end; i += 8) {
            vec8f x = *(const vec8f_any *)(v + i);
            vec4d a = DOUBLES(v + i, 0), b = DOUBLES(v + i, 4);
            least = PICK8(x < least, x, least);
            greatest = PICK8(x > greatest, x, greatest);
            sum += a + b;
            squares += a * a + b * b;
        }
        for (; i < end; i++) {
            least[0] = v[i] < least[0] ? v[i] : least[0];
            greatest[0] = v[i] > greatest[0] ? v[i] : greatest[0];
            sum[0] += (double)v[i];
            squares[0] += (double)v[i] * (double)v[i];
        }
        block->sum = sum;
        block->least = least;
    }
    *to = (span_totals){squares, greatest};
}

/* Not with FMA: the sums shall be the same on every processor. */
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
static bool have_wide(void) {
    return __builtin_cpu_supports("avx2");
}
#else
#define WIDE
static bool have_wide(void) {
    return false;
}
#endif
WIDE static void add_up_wide(block_totals *b, span_totals *to, const float *v, uint32_t n,
                             uint32_t run) {
    add_up_any(b, to, v, n, run);
}
static void add_up_plain(block_totals *b, span_totals *to, const float *v, uint32_t n,
                         uint32_t run) {
    add_up_any(b, to, v, n, run);
}

/* Notes the bad samples of a span and makes them 0. */
static void blank(piece *p, float *v, uint32_t n, scan_bad at) {
    for (uint32_t i = 0; i < n; i++) {
        if (magnitude(v[i]) < INFINITE) continue;
        if (p->bad < SCAN_BAD) p->first[p->bad] = (scan_bad){at.channel, at.x + i, at.y, v[i]};
        p->bad++;
        v[i] = 0;
    }
}

/* Four at a time, by hand: the loop that the compiler makes of it is three times slower. */
static void count_bins(bins *p, const float *v, uint32_t n) {
    uint32_t i = 0, *a = p->count[0], *b = p->count[1], *c = p->count[2], *d = p->count[3];
    for (; i + TABLES <= n; i += TABLES) {
        uint64_t two[2]; /* a little-endian pair of samples each; either order counts the same */
        memcpy(two, v + i, sizeof two);
        a[two[0] << 33 >> (33 + BIN_SHIFT)]++;
        b[two[0] << 1 >> (33 + BIN_SHIFT)]++;
        c[two[1] << 33 >> (33 + BIN_SHIFT)]++;
        d[two[1] << 1 >> (33 + BIN_SHIFT)]++;
    }
    for (; i < n; i++) a[magnitude(v[i]) >> BIN_SHIFT]++;
}

/* What borders show again of one row's columns [from, to). */
static void count_extra(const job *j, bins *p, const float *v, uint32_t x0, uint32_t y,
                        uint32_t from, uint32_t to) {
    const scan_request *r = j->r;
    uint64_t row = r->seen_y ? r->seen_y[y] : 1;
    for (uint32_t x = from; x < to; x++) {
        uint32_t m = magnitude(v[x - x0]);
        p->extra[m >> BIN_SHIFT] += row * (r->seen_x ? r->seen_x[x] : 1) - 1;
    }
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}
static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void add_extra(const job *j, bins *p, const float *v, uint32_t x0, uint32_t y, uint32_t n) {
    uint32_t end = x0 + n;
    if (!j->r->seen_x && !j->r->seen_y) return;
    if (j->r->seen_y && j->r->seen_y[y] > 1) {
        count_extra(j, p, v, x0, y, x0, end);
        return;
    }
    count_extra(j, p, v, x0, y, x0, smaller(end, j->lone[0]));
    count_extra(j, p, v, x0, y, larger(x0, larger(j->lone[1], smaller(end, j->lone[0]))), end);
}

/* The samples of a span as floats: where they are, where they are wanted, or in v. */
static const float *floats_of(const job *j, uint32_t c, size_t first, uint32_t n, float *v) {
    const scan_request *r = j->r;
    float *to = r->to && r->to[c] ? r->to[c] + first : v;
    if (r->type[c] == PIXEL_FLOAT && to == v) return (const float *)r->plane[c] + first;
    image_to_float(to, r->plane[c], r->type[c], first, n);
    return to;
}

/* A span lies in one row and starts with a block, where there are blocks. */
static void scan_span(const job *j, piece *p, block_totals *block, span_totals *t, scan_bad at,
                      uint32_t n, bool careful) {
    const scan_request *r = j->r;
    float own[SPAN];
    const float *v = floats_of(j, at.channel, (size_t)at.y * r->w + at.x, n, own);
    if (careful) {
        memmove(own, v, n * sizeof *own);
        blank(p, own, n, at);
        v = own;
    }
    if (p->bins) {
        count_bins(p->bins, v, n);
        add_extra(j, p->bins, v, at.x, at.y, n);
    }
    (j->wide ? add_up_wide : add_up_plain)(block, t, v, n, r->block ? r->block : n);
}

/* A row of blocks is done. */
static void add_blocks(const job *j, piece *p, const block_totals *block, uint32_t c, uint32_t y) {
    scan_channel *to = &j->s->channel[c];
    for (uint32_t i = 0; i < j->across; i++) {
        const block_totals *b = &block[i];
        double sum = (b->sum[0] + b->sum[1]) + (b->sum[2] + b->sum[3]);
        float least = INFINITY;
        for (int k = 0; k < 8; k++) least = b->least[k] < least ? b->least[k] : least;
        p->sum += sum;
        p->least = least < p->least ? least : p->least;
        if (!j->r->block) continue;
        size_t at = (size_t)(y / j->r->block) * j->s->grid_w + i;
        to->block_sum[at] = sum;
        to->block_least[at] = least;
    }
}

static void clear_blocks(block_totals *block, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) block[i] = (block_totals){{0}, (vec8f){0} + (float)INFINITY};
}

/* False where something is not finite; then it has to be done again, with care. */
static bool scan_rows(const job *j, piece *p, block_totals *block, size_t index, bool careful) {
    const scan_request *r = j->r;
    uint32_t c = (uint32_t)(index / j->pieces), y = (uint32_t)(index % j->pieces) * j->rows;
    uint32_t end = smaller(r->h, y + j->rows), step = r->block ? SPAN / r->block * r->block : SPAN;
    span_totals t = {{0}, (vec8f){0} - (float)INFINITY};
    bins *tables = p->bins;
    if (tables) memset(tables, 0, sizeof *tables);
    *p = (piece){.bins = tables, .least = INFINITY, .greatest = -INFINITY};
    clear_blocks(block, j->across);
    for (; y < end; y++) {
        for (uint32_t x = 0; x < r->w; x += step)
            scan_span(j, p, block + (r->block ? x / r->block : 0), &t, (scan_bad){c, x, y, 0},
                      smaller(step, r->w - x), careful);
        if (y + 1 < end && (!r->block || (y + 1) % r->block != 0)) continue;
        add_blocks(j, p, block, c, y);
        clear_blocks(block, j->across);
    }
    p->squares = (t.squares[0] + t.squares[1]) + (t.squares[2] + t.squares[3]);
    for (int k = 0; k < 8; k++)
        p->greatest = t.greatest[k] > p->greatest ? t.greatest[k] : p->greatest;
    return isfinite(p->squares); /* no square of a float is beyond a double */
}

static bool scan_piece(void *ctx, size_t index, int worker, err *e) {
    const job *j = ctx;
    (void)e;
    block_totals *block = j->block + (size_t)worker * j->across;
    piece *p = &j->piece[index];
    return scan_rows(j, p, block, index, false) || scan_rows(j, p, block, index, true);
}

/* --- all pieces ------------------------------------------------------------------------------ */

static void merge(scan *s, uint32_t c, const piece *p) {
    scan_channel *to = &s->channel[c];
    for (uint64_t i = 0; i < p->bad && i < SCAN_BAD; i++)
        if (s->bad + i < SCAN_BAD) s->first[s->bad + i] = p->first[i];
    to->bad += p->bad;
    s->bad += p->bad;
    to->sum += p->sum;
    to->squares += p->squares;
    if (p->least < to->least) to->least = p->least;
    if (p->greatest > to->greatest) to->greatest = p->greatest;
    for (uint32_t b = 0; p->bins && b < SCAN_BINS; b++) {
        for (int k = 0; k < TABLES; k++) to->count[b] += p->bins->count[k][b];
        to->extra[b] += p->bins->extra[b];
    }
}

static bool allocate(scan *s, const scan_request *r, err *e) {
    size_t cells = 0;
    if (r->block) {
        s->grid_w = (r->w + r->block - 1) / r->block;
        s->grid_h = (r->h + r->block - 1) / r->block;
        cells = (size_t)s->grid_w * s->grid_h;
    }
    size_t counts = r->histogram ? 2 * SCAN_BINS : 0;
    size_t doubles = counts + cells + (cells + 1) / 2;
    double *m = mem_new(r->channels * doubles + 1, sizeof *m, "statistics", e);
    if (!(s->memory = m)) return false;
    for (uint32_t c = 0; c < r->channels; c++, m += doubles) {
        scan_channel *to = &s->channel[c];
        to->least = INFINITY;
        to->greatest = -INFINITY;
        to->pixels = (uint64_t)r->w * r->h;
        if (r->histogram) {
            to->count = (uint64_t *)m;
            to->extra = to->count + SCAN_BINS;
        }
        if (!cells) continue;
        to->block_sum = m + counts;
        to->block_least = (float *)(to->block_sum + cells);
    }
    return true;
}

/* Pieces are of whole blocks, and their number does not depend on the threads. */
static void cut(job *j) {
    const scan_request *r = j->r;
    uint32_t unit = r->block ? r->block : ROWS;
    uint32_t units = (r->h + unit - 1) / unit;
    j->rows = (units + MAX_PIECES - 1) / MAX_PIECES * unit;
    j->pieces = (r->h + j->rows - 1) / j->rows;
    j->lone[0] = 0, j->lone[1] = r->w;
    if (!r->seen_x) return;
    while (j->lone[0] < r->w && r->seen_x[j->lone[0]] > 1) j->lone[0]++;
    while (j->lone[1] > j->lone[0] && r->seen_x[j->lone[1] - 1] > 1) j->lone[1]--;
}

static void finish(scan *s) {
    for (uint32_t c = 0; c < s->channels; c++) {
        scan_channel *to = &s->channel[c];
        if (to->least > to->greatest) to->least = to->greatest = 0;
    }
}

/* Vectors want addresses that calloc does not promise. */
static block_totals *new_blocks(job *j, par *threads, void **memory, err *e) {
    size_t n = (size_t)j->across * (size_t)par_threads(threads) + 1;
    *memory = mem_raw(n, sizeof(block_totals), "statistics", e);
    return (block_totals *)(((uintptr_t)*memory + 31) / 32 * 32);
}

static bool new_pieces(job *j, size_t pieces, void **memory, err *e) {
    j->piece = mem_new(pieces, sizeof *j->piece, "statistics", e);
    if (!j->piece || !j->r->histogram) return j->piece;
    bins *b = *memory = mem_raw(pieces, sizeof *b, "histograms", e);
    for (size_t i = 0; b && i < pieces; i++) j->piece[i].bins = &b[i];
    return b;
}

bool scan_make(scan *out, const scan_request *r, par *threads, err *e) {
    scan s = {.channels = r->channels};
    job j = {.r = r, .s = &s, .wide = have_wide()};
    void *blocks = NULL, *tables = NULL;
    cut(&j);
    size_t pieces = (size_t)j.pieces * r->channels;
    bool ok = allocate(&s, r, e);
    j.across = r->block ? s.grid_w : 1;
    ok = ok && new_pieces(&j, pieces, &tables, e) &&
         (j.block = new_blocks(&j, threads, &blocks, e)) && blocks &&
         par_for(threads, pieces, scan_piece, &j, e);
    for (size_t i = 0; ok && i < pieces; i++) merge(&s, (uint32_t)(i / j.pieces), &j.piece[i]);
    mem_free(j.piece);
    mem_free(tables);
    mem_free(blocks);
    if (!ok) {
        scan_free(&s);
        return false;
    }
    finish(&s);
    *out = s;
    return true;
}

void scan_free(scan *s) {
    mem_free(s->memory);
    *s = (scan){0};
}

/* --- repair ---------------------------------------------------------------------------------- */

typedef struct {
    float *v;        /* the plane as it was */
    uint32_t *below; /* (w + 1) * (h + 1): finite pixels above and left of a corner */
    void *plane;
    pixel_type type;
    uint32_t w, h;
    bool interpolate;
} repair;

static bool is_finite(float v) {
    return magnitude(v) < INFINITE;
}

static void count_finite(repair *r) {
    size_t pitch = (size_t)r->w + 1;
    memset(r->below, 0, pitch * sizeof *r->below);
    for (uint32_t y = 0; y < r->h; y++) {
        uint32_t row = 0, *to = r->below + (y + 1) * pitch;
        to[0] = 0;
        for (uint32_t x = 0; x < r->w; x++) {
            row += is_finite(r->v[(size_t)y * r->w + x]);
            to[x + 1] = to[x + 1 - pitch] + row;
        }
    }
}

/* Where the square of radius d around c lies in an axis of n: [0] inclusive, [1] exclusive. */
static void square(uint32_t c, uint32_t d, uint32_t n, uint32_t at[2]) {
    at[0] = c > d ? c - d : 0;
    at[1] = d < n - c ? c + d + 1 : n;
}

static uint32_t finite_within(const repair *r, uint32_t x, uint32_t y, uint32_t d) {
    uint32_t ax[2], ay[2];
    size_t pitch = (size_t)r->w + 1;
    square(x, d, r->w, ax);
    square(y, d, r->h, ay);
    const uint32_t *lo = r->below + ay[0] * pitch, *hi = r->below + ay[1] * pitch;
    return hi[ax[1]] - hi[ax[0]] - lo[ax[1]] + lo[ax[0]];
}

/* Nothing nearer than d is finite, so the whole square's mean is the ring's. Its inner rows are
 * asked at their ends only. */
static float ring_mean(const repair *r, uint32_t x, uint32_t y, uint32_t d) {
    uint32_t ax[2], ay[2], count = 0;
    double sum = 0;
    square(x, d, r->w, ax);
    square(y, d, r->h, ay);
    for (uint32_t v = ay[0]; v < ay[1]; v++) {
        uint32_t away = v > y ? v - y : y - v;
        uint32_t step = away == d ? 1 : 2 * d;
        uint32_t u = away == d || x >= d ? ax[0] : x + d;
        for (; u < ax[1]; u += step) {
            float at = r->v[(size_t)v * r->w + u];
            if (!is_finite(at)) continue;
            sum += (double)at;
            count++;
        }
    }
    return count ? (float)(sum / count) : 0;
}

static float neighbours(const repair *r, uint32_t x, uint32_t y) {
    uint32_t lo = 0, hi = r->w > r->h ? r->w : r->h; /* finite pixels: none within lo, some in hi */
    if (!finite_within(r, x, y, hi)) return 0;
    while (hi - lo > 1) {
        uint32_t d = lo + (hi - lo) / 2;
        if (finite_within(r, x, y, d))
            hi = d;
        else
            lo = d;
    }
    return ring_mean(r, x, y, hi);
}

static bool repair_row(void *ctx, size_t y, int worker, err *e) {
    const repair *r = ctx;
    (void)worker, (void)e;
    for (uint32_t x = 0; x < r->w; x++) {
        size_t at = y * r->w + x;
        if (is_finite(r->v[at])) continue;
        float good = r->interpolate ? neighbours(r, x, (uint32_t)y) : 0;
        image_from_float(r->plane, r->type, at, &good, 1);
    }
    return true;
}

bool scan_repair(void *plane, pixel_type t, uint32_t w, uint32_t h, bool interpolate, par *threads,
                 err *e) {
    repair r = {.plane = plane, .type = t, .w = w, .h = h, .interpolate = interpolate};
    size_t n = (size_t)w * h, corners = ((size_t)w + 1) * ((size_t)h + 1);
    r.v = mem_raw(n, sizeof *r.v, "repair of bad pixels", e);
    r.below = interpolate ? mem_raw(corners, sizeof *r.below, "repair of bad pixels", e) : NULL;
    bool ok = r.v && (r.below || !interpolate);
    if (ok) {
        image_to_float(r.v, plane, t, 0, n);
        if (interpolate) count_finite(&r);
        ok = par_for(threads, h, repair_row, &r, e);
    }
    mem_free(r.v);
    mem_free(r.below);
    return ok;
}
