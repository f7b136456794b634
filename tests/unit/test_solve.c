/* Glare that is taken away again: compared with a direct dense solve in double, pixel by pixel, on
 * frames and kernels that are meant to break the bound. SOLVE_TRIALS='20000 100' makes 20,000 of
 * them from number 100 on, and SOLVE_NOISE=1000 that many of noise. */
#include "unit/glare.h"

enum { MOST = 16 * 16, KERNEL = 11 };

/* --- the reference ------------------------------------------------------------------------------
 */

/* Where a border shows place i of n; -1: nowhere. */
static int shown(plan_border b, int n, int i) {
    if (i >= 0 && i < n) return i;
    if (b == BORDER_ZERO) return -1;
    if (b == BORDER_CLAMP) return i < 0 ? 0 : n - 1;
    const int period = b == BORDER_WRAP ? n : 2 * n;
    i = (i % period + period) % period;
    return i < n ? i : 2 * n - 1 - i;
}

/* The taps of one channel as they are applied, and the image. */
typedef struct {
    int w, h, kw, kh;
    double tap[KERNEL * KERNEL]; /* of the tail, times the amount */
    double core;
    plan_border border[PLAN_AXES];
} system_of;

/* Solves x = (1 - mask) y + mask (y - tail x) / core by elimination with pivots. */
static void dense(double *x, const system_of *s, const double *y, const float *mask) {
    const int n = s->w * s->h;
    static double m[MOST][MOST + 1];
    memset(m, 0, sizeof m);
    for (int p = 0; p < n; p++) {
        const double part = (double)mask[p];
        m[p][p] += 1;
        m[p][n] = part < 1 ? (1 - part) * y[p] + part * y[p] / s->core : y[p] / s->core;
        for (int q = 0; q < s->kw * s->kh; q++) {
            const int i = shown(s->border[PLAN_X], s->w, p % s->w - (q % s->kw - s->kw / 2)),
                      j = shown(s->border[PLAN_Y], s->h, p / s->w - (q / s->kw - s->kh / 2));
            if (i >= 0 && j >= 0) m[p][j * s->w + i] += part * s->tap[q] / s->core;
        }
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i][k]) > fabs(m[best][k])) best = i;
        for (int j = k; j <= n; j++) {
            const double v = m[k][j];
            m[k][j] = m[best][j], m[best][j] = v;
        }
        for (int i = k + 1; i < n; i++) {
            const double by = m[i][k] / m[k][k];
            for (int j = k; by != 0 && j <= n; j++) m[i][j] -= by * m[k][j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] = m[k][n];
        for (int j = k + 1; j < n; j++) x[k] -= m[k][j] * x[j];
        x[k] /= m[k][k];
    }
}

/* Pixels of all trials of which nobody can say whether they are below zero. */
static uint64_t doubtful;

/* --- trials --------------------------------------------------------------------------------------
 */

typedef struct {
    uint64_t seed;
    int w, h, kw, kh, channels;
    bool half, signs, colour, masked, slow;
    double radius, amount;
    float tap[3][KERNEL * KERNEL];
    bloom_settings s;
    system_of system[3];
    const char *kernel;
    float mask[MOST];
} trial;

/* Makes a kernel whose ratio is `ratio` in its strongest channel: taps by chance beyond the radius,
 * a core within. */
