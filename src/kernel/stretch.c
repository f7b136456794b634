#include "kernel/stretch.h"

#include "base/mem.h"

/* Returns how far the shape of a tap reaches to both sides. */
static double half_of(double scale) {
    return scale <= 1 ? 0.5 : scale > 2 ? 2 : 1;
}

double stretch_reach(double taps, double scale, double move) {
    /* The 1e-9 keeps a rounding error from adding a tap. */
    return fmax(0, ceil((taps + half_of(scale)) * scale + move - 0.5 - 1e-9));
}

/* Returns the integral up to x of the shape that reaches `half` to both sides. */
static double area_up_to(double x, double half) {
    if (x <= -half) return 0;
    if (x >= half) return 1;
    if (half < 1) return x + 0.5;
    if (x > 0) return 1 - area_up_to(-x, half);
    double t = x + half;
    if (half < 2) return t * t / 2;
    return x < -1 ? t * t * t * t / 24 : 0.5 + x * (2 / 3.0 - x * x * (1 / 3.0 + x / 8));
}

/* New tap i of an axis is the sum of weight[i * most + k] * tap first[i] + k, for k < count[i]. */
typedef struct {
    uint32_t *first, *count;
    double *weight;
    size_t most;
} axis_weights;

static bool weigh(axis_weights *a, const stretch *s, int axis, err *e) {
    const uint32_t n = s->to[axis];
    const double scale = s->scale[axis], half = half_of(scale);
    a->most = (size_t)(1 / scale + 2 * half) + 3;
    a->first = mem_new(n, 2 * sizeof *a->first, "weights", e);
    a->weight = mem_new(n, a->most * sizeof *a->weight, "weights", e);
    if (!a->first || !a->weight) return false;
    a->count = a->first + n;
    for (uint32_t i = 0; i < n; i++) {
        double left = s->middle[axis] + ((double)i - s->at[axis] - s->move[axis] - 0.5) / scale;
        double right = left + 1 / scale, last = fmin(s->from[axis] - 1.0, ceil(right + half));
        for (double q = fmax(0, floor(left - half)); q <= last; q++) {
            double w = area_up_to(right - q, half) - area_up_to(left - q, half);
            if (!(w > 0)) continue;
            if (a->count[i] == 0) a->first[i] = (uint32_t)q;
            a->weight[i * a->most + a->count[i]++] = w;
        }
    }
    return true;
}

typedef struct {
    const stretch *s;
    const double *from, *weight;
    axis_weights axis[2];
    double *wide; /* rows stretched along x */
    double *to;
    uint32_t channels;
} stretching;

static bool stretch_row(void *ctx, size_t row, int worker, err *e) {
    (void)worker, (void)e;
    const stretching *j = ctx;
    const axis_weights *a = &j->axis[0];
    for (uint32_t i = 0; i < j->s->to[0]; i++) {
        const double *tap = j->from + row * j->s->from[0] + a->first[i];
        double sum = 0;
        for (uint32_t k = 0; k < a->count[i]; k++) sum += a->weight[i * a->most + k] * tap[k];
        j->wide[row * j->s->to[0] + i] = sum;
    }
    return true;
}

static bool add_row(void *ctx, size_t row, int worker, err *e) {
    (void)worker, (void)e;
    const stretching *j = ctx;
    const axis_weights *a = &j->axis[1];
    const size_t w = j->s->to[0], plane = w * j->s->to[1];
    for (uint32_t k = 0; k < a->count[row]; k++) {
        const double *from = j->wide + (a->first[row] + k) * w;
        for (uint32_t c = 0; c < j->channels; c++) {
            double *to = j->to + c * plane + row * w;
            double by = a->weight[row * a->most + k] * j->weight[c];
            for (size_t x = 0; x < w; x++) to[x] += by * from[x];
        }
    }
    return true;
}

static bool each_row(par *threads, size_t rows, par_fn *fn, stretching *j, err *e) {
    if (threads) return par_for(threads, rows, fn, j, e);
    for (size_t i = 0; i < rows; i++) fn(j, i, 0, e);
    return true;
}

bool stretch_add(double *to, uint32_t channels, const stretch *s, const double *from,
                 const double *weight, par *threads, err *e) {
    stretching j = {.s = s, .from = from, .weight = weight, .to = to, .channels = channels};
    j.wide = mem_raw((size_t)s->to[0] * s->from[1], sizeof *j.wide, "stretched rows", e);
    bool ok = j.wide && weigh(&j.axis[0], s, 0, e) && weigh(&j.axis[1], s, 1, e) &&
              each_row(threads, s->from[1], stretch_row, &j, e) &&
              each_row(threads, s->to[1], add_row, &j, e);
    mem_free(j.wide);
    for (int a = 0; a < 2; a++) mem_free(j.axis[a].first), mem_free(j.axis[a].weight);
    return ok;
}
