#include "image/scan.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

#include <math.h>
#include <pthread.h>
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

/* There are four tables in turn, so that neighbours of one magnitude do not wait for each other's
 * count. Samples that are not finite fall behind the last bin. */
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
    bins *bins; /* the worker's; NULL: no histogram */
} piece;

/* The totals of a block so far. */
typedef struct {
    vec4d sum;
    vec8f floats, least; /* floats: not in sum yet */
} block_totals;

typedef struct {
    const scan_request *r;
    scan *s;
    piece *piece;
    block_totals *block;      /* of worker i at block + i * across */
    bins *tables;             /* of each worker; NULL: no histogram */
    pthread_mutex_t counting; /* guards the channels' histograms */
    uint32_t across;          /* blocks side by side */
    uint32_t pieces;          /* of a channel */
    uint32_t rows;            /* of a piece */
    uint32_t often;   /* rows after which sums in floats are added to sums in double; 0: none are */
    uint32_t lone[2]; /* columns [0] to before [1] are seen once, and no others are */
} job;

typedef struct {
    vec4d squares;
    vec8f greatest;
} span_totals;

/* One piece in work. */
typedef struct {
    const job *j;
    piece *p;
    bool careful; /* samples may be bad, or their squares no floats */
    span_totals totals;
} scanner;

/* Adds up samples of any size, in blocks of `run`, the last one shorter. */
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

/* Floats are added up as such in groups: rounding stays below a millionth even if all of it goes
 * one way. */
enum { GROUP = 32, GROUPS = 8, AHEAD = 512 };

/* Does the same in floats, for samples whose squares are floats, too. */
VECTOR_WIDE static void add_up_floats(block_totals *block, span_totals *to, const float *v,
                                      uint32_t n, uint32_t run) {
    vec8f squares = {0}, greatest = to->greatest;
    uint32_t i = 0;
    for (; run == 8 && i + GROUP <= n; i += GROUP, block += GROUP / 8) {
        const vec8f_any *x = (const vec8f_any *)(v + i);
        vec8f a = x[0], b = x[1], c = x[2], d = x[3];
        block[0].floats += a;
        block[1].floats += b;
        block[2].floats += c;
        block[3].floats += d;
        block[0].least = VECTOR_MIN8(a, block[0].least);
        block[1].least = VECTOR_MIN8(b, block[1].least);
        block[2].least = VECTOR_MIN8(c, block[2].least);
        block[3].least = VECTOR_MIN8(d, block[3].least);
        squares += (a * a + b * b) + (c * c + d * d);
        greatest = VECTOR_MAX8(VECTOR_MAX8(VECTOR_MAX8(a, b), VECTOR_MAX8(c, d)), greatest);
    }
    for (; i < n; block++) {
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

/* Counts four at a time: the loop that the compiler makes of a plain one is three times slower. */
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

/* Adds how often borders show the n samples from `at` on again. */
static void count_extra(const job *j, bins *p, const float *v, const scan_bad *at, uint32_t n) {
    const scan_request *r = j->r;
    uint64_t row = r->seen_y ? r->seen_y[at->y] : 1;
    for (uint32_t x = at->x; x < at->x + n; x++) {
        if (row == 1 && x >= j->lone[0] && x < j->lone[1])
            x = j->lone[1] - 1; /* these columns are seen once */
        else
            p->extra[magnitude(v[x - at->x]) >> BIN_SHIFT] += row * (r->seen_x ? r->seen_x[x] : 1) -
                                                              1;
    }
}

/* Scans n samples from `at` on. They lie in one row and start with a block, if there are blocks. */
static void scan_span(scanner *k, block_totals *block, scan_bad at, uint32_t n) {
    const job *j = k->j;
    const scan_request *r = j->r;
    piece *p = k->p;
    uint32_t c = at.channel;
    float own[SPAN];
    size_t first = (size_t)at.y * r->w + at.x;
    const float *v = own;
    if (r->type[c] == PIXEL_FLOAT)
        v = (const float *)r->plane[c] + first;
    else
        image_to_float(own, r->plane[c], r->type[c], first, n);
    if (k->careful) {
        memmove(own, v, n * sizeof *own);
        v = own;
        for (uint32_t i = 0; i < n; i++) {
            if (magnitude(own[i]) < INFINITE) continue;
            if (p->bad < SCAN_BAD) p->first[p->bad] = (scan_bad){c, at.x + i, at.y, own[i]};
            p->bad++;
            own[i] = 0;
        }
    }
    if (p->bins) {
        count_bins(p->bins, v, n);
        count_extra(j, p->bins, v, &at, n);
    }
    (j->often && !k->careful ? add_up_floats : add_up)(block, &k->totals, v, n,
                                                       r->block ? r->block : n);
}

/* Takes the totals of a row of blocks that is done. */
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
        j->s->channel[c].block_sum[at] = sum;
        j->s->channel[c].block_least[at] = least;
    }
}

/* Clears each field by itself: for a whole struct the compiler takes an instruction that is slow to
 * start. */
static void clear_blocks(block_totals *block, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        block[i].sum = (vec4d){0};
        block[i].floats = (vec8f){0};
        block[i].least = (vec8f){0} + (float)INFINITY;
    }
}

