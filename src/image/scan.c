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

/* Four tables in turn, so that neighbours of one magnitude do not wait for each other's count. What
 * is not finite falls behind the last bin. */
enum { TABLES = 4, ALL_BINS = 2048 };

typedef struct {
    scan_bad first[SCAN_BAD];
    uint64_t bad;
    double sum, squares;
    float least, greatest;
    uint32_t count[TABLES][ALL_BINS];
    uint64_t extra[SCAN_BINS];
} piece;

typedef struct {
    const scan_request *r;
    scan *s;
    piece *piece;
    uint32_t pieces, rows; /* per channel */
    bool wide;
    uint32_t lone[2]; /* columns [0], [1] exclusive: seen once, and no column beyond is */
} job;

typedef float vec4f __attribute__((vector_size(16)));
typedef float vec4f_any __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t vec4i __attribute__((vector_size(16)));
typedef double vec4d __attribute__((vector_size(32)));

/* What a run of samples adds up to. */
typedef struct {
    double sum, squares;
    float least, greatest;
} totals;

#define PICK(mask, a, b) (vec4f)(((mask) & (vec4i)(a)) | (~(mask) & (vec4i)(b)))

/* Written once, made in two versions: math/vector.h has the reasons. */
static inline __attribute__((always_inline)) void add_up_any(totals *to, const float *v,
                                                             uint32_t n) {
    totals t = {0, 0, INFINITY, -INFINITY};
    vec4d sum = {0}, squares = {0};
    vec4f least = {INFINITY, INFINITY, INFINITY, INFINITY}, greatest = -least;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        vec4f x = *(const vec4f_any *)(v + i);
        least = PICK(x < least, x, least);
        greatest = PICK(x > greatest, x, greatest);
        vec4d d = __builtin_convertvector(x, vec4d);
        sum += d;
        squares += d * d;
    }
    for (int k = 0; k < 4; k++) {
        t.least = least[k] < t.least ? least[k] : t.least;
        t.greatest = greatest[k] > t.greatest ? greatest[k] : t.greatest;
        t.sum += sum[k];
        t.squares += squares[k];
    }
    for (; i < n; i++) {
        t.least = v[i] < t.least ? v[i] : t.least;
        t.greatest = v[i] > t.greatest ? v[i] : t.greatest;
        t.sum += (double)v[i];
        t.squares += (double)v[i] * (double)v[i];
    }
    *to = t;
}

