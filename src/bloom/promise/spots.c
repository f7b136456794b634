#include "bloom/promise/spots.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- taking out: docs/math.md, "Choosing a method" -------------------------------------------- */

static int by_bands(const void *a, const void *b) {
    const spot *p = a, *q = b;
    if (p->band != q->band) return p->band < q->band ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

enum { STRIP = 16, COLUMNS = 16 }; /* of a piece; added to at once */

typedef struct {
    spot_list *l;
    float *plane;
    int32_t least; /* the magnitude that is taken, as bits */
    const spots_request *r;
    double enough;          /* light of a block that may have such a pixel */
    size_t *spots, *pixels; /* of each strip; then the index of its first spot */
    int64_t *places;        /* of each worker */
    size_t room;
} job;

/* The bits of a magnitude: they have the order of magnitudes. */
static int32_t magnitude(float v) {
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & INT32_MAX;
}

/* Returns whether some of n pixels may be taken. */
static bool may_have_spots(const float *row, uint32_t n, int32_t least) {
    vec8i any = {0};
    if (n % 8) return true;
    for (uint32_t i = 0; i < n; i += 8) /* no difference is below zero where there are none */
        any |= (least - 1) - (*(const vec8i_any *)(row + i) & INT32_MAX);
    return (any[0] | any[1] | any[2] | any[3] | any[4] | any[5] | any[6] | any[7]) < 0;
}

/* Returns the next pixel of row y, from x on, that is taken; or w. Looks at stretches of pixels, or
 * only at blocks with enough light. */
static uint32_t next_spot(const job *j, uint32_t x, uint32_t y) {
    uint32_t w = j->l->tail->w, side = j->r->block_sum ? j->r->block : 64;
    const float *row = j->plane + (size_t)y * w;
    const double *sum = j->r->block_sum;
    if (sum) sum += (size_t)(y / side) * ((w + side - 1) / side);
    for (uint32_t i = x / side, end; x < w; i++, x = end) {
        end = min_u32(w, (i + 1) * side);
        if ((sum && sum[i] < j->enough) || !may_have_spots(row + x, end - x, j->least)) continue;
        for (; x < end; x++)
            if (magnitude(row[x]) >= j->least) return x;
    }
    return w;
}

/* Returns whether a block that row y goes through has enough light. */
static bool row_may_have_spots(const job *j, uint32_t y) {
    const double *sum = j->r->block_sum;
    uint32_t blocks = sum ? ceil_div_u32(j->l->tail->w, j->r->block) : 0;
    bool any = !sum;
    if (sum) sum += (size_t)(y / j->r->block) * blocks;
    for (uint32_t i = 0; i < blocks; i++) any |= sum[i] >= j->enough;
    return any;
}

static bool count_strip(void *ctx, size_t strip, int worker, err *e) {
    const job *j = ctx;
    const kernel_tail *tail = j->l->tail;
    (void)worker, (void)e;
    uint32_t y = (uint32_t)strip * STRIP, end = min_u32(y + STRIP, tail->h);
    for (bool any = row_may_have_spots(j, y); y < end; y++) {
        if (j->r->block && y % j->r->block == 0) any = row_may_have_spots(j, y);
        if (!any) continue;
        size_t rows = border_count(&tail->axis[PLAN_Y], y);
        for (uint32_t x = 0; (x = next_spot(j, x, y)) < tail->w; x++) {
            j->pixels[strip]++;
            j->spots[strip] += rows * border_count(&tail->axis[PLAN_X], x);
        }
    }
    return true;
}

/* Returns the columns of a band. Four spots that are pasted together should cover nearly the same
 * columns, so that is an eighth of the kernel; a whole vector more must fit into the zeros beside
 * each row of taps. */
static uint32_t band_width(const kernel_tail *tail) {
    return clamp_u32(tail->kw / 8, SPOT_RUN, TAIL_MARGIN - COLUMNS) / SPOT_RUN * SPOT_RUN;
}

/* Places behind a border may lie before column 0. */
static bool take_strip(void *ctx, size_t strip, int worker, err *e) {
    const job *j = ctx;
    const kernel_tail *tail = j->l->tail;
    const border_axis *across = &tail->axis[PLAN_X], *down = &tail->axis[PLAN_Y];
    (void)e;
    uint32_t width = band_width(tail);
    int64_t *ys = j->places + (size_t)worker * j->room, *xs = ys + border_most(down);
    spot *to = j->l->spot + j->spots[strip];
    uint32_t y = (uint32_t)strip * STRIP, end = min_u32(y + STRIP, tail->h);
    for (; j->pixels[strip] && y < end; y++) {
        float *row = j->plane + (size_t)y * tail->w;
        uint32_t rows = border_places(down, y, ys);
        for (uint32_t x = 0; (x = next_spot(j, x, y)) < tail->w; x++) {
            uint32_t columns = border_places(across, x, xs);
            for (uint32_t i = 0; i < rows * columns; i++) {
                int64_t at = xs[i % columns];
                *to++ = (spot){.band = (uint32_t)(at + across->before) / width,
                               .x = (int32_t)at,
                               .y = (int32_t)ys[i / columns],
                               .v = row[x]};
            }
            row[x] = 0;
        }
    }
    return true;
}

/* Sorts the spots and finds the bands. */
static bool sort_spots(spot_list *l, err *e) {
    qsort(l->spot, l->count, sizeof *l->spot, by_bands);
    for (size_t i = 0; i < l->count; i++)
        l->bands += i == 0 || l->spot[i].band != l->spot[i - 1].band;
    if (!(l->band = mem_raw(l->bands + 1, sizeof *l->band, "bright pixels", e))) return false;
    size_t *to = l->band;
    for (size_t i = 0; i < l->count; i++)
        if (i == 0 || l->spot[i].band != l->spot[i - 1].band) *to++ = i;
    *to = l->count;
    return true;
}

/* Makes the runs, for sums in floats. */
static int by_cells(const void *a, const void *b) {
    const spot_run *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

static bool make_runs(spot_list *l, double scale, err *e) {
    uint32_t before = l->tail->axis[PLAN_X].before;
    if (!(l->run = mem_raw(l->count + 1, sizeof *l->run, "bright pixels", e))) return false;
    for (size_t i = 0; i < l->count; i++) { /* neighbours of a row follow one another */
        const spot *p = &l->spot[i];
        uint32_t at = (uint32_t)(p->x + (int32_t)before), k = SPOT_RUN - 1 - at % SPOT_RUN;
        int32_t x = p->x - (int32_t)(at % SPOT_RUN);
        spot_run *to = l->run + l->runs - 1;
        if (!l->runs || to->x != x || to->y != p->y) {
            *++to = (spot_run){.x = x, .y = p->y, .first = k, .end = k + 1};
            l->runs++;
        }
        to->v[k] = (float)(scale * (double)p->v);
        to->first = min_u32(to->first, k);
        to->end = max_u32(to->end, k + 1);
    }
    qsort(l->run, l->runs, sizeof *l->run, by_cells);
    return true;
}

bool spots_take(spot_list *out, const spots_request *r, par *threads, err *e) {
    static const char WHAT[] = "bright pixels";
    const kernel_tail *tail = r->tail;
    spot_list l = {.tail = tail};
    size_t strips = ceil_div_u32(tail->h, STRIP);
    job j = {.l = &l, .plane = r->plane, .r = r};
    j.least = magnitude(scan_bin_floor(r->below));
    j.enough = (1 - 1e-5) * (double)scan_bin_floor(r->below); /* sums were rounded */
    j.room = (size_t)border_most(&tail->axis[PLAN_X]) + border_most(&tail->axis[PLAN_Y]);
    j.spots = mem_new(2 * strips, sizeof *j.spots, WHAT, e);
    j.pixels = j.spots + strips;
    if (j.spots)
        j.places = mem_raw(j.room * (size_t)par_workers(threads), sizeof *j.places, WHAT, e);
    bool ok = j.places && par_for(threads, strips, count_strip, &j, e);
    for (size_t i = 0; ok && i < strips; i++) {
        size_t n = j.spots[i];
        j.spots[i] = l.count;
        l.count += n;
        l.pixels += j.pixels[i];
    }
    ok = ok && (l.spot = mem_raw(l.count, sizeof *l.spot, WHAT, e)) &&
         par_for(threads, strips, take_strip, &j, e) && sort_spots(&l, e) &&
         make_runs(&l, tail->scale[tail_kernel(tail, r->channel)], e);
    mem_free(j.spots);
    mem_free(j.places);
    if (ok)
        *out = l;
    else
        spots_free(&l);
    return ok;
}

void spots_free(spot_list *l) {
    mem_free(l->spot);
    mem_free(l->band);
    mem_free(l->run);
    *l = (spot_list){0};
}

double spots_work(const kernel_tail *tail, double spots) {
    return spots * min_u32(tail->kw, tail->w) * min_u32(tail->kh, tail->h);
}

/* --- pasting: docs/math.md, "Terms that cancel" ----------------------------------------------- */

/* Several rows of taps are added to a row at once: one by one, most of the time would go into
 * loading and storing the sums. */
enum { AT_ONCE = 4 };
typedef struct {
    const float *tap[AT_ONCE];
    double by[AT_ONCE];
} taps;

/* Adds to those of n numbers that are whole eights; returns how many these are. The loop over the
 * taps has to be unrolled: gcc loads each factor and each pointer again and again else. */
VECTOR_WIDE static uint32_t add_to_doubles(double *to, const taps *t, uint32_t n) {
    const float *f[AT_ONCE] = {t->tap[0], t->tap[1], t->tap[2], t->tap[3]};
    vec4d zero = {0},
          by[AT_ONCE] = {zero + t->by[0], zero + t->by[1], zero + t->by[2], zero + t->by[3]};
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        vec4d a = *(vec4d_any *)(to + i), b = *(vec4d_any *)(to + i + 4);
#pragma GCC unroll 4
        for (int k = 0; k < AT_ONCE; k++) {
            a += by[k] * VECTOR_DOUBLES(f[k] + i, 0);
            b += by[k] * VECTOR_DOUBLES(f[k] + i, 4);
        }
        *(vec4d_any *)(to + i) = a;
        *(vec4d_any *)(to + i + 4) = b;
    }
    return i;
}

/* Adds the row's part of `n` neighbours of a band, at most AT_ONCE. Their taps are read over the
 * columns of all of them, where some have zeros. */
static void paste(const kernel_tail *tail, const tail_row *r, const spot *const *p, uint32_t n) {
    taps t = {.tap = {NULL}};
    double scale = tail->scale[tail_kernel(tail, r->channel)];
    int64_t low = p[0]->x, high = p[0]->x;
    for (uint32_t k = 1; k < n; k++) {
        low = min_i64(low, p[k]->x);
        high = max_i64(high, p[k]->x);
    }
    int64_t from = max_i64(0, low - tail->cx), stop = min_i64(tail->w, high - tail->cx + tail->kw);
    if (from >= stop) return;
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        const spot *one = p[k < n ? k : 0]; /* the first again, times 0 */
        int64_t q = (int64_t)r->y - one->y + tail->cy, at = from - one->x + tail->cx;
        t.tap[k] = tail_taps(tail, r->channel) + q * (int64_t)tail->pitch + at;
        if (k < n) t.by[k] = scale * (double)one->v;
    }
    stop = min_i64(tail->w, from + (stop - from + COLUMNS - 1) / COLUMNS * COLUMNS);
    uint32_t columns = (uint32_t)(stop - from), i = 0;
    if (vector_wide()) i = add_to_doubles(r->to + from, &t, columns);
    for (; i < columns; i++)
        for (uint32_t k = 0; k < AT_ONCE; k++) r->to[from + i] += t.by[k] * (double)t.tap[k][i];
    for (i = 0; r->magnitude && i < columns; i++)
        for (uint32_t k = 0; k < n; k++)
            r->magnitude[from + i] += fabs(t.by[k] * (double)t.tap[k][i]);
}

