#include "kernel/spectrum_resample.h"

#include "base/mem.h"
#include "base/steady.h"
#include "base/vector.h"

/* The filter's taps: for a place p between grid points, points floor(p) - 3 .. floor(p) + 4. */
enum { TAPS = RESAMPLE_TAPS, BEFORE = TAPS / 2 - 1, AFTER = TAPS / 2 };

/* Returns the shape that keeps the aliases of a kernel on a grid of twice its size smallest for
 * this many taps (Beatty, Nishimura and Pauly, IEEE Trans. Med. Imaging 24, 2005, equation 5). */
static double beta(void) {
    return M_PI * sqrt(TAPS * TAPS / 4.0 * 1.5 * 1.5 - 0.8);
}

/* Computes the modified Bessel function of order zero by its power series. */
static double bessel_i0(double x) {
    double term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-17; k++) {
        term *= x * x / 4 / k / k;
        sum += term;
    }
    return sum;
}

/* Returns the transform of the unscaled filter at x cycles per grid step. The sines are steady
 * ones: a C library's may differ from processor to processor. */
static double transform(double x) {
    double s2 = beta() * beta() - M_PI * TAPS * x * M_PI * TAPS * x, s = sqrt(fabs(s2));
    return TAPS * (s2 > 0 ? (steady_exp(s) - steady_exp(-s)) / 2 : steady_sin(s)) / s;
}

double resample_falloff(double x, uint32_t m) {
    return transform(x / m) / transform(0);
}

/* Adds the three nearest aliases on each side; others do not change the second digit. */
double resample_alias(double x, uint32_t m) {
    double sum = 0;
    for (int n = 1; n <= 3; n++) sum += fabs(transform(x / m + n)) + fabs(transform(x / m - n));
    return sum / transform(x / m);
}

/* For each frequency of the result: the first of the grid points that it is made of, their weights,
 * and the phase that moves the kernel. Weights stand twice, for real and imaginary part. */
typedef struct {
    uint32_t n;
    int32_t *base; /* may be as low as -BEFORE */
    float (*weight)[2 * TAPS];
    float (*phase)[2]; /* NULL: no shift */
} window;

static void window_free(window *w) {
    mem_free(w->base);
    mem_free(w->weight);
    mem_free(w->phase);
}

/* Makes the table of one axis, for n frequencies k / length at places k m / length of a grid m. */
static bool window_make(window *w, const resample_request *r, uint32_t axis, uint32_t n, err *e) {
    uint32_t length = r->length[axis], m = r->m[axis];
    int64_t shift = r->shift[axis];
    *w = (window){.n = n};
    if (!(w->base = mem_raw(n, sizeof *w->base, "filter", e)) ||
        !(w->weight = mem_raw(n, sizeof *w->weight, "filter", e)) ||
        (shift && !(w->phase = mem_raw(n, sizeof *w->phase, "filter", e))))
        return false;
    /* Into [0, length): a shift is circular. */
    uint64_t turns = (uint64_t)((shift % length + length) % length);
    uint32_t divisor = length; /* the greatest common one: */
    for (uint32_t rest = m, t; rest; rest = t) t = divisor % rest, divisor = rest;
    uint32_t period = length / divisor; /* of the places between grid points */
    for (uint32_t k = 0; k < n; k++) {
        uint64_t place = (uint64_t)k * m;
        double between = (double)(place % length) / length;
        w->base[k] = (int32_t)(place / length) - BEFORE;
        if (k >= period) memcpy(w->weight[k], w->weight[k - period], sizeof *w->weight);
        for (int t = 0; k < period && t < TAPS; t++) {
            double u = 2 * (between + BEFORE - (double)t) / TAPS; /* the filter's half is 1 */
            double v = u * u < 1 ? bessel_i0(beta() * sqrt(1 - u * u)) / transform(0) : 0;
            w->weight[k][2 * t] = w->weight[k][2 * t + 1] = (float)v;
        }
        if (!shift) continue;
        double re, im;
        steady_root(turns * k, length, &re, &im);
        w->phase[k][0] = (float)re, w->phase[k][1] = (float)im;
    }
    return true;
}

