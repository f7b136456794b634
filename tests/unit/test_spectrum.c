/* Spectra at any lengths: exact ones against the definition, resampled ones against exact ones in
 * frequency and in space. */
#include "base/steady.h"
#include "kernel/spectrum.h"
#include "math/fft.h"
#include "unit/kernels.h"
#include "unit/make_image.h"

#include <complex.h>
#include <float.h>

static double complex root(uint64_t t, uint64_t n) {
    double re, im;
    steady_root(t, n, &re, &im);
    return re + I * im;
}

/* The tail's spectrum by definition: a separable sum over all taps with their places counted from
 * (ox, oy), at frequency kx / lx, ky / ly. [kx 0..nx-1][ky 0..ny-1]. */
static double complex *definition(const psf *k, uint32_t c, int64_t ox, int64_t oy, uint32_t nx,
                                  uint32_t lx, uint32_t ny, uint32_t ly, bool whole) {
    double complex *rows = mem_raw((size_t)nx * k->h, sizeof *rows, "rows", NULL);
    double complex *to = mem_raw((size_t)nx * ny, sizeof *to, "spectrum", NULL);
    for (uint32_t kx = 0; kx < nx; kx++)
        for (uint32_t y = 0; y < k->h; y++) {
            double complex sum = 0;
            for (uint32_t x = 0; x < k->w; x++) {
                if (!whole && x == k->cx && y == k->cy) continue;
                int64_t at = ((int64_t)x - ox) % (int64_t)lx + lx;
                sum += (double)k->tap[((size_t)c * k->h + y) * k->w + x] *
                       root((uint64_t)at * kx, lx);
            }
            rows[kx * k->h + y] = sum * k->scale[c];
        }
    for (uint32_t kx = 0; kx < nx; kx++)
        for (uint32_t ky = 0; ky < ny; ky++) {
            double complex sum = 0;
            for (uint32_t y = 0; y < k->h; y++) {
                int64_t at = ((int64_t)y - oy) % (int64_t)ly + ly;
                sum += rows[kx * k->h + y] * root((uint64_t)at * ky, ly);
            }
            to[kx * ny + ky] = sum;
        }
    mem_free(rows);
    return to;
}

static double complex value_at(const spectrum_lines *l, uint32_t c, size_t i) {
    size_t at = ((size_t)c * l->halves * l->length + i) * 2;
    if (l->float64) return ((double *)l->value)[at] + I * ((double *)l->value)[at + 1];
    return (double)((float *)l->value)[at] + I * (double)((float *)l->value)[at + 1];
}

static spectrum source_of(const psf *k) {
    spectrum s;
    CHECK_OK(spectrum_make(&s, k, make_threads(), &e));
    return s;
}

/* Makes all lines of a spectrum that is not in memory, the last one first. */
static void fill(spectrum_lines *l) {
    size_t bytes = spectrum_line_bytes(l), lines = (size_t)l->channels * l->halves;
    if (l->value) return;
    char *all = mem_raw(lines, bytes, "spectrum", NULL);
    for (size_t i = lines; i--;) {
        const void *line = spectrum_some(l, (uint32_t)(i / l->halves), (uint32_t)(i % l->halves), 1,
                                         all + i * bytes);
        assert_ptr_equal(line, all + i * bytes);
    }
    char *some = mem_raw(l->halves - 1, bytes, "spectrum", NULL);
    spectrum_some(l, l->channels - 1, 1, l->halves - 1, some);
    assert_memory_equal(some, all + (lines - l->halves + 1) * bytes, (l->halves - 1) * bytes);
    mem_free(some);
    l->value = all;
}

static spectrum_lines at(const spectrum *s, spectrum_mode mode, uint32_t first, uint32_t l1,
                         uint32_t l2, bool float64) {
    spectrum_lines l;
    CHECK_OK(spectrum_at(&l, s, &(spectrum_request){mode, first, {l1, l2}, float64, false, false},
                         make_threads(), &e));
    assert_int_equal(l.halves, l1 / 2 + 1);
    assert_int_equal(l.length, l2);
    assert_true(l.float64 == float64);
    assert_true(!l.value == (mode == SPECTRUM_RESAMPLED && !float64));
    fill(&l);
    assert_ptr_equal(spectrum_some(&l, 0, 1, 1, NULL), (char *)l.value + spectrum_line_bytes(&l));
    return l;
}

