/* test_lanes.c - long transforms against sums in double, and each form of the code against the
 * others: the same bytes in every lane.
 *
 * The bound. Every stage rounds numbers of all sizes by at most a few halves of an ulp, and the
 * errors add like noise: docs/inside/math.md, "The error of a transform", has 0.6 u sqrt(log2 n)
 * and what twiddles add. What is seen is below 0.6 of the bound. */
#include "math/lanes.h"

#include "math/fft.h"
#include "math/lengths.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <complex.h>

enum { MOST = 16 }; /* lanes */
typedef long double complex exact;

static uint64_t seed;

static double noise(void) { /* -1 .. 1, a float */
    return (double)(float)(2 * make_chance(&seed) - 1);
}

/* The code of a form at work on the lines of `from`, [line][number], complex. */
typedef struct {
    const lanes *f;
    const lanes_code *code;
    bool float64;
    char *matrix, *scratch;
    size_t number; /* bytes */
} work;

static work work_of(const lanes *f, int form, bool float64) {
    work w = {.f = f, .code = lanes_code_of(form, float64), .float64 = float64};
    w.number = 2 * w.code->lanes * (float64 ? sizeof(double) : sizeof(float));
    w.matrix = mem_raw((size_t)f->a * f->pitch, w.number, "matrix", NULL);
    w.scratch = mem_raw(2 * (size_t)(f->a + f->b), w.number, "scratch", NULL);
    return w;
}

static void work_free(work *w) {
    mem_free(w->matrix);
    mem_free(w->scratch);
}

static double get(const work *w, uint32_t at, uint32_t part, uint32_t lane) {
    size_t i = ((size_t)at * 2 + part) * w->code->lanes + lane;
    return w->float64 ? ((double *)w->matrix)[i] : (double)((float *)w->matrix)[i];
}

static void set(work *w, uint32_t at, uint32_t part, uint32_t lane, double v) {
    size_t i = ((size_t)at * 2 + part) * w->code->lanes + lane;
    if (w->float64)
        ((double *)w->matrix)[i] = v;
    else
        ((float *)w->matrix)[i] = (float)v;
}

/* Transforms all columns, or all rows, in place. */
static void level(work *w, bool columns, const void *turns) {
    const lanes *f = w->f;
    uint32_t lines = columns ? f->b : f->a, each = columns ? f->a : f->b;
    size_t turn = w->number / w->code->lanes;
    for (uint32_t i = 0; i < lines; i++) {
        char *at = w->matrix + (columns ? i : (size_t)i * f->pitch) * w->number;
        w->code->line(
            &(lanes_line){.level = columns ? &f->column : &f->row,
                          .from = at,
                          .at = columns ? f->down : f->along,
                          .turns = turns ? (const char *)turns + (size_t)i * each * turn : NULL,
                          .to = at,
                          .step = columns ? f->pitch : 1,
                          .count = UINT32_MAX,
                          .scratch = {w->scratch, w->scratch + (f->a + f->b) * w->number}});
    }
}

static void there(work *w, const double complex *in) {
    for (uint32_t i = 0; i < w->f->n; i++)
        for (uint32_t v = 0; v < w->code->lanes; v++) {
            double complex z = in[(size_t)v * w->f->n + i];
            set(w, w->f->seat[i], 0, v, creal(z));
            set(w, w->f->seat[i], 1, v, cimag(z));
        }
    level(w, true, NULL);
    level(w, false, w->f->turns);
}

/* Exchanges the parts, and goes back. */
static void back(work *w) {
    for (uint32_t k = 0; k < w->f->n; k++)
        for (uint32_t v = 0; v < w->code->lanes; v++) {
            uint32_t at = w->f->place[k];
            double re = get(w, at, 0, v);
            set(w, at, 0, v, get(w, at, 1, v));
            set(w, at, 1, v, re);
        }
    level(w, false, NULL);
    level(w, true, w->f->turns_t);
}

static double bound(uint32_t n, bool float64) {
    return (float64 ? 0x1p-53 : 0x1p-24) * (1 + 0.9 * sqrt(log2((double)n)));
}

/* Compares some frequencies of the last lane with the definition. */
static double error_of(const work *w, const double complex *in, const exact *root) {
    uint32_t n = w->f->n, lane = w->code->lanes - 1;
    double error = 0, norm = 0;
    for (uint32_t i = 0; i < 24; i++) {
        uint32_t k = n <= 24 ? i % n : (uint32_t)((uint64_t)i * n / 24 + i) % n;
        exact sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += in[(size_t)lane * n + j] * root[(uint64_t)j * k % n];
        uint32_t at = w->f->place[k];
        exact d = sum - (get(w, at, 0, lane) + I * get(w, at, 1, lane));
        error += (double)(creall(d) * creall(d) + cimagl(d) * cimagl(d));
        norm += (double)(creall(sum) * creall(sum) + cimagl(sum) * cimagl(sum));
    }
    return sqrt(error / norm);
}

