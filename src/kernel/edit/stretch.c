#include "kernel/edit/stretch.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* Returns the integral of a tap's shape up to x: a box of width 1, or a tent of width 2. */
static double stretch_area_up_to(double x, bool box) {
    if (box) return clamp_double(x + 0.5, 0, 1);
    if (x <= -1) return 0;
    if (x >= 1) return 1;
    return x < 0 ? (x + 1) * (x + 1) / 2 : 1 - (1 - x) * (1 - x) / 2;
}

uint32_t stretch_reach(uint32_t taps, double scale, double move) {
    double half = scale > 1 ? 1 : 0.5;
    /* The 1e-9 keeps a rounding error from adding a tap. */
    return (uint32_t)fmax(0, ceil((taps + half) * scale + move - 0.5 - 1e-9));
}

bool stretch_axis_make(stretch_axis *a, uint32_t from, uint32_t to, double scale, double move,
                       err *e) {
    bool box = scale <= 1;
    double half = box ? 0.5 : 1, middle = from / 2;
    size_t most = (size_t)(1 / scale + 2 * half) + 3, used = 0;
    *a = (stretch_axis){.from = from, .to = to};
    a->first = mem_new(to, sizeof *a->first, "weights", e);
    a->count = mem_new(to, sizeof *a->count, "weights", e);
    a->at = mem_new(to, sizeof *a->at, "weights", e);
    a->weight = mem_new((size_t)to * most, sizeof *a->weight, "weights", e);
    if (!a->first || !a->count || !a->at || !a->weight) {
        stretch_axis_free(a);
        return false;
    }
    for (uint32_t i = 0; i < to; i++) {
        double left = middle + ((double)i - to / 2 - move - 0.5) / scale, right = left + 1 / scale;
        double first = fmax(0, floor(left - half)), last = fmin(from - 1.0, ceil(right + half));
        a->at[i] = used;
        for (double q = first; q <= last; q++) {
            double w = stretch_area_up_to(right - q, box) - stretch_area_up_to(left - q, box);
            if (!(w > 0)) continue;
            if (a->count[i] == 0) a->first[i] = (uint32_t)q;
            a->weight[used++] = w;
            a->count[i]++;
        }
    }
    return true;
}

void stretch_axis_free(stretch_axis *a) {
    mem_free(a->first);
    mem_free(a->count);
    mem_free(a->at);
    mem_free(a->weight);
    *a = (stretch_axis){0};
}

typedef struct {
    const double *from, *weight;
    const stretch_axis *x, *y;
    double *wide; /* rows stretched along x */
    edit_kernel *to;
} stretching;

static bool stretch_row(void *ctx, size_t row, int worker, err *e) {
    (void)worker, (void)e;
    const stretching *s = ctx;
    const double *from = s->from + row * s->x->from;
    for (uint32_t i = 0; i < s->x->to; i++) {
        const double *w = s->x->weight + s->x->at[i], *tap = from + s->x->first[i];
        double sum = 0;
        for (uint32_t k = 0; k < s->x->count[i]; k++) sum += w[k] * tap[k];
        s->wide[row * s->x->to + i] = sum;
    }
    return true;
}

static bool stretch_add_row(void *ctx, size_t row, int worker, err *e) {
    (void)worker, (void)e;
    const stretching *s = ctx;
    const uint32_t w = s->to->w;
    const size_t plane = (size_t)w * s->to->h;
    for (uint32_t k = 0; k < s->y->count[row]; k++) {
        const double *from = s->wide + (s->y->first[row] + k) * (size_t)w;
        double share = s->y->weight[s->y->at[row] + k];
        for (uint32_t c = 0; c < s->to->channels; c++) {
            double *to = s->to->tap + c * plane + row * w, by = share * s->weight[c];
            for (uint32_t x = 0; x < w; x++) to[x] += by * from[x];
        }
    }
    return true;
}

bool stretch_add(edit_kernel *to, const double *from, const stretch_axis axis[2],
                 const double weight[EDIT_CHANNELS], par *threads, err *e) {
    stretching s = {from, weight, &axis[0], &axis[1], NULL, to};
    s.wide = mem_raw((size_t)s.x->to * s.y->from, sizeof *s.wide, "stretched rows", e);
    bool ok = s.wide && par_for(threads, s.y->from, stretch_row, &s, e) &&
              par_for(threads, s.y->to, stretch_add_row, &s, e);
    mem_free(s.wide);
    return ok;
}
