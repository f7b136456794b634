/* A transform at places that lie on no grid, by the method of Barnett, Magland and af Klinteberg
 * (2019): divide the opening by the transform of a short bump, transform it on a grid twice as fine
 * as its width needs, and interpolate with the bump. */
#include "kernel/make/pupil.h"

#include "base/mem.h"
#include "base/steady.h"
#include "base/vector.h"
#include "math/fft.h"

enum {
    SMALLEST = 1024, /* samples across the opening; of a bent wave a quarter */
    LARGEST = 2048,
    PAD = 2,
    WIDTH = 8,    /* of the bump, in steps of the grid */
    TABLE = 2048, /* entries of its table per step */
    BLUR = 1024,  /* and of that of the blur of edges */
};

static const double FINE = 0.8 * STEADY_PI;

struct pattern {
    uint32_t side; /* of the grid */
    double reach;
    /* Rows of kx = -WIDTH .. rows - 1, each of real parts and then of imaginary parts, of ky from 0
     * on and WIDTH more, so that no place is at a border. The second grid of a pattern is turned by
     * half a turn, for kx below zero; of a wave that is not bent it is the first one. */
    float *grid[PATTERNS][2];
    size_t rows, pitch; /* of real or imaginary parts */
    pupil of;
    float bump[TABLE + 2][WIDTH]; /* the weights of the steps around a place between two of them */
    /* What takes back the blur, from k = 0 to the reach, over a whole disc. */
    double sharp[BLUR + 2];
};

/* "Exponential of a semicircle", at a distance in steps. */
static double bump(double at) {
    double t = 2 * at / WIDTH;
    return t * t >= 1 ? 0 : steady_exp(2.30 * WIDTH * (sqrt(1 - t * t) - 1));
}

/* Fills in 1 / its transform at frequencies of 1 / side turns per step, for n samples around 0. */
static void over_transform(double *to, size_t n, uint32_t side) {
    enum { STEPS = 400 };
    double at[STEPS], height[STEPS];
    for (int i = 0; i < STEPS; i++) {
        at[i] = (i + 0.5) / STEPS * WIDTH / 2;
        height[i] = 2 * bump(at[i]);
    }
    for (size_t k = 0; k <= n / 2; k++) {
        double sum = 0, turns = (double)k / side;
        for (int i = 0; i < STEPS; i++)
            sum += height[i] * steady_cos(2 * STEADY_PI * turns * at[i]);
        to[n / 2 - k] = 1 / (sum * WIDTH / 2 / STEPS);
        if (k < n - n / 2) to[n / 2 + k] = to[n / 2 - k];
    }
}

/* Sample i of the opening is half a step off the middle; the phase that this gives to the whole
 * transform does not show in its magnitude. */
typedef struct {
    const pupil *of;
    const pupil_drawing *opening;
    const double *over; /* 1 / the bump's transform by sample */
    uint32_t samples, side;
    double times;
    bool imaginary;
} filler;

/* Multiplies a row by one part of exp(i phase). What is not at an edge is not blurred; it goes to a
 * place by its slope, and so gets here the blur that is taken back there. */
static void bend(const filler *f, uint32_t row, double *passes) {
    const double fine = (f->samples - 2 * PUPIL_MARGIN) / 2.0,
                 y = (row + 0.5 - PUPIL_MARGIN) / fine - 1;
    for (uint32_t i = 0; i < f->samples; i++) {
        double slope, turns;
        if (passes[i] == 0) continue;
        turns = f->times * pupil_wave(f->of, (i + 0.5 - PUPIL_MARGIN) / fine - 1, y, &slope);
        turns -= floor(turns) + (f->imaginary ? 0.25 : 0);
        passes[i] *= steady_cos(2 * STEADY_PI * turns) * pupil_blur(f->of, f->times * slope / fine);
    }
}

static void fill(const void *ctx, uint32_t row, double *to) {
    const filler *f = ctx;
    double passes[PUPIL_SIDE];
    pupil_drawing_row(f->opening, row, passes);
    if (f->times != 0) bend(f, row, passes);
    for (uint32_t i = 0; i < f->samples; i++) {
        uint32_t at = (i + f->side - f->samples / 2) % f->side;
        to[at] = passes[i] * f->over[row] * f->over[i];
    }
}

/* Puts a few rows of the transform where they belong, and those near the axis to the other side of
 * it, too. The transforms R and I of the real and the imaginary part of the opening are both those
 * of a real one: R(-k) is the conjugate of R(k). So F is R + i I, and turned by half a turn the
 * conjugate of R - i I. */
