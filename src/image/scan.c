#include "image/scan.h"

#include "base/mem.h"
#include "base/vector.h"

#include <pthread.h>

/* 8 bits of exponent and 3 of the mantissa; the last bin ends at infinity. */
enum { BIN_SHIFT = 20, INFINITE = 0x7f800000, ROWS = 16, MAX_PIECES = 16, SPAN = 2048 };
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

uint64_t scan_count(const uint64_t *count) {
    uint64_t total = 0;
    for (uint32_t b = 1; count && b < SCAN_BINS; b++) total += count[b];
    return total;
}

double scan_median(const uint64_t *count) {
    uint64_t total = scan_count(count), smaller = 0;
    for (uint32_t b = 1; total && b < SCAN_BINS; b++) {
        smaller += count[b];
        if (2 * smaller < total) continue;
        double from = (double)scan_bin_floor(b), to = (double)scan_bin_floor(b + 1);
        return from > 0 ? sqrt(from * fmin(to, 3.4e38)) : to / 2;
    }
    return 0;
}

/* There are four tables in turn, so that neighbours of one magnitude do not wait for each other's
 * count; [1]: below zero. Samples that are not finite fall behind the last bin. */
enum { TABLES = 4, ALL_BINS = 2048 };

typedef struct {
    uint32_t count[TABLES][2][ALL_BINS];
} bins;

typedef struct {
    scan_bad first[SCAN_BAD];
    uint64_t bad;
    bool hidden;
    double sum, squares;
    float least, greatest;
    bins *bins; /* the worker's */
} piece;

typedef struct {
    const scan_request *r;
    scan *s;
    piece *piece;
    bins *tables;             /* of each worker */
    pthread_mutex_t counting; /* guards the channels' histograms */
    uint32_t pieces;          /* of a channel */
    uint32_t rows;            /* of a piece */
} job;

typedef struct {
    vec4d sum, squares;
    vec8f least, greatest;
} totals;

typedef struct {
    const job *j;
    piece *p;
    bool careful; /* samples may be bad, or their squares no floats */
    totals totals;
} scanner;

/* Adds up samples of any size. Each goes to the sum of its lane, on every processor. */
static void add_up(totals *to, const float *v, uint32_t n) {
    totals t = *to;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i % 8;
        t.least[k] = v[i] < t.least[k] ? v[i] : t.least[k];
        t.greatest[k] = v[i] > t.greatest[k] ? v[i] : t.greatest[k];
        t.sum[k % 4] += (double)v[i];
        t.squares[k % 4] += (double)v[i] * (double)v[i];
    }
    *to = t;
}

/* Floats are added up as such in groups, up to this many at once: rounding stays below a millionth
 * even if all of it goes one way. */
enum { GROUP = 32, GROUPS = 8, AHEAD = 512 };

/* Add up n floats, which are whole groups. */
static void add_groups_plain(totals *to, const float *v, uint32_t n) {
    vec8f sum = {0}, squares = {0};
    for (uint32_t i = 0; i < n; i += i % 8 == 7 ? GROUP - 7 : 1) {
        float a = v[i], b = v[i + 8], c = v[i + 16], d = v[i + 24];
        sum[i % 8] += (a + b) + (c + d);
        squares[i % 8] += (a * a + b * b) + (c * c + d * d);
        to->least[0] = fminf(fminf(fminf(a, b), fminf(c, d)), to->least[0]);
        to->greatest[0] = fmaxf(fmaxf(fmaxf(a, b), fmaxf(c, d)), to->greatest[0]);
    }
    VECTOR_ADD_UP(to->sum, sum);
    VECTOR_ADD_UP(to->squares, squares);
}
VECTOR_WIDE static void add_groups_wide(totals *to, const float *v, uint32_t n) {
    vec8f sum = {0}, squares = {0}, least = to->least, greatest = to->greatest;
    for (uint32_t i = 0; i < n; i += GROUP) {
        const vec8f_any *x = (const vec8f_any *)(v + i);
        __builtin_prefetch(v + i + AHEAD);
        __builtin_prefetch(v + i + AHEAD + GROUP / 2);
        vec8f a = x[0], b = x[1], c = x[2], d = x[3];
        sum += (a + b) + (c + d);
        squares += (a * a + b * b) + (c * c + d * d);
        least = VECTOR_MIN8(VECTOR_MIN8(VECTOR_MIN8(a, b), VECTOR_MIN8(c, d)), least);
        greatest = VECTOR_MAX8(VECTOR_MAX8(VECTOR_MAX8(a, b), VECTOR_MAX8(c, d)), greatest);
    }
    VECTOR_ADD_UP(to->sum, sum);
    VECTOR_ADD_UP(to->squares, squares);
    to->least = least;
    to->greatest = greatest;
}

