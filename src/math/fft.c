#include "math/fft.h"

#include "base/mem.h"
#include "base/steady.h"
#include "base/vector.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Stockham's algorithm: each stage reads one array and writes the other, and leaves its result
 * sorted, so no bits are ever reversed. A stage of radix r splits transforms of length r * m into
 * transforms of length m; `s` counts those that are interleaved. */

enum { MAX_STAGES = 32, MAX_RADIX = 7 };

struct fft {
    uint32_t n, stages;
    uint32_t radix[MAX_STAGES];
    double *twiddle; /* stage after stage: m groups of radix - 1 complex numbers */
};

/* One element of four lines. */
typedef struct {
    vec4d re, im;
} lane;
_Static_assert(sizeof(lane) == FFT_STEP * sizeof(double), "fft.h promises this layout");

/* --- twiddles ---------------------------------------------------------------------------- */

static const double TWO_PI = 6.283185307179586476925286766559;

typedef double wave(double);

/* The angle is brought into the first octant by integers, where sin and cos lose nothing. */
static void root(uint64_t t, uint64_t n, wave *sine, wave *cosine, double *re, double *im) {
    t %= n;
    bool below = 2 * t > n; /* the lower half plane, mirrored up */
    if (below) t = n - t;
    bool left = 4 * t > n;                      /* the left quadrant, mirrored to the right */
    uint64_t right2 = left ? n - 2 * t : 2 * t; /* twice the index, so that halves stay whole */
    bool steep = 4 * right2 > n;
    double angle = steep ? TWO_PI * ((double)n / 4 - (double)right2 / 2) / (double)n
                         : TWO_PI * ((double)right2 / 2) / (double)n;
    double c = steep ? sine(angle) : cosine(angle), s = steep ? cosine(angle) : sine(angle);
    *re = left ? -c : c;
    *im = below ? s : -s;
}

void fft_root(uint64_t t, uint64_t n, double *re, double *im) {
    root(t, n, sin, cos, re, im);
}

void fft_root_steady(uint64_t t, uint64_t n, double *re, double *im) {
    root(t, n, steady_sin_near, steady_cos_near, re, im);
}

/* --- lengths ----------------------------------------------------------------------------- */

static const uint32_t RADICES[] = {4, 2, 3, 5, 7};

static fft *new_with(uint32_t n, wave *sine, wave *cosine, err *e) {
    fft *f = mem_new(1, sizeof *f, "transform", e);
    if (!f) return NULL;
    f->n = n;
    uint32_t rest = n;
    size_t count = 0;
    for (size_t i = 0; n > 0 && i < sizeof RADICES / sizeof *RADICES; i++)
        while (rest % RADICES[i] == 0) {
            rest /= RADICES[i];
            count += (size_t)rest * (RADICES[i] - 1);
            f->radix[f->stages++] = RADICES[i];
        }
    if (rest != 1) {
        err_set(e, ERR_INTERNAL,
                "a transform of length %" PRIu32 " is asked for; only 2^a 3^b 5^c 7^d can be done",
                n);
        goto fail;
    }
    double *w = f->twiddle = mem_raw(count + 1, 2 * sizeof *f->twiddle, "twiddles", e);
    if (!w) goto fail;
    for (uint32_t i = 0; i < f->stages; i++) {
        uint32_t r = f->radix[i], m = n / r;
        for (uint32_t p = 0; p < m; p++)
            for (uint32_t k = 1; k < r; k++, w += 2)
                root((uint64_t)p * k, n, sine, cosine, w, w + 1);
        n = m;
    }
    return f;
fail:
    fft_free(&f);
    return NULL;
}

fft *fft_new(uint32_t n, err *e) {
    return new_with(n, sin, cos, e);
}

static fft *new_for(const fft_plane *p, uint32_t n, err *e) {
    return p->steady ? new_with(n, steady_sin_near, steady_cos_near, e) : fft_new(n, e);
}

void fft_free(fft **f) {
    if (!*f) return;
    mem_free((*f)->twiddle);
    mem_free(*f);
    *f = NULL;
}

/* --- butterflies: a[k] becomes the sum over j of a[j] exp(-2 pi i j k / r) -------------------- */

VECTOR_INLINE void butterfly2(lane *a) {
    lane t = a[1];
    a[1].re = a[0].re - t.re, a[1].im = a[0].im - t.im;
    a[0].re += t.re, a[0].im += t.im;
}

VECTOR_INLINE void butterfly4(lane *a) {
    vec4d r02 = a[0].re + a[2].re, i02 = a[0].im + a[2].im;
    vec4d q02 = a[0].re - a[2].re, j02 = a[0].im - a[2].im;
    vec4d r13 = a[1].re + a[3].re, i13 = a[1].im + a[3].im;
    vec4d q13 = a[1].re - a[3].re, j13 = a[1].im - a[3].im;
    a[0].re = r02 + r13, a[0].im = i02 + i13;
    a[1].re = q02 + j13, a[1].im = j02 - q13;
    a[2].re = r02 - r13, a[2].im = i02 - i13;
    a[3].re = q02 - j13, a[3].im = j02 + q13;
}