/* Returns the first of these spots in row y or below it. */
static const spot *first_from(const spot *p, const spot *end, int64_t y) {
    if (p == end || p->y >= y) return p;
    if (end[-1].y < y) return end;
    while (p < end) {
        const spot *mid = p + (end - p) / 2;
        if (mid->y < y)
            p = mid + 1;
        else
            end = mid;
    }
    return p;
}

void spots_row(const spot_list *l, const tail_row *r) {
    const kernel_tail *tail = l->tail;
    for (size_t i = 0; i < l->bands; i++) {
        int64_t last = (int64_t)r->y + tail->cy; /* kernel row 0 lies here */
        const spot *p = l->spot + l->band[i], *end = l->spot + l->band[i + 1], *some[AT_ONCE];
        uint32_t n = 0;
        p = first_from(p, end, last - (int64_t)tail->kh + 1);
        end = first_from(p, end, last + 1);
        for (; p < end; p++) {
            some[n++] = p;
            if (n == AT_ONCE) paste(tail, r, some, n);
            n %= AT_ONCE;
        }
        if (n) paste(tail, r, some, n);
    }
}

/* --- pasting in floats ----------------------------------------------------------------------- */

/* The runs of a cell that reach some rows, and their sums. */
typedef struct {
    const spot_run *run, *end;
    const kernel_tail *tail;
    const space_rows *r;
    float *to; /* of the first row; `pitch` to the next */
    size_t pitch;
} cell;