typedef struct {
    pattern *p;
    int which;
    const fft_halves *halves[2];
    double *scratch; /* of every worker, two buffers for each part */
} placer;

static void copy_row(const placer *c, int turned, size_t row, const double *const from[2],
                     bool mirrored) {
    const pattern *p = c->p;
    const size_t n = p->side;
    const double sign = mirrored == (turned != 0) ? 1 : -1;
    float *re = p->grid[c->which][turned] + row * 2 * p->pitch, *im = re + p->pitch;
    for (size_t i = 0; i < p->pitch; i++) {
        const size_t at = (mirrored ? (n - i % n) % n : i % n) * FFT_STEP;
        const double *r = from[0] + at, *s = from[1] ? from[1] + at : NULL;
        const double imag = s ? r[FFT_LINES] + sign * s[0] : r[FFT_LINES];
        re[i] = (float)(s ? r[0] - sign * s[FFT_LINES] : r[0]);
        im[i] = (float)(mirrored ? -imag : imag);
    }
}

static bool place_rows(void *ctx, size_t piece, int worker, err *e) {
    const placer *c = ctx;
    const pattern *p = c->p;
    const size_t size = p->side * FFT_STEP;
    const int parts = c->halves[1] ? 2 : 1;
    double *a = c->scratch + (size_t)(worker * parts * 2) * size;
    const double *z[2] = {NULL};
    for (int i = 0; i < parts; i++, a += 2 * size)
        z[i] = fft_halves_lines(c->halves[i], piece * FFT_LINES, a, a + size);
    for (size_t v = 0, row = piece * FFT_LINES; v < FFT_LINES && row < p->rows; v++, row++) {
        const double *const from[] = {z[0] + v, z[1] ? z[1] + v : NULL};
        for (int turned = 0; turned < parts; turned++) {
            copy_row(c, turned, WIDTH + row, from, false);
            if (row > 0 && row <= WIDTH) copy_row(c, turned, WIDTH - row, from, true);
        }
    }
    return true;
}

static bool transform(pattern *p, int which, double times, uint32_t across, par *threads, err *e) {
    uint32_t samples = across + 2 * PUPIL_MARGIN;
    const int parts = times != 0 ? 2 : 1;
    const size_t size = (p->rows + WIDTH) * p->pitch;
    OPEN(pupil_drawing) *opening = pupil_drawing_open(&p->of, across, e);
    OWN_MEM double *over = mem_raw(samples, sizeof *over, "the opening", e);
    if (!opening || !over) return false;
    /* The transform of the bump is taken where the samples count from: the grid's origin, which
     * lies at sample samples / 2, not in the middle between two. */
    over_transform(over, samples, p->side);
    filler f = {&p->of, opening, over, samples, p->side, times, false};
    const fft_plane plane = {p->side, p->side, samples, p->side - samples / 2, fill, &f, false};
    OPEN(fft_halves) *real = fft_halves_open(&plane, threads, e);
    f.imaginary = true;
    OPEN(fft_halves) *imaginary = real && parts > 1 ? fft_halves_open(&plane, threads, e) : NULL;
    float *grid = mem_raw(size, 2 * sizeof(float) * (size_t)parts, "the pattern", e);
    p->grid[which][0] = grid, p->grid[which][1] = grid && parts > 1 ? grid + 2 * size : grid;
    OWN_MEM double *scratch =
        mem_raw((size_t)(par_workers(threads) * parts) * p->side * 2 * FFT_STEP, sizeof *scratch,
                "lines", e);
    placer c = {p, which, {real, imaginary}, scratch};
    return real && (imaginary || parts == 1) && grid && scratch &&
           par_for(threads, (p->rows + FFT_LINES - 1) / FFT_LINES, place_rows, &c, e);
}

/* Light of a bent wave goes to |k| = 2 pi times the slope, at most this times the waves. It stays
 * within the octave before the last one, so no two samples differ by more than a fifth of a turn.
 */
static uint32_t bent_samples(const pupil *of, const double *times, int count, double reach) {
    const double slope = 3 * fabs(of->coma) + 2 * fabs(of->astigmatism) + 2 * fabs(of->focus);
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, times[i]);
    uint32_t samples = SMALLEST / 4;
    while (samples < LARGEST && (FINE * samples < reach || 0.4 * samples < 4 * slope * most))
        samples *= 2;
    return samples;
}

/* Beyond 0.4 pi samples the pattern is taken to fall off as it does within. It is faint there, so
 * the small grid does for twice as far: the large one takes four times as long. The grid's own
 * copies of the pattern are 2 pi / (2 / samples) away. At a quarter of that, and for the large grid
 * at a third, the blur of the edges has made them faint. */
