#include "image/scan.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

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
    float *to;  /* where the piece's samples go as floats, or NULL */
} piece;

/* What a block has added up to so far, and how many blocks lie side by side. */
typedef struct {
    vec4d sum;
    vec8f floats, least; /* floats: not in sum yet */
} block_totals;

typedef struct {
    const scan_request *r;
    scan *s;
    piece *piece;
    block_totals *block; /* of worker i at block + i * across */
    uint32_t across;
    uint32_t pieces, rows;      /* per channel */
    double *sum[SCAN_CHANNELS]; /* of them */
    float *least[SCAN_CHANNELS];
    uint32_t often;   /* after so many rows floats go to sums; 0: there are none */
    uint32_t lone[2]; /* columns [0], [1] exclusive: seen once, and no column beyond is */
} job;

typedef struct {
    vec4d squares;
    vec8f greatest;
} span_totals;

/* Samples of any size, in blocks of `run`, the last one shorter. */
static void add_up(block_totals *block, span_totals *to, const float *v, uint32_t n, uint32_t run) {
    span_totals t = *to;
    for (uint32_t i = 0; i < n; block++) {
        uint32_t end = n - i < run ? n : i + run;
        block_totals b = *block;
        for (; i + 8 <= end; i += 8) {
            vec8f x = *(const vec8f_any *)(v + i);
            vec4d lo = VECTOR_DOUBLES(v + i, 0), hi = VECTOR_DOUBLES(v + i, 4);
            b.least = VECTOR_PICK8(x < b.least, x, b.least);
            t.greatest = VECTOR_PICK8(x > t.greatest, x, t.greatest);
            b.sum += lo + hi;
            t.squares += lo * lo + hi * hi;
        }
        for (; i < end; i++) {
            b.least[0] = v[i] < b.least[0] ? v[i] : b.least[0];
            t.greatest[0] = v[i] > t.greatest[0] ? v[i] : t.greatest[0];
            b.sum[0] += (double)v[i];
            t.squares[0] += (double)v[i] * (double)v[i];
        }
        *block = b;
    }
    *to = t;
}

/* Floats that are added up as such, a group after the other: rounding stays below a millionth even
 * if all of it goes one way. */
enum { GROUP = 32, GROUPS = 8, AHEAD = 512 };

/* The same in floats, for samples whose squares are floats, too. */
VECTOR_WIDE static void add_up_floats(block_totals *block, span_totals *to, const float *v,
                                      uint32_t n, uint32_t run) {
    vec8f squares = {0}, greatest = to->greatest;
    for (uint32_t i = 0; i < n; block++) {
        uint32_t end = n - i < run ? n : i + run;
        vec8f sum = block->floats, least = block->least;
        for (; i + GROUP <= end; i += GROUP) {
            const vec8f_any *x = (const vec8f_any *)(v + i);
            __builtin_prefetch(v + i + AHEAD);
            __builtin_prefetch(v + i + AHEAD + GROUP / 2);
            vec8f a = x[0], b = x[1], c = x[2], d = x[3];
            sum += (a + b) + (c + d);
            squares += (a * a + b * b) + (c * c + d * d);
            least = VECTOR_MIN8(VECTOR_MIN8(VECTOR_MIN8(a, b), VECTOR_MIN8(c, d)), least);
            greatest = VECTOR_MAX8(VECTOR_MAX8(VECTOR_MAX8(a, b), VECTOR_MAX8(c, d)), greatest);
        }
        block->floats = sum;
        block->least = least;
        if (i < end) add_up(block, to, v + i, end - i, run);
        i = end;
    }
    VECTOR_ADD_UP(to->squares, squares);
    to->greatest = VECTOR_MAX8(greatest, to->greatest);
}

VECTOR_WIDE static void add_floats(block_totals *block, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        VECTOR_ADD_UP(block[i].sum, block[i].floats);
        block[i].floats = (vec8f){0};
    }
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