/* Does what add_up does in floats, for samples whose squares are floats, too. */
static void add_up_floats(totals *to, const float *v, uint32_t n) {
    uint32_t i = 0, whole = n / GROUP * GROUP;
    for (; i < whole; i = min_u32(whole, i + GROUPS * GROUP))
        (vector_wide() ? add_groups_wide : add_groups_plain)(to, v + i,
                                                             min_u32(whole - i, GROUPS * GROUP));
    add_up(to, v + whole, n - whole);
}

/* Counts four at a time: the loop that the compiler makes of a plain one is three times slower. */
static void count_bins(bins *p, const float *v, uint32_t n) {
    uint32_t i = 0, *a = p->count[0][0], *b = p->count[1][0], *c = p->count[2][0],
             *d = p->count[3][0];
    for (; i + TABLES <= n; i += TABLES) {
        uint64_t two[2]; /* a little-endian pair of samples each; either order counts the same */
        memcpy(two, v + i, sizeof two);
        a[two[0] << 32 >> (32 + BIN_SHIFT)]++;
        b[two[0] >> (32 + BIN_SHIFT)]++;
        c[two[1] << 32 >> (32 + BIN_SHIFT)]++;
        d[two[1] >> (32 + BIN_SHIFT)]++;
    }
    for (; i < n; i++) {
        uint32_t u;
        memcpy(&u, v + i, sizeof u);
        a[u >> BIN_SHIFT]++;
    }
}

/* Scans n samples from `at` on, which lie in one row. */
static void scan_span(scanner *k, scan_bad at, uint32_t n) {
    const job *j = k->j;
    const scan_request *r = j->r;
    piece *p = k->p;
    uint32_t c = at.channel;
    float own[SPAN];
    size_t first = (size_t)at.y * r->w + at.x;
    const float *v = own;
    if (r->type[c] == PIXEL_FLOAT && !r->change)
        v = (const float *)r->plane[c] + first;
    else
        image_to_float(own, r->plane[c], r->type[c], first, n);
    if (r->change) r->change(r->ctx, own, first, n);
    if (k->careful) {
        memmove(own, v, n * sizeof *own);
        v = own;
        for (uint32_t i = 0; i < n; i++) {
            if (magnitude(own[i]) < INFINITE) continue;
            bool counts = !r->mask || r->mask[first + i] > 0;
            if (counts && p->bad < SCAN_BAD)
                p->first[p->bad] = (scan_bad){c, at.x + i, at.y, own[i]};
            p->bad += counts;
            p->hidden |= !counts;
            own[i] = 0;
        }
    }
    count_bins(p->bins, v, n);
    (k->careful ? add_up : add_up_floats)(&k->totals, v, n);
}

/* Returns false if a sample is not finite, or so large or small that squares overflowed or were
 * lost: the piece must then be done again, with care. */
static bool scan_rows(const job *j, piece *p, size_t index, bool careful) {
    const scan_request *r = j->r;
    uint32_t c = (uint32_t)(index / j->pieces), y = (uint32_t)(index % j->pieces) * j->rows;
    uint32_t end = min_u32(r->h, y + j->rows);
    vec8f zero = {0};
    scanner k = {
        j, p, careful, {.least = zero + (float)INFINITY, .greatest = zero - (float)INFINITY}};
    bins *tables = p->bins;
    memset(tables, 0, sizeof *tables);
    *p = (piece){.bins = tables, .least = INFINITY, .greatest = -INFINITY};
    for (; y < end; y++)
        for (uint32_t x = 0; x < r->w; x += SPAN)
            scan_span(&k, (scan_bad){c, x, y, 0}, min_u32(SPAN, r->w - x));
    const totals *t = &k.totals;
    p->sum = (t->sum[0] + t->sum[1]) + (t->sum[2] + t->sum[3]);
    p->squares = (t->squares[0] + t->squares[1]) + (t->squares[2] + t->squares[3]);
    for (int i = 0; i < 8; i++) {
        p->least = t->least[i] < p->least ? t->least[i] : p->least;
        p->greatest = t->greatest[i] > p->greatest ? t->greatest[i] : p->greatest;
    }
    float most = -p->least > p->greatest ? -p->least : p->greatest;
    return isfinite(p->squares) && (most == 0 || (most > 1e-15F && most < 1e15F));
}