pattern *pattern_new(const pupil *of, const double *times, int count, double reach, bool draft,
                     par *threads, err *e) {
    pattern *p = mem_new(1, sizeof *p, "the pattern", e);
    if (!p) return NULL;
    const bool bent = pupil_waves(of) > 0;
    uint32_t samples = bent                      ? bent_samples(of, times, count, draft ? 0 : reach)
                       : draft                   ? SMALLEST / 2
                       : FINE * SMALLEST < reach ? LARGEST
                                                 : SMALLEST;
    double whole = STEADY_PI / 4 * samples * samples;
    p->of = *of;
    if (bent && !pupil_level(&p->of, e)) return pattern_free(&p), NULL;
    p->side = PAD * samples;
    /* The grid ends at pi / 2 * samples; the last octave is used at most to 0.8 of that. */
    p->reach = fmin(fmax(reach, 64), 0.4 * STEADY_PI * samples);
    p->rows = min_size(p->side / 2, (size_t)(p->reach * PAD / STEADY_PI) + WIDTH) + 1;
    p->pitch = p->side + WIDTH;
    for (int i = 0; i <= TABLE + 1; i++)
        for (int k = 0; k < WIDTH; k++)
            p->bump[i][k] = (float)bump((double)i / TABLE + k - WIDTH / 2);
    for (int i = 0; i <= BLUR + 1; i++) {
        double blur = pupil_blur(of, i * p->reach / BLUR / (STEADY_PI * samples)) * whole;
        p->sharp[i] = 1 / (blur * blur);
    }
    for (int i = 0; p && i < count; i++)
        if (!transform(p, i, bent ? times[i] : 0, samples, threads, e)) pattern_free(&p);
    return p;
}

void pattern_free(pattern **p) {
    if (!*p) return;
    for (int i = 0; i < PATTERNS; i++) mem_free((*p)->grid[i][0]);
    mem_free(*p);
    *p = NULL;
}

/* Fills in the bump's values at the steps around a place, and returns the first of these. */
VECTOR_INLINE int around(const pattern *p, double at, vec8f *weight) {
    double below = floor(at), t = (1 - (at - below)) * TABLE;
    int i = (int)t;
    float f = (float)(t - i);
    const vec8f_any *a = (const void *)p->bump[i], *b = (const void *)p->bump[i + 1];
    *weight = *a + f * (*b - *a);
    return (int)below - WIDTH / 2 + 1;
}

VECTOR_INLINE double one_place(const pattern *p, int which, double kx, double ky) {
    const double steps = PAD / STEADY_PI;
    double far = sqrt(kx * kx + ky * ky), fold = 1;
    for (; far * fold > p->reach; fold /= 2) {
    }
    double side = kx < 0 ? -fold : fold;
    vec8f wx, wy;
    int x = around(p, kx * side * steps, &wx),
        y = around(p, ky * side * steps, &wy) & (int)(p->side - 1);
    const float *at = p->grid[which][kx < 0] + (size_t)(x + WIDTH) * 2 * p->pitch + y;
    vec8f re = wx[0] * *(const vec8f_any *)at, im = wx[0] * *(const vec8f_any *)(at + p->pitch);
    for (int i = 1; i < WIDTH; i++) {
        at += 2 * p->pitch;
        re += wx[i] * *(const vec8f_any *)at, im += wx[i] * *(const vec8f_any *)(at + p->pitch);
    }
    re *= wy, im *= wy;
    vec4d a = VECTOR_DOUBLES(re, 0) + VECTOR_DOUBLES(re, 4);
    vec4d b = VECTOR_DOUBLES(im, 0) + VECTOR_DOUBLES(im, 4);
    double real = a[0] + a[1] + (a[2] + a[3]), imag = b[0] + b[1] + (b[2] + b[3]);
    double i = far * fold / p->reach * BLUR, sharp = p->sharp[(int)i];
    sharp += (i - floor(i)) * (p->sharp[(int)i + 1] - sharp);
    return (real * real + imag * imag) * sharp * fold * fold * fold;
}

VECTOR_INLINE void all_places(const pattern *p, int which, double x, double y, const double *r,
                              size_t n, double *to) {
    for (size_t i = 0; i < n; i++) to[i] = one_place(p, which, r[i] * x, r[i] * y);
}

VECTOR_WIDE static void places_wide(const pattern *p, int which, double x, double y,
                                    const double *r, size_t n, double *to) {
    all_places(p, which, x, y, r, n, to);
}

void pattern_along(const pattern *p, int which, double x, double y, const double *r, size_t n,
                   double *to) {
    (vector_wide() ? places_wide : all_places)(p, which, x, y, r, n, to);
}