static void check_exact(psf k, uint32_t lx, uint32_t ly) {
    OWN(spectrum) s = source_of(&k);
    for (uint32_t first = 0; first < 2; first++) {
        uint32_t l1 = first ? ly : lx, l2 = first ? lx : ly;
        OWN(spectrum_lines) wide = at(&s, SPECTRUM_EXACT, first, l1, l2, true);
        OWN(spectrum_lines) narrow = at(&s, SPECTRUM_EXACT, first, l1, l2, false);
        for (uint32_t c = 0; c < k.channels; c++) {
            OWN_MEM double complex *want = definition(&k, c, k.cx, k.cy, lx, lx, ly, ly, false);
            double sum = k.scale[c] * k.sum[c];
            /* Every rounding is at most of the size of the sum of all taps. */
            double limit = DBL_EPSILON * sum * (4 + log2(lx) + log2(ly));
            for (uint32_t k1 = 0; k1 < wide.halves; k1++)
                for (uint32_t k2 = 0; k2 < l2; k2++) {
                    double complex w = first ? want[k2 * ly + k1] : want[k1 * ly + k2];
                    CHECK_LE(cabs(value_at(&wide, c, k1 * l2 + k2) - w), limit);
                    CHECK_LE(cabs(value_at(&narrow, c, k1 * l2 + k2) - w), FLT_EPSILON * sum);
                }
            double tap = k.scale[c] * (double)k.tap[((size_t)c * k.h + k.cy) * k.w + k.cx];
            assert_true(wide.tap[c] == tap && narrow.tap[c] == tap);
        }
    }
    psf_free(&k);
}

TEST(exact_is_the_definition) {
    check_exact(kernel_make(RANDOM, 1, 1, 1, 0, 0), 1, 1);
    check_exact(kernel_make(RANDOM, 1, 1, 2, 0, 0), 6, 8);
    check_exact(kernel_make(RANDOM, 4, 4, 1, 2, 2), 16, 16);
    check_exact(kernel_make(RANDOM, 5, 8, 3, 2, 4), 15, 30);
    check_exact(kernel_make(STAR, 21, 6, 1, 0, 5), 32, 7);    /* off centre */
    check_exact(kernel_make(RANDOM, 13, 11, 1, 12, 3), 5, 4); /* folded along both */
    check_exact(kernel_make(RANDOM, 3, 17, 1, 1, 8), 1, 2);
    check_exact(kernel_make(POWER_LAW, 33, 40, 1, 16, 20), 81, 64);
}

/* The difference of two half spectra with the first axis halved, in space: max over pixels. */
static double in_space(const double complex *half, uint32_t l1, uint32_t l2) {
    uint32_t halves = l1 / 2 + 1;
    OWN(fft) *f1 = fft_new(l1, &e), *f2 = fft_new(l2, &e);
    size_t longest = l1 > l2 ? l1 : l2;
    OWN_MEM double *a = mem_raw(longest * FFT_STEP, sizeof *a, "a", &e);
    OWN_MEM double *b = mem_raw(longest * FFT_STEP, sizeof *b, "b", &e);
    OWN_MEM double complex *mid = mem_raw((size_t)halves * l2, sizeof *mid, "mid", &e);
    double worst = 0;
    memset(a, 0, longest * FFT_STEP * sizeof *a);
    for (uint32_t k = 0; k < halves; k++) {
        for (uint32_t i = 0; i < l2; i++)
            a[i * FFT_STEP] = creal(half[k * l2 + i]),
                  a[i * FFT_STEP + FFT_LINES] = cimag(half[k * l2 + i]);
        double *z = fft_backward(f2, a, b);
        for (uint32_t i = 0; i < l2; i++)
            mid[k * l2 + i] = z[i * FFT_STEP] + I * z[i * FFT_STEP + FFT_LINES];
    }
    for (uint32_t i = 0; i < l2; i++) {
        for (uint32_t k = 0; k < l1; k++) {
            double complex v = k < halves ? mid[k * l2 + i] : conj(mid[(l1 - k) * l2 + i]);
            a[k * FFT_STEP] = creal(v), a[k * FFT_STEP + FFT_LINES] = cimag(v);
        }
        double *z = fft_backward(f1, a, b);
        for (uint32_t k = 0; k < l1; k++)
            worst = fmax(worst, hypot(z[k * FFT_STEP], z[k * FFT_STEP + FFT_LINES]));
    }
    return worst / l1 / l2;
}