enum { ROWS = 8 }; /* of one piece of work: adjacent, so that a read across them stays in cache */

struct resampling {
    window along;    /* of the first axis */
    uint32_t length; /* of the second */
    uint32_t rows;   /* of `middle`: -BEFORE .. m1/2 + AFTER at the second axis' length */
    size_t pitch;    /* floats of a row */
    float *middle;   /* [channel][row] */
};

typedef struct {
    const resample_request *ask;
    window across;                 /* of the second axis */
    uint32_t m1, m2;               /* source lengths: of the first axis, of the second */
    float *scratch;                /* per worker: ROWS padded source lines */
    size_t line_floats, work_size; /* of one such line, of all of a worker's */
    resampling *to;
} job;

/* Returns i modulo n, in [0, n). */
static uint32_t wrapped(int64_t i, uint32_t n) {
    return (uint32_t)((i % n + n) % n);
}

/* Loads the points -BEFORE .. m2 + AFTER of `count` lines from `row` on. The spectrum of a real
 * kernel is its own mirrored conjugate. */
static void load_lines(const job *j, const float *from, int64_t row, uint32_t count, float *to) {
    const uint32_t mx = j->ask->m[0], my = j->ask->m[1];
    uint32_t i2 = wrapped(-BEFORE, j->m2), i1[ROWS];
    for (uint32_t v = 0; v < count; v++) i1[v] = wrapped(row + v, j->m1);
    for (uint32_t p = 0; p < j->m2 + TAPS; p++) {
        for (uint32_t v = 0; v < count; v++) {
            uint32_t x = j->ask->first ? i2 : i1[v], y = j->ask->first ? i1[v] : i2;
            bool mirrored = x > mx / 2;
            if (mirrored) x = mx - x, y = y ? my - y : 0;
            const float *value = from + ((size_t)x * my + y) * 2;
            float *at = to + v * j->line_floats + 2 * p;
            at[0] = value[0], at[1] = mirrored ? -value[1] : value[1];
        }
        if (++i2 == j->m2) i2 = 0;
    }
}

VECTOR_INLINE void across_line(const window *w, const float *line, float *to) {
    for (uint32_t k = 0; k < w->n; k++) {
        const vec8f_any *x = (const vec8f_any *)(line + 2 * (w->base[k] + BEFORE));
        const vec8f_any *weight = (const vec8f_any *)w->weight[k];
        vec8f sum = x[0] * weight[0] + x[1] * weight[1];
        float re = (sum[0] + sum[2]) + (sum[4] + sum[6]);
        float im = (sum[1] + sum[3]) + (sum[5] + sum[7]);
        if (w->phase) {
            float c = w->phase[k][0], s = w->phase[k][1], t = re;
            re = t * c - im * s;
            im = t * s + im * c;
        }
        to[2 * k] = re, to[2 * k + 1] = im;
    }
}
VECTOR_WIDE static void across_wide(const window *w, const float *line, float *to) {
    across_line(w, line, to);
}

static bool across_pass(void *ctx, size_t index, int worker, err *e) {
    const job *j = ctx;
    resampling *to = j->to;
    uint32_t pieces = ceil_div_u32(to->rows, ROWS);
    size_t channel = index / pieces;
    uint32_t row = (uint32_t)(index % pieces) * ROWS;
    uint32_t count = min_u32(to->rows - row, ROWS);
    const float *from = j->ask->from + channel * (j->ask->m[0] / 2 + 1) * j->ask->m[1] * 2;
    float *lines = j->scratch + (size_t)worker * j->work_size;
    load_lines(j, from, (int64_t)row - BEFORE, count, lines);
    for (uint32_t v = 0; v < count; v++)
        (vector_wide() ? across_wide
                       : across_line)(&j->across, lines + v * j->line_floats,
                                      to->middle + (channel * to->rows + row + v) * to->pitch);
    return true;
}