/* cos and sin of 2 pi t / r for t <= r / 2; the others are cos(r - t) and -sin(r - t). */
static const double COSINE[MAX_RADIX + 1][4] = {
    [3] = {1, -0.5},
    [5] = {1, 0.30901699437494742410, -0.80901699437494742410},
    [7] = {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624}};
static const double SINE[MAX_RADIX + 1][4] = {
    [3] = {0, 0.86602540378443864676},
    [5] = {0, 0.95105651629515357212, 0.58778525229247312917},
    [7] = {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048}};

/* Does an odd radix: elements j and r - j are added and subtracted first, because the cosines of
 * both are equal and the sines opposite. */
VECTOR_INLINE void butterfly_odd(lane *a, uint32_t r) {
    lane sum[MAX_RADIX / 2 + 1], difference[MAX_RADIX / 2 + 1], first = a[0];
    uint32_t half = r / 2;
    for (uint32_t j = 1; j <= half; j++) {
        sum[j].re = a[j].re + a[r - j].re, sum[j].im = a[j].im + a[r - j].im;
        difference[j].re = a[j].re - a[r - j].re, difference[j].im = a[j].im - a[r - j].im;
        a[0].re += sum[j].re, a[0].im += sum[j].im;
    }
    for (uint32_t k = 1; k <= half; k++) {
        lane c = first, s = {{0}, {0}};
        for (uint32_t j = 1; j <= half; j++) {
            uint32_t t = j * k % r, u = t <= half ? t : r - t;
            double cosine = COSINE[r][u], sine = t <= half ? SINE[r][u] : -SINE[r][u];
            c.re += sum[j].re * cosine, c.im += sum[j].im * cosine;
            s.re += difference[j].re * sine, s.im += difference[j].im * sine;
        }
        a[k].re = c.re + s.im, a[k].im = c.im - s.re;
        a[r - k].re = c.re - s.im, a[r - k].im = c.im + s.re;
    }
}

VECTOR_INLINE void butterfly(lane *a, uint32_t r) {
    if (r == 2)
        butterfly2(a);
    else if (r == 4)
        butterfly4(a);
    else
        butterfly_odd(a, r);
}

/* --- stages ------------------------------------------------------------------------------ */

VECTOR_INLINE void stage(lane *restrict y, const lane *restrict x, uint32_t r, size_t m, size_t s,
                         const double *w) {
    for (size_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (size_t q = 0; q < s; q++) {
            lane a[MAX_RADIX];
            for (uint32_t j = 0; j < r; j++) a[j] = x[q + s * (p + m * j)];
            butterfly(a, r);
            lane *to = y + q + s * r * p;
            to[0] = a[0];
            for (uint32_t k = 1; k < r; k++) {
                double c = w[2 * k - 2], d = w[2 * k - 1];
                to[s * k].re = a[k].re * c - a[k].im * d;
                to[s * k].im = a[k].re * d + a[k].im * c;
            }
        }
}

/* The radix is a constant in each call, so that every loop over it is unrolled. */
VECTOR_INLINE void stage_of(lane *y, const lane *x, uint32_t r, size_t m, size_t s,
                            const double *w) {
    switch (r) {
    case 2: stage(y, x, 2, m, s, w); break;
    case 3: stage(y, x, 3, m, s, w); break;
    case 4: stage(y, x, 4, m, s, w); break;
    case 5: stage(y, x, 5, m, s, w); break;
    case 7: stage(y, x, 7, m, s, w); break;
    }
}

VECTOR_INLINE lane *all_stages(const fft *f, lane *x, lane *y) {
    const double *w = f->twiddle;
    size_t m = f->n, s = 1;
    for (uint32_t i = 0; i < f->stages; i++) {
        uint32_t r = f->radix[i];
        m /= r;
        stage_of(y, x, r, m, s, w);
        w += 2 * m * (r - 1);
        s *= r;
        lane *t = x;
        x = y;
        y = t;
    }
    return x;
}

static lane *all_stages_plain(const fft *f, lane *x, lane *y) {
    return all_stages(f, x, y);
}
VECTOR_WIDE static lane *all_stages_wide(const fft *f, lane *x, lane *y) {
    return all_stages(f, x, y);
}

double *fft_forward(const fft *f, double *a, double *b) {
    return (double *)(vector_wide() ? all_stages_wide : all_stages_plain)(f, (lane *)a, (lane *)b);
}

static void conjugate(double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < FFT_LINES; v++) a[i * FFT_STEP + FFT_LINES + v] *= -1;
}

double *fft_backward(const fft *f, double *a, double *b) {
    conjugate(a, f->n);
    double *result = fft_forward(f, a, b);
    conjugate(result, f->n);
    return result;
}

/* --- half spectra ------------------------------------------------------------------------ */