static void add_extra(const job *j, bins *p, const float *v, uint32_t x0, uint32_t y, uint32_t n) {
    uint32_t end = x0 + n;
    if (!j->r->seen_x && !j->r->seen_y) return;
    if (j->r->seen_y && j->r->seen_y[y] > 1) {
        count_extra(j, p, v, x0, y, x0, end);
        return;
    }
    count_extra(j, p, v, x0, y, x0, min_u32(end, j->lone[0]));
    count_extra(j, p, v, x0, y, max_u32(x0, max_u32(j->lone[1], min_u32(end, j->lone[0]))), end);
}

/* The samples of a span as floats: where they are, where they are wanted, or in v. */
static const float *floats_of(const job *j, const piece *p, scan_bad at, uint32_t n, float *v) {
    const scan_request *r = j->r;
    uint32_t c = at.channel;
    size_t first = (size_t)at.y * r->w + at.x, before = (size_t)at.y / j->rows * j->rows * r->w;
    float *to = p->to ? p->to + (first - before) : v;
    if (r->type[c] == PIXEL_FLOAT && to == v) return (const float *)r->plane[c] + first;
    image_to_float(to, r->plane[c], r->type[c], first, n);
    return to;
}

/* A span lies in one row and starts with a block, where there are blocks. */
static void scan_span(const job *j, piece *p, block_totals *block, span_totals *t, scan_bad at,
                      uint32_t n, bool careful) {
    const scan_request *r = j->r;
    float own[SPAN];
    const float *v = floats_of(j, p, at, n, own);
    if (careful) {
        memmove(own, v, n * sizeof *own);
        blank(p, own, n, at);
        v = own;
    }
    if (p->bins) {
        count_bins(p->bins, v, n);
        add_extra(j, p->bins, v, at.x, at.y, n);
    }
    (j->often && !careful ? add_up_floats : add_up)(block, t, v, n, r->block ? r->block : n);
}

/* A row of blocks is done. */
static void add_blocks(const job *j, piece *p, const block_totals *block, uint32_t c, uint32_t y) {
    for (uint32_t i = 0; i < j->across; i++) {
        const block_totals *b = &block[i];
        double sum = (b->sum[0] + b->sum[1]) + (b->sum[2] + b->sum[3]);
        float least = INFINITY;
        for (int k = 0; k < 8; k++) least = b->least[k] < least ? b->least[k] : least;
        p->sum += sum;
        p->least = least < p->least ? least : p->least;
        if (!j->r->block) continue;
        size_t at = (size_t)(y / j->r->block) * j->across + i;
        j->sum[c][at] = sum;
        j->least[c][at] = least;
    }
}

/* By its parts: the whole of a struct the compiler clears with an instruction that is slow to
 * start. */
static void clear_blocks(block_totals *block, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        block[i].sum = (vec4d){0};
        block[i].floats = (vec8f){0};
        block[i].least = (vec8f){0} + (float)INFINITY;
    }
}

/* Whether squares were floats, and not so small that they were lost. */
static bool is_moderate(const piece *p) {
    float most = -p->least > p->greatest ? -p->least : p->greatest;
    return isfinite(p->squares) && (most == 0 || (most > 1e-15F && most < 1e15F));
}

/* False where something is not finite, or very large or small: to be done again, with care. */
static bool scan_rows(const job *j, piece *p, block_totals *block, size_t index, bool careful) {
    const scan_request *r = j->r;
    uint32_t c = (uint32_t)(index / j->pieces), y = (uint32_t)(index % j->pieces) * j->rows;
    uint32_t end = min_u32(r->h, y + j->rows), step = r->block ? SPAN / r->block * r->block : SPAN;
    span_totals t = {{0}, (vec8f){0} - (float)INFINITY};
    bins *tables = p->bins;
    if (tables) memset(tables, 0, sizeof *tables);
    *p = (piece){.bins = tables, .to = p->to, .least = INFINITY, .greatest = -INFINITY};
    clear_blocks(block, j->across);
    for (; y < end; y++) {
        for (uint32_t x = 0; x < r->w; x += step)
            scan_span(j, p, block + (r->block ? x / r->block : 0), &t, (scan_bad){c, x, y, 0},
                      min_u32(step, r->w - x), careful);
        bool last = y + 1 == end || (r->block && (y + 1) % r->block == 0);
        if (j->often && (last || (y + 1) % j->often == 0)) add_floats(block, j->across);
        if (!last) continue;
        add_blocks(j, p, block, c, y);
        clear_blocks(block, j->across);
    }
    p->squares = (t.squares[0] + t.squares[1]) + (t.squares[2] + t.squares[3]);
    for (int k = 0; k < 8; k++)
        p->greatest = t.greatest[k] > p->greatest ? t.greatest[k] : p->greatest;
    return is_moderate(p);
}