void resample_close(resampling **ps) {
    resampling *s = *ps;
    if (!s) return;
    window_free(&s->along);
    mem_free(s->middle);
    mem_free(s);
    *ps = NULL;
}

resampling *resample_open(const resample_request *r, par *threads, err *e) {
    uint32_t a = r->first, b = 1 - a;
    resampling *s = mem_new(1, sizeof *s, "spectrum rows", e);
    job j = {.ask = r, .m1 = r->m[a], .m2 = r->m[b], .to = s};
    if (!s) return NULL;
    s->length = r->length[b];
    s->rows = j.m1 / 2 + TAPS;
    s->pitch = 2 * (size_t)s->length;
    j.line_floats = 2 * ((size_t)j.m2 + TAPS);
    j.work_size = ROWS * j.line_floats;
    const size_t row = s->pitch * sizeof(float), work = j.work_size * sizeof(float);
    bool ok =
        window_make(&s->along, r, a, r->length[a] / 2 + 1, e) &&
        window_make(&j.across, r, b, s->length, e) &&
        (s->middle = mem_raw((size_t)s->rows * r->channels, row, "spectrum rows", e)) &&
        (j.scratch = mem_raw((size_t)par_workers(threads), work, "spectrum lines", e)) &&
        par_for(threads, ceil_div_u32(s->rows, ROWS) * (size_t)r->channels, across_pass, &j, e);
    mem_free(j.scratch);
    window_free(&j.across);
    if (!ok) resample_close(&s);
    return s;
}

/* Lines are made in pieces of SPAN floats, whose source rows stay in the nearest cache. */
enum { SPAN = 512 };

/* Makes n floats of a line, from `at` on. */
VECTOR_INLINE void along_span(const resampling *s, const float *x, uint32_t k, size_t n,
                              float *to) {
    const float *w = s->along.weight[k];
    const float *phase = s->along.phase ? s->along.phase[k] : NULL;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        vec8f sum = *(const vec8f_any *)(x + i) * w[0];
        for (int t = 1; t < TAPS; t++)
            sum += *(const vec8f_any *)(x + (size_t)t * s->pitch + i) * w[2 * t];
        if (phase) {
            vec8f turned = __builtin_shufflevector(sum, sum, 1, 0, 3, 2, 5, 4, 7, 6);
            float by = phase[1];
            sum = sum * phase[0] + turned * (vec8f){-by, by, -by, by, -by, by, -by, by};
        }
        *(vec8f_any *)(to + i) = sum;
    }
    for (; i < n; i += 2) {
        float re = 0, im = 0;
        for (int t = 0; t < TAPS; t++) {
            re += x[(size_t)t * s->pitch + i] * w[2 * t];
            im += x[(size_t)t * s->pitch + i + 1] * w[2 * t];
        }
        to[i] = phase ? re * phase[0] - im * phase[1] : re;
        to[i + 1] = phase ? re * phase[1] + im * phase[0] : im;
    }
}

VECTOR_INLINE void along(const resampling *s, const resample_piece *p, float *to) {
    const float *rows = s->middle + (size_t)p->channel * s->rows * s->pitch + 2 * (size_t)p->first;
    size_t n = 2 * (size_t)p->count;
    for (size_t at = 0; at < n; at += SPAN)
        for (uint32_t i = 0; i < p->lines; i++) {
            uint32_t k = p->k1 + i;
            const float *x = rows + (size_t)(s->along.base[k] + BEFORE) * s->pitch + at;
            along_span(s, x, k, n - at < SPAN ? n - at : SPAN, to + i * n + at);
        }
}
VECTOR_WIDE static void along_wide(const resampling *s, const resample_piece *p, float *to) {
    along(s, p, to);
}

float *resample_rows(resampling *s, size_t *count) {
    *count = s->rows;
    return s->middle;
}

void resample_lines(const resampling *s, const resample_piece *p, float *to) {
    (vector_wide() ? along_wide : along)(s, p, to);
}
