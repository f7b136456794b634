#include "bloom/ledger.h"

#include "base/mem.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

double ledger_gap(const ledger_row *r) {
    double gap = r->in + r->gained - r->out - r->spilled - r->bad - r->overflow - r->negative;
    return r->size > 0 ? gap / r->size : 0;
}

/* --- what does not depend on the image ---------------------------------------------------------
 */

static void make_table(double *t, const spread *s, uint32_t kernel) {
    size_t pitch = (size_t)s->kw + 1;
    const float *tap = s->tap + (size_t)kernel * s->kw * s->kh;
    for (uint32_t y = 0; y < s->kh; y++) {
        double row = 0;
        for (uint32_t x = 0; x < s->kw; x++) {
            row += (double)tap[(size_t)y * s->kw + x];
            t[(y + 1) * pitch + x + 1] = t[y * pitch + x + 1] + row;
        }
    }
}

/* Taps from .. to - 1 of an axis land in the image when a pixel is seen at `place`. */
static ledger_range landing(int64_t place, uint32_t extent, uint32_t taps, uint32_t centre) {
    int64_t from = (int64_t)centre - place, to = from + extent;
    return (ledger_range){(uint32_t)(from < 0      ? 0
                                     : from > taps ? taps
                                                   : from),
                          (uint32_t)(to < 0      ? 0
                                     : to > taps ? taps
                                                 : to)};
}

static bool find_ranges(ledger_axis *a, const border_axis *b, uint32_t taps, uint32_t centre,
                        err *e) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->extent; i++) n += border_count(b, i);
    int64_t *places = mem_raw(border_most(b), sizeof *places, "ledger", e);
    a->first = mem_raw((size_t)b->extent + 1, sizeof *a->first, "ledger", e);
    a->range = mem_raw(n, sizeof *a->range, "ledger", e);
    bool ok = places && a->first && a->range;
    if (ok) a->first[0] = n = 0;
    for (uint32_t i = 0; ok && i < b->extent; i++) {
        uint32_t count = border_places(b, i, places);
        for (uint32_t k = 0; k < count; k++)
            a->range[n++] = landing(places[k], b->extent, taps, centre);
        a->first[i + 1] = n;
    }
    mem_free(places);
    /* What a border repeats lies within reach of it: others are seen once, and lose nothing. */
    uint32_t near = centre > taps - 1 - centre ? centre : taps - 1 - centre;
    a->free[0] = near < b->extent ? near : b->extent;
    a->free[1] = b->extent - a->free[0] > a->free[0] ? b->extent - a->free[0] : a->free[0];
    return ok;
}

bool ledger_kernel_make(ledger_kernel *out, const spread *s, err *e) {
    ledger_kernel k = {.s = s};
    size_t corners = ((size_t)s->kw + 1) * (s->kh + 1);
    k.table = mem_new(corners * s->kernels, sizeof *k.table, "ledger", e);
    bool ok = k.table && find_ranges(&k.axis[PLAN_X], &s->axis[PLAN_X], s->kw, s->cx, e) &&
              find_ranges(&k.axis[PLAN_Y], &s->axis[PLAN_Y], s->kh, s->cy, e);
    for (uint32_t i = 0; ok && i < s->kernels; i++) make_table(k.table + i * corners, s, i);
    if (!ok) ledger_kernel_free(&k);
    *out = k;
    return ok;
}

void ledger_kernel_free(ledger_kernel *k) {
    mem_free(k->table);
    for (int a = 0; a < PLAN_AXES; a++) {
        mem_free(k->axis[a].first);
        mem_free(k->axis[a].range);
    }
    *k = (ledger_kernel){0};
}

/* --- one image ---------------------------------------------------------------------------------
 */

/* A worker's last row: rows far from the borders are all alike. */
typedef struct {
    double *sums, *lost;
    uint32_t kernel;
    bool inner;
} memo;

struct ledger {
    const ledger_kernel *k;
    memo *memo; /* of each worker */
    double *memory;
    bool wide;
};

ledger *ledger_open(const ledger_kernel *k, par *threads, err *e) {
    ledger *l = mem_new(1, sizeof *l, "ledger", e);
    if (!l) return NULL;
    size_t workers = (size_t)par_threads(threads), room = (size_t)k->s->kw + 1 + k->s->w;
    l->k = k;
    l->wide = vector_wide();
    l->memo = mem_new(workers, sizeof *l->memo, "ledger", e);
    if (l->memo) l->memory = mem_raw(workers * room, sizeof *l->memory, "ledger", e);
    if (!l->memory) ledger_close(&l);
    for (size_t i = 0; l && i < workers; i++)
        l->memo[i] =
            (memo){.sums = l->memory + i * room, .lost = l->memory + i * room + k->s->kw + 1};
    return l;
}