/* Two passes, as an engine does it: lines that are not zero, two real ones to a complex one; then
 * across, FFT_LINES frequencies at a time. `middle` lies between: [line][k1], complex. */
typedef struct {
    const fft_plane *plane;
    fft *along, *across;
    size_t halves;
    double *middle, *scratch;
    size_t scratch_step; /* doubles per worker */
    void *to;
} half_job;

static bool lines_pass(void *ctx, size_t piece, int worker, err *e) {
    (void)e;
    const half_job *j = ctx;
    const fft_plane *p = j->plane;
    size_t n = p->first;
    double *a = j->scratch + (size_t)worker * j->scratch_step, *b = a + n * FFT_STEP,
           *line = b + n * FFT_STEP;
    memset(a, 0, n * FFT_STEP * sizeof *a);
    uint32_t from = (uint32_t)piece * 2 * FFT_LINES, left = p->lines - from;
    uint32_t count = left < 2 * FFT_LINES ? left : 2 * FFT_LINES;
    for (uint32_t v = 0; v < count; v++) {
        memset(line, 0, n * sizeof *line);
        p->fill(p->ctx, from + v, line);
        double *to = a + v / 2 + v % 2 * FFT_LINES;
        for (size_t i = 0; i < n; i++) to[i * FFT_STEP] = line[i];
    }
    const double *z = fft_forward(j->along, a, b);
    /* z = Z(even line) + i Z(odd line), and each of the two is its own mirrored conjugate. */
    for (uint32_t v = 0; v < count; v++) {
        double *to = j->middle + (from + v) * j->halves * 2;
        const double *re = z + v / 2, *im = re + FFT_LINES;
        for (size_t k = 0; k < j->halves; k++) {
            size_t f = k * FFT_STEP, g = (k ? n - k : 0) * FFT_STEP;
            to[2 * k] = v % 2 ? (im[f] + im[g]) / 2 : (re[f] + re[g]) / 2;
            to[2 * k + 1] = v % 2 ? (re[g] - re[f]) / 2 : (im[f] - im[g]) / 2;
        }
    }
    return true;
}

static void store_line(const half_job *j, size_t k, const double *from) {
    size_t n = j->plane->second;
    if (j->plane->float64) {
        double *to = (double *)j->to + k * n * 2;
        for (size_t i = 0; i < n; i++)
            to[2 * i] = from[i * FFT_STEP], to[2 * i + 1] = from[i * FFT_STEP + FFT_LINES];
    } else {
        float *to = (float *)j->to + k * n * 2;
        for (size_t i = 0; i < n; i++)
            to[2 * i] = (float)from[i * FFT_STEP],
                   to[2 * i + 1] = (float)from[i * FFT_STEP + FFT_LINES];
    }
}

static bool across_pass(void *ctx, size_t piece, int worker, err *e) {
    (void)e;
    const half_job *j = ctx;
    const fft_plane *p = j->plane;
    size_t n = p->second, from = piece * FFT_LINES;
    size_t count = j->halves - from < FFT_LINES ? j->halves - from : FFT_LINES;
    double *a = j->scratch + (size_t)worker * j->scratch_step, *b = a + n * FFT_STEP;
    memset(a, 0, n * FFT_STEP * sizeof *a);
    for (uint32_t i = 0; i < p->lines; i++) {
        const double *m = j->middle + (i * j->halves + from) * 2;
        double *to = a + ((size_t)p->origin + i) % n * FFT_STEP;
        for (size_t v = 0; v < count; v++) to[v] = m[2 * v], to[v + FFT_LINES] = m[2 * v + 1];
    }
    const double *z = fft_forward(j->across, a, b);
    for (size_t v = 0; v < count; v++) store_line(j, from + v, z + v);
    return true;
}

bool fft_half_spectrum(void *to, const fft_plane *p, par *threads, err *e) {
    half_job j = {.plane = p, .halves = p->first / 2 + 1, .to = to};
    size_t longest = p->first > p->second ? p->first : p->second;
    j.scratch_step = longest * (2 * FFT_STEP + 1) + FFT_STEP;
    j.scratch_step -= j.scratch_step % FFT_STEP; /* each worker's part stays aligned */
    bool ok = false;
    if (!(j.along = new_for(p, p->first, e)) || !(j.across = new_for(p, p->second, e))) goto done;
    j.middle = mem_raw(p->lines * j.halves + 1, 2 * sizeof(double), "half spectrum", e);
    if (!j.middle) goto done;
    j.scratch = mem_raw((size_t)par_workers(threads), j.scratch_step * sizeof(double), "lines", e);
    if (!j.scratch) goto done;
    ok = par_for(threads, (p->lines + 2 * FFT_LINES - 1) / (2 * FFT_LINES), lines_pass, &j, e) &&
         par_for(threads, (j.halves + FFT_LINES - 1) / FFT_LINES, across_pass, &j, e);
done:
    mem_free(j.scratch);
    mem_free(j.middle);
    fft_free(&j.across);
    fft_free(&j.along);
    return ok;
}