static bool scan_piece(void *ctx, size_t index, int worker, err *e) {
    job *j = ctx;
    piece *p = &j->piece[index];
    p->bins = &j->tables[worker];
    if (!scan_rows(j, p, index, false)) scan_rows(j, p, index, true);
    scan_channel *to = &j->s->channel[index / j->pieces];
    pthread_mutex_lock(&j->counting); /* counts do not depend on the order of the pieces */
    for (uint32_t b = 0; b < SCAN_BINS; b++)
        for (int k = 0; k < TABLES; k++) {
            to->count[b] += p->bins->count[k][0][b] + p->bins->count[k][1][b];
            to->below[b] += p->bins->count[k][1][b];
        }
    pthread_mutex_unlock(&j->counting);
    return true;
}

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
        s->hidden |= p->hidden;
        to->sum += p->sum;
        to->squares += p->squares;
        if (p->least < to->least) to->least = p->least;
        if (p->greatest > to->greatest) to->greatest = p->greatest;
    }
    if (to->least > to->greatest) to->least = to->greatest = 0;
}

bool scan_make(scan *out, const scan_request *r, par *threads, err *e) {
    scan s = {.channels = r->channels};
    job j = {.r = r, .s = &s, .counting = PTHREAD_MUTEX_INITIALIZER};
    /* The number of pieces does not depend on the threads. */
    j.rows = ceil_div_u32(ceil_div_u32(r->h, ROWS), MAX_PIECES) * ROWS;
    j.pieces = ceil_div_u32(r->h, j.rows);
    size_t pieces = (size_t)j.pieces * r->channels;
    enum { COUNTS = 2 * SCAN_BINS };
    uint64_t *count = s.memory = mem_new(r->channels, COUNTS * sizeof *count, "statistics", e);
    for (uint32_t c = 0; count && c < r->channels; c++) {
        s.channel[c].pixels = (uint64_t)r->w * r->h;
        s.channel[c].count = count + (size_t)c * COUNTS;
        s.channel[c].below = s.channel[c].count + SCAN_BINS;
    }
    OWN_MEM piece *each = j.piece = mem_new(pieces, sizeof *each, "statistics", e);
    const size_t workers = (size_t)par_workers(threads);
    OWN_MEM bins *tables = j.tables = mem_raw(workers, sizeof *tables, "histograms", e);
    if (!count || !each || !tables || !par_for(threads, pieces, scan_piece, &j, e))
        return scan_free(&s), false;
    for (uint32_t c = 0; c < r->channels; c++) merge(&j, c);
    *out = s;
    return true;
}

void scan_add(scan *to, scan *rows) {
    if (!to->memory) {
        *to = *rows;
        return;
    }
    to->bad += rows->bad;
    to->hidden |= rows->hidden;
    for (uint32_t c = 0; c < to->channels; c++) {
        scan_channel *channels = &to->channel[c];
        const scan_channel *more = &rows->channel[c];
        channels->pixels += more->pixels;
        channels->bad += more->bad;
        channels->sum += more->sum;
        channels->squares += more->squares;
        channels->least = fminf(channels->least, more->least);
        channels->greatest = fmaxf(channels->greatest, more->greatest);
        for (int b = 0; b < SCAN_BINS; b++) {
            channels->count[b] += more->count[b];
            channels->below[b] += more->below[b];
        }
    }
    scan_free(rows);
}

void scan_free(scan *s) {
    mem_free(s->memory);
    *s = (scan){0};
}
