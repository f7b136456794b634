#include "bloom/ledger.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

double ledger_gap(const ledger_row *r) {
    double gap = r->in + r->gained - r->out - r->spilled - r->bad - r->overflow - r->negative;
    double size = fmax(fabs(r->in), fabs(r->out));
    return size > 0 ? gap / size : 0;
}

enum { STRIP = 16 };

typedef struct {
    const finish_job *j;
    uint32_t c;
    const double
        *table;    /* (kh + 1) * (kw + 1): sums of the tail's taps above and left of a corner */
    double *strip; /* spilled, of each piece */
    double scale, lost; /* lost: what a pixel spreads in all, its centre tap not counted */
    bool keeps;         /* a pixel far from borders loses nothing */
    char *scratch;
    size_t room;
} job;

static double *make_table(const spread *s, uint32_t c, err *e) {
    size_t pitch = (size_t)s->kw + 1;
    double *t = mem_new(pitch * (s->kh + 1), sizeof *t, "sums of the kernel", e);
    const float *tap = spread_taps(s, c);
    for (uint32_t y = 0; t && y < s->kh; y++) {
        double row = 0;
        for (uint32_t x = 0; x < s->kw; x++) {
            row += (double)tap[(size_t)y * s->kw + x];
            t[(y + 1) * pitch + x + 1] = t[y * pitch + x + 1] + row;
        }
    }
    return t;
}

/* Taps [from, to) of an axis that land in the image when the pixel is seen at `place`. */
static void landing(int64_t place, uint32_t extent, uint32_t taps, uint32_t centre,
                    uint32_t range[2]) {
    int64_t from = (int64_t)centre - place, to = from + extent;
    range[0] = (uint32_t)(from < 0 ? 0 : from > taps ? taps : from);
    range[1] = (uint32_t)(to < 0 ? 0 : to > taps ? taps : to);
}

/* What the rows of the kernel that land in the image add up to left of each column, for a pixel of
 * the row that is seen at these places. */
static void column_sums(const job *b, const int64_t *places, uint32_t count, double *sums) {
    const spread *s = b->j->s;
    size_t pitch = (size_t)s->kw + 1;
    memset(sums, 0, pitch * sizeof *sums);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r[2];
        landing(places[i], s->h, s->kh, s->cy, r);
        const double *lo = b->table + r[0] * pitch, *hi = b->table + r[1] * pitch;
        for (size_t x = 0; x < pitch; x++) sums[x] += hi[x] - lo[x];
    }
}

/* Pixels [from, to) of a row, all near a border. */
static double spill_pixels(const job *b, uint32_t y, uint32_t from, uint32_t to, const double *sums,
                           int64_t *places, float *in) {
    const finish_job *j = b->j;
    const spread *s = j->s;
    if (from >= to) return 0;
    image_to_float(in, j->source[b->c], j->type[b->c], (size_t)y * s->w + from, to - from);
    finish_excess_row(&j->excess, in, in, to - from);
    double spilled = 0;
    for (uint32_t x = from; x < to; x++) {
        uint32_t count = border_places(&s->axis[PLAN_X], x, places), r[2];
        double lands = 0;
        for (uint32_t i = 0; i < count; i++) {
            landing(places[i], s->w, s->kw, s->cx, r);
            lands += sums[r[1]] - sums[r[0]];
        }
        spilled += (double)in[x - from] * (b->lost - b->scale * lands);
    }
    return spilled;
}

/* Nothing of a pixel in [range[0], range[1]) of the axis can reach beyond the image. */
static void inside(const spread *s, uint32_t axis, uint32_t range[2]) {
    uint32_t n = s->axis[axis].extent, lo = axis == PLAN_X ? s->cx : s->cy,
             hi = (axis == PLAN_X ? s->kw : s->kh) - 1 - lo;
    /* Nor can it be seen beyond: what a border repeats lies within reach of it. */
    uint32_t near = lo > hi ? lo : hi;
    range[0] = near < n ? near : n;
    range[1] = n > near && n - near > range[0] ? n - near : range[0];
}

static bool spill_strip(void *ctx, size_t index, int worker, err *e) {
    const job *b = ctx;
    (void)e;
    const spread *s = b->j->s;
    double *sums = (double *)(void *)(b->scratch + (size_t)worker * b->room);
    int64_t *xs = (int64_t *)(sums + s->kw + 1), *ys = xs + border_most(&s->axis[PLAN_X]);
    float *in = (float *)(ys + border_most(&s->axis[PLAN_Y]));
    uint32_t y = (uint32_t)index * STRIP, end = y + STRIP < s->h ? y + STRIP : s->h;
    uint32_t free_x[2], free_y[2];
    inside(s, PLAN_X, free_x);
    inside(s, PLAN_Y, free_y);
    double spilled = 0;
    for (; y < end; y++) {
        uint32_t count = border_places(&s->axis[PLAN_Y], y, ys);
        column_sums(b, ys, count, sums);
        bool safe = b->keeps && y >= free_y[0] && y < free_y[1];
        spilled += spill_pixels(b, y, 0, safe ? free_x[0] : s->w, sums, xs, in);
        if (safe) spilled += spill_pixels(b, y, free_x[1], s->w, sums, xs, in);
    }
    b->strip[index] = spilled;
    return true;
}

bool ledger_spilled(double *spilled, const finish_job *j, uint32_t c, par *threads, err *e) {
    const spread *s = j->s;
    uint32_t k = spread_kernel(s, c);
    size_t strips = (s->h + STRIP - 1) / STRIP, corner = ((size_t)s->kw + 1) * (s->kh + 1) - 1;
    job b = {.j = j, .c = c, .scale = s->scale[k], .lost = s->sum[k] - s->centre[k]};
    size_t numbers = s->kw + 1 + (size_t)border_most(&s->axis[PLAN_X]) +
                     border_most(&s->axis[PLAN_Y]) + s->w;
    b.room = (numbers + 8) / 8 * 8 * sizeof(double);
    double *table = make_table(s, c, e);
    b.strip = mem_new(strips, sizeof *b.strip, "light spilled", e);
    b.scratch = mem_raw(b.room, (size_t)par_threads(threads), "sums of the kernel", e);
    bool ok = table && b.strip && b.scratch;
    if (ok) {
        b.table = table;
        b.keeps = fabs(b.lost - b.scale * table[corner]) <= 1e-12 * fabs(s->sum[k]);
        ok = par_for(threads, strips, spill_strip, &b, e);
    }
    double sum = 0;
    for (size_t i = 0; ok && i < strips; i++) sum += b.strip[i];
    if (ok) *spilled = sum;
    mem_free(table);
    mem_free(b.strip);
    mem_free(b.scratch);
    return ok;
}