static void make_kernel(trial *t, double ratio) {
    const int n = t->kw * t->kh;
    uint64_t *seed = &t->seed;
    const uint32_t kind = make_below(seed, 3);
    image *k = make_blank(t->colour ? "B:float G:float R:float" : "Y:float", 0, 0, (uint32_t)t->kw,
                          (uint32_t)t->kh);
    k->head.part[0].aspect = 1;
    for (int c = 0; c < (t->colour ? 3 : 1); c++) {
        double tail = 0;
        const double own = c == 1 || t->slow ? ratio : ratio * make_chance(seed);
        for (int i = 0; i < n; i++) {
            const double x = i % t->kw - t->kw / 2, y = i / t->kw - t->kh / 2, r = hypot(x, y);
            double v = kind == 0                 ? make_chance(seed)
                       : kind == 1               ? pow(1 + r, -2.5)
                       : make_chance(seed) < 0.2 ? 1
                                                 : 0;
            if (t->slow || (t->signs && make_below(seed, 3) == 0)) v = -v;
            t->tap[c][i] = (float)v;
            if (r > t->radius) tail += fabs(v);
        }
        double core = tail > 0 ? 1 / (1 + own) : 1;
        int within = 0;
        for (int i = 0; i < n; i++)
            within += hypot(i % t->kw - t->kw / 2, i / t->kw - t->kh / 2) <= t->radius;
        for (int i = 0; i < n; i++) {
            const bool in = hypot(i % t->kw - t->kw / 2, i / t->kw - t->kh / 2) <= t->radius;
            if (in)
                t->tap[c][i] = (float)(core / within);
            else
                t->tap[c][i] *= tail > 0 ? (float)(own / (1 + own) / tail) : 0;
        }
        memcpy(k->plane[0][t->colour ? 2 - c : 0], t->tap[c], (size_t)n * sizeof(float));
    }
    t->kernel = make_path("k.exr");
    CHECK_OK(image_save(t->kernel, k, make_threads(), &e));
    image_free(&k);
    for (int c = 0; c < t->channels; c++) {
        system_of *s = &t->system[c];
        const float *tap = t->tap[t->colour ? c : 0];
        *s = (system_of){.w = t->w,
                         .h = t->h,
                         .kw = t->kw,
                         .kh = t->kh,
                         .core = 1 - t->amount,
                         .border = {t->s.border[PLAN_X], t->s.border[PLAN_Y]}};
        double core = 0;
        for (int i = 0; i < n; i++) {
            const bool in = hypot(i % t->kw - t->kw / 2, i / t->kw - t->kh / 2) <= t->radius;
            if (in) core += (double)tap[i];
            s->tap[i] = in ? 0 : t->amount * (double)tap[i];
        }
        s->core += t->amount * (double)(float)core;
    }
}

/* `slow`: a ratio of 0.9999 and flat light, of which a step takes no more than that. */
static trial make_trial(uint64_t number, bool slow) {
    trial t = {.seed = number * 7919 + 1};
    uint64_t *seed = &t.seed;
    t.w = 1 + (int)make_below(seed, 16), t.h = 1 + (int)make_below(seed, 16);
    t.kw = 1 + (int)make_below(seed, KERNEL), t.kh = 1 + (int)make_below(seed, KERNEL);
    t.channels = make_below(seed, 2) ? 3 : 1;
    t.colour = t.channels == 3 && make_below(seed, 2);
    t.half = make_below(seed, 2);
    t.signs = make_below(seed, 3) == 0;
    t.radius = make_below(seed, 3);
    t.amount = make_below(seed, 2) ? 1 : 0.3 + 0.7 * make_chance(seed);
    t.s = glare_settings(glare_device(make_below(seed, 40) == 0 && glare_device(1)));
    t.s.solve = true;
    t.s.kernel.normalize = PSF_NONE;
    t.s.core = t.radius;
    t.s.sharpen = 1 - t.amount;
    t.s.precision = make_below(seed, 4) ? PRECISION_AUTO : PRECISION_FLOAT64;
    t.s.spectrum = make_below(seed, 2) ? SPECTRUM_RESAMPLED : SPECTRUM_EXACT;
    t.s.tolerance = pow(10, -1 - 2 * make_chance(seed));
    t.s.border[PLAN_X] = (plan_border)make_below(seed, BORDERS);
    t.s.border[PLAN_Y] = (plan_border)make_below(seed, BORDERS);
    const double ratio = 0.02 + 0.96 * make_chance(seed);
    if (slow) {
        t.slow = true, t.signs = t.colour = false, t.amount = 1, t.s.sharpen = 0;
        t.s.border[PLAN_X] = t.s.border[PLAN_Y] = BORDER_MIRROR;
        t.s.tolerance = 0.3;
    }
    make_kernel(&t, slow ? 0.9999 : ratio);
    t.masked = make_below(seed, 4) == 0;
    if (t.masked) t.s.mask = "m";
    for (int i = 0; i < MOST; i++)
        t.mask[i] = t.masked ? (float)fmax(0, fmin(1, 2 * make_chance(seed) - 0.5)) : 1;
    return t;
}