/* The largest tap on a circle of lx by ly, where a larger kernel lies several times over. */
static double folded_peak(const psf *k, uint32_t c, uint32_t lx, uint32_t ly) {
    double *circle = mem_new((size_t)lx * ly, sizeof *circle, "circle", NULL), peak = 0;
    for (uint32_t y = 0; y < k->h; y++)
        for (uint32_t x = 0; x < k->w; x++)
            circle[y % ly * lx + x % lx] += k->scale[c] *
                                            (double)k->tap[((size_t)c * k->h + y) * k->w + x];
    for (size_t i = 0; i < (size_t)lx * ly; i++) peak = fmax(peak, circle[i]);
    mem_free(circle);
    return peak;
}

/* The largest differences seen, of the peak in space and of the sum at any frequency: the figures
 * of docs/inside/math.md, "As it is done". */
static double largest_space, largest_sum;

static void check_resampled(psf k, uint32_t lx, uint32_t ly) {
    OWN(spectrum) s = source_of(&k);
    for (uint32_t first = 0; first < 2; first++) {
        uint32_t l1 = first ? ly : lx, l2 = first ? lx : ly;
        OWN(spectrum_lines) is = at(&s, SPECTRUM_RESAMPLED, first, l1, l2, false);
        OWN(spectrum_lines) want = at(&s, SPECTRUM_RESAMPLED, first, l1, l2, true); /* so: exact */
        size_t n = (size_t)is.halves * l2;
        OWN_MEM double complex *difference = mem_raw(n, sizeof *difference, "difference", NULL);
        for (uint32_t c = 0; c < k.channels; c++) {
            double peak = folded_peak(&k, c, lx, ly), worst = 0, sum = k.scale[c] * k.sum[c];
            for (size_t i = 0; i < n; i++) {
                difference[i] = value_at(&is, c, i) - value_at(&want, c, i);
                worst = fmax(worst, cabs(difference[i]));
            }
            double space = in_space(difference, l1, l2);
            CHECK_LE(space, 1e-6 * peak);
            CHECK_LE(worst, 1e-6 * sum);
            largest_space = fmax(largest_space, space / peak);
            largest_sum = fmax(largest_sum, worst / sum);
            assert_true(is.tap[c] == want.tap[c]);
        }
    }
    psf_free(&k);
}

TEST(resampled_is_exact) {
    for (int kind = 0; kind < KERNEL_KINDS; kind++) {
        check_resampled(kernel_make((kernel_kind)kind, 64, 64, 1, 32, 32), 216, 350);
        check_resampled(kernel_make((kernel_kind)kind, 64, 64, 3, 32, 32), 256, 512);
        check_resampled(kernel_make((kernel_kind)kind, 33, 50, 1, 16, 25), 135, 128);
        check_resampled(kernel_make((kernel_kind)kind, 51, 20, 1, 50, 0), 105,
                        100);                                                       /* off centre */
        check_resampled(kernel_make((kernel_kind)kind, 96, 81, 1, 48, 40), 64, 45); /* folded */
        check_resampled(kernel_make((kernel_kind)kind, 100, 1, 1, 3, 0), 15, 12);
        check_resampled(kernel_make((kernel_kind)kind, 256, 200, 1, 128, 100), 1024, 600);
    }
    static const uint32_t lengths[] = {12, 14, 15, 16, 18, 20, 21, 24, 25};
    for (uint32_t w = 1; w <= 9; w++)
        for (uint32_t h = 1; h <= 9; h += 2) {
            check_resampled(kernel_make(RANDOM, w, h, 1, w / 2, h / 2), lengths[w - 1], 16);
            check_resampled(kernel_make(RANDOM, w, h, 2, w - 1, h / 3), 3, 5);
            check_resampled(kernel_make(RANDOM, w, h, 1, 0, h - 1), 1, 1);
        }
    print_message("largest difference: %.2g of the peak in space, %.2g of the sum at a frequency\n",
                  largest_space, largest_sum);
}