static bool scan_piece(void *ctx, size_t index, int worker, err *e) {
    const job *j = ctx;
    (void)e;
    block_totals *block = j->block + (size_t)worker * j->across;
    piece *p = &j->piece[index];
    size_t c = index / j->pieces, y = index % j->pieces * j->rows;
    if (j->r->to && j->r->to[c]) p->to = j->r->to[c] + y * j->r->w;
    if (!scan_rows(j, p, block, index, false)) scan_rows(j, p, block, index, true);
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
    for (uint32_t b = 0; p->bins && b < SCAN_BINS; b++) {
        for (int k = 0; k < TABLES; k++) to->count[b] += p->bins->count[k][b];
        to->extra[b] += p->bins->extra[b];
    }
}

static bool allocate(scan *s, const scan_request *r, err *e) {
    size_t cells = 0;
    if (r->block) {
        s->grid_w = ceil_div_u32(r->w, r->block);
        s->grid_h = ceil_div_u32(r->h, r->block);
        cells = (size_t)s->grid_w * s->grid_h;
    }
    size_t counts = r->histogram ? 2 * SCAN_BINS : 0;
    size_t doubles = counts + cells + (cells + 1) / 2;
    double *m = mem_new(r->channels * doubles + 1, sizeof *m, "statistics", e);
    if (!(s->memory = m)) return false;
    for (uint32_t c = 0; c < r->channels; c++, m += doubles) {
        scan_channel *to = &s->channel[c];
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
    uint32_t units = ceil_div_u32(r->h, unit);
    j->rows = ceil_div_u32(units, MAX_PIECES) * unit;
    j->pieces = ceil_div_u32(r->h, j->rows);
    j->often = r->block && vector_wide() ? GROUPS * GROUP / r->block : 0;
    j->lone[0] = 0, j->lone[1] = r->w;
    if (!r->seen_x) return;
    while (j->lone[0] < r->w && r->seen_x[j->lone[0]] > 1) j->lone[0]++;
    while (j->lone[1] > j->lone[0] && r->seen_x[j->lone[1] - 1] > 1) j->lone[1]--;
}

static void merge_pieces(const job *j, uint32_t c) {
    scan_channel *to = &j->s->channel[c];
    to->least = INFINITY;
    to->greatest = -INFINITY;
    for (size_t i = 0; i < j->pieces; i++) merge(j->s, c, &j->piece[c * j->pieces + i]);
    if (to->least > to->greatest) to->least = to->greatest = 0;
}

/* Vectors want addresses that calloc does not promise. */
static block_totals *new_blocks(job *j, par *threads, void **memory, err *e) {
    size_t n = (size_t)j->across * (size_t)par_workers(threads) + 1;
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
    job j = {.r = r, .s = &s};
    void *blocks = NULL, *tables = NULL;
    cut(&j);
    size_t pieces = (size_t)j.pieces * r->channels;
    bool ok = allocate(&s, r, e);
    j.across = r->block ? s.grid_w : 1;
    for (uint32_t c = 0; c < r->channels; c++) {
        j.sum[c] = s.channel[c].block_sum;
        j.least[c] = s.channel[c].block_least;
    }
    ok = ok && new_pieces(&j, pieces, &tables, e) &&
         (j.block = new_blocks(&j, threads, &blocks, e)) && blocks &&
         par_for(threads, pieces, scan_piece, &j, e);
    for (uint32_t c = 0; ok && c < r->channels; c++) merge_pieces(&j, c);
    mem_free(j.piece);
    mem_free(tables);
    mem_free(blocks);
    if (!ok) {
        scan_free(&s);
        return false;
    }
    *out = s;
    return true;
}

void scan_free(scan *s) {
    mem_free(s->memory);
    *s = (scan){0};
}