/* A plate: an image that was bloomed, or light by chance. */
static void make_plate(image *img, trial *t) {
    uint64_t *seed = &t->seed;
    const uint32_t any = make_below(seed, 4), kind = t->slow ? 0 : any;
    const int n = t->w * t->h;
    const int sun = (int)make_below(seed, (uint32_t)n);
    /* The mask of black pixels alone: all that they are changed by is glare from outside. */
    for (int i = 0; kind == 3 && t->masked && i < n; i++) t->mask[i] = i % 3 == 0;
    for (int i = 0; t->masked && i < n; i++) glare_put(img, t->channels, (size_t)i, t->mask[i]);
    for (int c = 0; c < t->channels; c++) {
        const double bright = pow(10, 4 * make_chance(seed));
        for (int i = 0; i < n; i++) {
            double v = kind == 0 ? 0.18 : make_chance(seed);
            if (kind >= 2) v = pow(v, 4);
            if (kind == 3 && i % 3 == 0) v = 0;
            if (i == sun && kind % 2) v = bright;
            glare_put(img, c, (size_t)i, (float)v);
        }
    }
}

/* Takes the glare of an image away, and returns the report, to be freed. */
static bloom_report *solve(const bloom *b, image *img, double *const *bound) {
    rows_image rows;
    bloom_report *r = calloc(1, sizeof *r);
    CHECK_OK(rows_image_open(&rows, img, &e));
    CHECK_OK(bloom_run(b, &(bloom_rows){rows.in, rows.out, .bounds = bound}, r, &e));
    rows_image_close(&rows);
    return r;
}