/* Checks that the first lines are the same in two forms, there and back. NaN is NaN. */
static void same(const work *a, const work *b) {
    uint32_t few = a->code->lanes < b->code->lanes ? a->code->lanes : b->code->lanes;
    for (uint32_t i = 0; i < a->f->n; i++)
        for (uint32_t v = 0; v < 2 * few; v++) {
            double x = get(a, a->f->seat[i], v % 2, v / 2), y = get(b, a->f->seat[i], v % 2, v / 2);
            if (memcmp(&x, &y, sizeof x) != 0 && !(isnan(x) && isnan(y)))
                fail_msg("length %u, number %u, lane %u: %a and %a", a->f->n, i, v / 2, x, y);
        }
}

static void check_length(uint32_t n, bool float64, bool summed) {
    OWN_MEM double complex *in = mem_raw((size_t)MOST * n, sizeof *in, "in", &e);
    OWN_MEM exact *root = mem_raw(n, sizeof *root, "roots", &e);
    OWN(lanes) *f = MADE(lanes_new(n, float64, &e));
    seed = n;
    for (size_t i = 0; i < (size_t)MOST * n; i++) in[i] = noise() + I * noise();
    for (uint32_t t = 0; t < n; t++) {
        long double angle = (long double)2 * 3.14159265358979323846264338327950288L * t / n;
        root[t] = cosl(angle) - I * sinl(angle);
    }
    OWN(work) one = work_of(f, 0, float64);
    there(&one, in);
    if (summed) CHECK_LE(error_of(&one, in, root), bound(n, float64));
    for (int form = 1; form <= lanes_form(); form++) {
        OWN(work) other = work_of(f, form, float64);
        there(&other, in);
        same(&one, &other);
        if (form == lanes_form()) {
            back(&one);
            back(&other);
            same(&one, &other);
        }
    }
    if (!lanes_form()) back(&one);
    for (uint32_t i = 0; i < n; i++) {
        double complex z = get(&one, f->seat[i], 1, 0) + I * get(&one, f->seat[i], 0, 0);
        CHECK_LE(cabs(z / n - in[i]), 8 * bound(n, float64)); /* six sigma, there and back */
    }
}

TEST(every_length) {
    for (uint32_t n = 1; n <= 2100; n++)
        if (length_is_smooth(n)) check_length(n, n % 2, n < 300 || n % 5 == 0);
    for (uint32_t n = 1; n <= 600; n++)
        if (length_is_smooth(n)) check_length(n, n % 2 == 0, n < 300);
}

TEST(long_lengths) {
    uint32_t i = 0;
    for (uint32_t n = length_next(2101, 1); n <= 32768; n = length_next(n + 1, 1), i++)
        check_length(n, i % 16 == 5, i % 16 == 5 || i % 16 == 0);
    check_length(117649, false, false);
    check_length(131072, false, false);
}

/* Numbers that are no ordinary ones give the same in every form: the smallest floats, which are not
 * rounded to zero here, infinities, and what becomes NaN. */
TEST(strange_numbers) {
    static const double STRANGE[] = {0x1p-149, -0x1.8p-140, INFINITY, -INFINITY, 0x1p127, -0.0};
    for (uint32_t n = 30; n <= 1280; n = n * 3 / 2) {
        if (!length_is_smooth(n)) continue;
        for (size_t s = 0; s < COUNT(STRANGE); s++) {
            OWN_MEM double complex *in = mem_new((size_t)MOST * n, sizeof *in, "in", &e);
            OWN(lanes) *f = lanes_new(n, false, &e);
            for (uint32_t v = 0; v < MOST; v++)
                for (uint32_t i = v % 3; i < n; i += 1 + 3 * v) in[v * n + i] = STRANGE[s];
            OWN(work) one = work_of(f, 0, false);
            there(&one, in);
            for (int form = 1; form <= lanes_form(); form++) {
                OWN(work) other = work_of(f, form, false);
                there(&other, in);
                same(&one, &other);
            }
        }
    }
}

TEST(refuses_other_lengths) {
    static const uint32_t LENGTH[] = {0, 11, 26, 4294967291u};
    for (size_t i = 0; i < COUNT(LENGTH); i++)
        CHECK_REFUSED(lanes_new(LENGTH[i], false, &e), ERR_INTERNAL, "");
}

TEST(forms_can_be_forced) {
    static const uint32_t LANES[LANES_FORMS] = {4, 8, 16};
    int best = lanes_form();
    assert_int_equal(lanes_code_of(best, false)->lanes, LANES[best]);
    setenv("FFTBLOOM_LANES", "any", 1);
    assert_int_equal(lanes_form(), 0);
    unsetenv("FFTBLOOM_LANES");
    assert_int_equal(lanes_form(), best);
}

int main(void) {
    unsetenv("FFTBLOOM_LANES");
    return check_run(NULL, NULL);
}