/* Lines that are made when they are wanted, or all at once, have the numbers of the others. */
TEST(lines_at_once_and_one_by_one) {
    static const uint32_t LENGTH[][2] = {{64, 48}, {50, 30}, {9, 1}, {120, 90}};
    for (size_t i = 0; i < COUNT(LENGTH) * 2; i++) {
        psf k = kernel_make(RANDOM, 13, 9, 3, 5, 7);
        spectrum s = source_of(&k);
        spectrum_request ask = {.first = (uint32_t)i % 2,
                                .length = {LENGTH[i / 2][0], LENGTH[i / 2][1]}};
        spectrum_lines made, all, doubles, halves;
        CHECK_OK(spectrum_at(&made, &s, &ask, make_threads(), &e));
        ask.at_once = true;
        CHECK_OK(spectrum_at(&all, &s, &ask, make_threads(), &e));
        ask.float64 = true;
        CHECK_OK(spectrum_at(&doubles, &s, &ask, make_threads(), &e));
        ask.by_lines = true;
        CHECK_OK(spectrum_at(&halves, &s, &ask, make_threads(), &e));
        assert_true(all.value && !all.made && halves.half[2] && !halves.value);
        const size_t n = all.length;
        OWN_HEAP float *line = malloc(2 * n * sizeof *line);
        OWN_MEM double *a = mem_raw(n, 8 * sizeof *a, "lines", &e),
                       *b = mem_raw(n, 8 * sizeof *b, "lines", &e);
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t k1 = 0; k1 < all.halves; k1++) {
                const float *is = (float *)all.value + ((size_t)c * all.halves + k1) * 2 * n;
                const double *want = (double *)doubles.value +
                                     ((size_t)c * all.halves + k1) * 2 * n;
                assert_memory_equal(spectrum_some(&made, c, k1, 1, line), is, 2 * n * sizeof *is);
                const double *z = spectrum_transform(&halves, c, k1 / 4 * 4, a, b);
                for (size_t t = 0; t < n; t++)
                    assert_true(z[8 * t + k1 % 4] == want[2 * t] &&
                                z[8 * t + 4 + k1 % 4] == want[2 * t + 1]);
            }
        spectrum_lines *const each[] = {&made, &all, &doubles, &halves};
        for (size_t t = 0; t < COUNT(each); t++) spectrum_lines_free(each[t]);
        spectrum_free(&s);
        psf_free(&k);
    }
}

/* The same bytes whatever the number of threads. */
TEST(threads_change_nothing) {
    OWN(psf) k = kernel_make(STAR, 50, 37, 2, 20, 18);
    OWN(spectrum) s = source_of(&k), alone;
    OPEN(par) *one = par_open(1, &e);
    CHECK_OK(spectrum_make(&alone, &k, one, &e));
    assert_memory_equal(s.value, alone.value, spectrum_floats(&s) * sizeof *s.value);
    for (int mode = SPECTRUM_RESAMPLED; mode < SPECTRUM_MODES; mode++)
        for (uint32_t first = 0; first < 2; first++) {
            OWN(spectrum_lines) a = at(&s, (spectrum_mode)mode, first, 150, 128, false), b;
            const spectrum_request want = {
                (spectrum_mode)mode, first, {150, 128}, false, false, false};
            CHECK_OK(spectrum_at(&b, &s, &want, one, &e));
            fill(&b);
            assert_memory_equal(a.value, b.value, (size_t)2 * 76 * 128 * 2 * sizeof(float));
        }
}

/* The exact one needs the kernel only; the other one needs what spectrum_make adds to it. */
TEST(refusals) {
    OWN(psf) k = kernel_make(STAR, 5, 5, 1, 2, 2);
    OWN(spectrum) s = source_of(&k);
    const spectrum bare = {.kernel = k};
    const struct {
        const spectrum *of;
        spectrum_mode mode;
        uint32_t length[2];
        err_code code;
    } CASE[] = {{&s, SPECTRUM_EXACT, {0, 4}, ERR_INTERNAL},
                {&s, SPECTRUM_EXACT, {4, 11}, ERR_INTERNAL},
                {&s, SPECTRUM_RESAMPLED, {22, 11}, ERR_NONE},
                {&bare, SPECTRUM_EXACT, {8, 8}, ERR_NONE},
                {&bare, SPECTRUM_RESAMPLED, {8, 8}, ERR_INTERNAL}};
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(spectrum_lines) l = {.value = NULL};
        const spectrum_request r = {.mode = CASE[i].mode,
                                    .length = {CASE[i].length[0], CASE[i].length[1]}};
        e = (err){0};
        bool ok = spectrum_at(&l, CASE[i].of, &r, make_threads(), &e);
        if (ok != !CASE[i].code || e.code != CASE[i].code) fail_msg("case %zu: '%s'", i, e.msg);
    }
}

RUN_TESTS(NULL, NULL)