/* Returns the largest bound by the largest error; fails where an error is beyond its bound. */
static double try(uint64_t number, bool slow, bool *kept) {
    trial t = make_trial(number, slow);
    static double bound[3][MOST], y[MOST], want[MOST];
    double *doubles[3] = {bound[0], bound[1], bound[2]}, most = 0, off = 0;
    const char *type = t.half ? "half" : "float", *mask = t.masked ? "m:float" : "";
    char list[64];
    if (t.channels == 3)
        snprintf(list, sizeof list, "B:%s G:%s R:%s %s", type, type, type, mask);
    else
        snprintf(list, sizeof list, "Y:%s %s", type, mask);
    image *img = glare_image(list, (uint32_t)t.w, (uint32_t)t.h);
    make_plate(img, &t);
    image *came = glare_copy(img);
    bloom *b = bloom_open(&t.s, t.kernel, make_threads(), &e);
    CHECK_OK(b);
    bloom_report *r = solve(b, img, doubles);
    bloom_close(&b);
    *kept = r->sum.promise.method.kept;
    CHECK_LE(r->sum.solved.blooms, 2 * r->sum.solved.steps + 2);
    const int n = t.w * t.h;
    uint64_t below = 0, surely = 0; /* pixels, of the reference, and by what is told of them */
    for (int c = 0; c < t.channels; c++) {
        const double dark = glare_dark(came, c);
        for (int i = 0; i < n; i++) y[i] = (double)glare_get(came, c, (size_t)i);
        dense(want, &t.system[t.channels == 3 ? 2 - c : 0], y, t.mask);
        for (int i = 0; i < n; i++) {
            const double got = (double)glare_get(img, c, (size_t)i), error = fabs(got - want[i]),
                         size = fmax(fabs(want[i]), dark);
            if (!(error <= bound[c][i] * (1 + 1e-12)))
                fail_msg("trial %llu, channel %d, pixel %d: %g, should be %g; off by %g, the bound "
                         "is %g",
                         (unsigned long long)number, c, i, got, want[i], error, bound[c][i]);
            if (size > 0) most = fmax(most, bound[c][i] / size), off = fmax(off, error / size);
            const double least = -t.s.tolerance * fabs(y[i]);
            below += want[i] < least, surely += got + bound[c][i] * (1 + 1e-12) < least;
            doubtful += fabs(want[i] - least) <= bound[c][i];
        }
    }
    /* Those that are said to be below zero are so, and none that is known to be is left out. */
    CHECK_LE((double)r->sum.solved.negative, (double)below);
    CHECK_LE((double)surely, (double)r->sum.solved.negative);
    image_free(&img);
    image_free(&came);
    free(r);
    return off > 0 ? most / off : most > 0 ? INFINITY : 1;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(no_pixel_is_beyond_its_bound) {
    const char *asked = getenv("SOLVE_TRIALS");
    char *from = "0";
    const size_t trials = strtoul(asked ? asked : "100", &from, 10),
                 first = strtoul(from, NULL, 10);
    OWN_HEAP double *part = malloc(trials * sizeof *part);
    size_t kept = 0;
    for (size_t i = 0; i < trials; i++) {
        bool ok;
        part[i] = try(first + i, false, &ok);
        kept += ok;
    }
    qsort(part, trials, sizeof *part, by_size);
    print_message("bound by error: median %.3g, nine tenths %.3g, most %.3g; %zu of %zu kept\n",
                  part[trials / 2], part[trials * 9 / 10], part[trials - 1], kept, trials);
    CHECK_LE(part[trials / 2], 3);
    assert_true(doubtful > 0);
}

/* A step gains next to nothing there, and the series is to go on all the same. */
TEST(a_ratio_of_nearly_1_takes_its_steps) {
    bool kept;
    try(1, true, &kept);
    assert_true(kept);
}

/* Adds noise to a plate, and returns by how much its root mean square grows, in parts of what a
 * plan foretells. Fails where a pixel grows by more than the plan's maximum. */
static double try_noise(uint64_t number) {
    trial t = make_trial(number, false);
    static double bound[2][3][MOST], noise[3][MOST];
    double of = 0, grown = 0;
    const char *list = t.channels == 3 ? "B:float G:float R:float" : "Y:float";
    image *img = glare_image(list, (uint32_t)t.w, (uint32_t)t.h);
    t.masked = false, t.s.mask = NULL;
    t.s.tolerance = 1e-3;
    make_plate(img, &t);
    image *noisy = glare_copy(img), *plan = glare_copy(img);
    const size_t n = (size_t)t.w * (size_t)t.h;
    for (int c = 0; c < t.channels; c++)
        for (size_t i = 0; i < n; i++) {
            const float v = glare_get(img, c, i);
            glare_put(noisy, c, i, v + 0.1F * (float)(make_chance(&t.seed) - 0.5));
            noise[c][i] = (double)glare_get(noisy, c, i) - (double)v;
        }
    bloom *b = bloom_open(&t.s, t.kernel, make_threads(), &e);
    bloom_report *r = calloc(1, sizeof *r);
    CHECK_OK(b);
    CHECK_OK(bloom_predict(b, plan, NULL, r, &e));
    free(solve(b, img, (double *[]){bound[0][0], bound[0][1], bound[0][2]}));
    free(solve(b, noisy, (double *[]){bound[1][0], bound[1][1], bound[1][2]}));
    bloom_close(&b);
    for (int c = 0; c < t.channels; c++) {
        double most = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(noise[c][i]));
        for (size_t i = 0; i < n; i++) {
            const double by = (double)glare_get(noisy, c, i) - (double)glare_get(img, c, i);
            of += noise[c][i] * noise[c][i], grown += by * by;
            CHECK_LE(fabs(by), most * r->sum.solved.noise_most + bound[0][c][i] + bound[1][c][i]);
        }
    }
    const double part = sqrt(grown / of) / r->sum.solved.noise;
    image_free(&img);
    image_free(&noisy);
    image_free(&plan);
    free(r);
    return part;
}

TEST(noise_grows_by_no_more_than_a_plan_says) {
    const char *asked = getenv("SOLVE_NOISE");
    const size_t trials = strtoul(asked ? asked : "40", NULL, 10);
    double squares = 0;
    for (size_t i = 0; i < trials; i++) {
        const double part = try_noise(i);
        squares += part * part;
    }
    print_message("noise by what a plan says: %.3g\n", sqrt(squares / (double)trials));
    CHECK_LE(sqrt(squares / (double)trials), 1);
}

RUN_TESTS(NULL, NULL)