/* Not with FMA: the sums shall be the same on every processor. */
#if defined(__x86_64__)
static __attribute__((target("avx2"))) void add_up_wide(totals *to, const float *v, uint32_t n) {
    add_up_any(to, v, n);
}
static bool have_wide(void) {
    return __builtin_cpu_supports("avx2");
}
#else
static void add_up_wide(totals *to, const float *v, uint32_t n) {
    add_up_any(to, v, n);
}
static bool have_wide(void) {
    return false;
}
#endif
static void add_up_plain(totals *to, const float *v, uint32_t n) {
    add_up_any(to, v, n);
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
static bool count_bins(piece *p, const float *v, uint32_t n) {
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
    uint32_t bad = 0;
    for (uint32_t k = SCAN_BINS; k < ALL_BINS; k++) bad += a[k] + b[k] + c[k] + d[k];
    return bad;
}

/* What borders show again of one row's columns [from, to). */
static void count_extra(const job *j, piece *p, const float *v, uint32_t x0, uint32_t y,
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

static void add_extra(const job *j, piece *p, const float *v, uint32_t x0, uint32_t y, uint32_t n) {
    uint32_t end = x0 + n;
    if (!j->r->seen_x && !j->r->seen_y) return;
    if (j->r->seen_y && j->r->seen_y[y] > 1) {
        count_extra(j, p, v, x0, y, x0, end);
        return;
    }
    count_extra(j, p, v, x0, y, x0, smaller(end, j->lone[0]));
    count_extra(j, p, v, x0, y, larger(x0, larger(j->lone[1], smaller(end, j->lone[0]))), end);
}

/* Of one row and one block. */
static void add_run(const job *j, piece *p, uint32_t c, uint32_t x, uint32_t y, const float *v,
                    uint32_t n) {
    totals t;
    (j->wide ? add_up_wide : add_up_plain)(&t, v, n);
    p->sum += t.sum;
    p->squares += t.squares;
    p->least = t.least < p->least ? t.least : p->least;
    p->greatest = t.greatest > p->greatest ? t.greatest : p->greatest;
    if (!j->r->block) return;
    scan_channel *to = &j->s->channel[c];
    size_t b = (size_t)(y / j->r->block) * j->s->grid_w + x / j->r->block;
    to->block_sum[b] += t.sum;
    if (t.least < to->block_least[b]) to->block_least[b] = t.least;
}

/* A span lies in one row and starts with a block, where there are blocks. */
static void scan_span(const job *j, piece *p, uint32_t c, uint32_t x, uint32_t y, uint32_t n) {
    const scan_request *r = j->r;
    float v[SPAN];
    image_to_float(v, r->plane[c], r->type[c], (size_t)y * r->w + x, n);
    if (r->to && r->to[c]) memcpy(r->to[c] + (size_t)y * r->w + x, v, n * sizeof *v);
    if (count_bins(p, v, n)) blank(p, v, n, (scan_bad){c, x, y, 0});
    add_extra(j, p, v, x, y, n);
    uint32_t run = r->block ? r->block : n;
    for (uint32_t i = 0; i < n; i += run) add_run(j, p, c, x + i, y, v + i, smaller(run, n - i));
}

static bool scan_piece(void *ctx, size_t index, int worker, err *e) {
    const job *j = ctx;
    (void)worker, (void)e;
    const scan_request *r = j->r;
    piece *p = &j->piece[index];
    uint32_t c = (uint32_t)(index / j->pieces), y = (uint32_t)(index % j->pieces) * j->rows;
    uint32_t end = smaller(r->h, y + j->rows), step = r->block ? SPAN / r->block * r->block : SPAN;
    p->least = INFINITY;
    p->greatest = -INFINITY;
    for (; y < end; y++)
        for (uint32_t x = 0; x < r->w; x += step) scan_span(j, p, c, x, y, smaller(step, r->w - x));
    return true;
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
    for (uint32_t b = 0; b < SCAN_BINS; b++) {
        for (int k = 0; k < TABLES; k++) to->count[b] += p->count[k][b];
        to->extra[b] += p->extra[b];
    }
}

static bool allocate(scan *s, const scan_request *r, err *e) {
    size_t cells = 0;
    if (r->block) {
        s->grid_w = (r->w + r->block - 1) / r->block;
        s->grid_h = (r->h + r->block - 1) / r->block;
        cells = (size_t)s->grid_w * s->grid_h;
    }
    size_t doubles = 2 * SCAN_BINS + cells + (cells + 1) / 2;
    double *m = mem_new(r->channels * doubles, sizeof *m, "statistics", e);
    if (!(s->memory = m)) return false;
    for (uint32_t c = 0; c < r->channels; c++, m += doubles) {
        scan_channel *to = &s->channel[c];
        to->least = INFINITY;
        to->greatest = -INFINITY;
        to->count = (uint64_t *)m;
        to->extra = to->count + SCAN_BINS;
        if (!cells) continue;
        to->block_sum = m + 2 * SCAN_BINS;
        to->block_least = (float *)(to->block_sum + cells);
        for (size_t i = 0; i < cells; i++) to->block_least[i] = INFINITY;
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
        for (size_t i = 0; to->block_sum && i < (size_t)s->grid_w * s->grid_h; i++)
            if (to->block_least[i] == INFINITY) to->block_least[i] = 0;
    }
}

bool scan_make(scan *out, const scan_request *r, par *threads, err *e) {
    scan s = {.channels = r->channels};
    job j = {.r = r, .s = &s, .wide = have_wide()};
    cut(&j);
    size_t pieces = (size_t)j.pieces * r->channels;
    bool ok = allocate(&s, r, e) && (j.piece = mem_new(pieces, sizeof *j.piece, "statistics", e)) &&
              par_for(threads, pieces, scan_piece, &j, e);
    for (size_t i = 0; ok && i < pieces; i++) merge(&s, (uint32_t)(i / j.pieces), &j.piece[i]);
    mem_free(j.piece);
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