/* Returns false if a sample is not finite, or so large or small that squares overflowed or were
 * lost: the piece must then be done again, with care. */
static bool scan_rows(const job *j, piece *p, block_totals *block, size_t index, bool careful) {
    const scan_request *r = j->r;
    uint32_t c = (uint32_t)(index / j->pieces), y = (uint32_t)(index % j->pieces) * j->rows;
    uint32_t end = min_u32(r->h, y + j->rows), step = r->block ? SPAN / r->block * r->block : SPAN;
    scanner k = {j, p, careful, {{0}, (vec8f){0} - (float)INFINITY}};
    bins *tables = p->bins;
    if (tables) memset(tables, 0, sizeof *tables);
    *p = (piece){.bins = tables, .least = INFINITY, .greatest = -INFINITY};
    clear_blocks(block, j->across);
    for (; y < end; y++) {
        for (uint32_t x = 0; x < r->w; x += step)
            scan_span(&k, block + (r->block ? x / r->block : 0), (scan_bad){c, x, y, 0},
                      min_u32(step, r->w - x));
        bool last = y + 1 == end || (r->block && (y + 1) % r->block == 0);
        if (j->often && (last || (y + 1) % j->often == 0)) add_floats(block, j->across);
        if (!last) continue;
        add_blocks(j, p, block, c, y);
        clear_blocks(block, j->across);
    }
    const span_totals *t = &k.totals;
    p->squares = (t->squares[0] + t->squares[1]) + (t->squares[2] + t->squares[3]);
    for (int i = 0; i < 8; i++)
        p->greatest = t->greatest[i] > p->greatest ? t->greatest[i] : p->greatest;
    float most = -p->least > p->greatest ? -p->least : p->greatest;
    return isfinite(p->squares) && (most == 0 || (most > 1e-15F && most < 1e15F));
}

/* Counts do not depend on the order of the pieces. */
static void add_bins(job *j, scan_channel *to, const bins *from) {
    pthread_mutex_lock(&j->counting);
    for (uint32_t b = 0; b < SCAN_BINS; b++) {
        for (int k = 0; k < TABLES; k++) to->count[b] += from->count[k][b];
        to->extra[b] += from->extra[b];
    }
    pthread_mutex_unlock(&j->counting);
}

static bool scan_piece(void *ctx, size_t index, int worker, err *e) {
    job *j = ctx;
    (void)e;
    block_totals *block = j->block + (size_t)worker * j->across;
    piece *p = &j->piece[index];
    if (j->tables) p->bins = &j->tables[worker];
    if (!scan_rows(j, p, block, index, false)) scan_rows(j, p, block, index, true);
    if (p->bins) add_bins(j, &j->s->channel[index / j->pieces], p->bins);
    return true;
}

/* --- all pieces ------------------------------------------------------------------------------ */

/* Adds up the pieces of a channel in their order, so that the threads do not matter. */
static void merge(const job *j, uint32_t c) {
    scan *s = j->s;
    scan_channel *to = &s->channel[c];
    to->least = INFINITY;
    to->greatest = -INFINITY;
    for (const piece *p = j->piece + c * j->pieces; p < j->piece + (c + 1) * j->pieces; p++) {
        for (uint64_t i = 0; i < p->bad && i < SCAN_BAD; i++)
            if (s->bad + i < SCAN_BAD) s->first[s->bad + i] = p->first[i];
        to->bad += p->bad;
        s->bad += p->bad;
        to->sum += p->sum;
        to->squares += p->squares;
        if (p->least < to->least) to->least = p->least;
        if (p->greatest > to->greatest) to->greatest = p->greatest;
    }
    if (to->least > to->greatest) to->least = to->greatest = 0;
    to->first_bin = SCAN_BINS;
    for (uint32_t b = 0; to->count && b < SCAN_BINS; b++) {
        if (!to->count[b]) continue;
        to->first_bin = min_u32(b, to->first_bin);
        to->end_bin = b + 1;
        to->again |= to->extra[b] > 0;
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

/* Cuts the channels into pieces of whole blocks. Their number does not depend on the threads. */
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

bool scan_make(scan *out, const scan_request *r, par *threads, err *e) {
    scan s = {.channels = r->channels};
    job j = {.r = r, .s = &s, .counting = PTHREAD_MUTEX_INITIALIZER};
    cut(&j);
    size_t pieces = (size_t)j.pieces * r->channels;
    bool ok = allocate(&s, r, e);
    j.across = r->block ? s.grid_w : 1;
    j.piece = mem_new(pieces, sizeof *j.piece, "statistics", e);
    j.block = mem_raw(j.across, (size_t)par_workers(threads) * sizeof *j.block, "statistics", e);
    if (r->histogram)
        j.tables = mem_raw((size_t)par_workers(threads), sizeof *j.tables, "histograms", e);
    ok = ok && j.piece && j.block && (j.tables || !r->histogram);
    ok = ok && par_for(threads, pieces, scan_piece, &j, e);
    for (uint32_t c = 0; ok && c < r->channels; c++) merge(&j, c);
    mem_free(j.piece);
    mem_free(j.tables);
    mem_free(j.block);
    if (ok)
        *out = s;
    else
        scan_free(&s);
    return ok;
}

void scan_free(scan *s) {
    mem_free(s->memory);
    *s = (scan){0};
}