/* Adds what a row of the kernel makes: row i of the result reads it at the runs of image row
 * `above` + i. Returns the first run that is above none of the rows. */
static void add_kernel_row(const cell *c, const spot_run *first, int64_t above) {
    static const float NONE[SPOT_RUN];
    const kernel_tail *tail = c->tail;
    stencil s = {.rows = 0};
    uint32_t low = SPOT_RUN, high = 0, row = (uint32_t)(first->y - above);
    for (const spot_run *p = first; p < c->end && p->y < above + c->r->rows; p++) {
        while (s.rows < p->y - above - row) s.tap[s.rows++] = NONE;
        s.tap[s.rows++] = p->v;
        low = min_u32(p->first, low);
        high = max_u32(p->end, high);
    }
    /* Weight k belongs to the column that is SPOT_RUN - 1 - k right of the cell's first. */
    int64_t right = (int64_t)first->x + SPOT_RUN - 1 - low, left = right - (high - 1 - low);
    int64_t from = max_i64(0, left - tail->cx),
            stop = min_i64(tail->w, right - tail->cx + tail->kw);
    int64_t q = (int64_t)c->r->y - above + tail->cy;
    if (from >= stop) return;
    s.row = tail_taps(tail, c->r->channel) + q * (int64_t)tail->pitch + from - right + tail->cx;
    s.taps = high - low;
    s.n = (uint32_t)(stop - from);
    for (uint32_t i = 0; i < s.rows; i++) {
        s.tap[i] += low;
        s.to[i] = c->to + (row + i) * c->pitch + from;
    }
    stencil_add(&s);
}