void ledger_close(ledger **l) {
    if (!*l) return;
    mem_free((*l)->memo);
    mem_free((*l)->memory);
    mem_free(*l);
    *l = NULL;
}

/* What the rows of the kernel that land in the image add up to left of each column, for a pixel of
 * row y. */
static void column_sums(const ledger_kernel *k, const double *table, uint32_t y, double *sums) {
    const ledger_axis *axis = &k->axis[PLAN_Y];
    size_t pitch = (size_t)k->s->kw + 1;
    memset(sums, 0, pitch * sizeof *sums);
    for (uint32_t i = axis->first[y]; i < axis->first[y + 1]; i++) {
        const double *lo = table + axis->range[i].from * pitch,
                     *hi = table + axis->range[i].to * pitch;
        for (size_t x = 0; x < pitch; x++) sums[x] += hi[x] - lo[x];
    }
}

/* One kernel's side of it. */
typedef struct {
    double scale, all; /* all: what a pixel spreads, its centre tap not counted */
} side;

/* The part of a pixel that is lost, for columns [from, to). */
static void find_lost(const ledger_kernel *k, side a, const memo *m, uint32_t from, uint32_t to) {
    const ledger_axis *axis = &k->axis[PLAN_X];
    for (uint32_t x = from; x < to; x++) {
        double lands = 0;
        for (uint32_t i = axis->first[x]; i < axis->first[x + 1]; i++)
            lands += m->sums[axis->range[i].to] - m->sums[axis->range[i].from];
        m->lost[x] = a.all - a.scale * lands;
    }
}

#define DOUBLES(v, i)                                                                    \
    (vec4d) {                                                                            \
        (double)(v)[i], (double)(v)[(i) + 1], (double)(v)[(i) + 2], (double)(v)[(i) + 3] \
    }

VECTOR_INLINE double weigh_any(const float *v, const double *by, uint32_t n) {
    vec4d sum = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) sum += DOUBLES(v, i) * DOUBLES(by, i);
    for (; i < n; i++) sum[0] += (double)v[i] * by[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
VECTOR_INLINE double add_up_any(const float *v, uint32_t n) {
    vec4d sum[2] = {{0}, {0}};
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        sum[0] += DOUBLES(v, i);
        sum[1] += DOUBLES(v, i + 4);
    }
    for (; i < n; i++) sum[0][0] += (double)v[i];
    sum[0] += sum[1];
    return (sum[0][0] + sum[0][1]) + (sum[0][2] + sum[0][3]);
}
VECTOR_WIDE static double weigh_wide(const float *v, const double *by, uint32_t n) {
    return weigh_any(v, by, n);
}
static double weigh_plain(const float *v, const double *by, uint32_t n) {
    return weigh_any(v, by, n);
}
VECTOR_WIDE static double add_up_wide(const float *v, uint32_t n) {
    return add_up_any(v, n);
}
static double add_up_plain(const float *v, uint32_t n) {
    return add_up_any(v, n);
}

double ledger_spill(ledger *l, uint32_t channel, uint32_t y, int worker, const float *v) {
    const ledger_kernel *k = l->k;
    const spread *s = k->s;
    memo *m = &l->memo[worker];
    uint32_t kernel = spread_kernel(s, channel);
    const uint32_t *fx = k->axis[PLAN_X].free, *fy = k->axis[PLAN_Y].free;
    double (*weigh)(const float *, const double *, uint32_t) = l->wide ? weigh_wide : weigh_plain;
    double (*add_up)(const float *, uint32_t) = l->wide ? add_up_wide : add_up_plain;
    bool inner = y >= fy[0] && y < fy[1];
    side a = {s->scale[kernel], s->sum[kernel] - s->centre[kernel]};
    if (!inner || !m->inner || m->kernel != kernel) {
        size_t corners = ((size_t)s->kw + 1) * (s->kh + 1);
        column_sums(k, k->table + kernel * corners, y, m->sums);
        find_lost(k, a, m, 0, fx[0]);
        find_lost(k, a, m, fx[1], s->w);
        m->inner = inner;
        m->kernel = kernel;
    }
    double spilled = weigh(v, m->lost, fx[0]) + weigh(v + fx[1], m->lost + fx[1], s->w - fx[1]);
    /* In the middle of a row all lose the same: nothing, but where taps that reach no pixel were
     * cut off, or near the top and the bottom. */
    double middle = a.all - a.scale * m->sums[s->kw];
    if (fabs(middle) > 1e-12 * fabs(s->sum[kernel]))
        spilled += middle * add_up(v + fx[0], fx[1] - fx[0]);
    return spilled;
}