static void add_cell(const cell *c) {
    const space_rows *r = c->r;
    int64_t last = (int64_t)r->y + c->tail->cy, above = last - c->tail->kh + 1;
    const spot_run *first = c->run;
    for (; above <= last; above++) {
        while (first < c->end && first->y < above) first++;
        if (first == c->end) return;
        if (first->y >= above + r->rows) above = (int64_t)first->y - r->rows + 1;
        if (above <= last) add_kernel_row(c, first, above);
    }
}

/* Cells of fewer runs add straight to the result, and others to rows of their own first, so that
 * rounding does not grow with the number of runs. */
enum { FEW_RUNS = 4 };

static size_t room_pitch(const kernel_tail *tail) {
    return tail->w + STENCIL_MORE;
}

size_t spots_room(const kernel_tail *tail) {
    return STENCIL_ROWS * room_pitch(tail);
}

void spots_floats(const spot_list *l, const space_rows *r, float *room) {
    const kernel_tail *tail = l->tail;
    int64_t first = (int64_t)r->y + tail->cy - tail->kh + 1, /* image rows that reach these rows */
        last = (int64_t)r->y + r->rows - 1 + tail->cy;
    for (const spot_run *p = l->run, *all = l->run + l->runs, *end; p < all; p = end) {
        for (end = p; end < all && end->x == p->x; end++) {
        }
        cell c = {.run = p, .end = end, .tail = tail, .r = r, .to = r->to, .pitch = r->pitch};
        while (c.run < c.end && c.run->y < first) c.run++;
        while (c.run < c.end && c.end[-1].y > last) c.end--;
        if (c.run == c.end) continue;
        if (c.end - c.run < FEW_RUNS) {
            add_cell(&c);
            continue;
        }
        int64_t x = (int64_t)p->x - tail->cx;
        int64_t from = max_i64(0, x), stop = min_i64(tail->w, x + SPOT_RUN - 1 + tail->kw);
        if (from >= stop) continue;
        size_t n = (size_t)(stop - from);
        c.to = room;
        c.pitch = room_pitch(tail);
        for (uint32_t i = 0; i < r->rows; i++)
            memset(room + i * c.pitch + from, 0, n * sizeof *room);
        add_cell(&c);
        for (uint32_t i = 0; i < r->rows; i++) {
            float *to = r->to + i * r->pitch + from;
            const float *sum = room + i * c.pitch + from;
            for (size_t k = 0; k < n; k++) to[k] += sum[k];
        }
    }
}

/* The sum over a run, the runs of a cell, and the cells; and each spot's value was rounded. */
double spots_rounding(const kernel_tail *tail, double spots) {
    double cells = (double)tail->kw / SPOT_RUN + 2;
    double runs = fmin(spots, (double)tail->kh), few = FEW_RUNS - 1;
    return 0x1p-24 * (SPOT_RUN + runs + fmin(spots, few * cells) + 3);
}
