/* Kernels: where the centre goes, what becomes 1, what is refused. */
#include "kernel/psf.h"
#include "unit/check.h"

#include <complex.h>
#include <float.h>

static psf make(uint32_t w, uint32_t h, uint32_t channels, const float *tap, psf_options o) {
    psf k;
    const float *plane[PSF_CHANNELS];
    for (uint32_t c = 0; c < channels; c++) plane[c] = tap + (size_t)c * w * h;
    CHECK_OK(psf_make(&k, &(psf_planes){w, h, channels, plane, NULL}, &o, &e));
    return k;
}

static void refused(uint32_t w, uint32_t h, uint32_t channels, const float *tap, psf_options o,
                    err_code code, const char *words) {
    psf k;
    const float *plane[PSF_CHANNELS + 1];
    for (uint32_t c = 0; c < channels && c <= PSF_CHANNELS; c++) plane[c] = tap + (size_t)c * w * h;
    CHECK_REFUSED(psf_make(&k, &(psf_planes){w, h, channels, plane, NULL}, &o, &e), code, words);
}

/* Returns a pixel by the definition: the sum over taps q of scale * tap(q) * in(p - (q - centre)),
 * in(p) being 0 outside. */
static double pixel_of(const psf *k, const float *in, int w, int h, int x, int y) {
    double sum = 0;
    for (int q = 0; q < (int)(k->w * k->h); q++) {
        int fx = x - q % (int)k->w + (int)k->cx, fy = y - q / (int)k->w + (int)k->cy;
        if (fx >= 0 && fx < w && fy >= 0 && fy < h)
            sum += (double)k->tap[q] * (double)in[fy * w + fx];
    }
    return k->scale[0] * sum;
}

static double total(const psf *k, uint32_t c) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)k->w * k->h; i++)
        sum += (double)k->tap[(size_t)c * k->w * k->h + i];
    return sum;
}

TEST(the_middle) {
    static const float tap[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (uint32_t w = 1; w <= 5; w++)
        for (uint32_t h = 1; h <= 4; h++) {
            OWN(psf) k = make(w, h, 1, tap, (psf_options){0});
            assert_int_equal(k.cx, w / 2);
            assert_int_equal(k.cy, h / 2);
            assert_memory_equal(k.tap, tap, w * h * sizeof *tap);
            assert_true(k.scale[0] * k.sum[0] == 1 || fabs(k.scale[0] * k.sum[0] - 1) <= 1e-15);
        }
}

/* Half a turn about the centre, in every channel; a row or column without a partner must be zero.
 */
TEST(symmetry) {
    static const struct {
        uint32_t w, h, channels;
        float tap[18];
        bool symmetric;
    } K[] = {{1, 1, 1, {3}, true},
             {3, 3, 1, {1, 2, 3, 4, 5, 4, 3, 2, 1}, true},
             {3, 3, 1, {1, 2, 1, 2, 5, 2, 1, 2, 3}, false},
             {3, 3, 2, {1, 2, 3, 4, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 3, 2, 1}, false},
             {2, 1, 1, {0, 1}, true},
             {2, 1, 1, {1, 1}, false},
             {4, 3, 1, {0, 1, 2, 3, 0, 4, 5, 4, 0, 3, 2, 1}, true},
             {4, 3, 1, {0, 1, 2, 3, 1, 4, 5, 4, 0, 3, 2, 1}, false}};
    for (size_t i = 0; i < COUNT(K); i++) {
        OWN(psf) k = make(K[i].w, K[i].h, K[i].channels, K[i].tap, (psf_options){0});
        if (psf_is_symmetric(&k) != K[i].symmetric) fail_msg("kernel %zu", i);
    }
}

TEST(other_centers) {
    static const float tap[12] = {0, 0, 1, 0, 0, 3, 1, 0, 0, 0, 1, 0}; /* 4 x 3 */
    static const float twins[4] = {1, 5, 5, 1};                        /* the first of equals */
    OWN(psf) twin = make(4, 1, 1, twins, (psf_options){.center = PSF_PEAK});
    assert_int_equal(twin.cx, 1);
    static const struct {
        psf_options o;
        uint32_t w, cx, cy;
    } T[] = {{{.center = PSF_PEAK}, 4, 1, 1},
             /* x: (2 + 3 + 2 + 2) / 6 = 1.5; y: 1. The middle between two taps: it grows. */
             {{.center = PSF_CENTROID}, 8, 4, 1},
             {{.center = PSF_AT, .at = {3, 0}}, 4, 3, 0}};
    for (size_t i = 0; i < COUNT(T); i++) {
        OWN(psf) k = make(4, 3, 1, tap, T[i].o);
        assert_true(k.w == T[i].w && k.h == 3 && k.cx == T[i].cx && k.cy == T[i].cy);
        if (k.w == 4) assert_memory_equal(k.tap, tap, sizeof tap);
    }
}

/* A kernel in the layout of transforms: offset -1 is the last tap. */
TEST(the_corner) {
    static const float tap[2][5] = {{10, 11, 12, -1}, {10, 11, 12, -2, -1}};
    static const float want[2][5] = {{12, -1, 10, 11}, {-2, -1, 10, 11, 12}};
    for (uint32_t i = 0; i < 2; i++) {
        OWN(psf) k = make(i ? 1 : 4, i ? 5 : 1, 1, tap[i], (psf_options){.center = PSF_CORNER});
        assert_true((i ? k.cy : k.cx) == 2 && (i ? k.cx : k.cy) == 0);
        assert_memory_equal(k.tap, want[i], (4 + i) * sizeof(float));
    }
    static const float both[6] = {1, 2, 3, 4, 5, 6}, turned[6] = {6, 4, 5, 3, 1, 2};
    OWN(psf) k = make(3, 2, 1, both, (psf_options){.center = PSF_CORNER});
    assert_memory_equal(k.tap, turned, sizeof turned);
    /* Each channel stays in its own plane. */
    static const float moved[12] = {6, 4, 5, 3, 1, 2, 12, 10, 11, 9, 7, 8};
    static const float all[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6};
    OWN(psf) three = make(3, 2, 3, all, (psf_options){.center = PSF_CORNER});
    assert_memory_equal(three.tap, moved, sizeof moved);
    assert_memory_equal(three.tap + 12, moved, 6 * sizeof(float));
}

/* Correlation by its own definition, out(p) = sum of k(q) in(p + (q - c)). */
TEST(correlation) {
    static const float tap[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13};
    for (int at = 0; at < 12; at++) {
        psf_options o = {
            .correlate = true, .center = PSF_AT, .at = {at % 4, at / 4}, .normalize = PSF_NONE};
        OWN(psf) k = make(4, 3, 1, tap, o);
        float in[9 * 9] = {0};
        in[4 * 9 + 4] = 1;
        for (int y = 0; y < 9; y++)
            for (int x = 0; x < 9; x++) {
                int qx = 4 - x + at % 4, qy = 4 - y + at / 4;
                double want = qx >= 0 && qx < 4 && qy >= 0 && qy < 3 ? (double)tap[qy * 4 + qx] : 0;
                assert_true(pixel_of(&k, in, 9, 9, x, y) == want);
            }
    }
}

TEST(what_becomes_one) {
    static const float tap[6] = {1, 1, 2, 2, 3, 5}; /* sums 2, 4, 8 */
    static const double y = 0.2126 * 2 + 0.7152 * 4 + 0.0722 * 8;
    const struct {
        uint32_t channels;
        psf_options o;
        double one[3]; /* what each scale brings to 1 */
    } T[] = {{3, {.normalize = PSF_LUMINANCE}, {y, y, y}},
             {3, {.luminance = {0.5, 0.25, 0.25}}, {4, 4, 4}},
             {3, {.normalize = PSF_PER_CHANNEL}, {2, 4, 8}},
             {3, {.normalize = PSF_SUM}, {14 / 3.0, 14 / 3.0, 14 / 3.0}},
             {3, {.normalize = PSF_NONE}, {1, 1, 1}},
             {2, {.normalize = PSF_LUMINANCE}, {3, 3, 0}}}; /* neither one nor three */
    for (size_t i = 0; i < COUNT(T); i++) {
        OWN(psf) k = make(2, 1, T[i].channels, tap, T[i].o);
        for (uint32_t c = 0; c < T[i].channels; c++) {
            assert_true(k.sum[c] == 2 << c);
            CHECK_LE(fabs(k.scale[c] * T[i].one[c] - 1), 4 * DBL_EPSILON);
        }
    }
}

/* Sums are in double: 2^24 + 1 is not a float. */
TEST(sums_in_double) {
    static const float tap[3] = {16777216, 1, 1};
    OWN(psf) k = make(3, 1, 1, tap, (psf_options){0});
    assert_true(k.sum[0] == 16777218);
}

static double complex frequency(const float *tap, uint32_t n, uint32_t step, double center,
                                uint32_t length, uint32_t k) {
    double complex sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)tap[i * step] *
               cexp(-2 * M_PI * I * (double)k * ((double)i - center) / (double)length);
    return sum;
}

/* On the grid of the doubled kernel each frequency is turned by its phase and keeps its size; the
 * Nyquist frequency keeps the cosine. */
TEST(a_phase_ramp) {
    static const double centers[] = {2.5, 1.25, 0.001, 3.9999};
    for (uint32_t n = 5; n <= 11; n++)
        for (int t = 0; t < 4; t++) {
            float tap[11];
            double size = 0;
            for (uint32_t i = 0; i < n; i++) {
                tap[i] = 0.1f + (float)(i * i * 7 % 11);
                size += (double)tap[i];
            }
            for (int axis = 0; axis < 2; axis++) {
                psf_options o = {.center = PSF_AT, .normalize = PSF_NONE};
                o.at[axis] = centers[t];
                OWN(psf) k = make(axis ? 1 : n, axis ? n : 1, 1, tap, o);
                uint32_t length = axis ? k.h : k.w, at = axis ? k.cy : k.cx;
                assert_true(length >= 2 * n && length % 2 == 0);
                assert_int_equal(axis ? k.w : k.h, 1);
                for (uint32_t f = 0; f <= length / 2; f++) {
                    double complex is = frequency(k.tap, length, 1, at, length, f);
                    double complex want = frequency(tap, n, 1, centers[t], length, f);
                    /* At Nyquist the whole tap's frequency is real, up to a sign: only the part of
                     * the fraction is left to compare. */
                    if (f == length / 2) {
                        double nearest = floor(centers[t] + 0.5);
                        want = frequency(tap, n, 1, nearest, length, f) *
                               cos(M_PI * (centers[t] - nearest));
                    }
                    CHECK_LE(cabs(is - want), 2 * FLT_EPSILON * size);
                }
            }
        }
}

/* Moved along both axes, a product of two lines is the product of the moved lines. */
TEST(a_ramp_along_both_axes) {
    enum { W = 6, H = 5 };
    static const float x[W] = {1, 3, 2, 7, 5, 4}, y[H] = {2, 1, 4, 3, 1};
    float tap[W * H];
    for (int i = 0; i < W * H; i++) tap[i] = x[i % W] * y[i / W];
    OWN(psf) all = make(W, H, 1, tap, (psf_options){.center = PSF_AT, .at = {2.3, 1.6}});
    OWN(psf) row = make(W, 1, 1, x, (psf_options){.center = PSF_AT, .at = {2.3, 0}});
    OWN(psf) column = make(1, H, 1, y, (psf_options){.center = PSF_AT, .at = {0, 1.6}});
    assert_true(all.w == row.w && all.h == column.h && all.cx == row.cx && all.cy == column.cy);
    for (uint32_t i = 0; i < all.w * all.h; i++)
        CHECK_LE(
            fabs((double)all.tap[i] - (double)row.tap[i % all.w] * (double)column.tap[i / all.w]),
            60 * FLT_EPSILON);
}

TEST(nearly_on_a_tap) {
    static const float tap[3] = {1, 2, 1};
    OWN(psf) k = make(3, 1, 1, tap, (psf_options){.center = PSF_AT, .at = {1 + 1e-7, 0}});
    assert_int_equal(k.w, 3);
    assert_int_equal(k.cx, 1);
}

/* The sum stays, nothing is below zero, and the centre of gravity stays where it was: measured from
 * the centre, it scales. */
static void scaled(uint32_t w, uint32_t h, double size, double x, double y) {
    float tap[2 * 15 * 15];
    for (size_t i = 0; i < 2 * (size_t)w * h; i++) tap[i] = (float)((i * 31 + i * i) % 17);
    psf_options o = {.center = PSF_AT, .at = {x, y}, .size = size, .normalize = PSF_NONE};
    OWN(psf) k = make(w, h, 2, tap, o);
    for (uint32_t c = 0; c < 2; c++) {
        double sum = 0, cx = 0, cy = 0, is_x = 0, is_y = 0;
        for (uint32_t i = 0; i < w * h; i++) {
            double t = (double)tap[c * w * h + i];
            sum += t, cx += t * (i % w - x), cy += t * (i / w - y);
        }
        for (uint32_t i = 0; i < k.w * k.h; i++) {
            double t = (double)k.tap[c * k.w * k.h + i];
            assert_true(t >= 0);
            is_x += t * ((double)(i % k.w) - k.cx), is_y += t * ((double)(i / k.w) - k.cy);
        }
        double float_error = FLT_EPSILON * sum;
        CHECK_LE(fabs(total(&k, c) - sum), float_error);
        /* A tap gathers its whole area, so its light may move by half a tap; on average over an
         * even kernel it does not move at all. */
        double slack = size < 1 ? 0.5 * sum : 0.25 * sum;
        CHECK_LE(fabs(is_x - cx * size), slack);
        CHECK_LE(fabs(is_y - cy * size), slack);
    }
}

TEST(scaling) {
    static const double sizes[] = {0.1, 0.5, 0.77, 0.999, 1.001, 1.5, 2, 3.3};
    for (int i = 0; i < 8; i++) {
        scaled(15, 15, sizes[i], 7, 7);
        scaled(14, 9, sizes[i], 7, 4);
        scaled(8, 1, sizes[i], 3.5, 0);
        scaled(1, 1, sizes[i], 0, 0);
        scaled(7, 12, sizes[i], 0, 11);
    }
}

/* A box of five becomes one of two and a half when halved: the outer taps are half covered. */
TEST(a_box_by_hand) {
    static const float tap[5] = {1, 1, 1, 1, 1}, want[3] = {1.5, 2, 1.5};
    OWN(psf) k = make(5, 1, 1, tap, (psf_options){.size = 0.5, .normalize = PSF_NONE});
    assert_int_equal(k.w, 3);
    assert_int_equal(k.h, 1);
    for (int i = 0; i < 3; i++) CHECK_LE(fabs((double)(k.tap[i] - want[i])), FLT_EPSILON);
}

/* A point becomes a pyramid, cut at the areas of the new taps. */
TEST(a_point_enlarged) {
    static const float one = 1, line[5] = {1 / 32.f, 8 / 32.f, 14 / 32.f, 8 / 32.f, 1 / 32.f};
    OWN(psf) k = make(1, 1, 1, &one, (psf_options){.size = 2, .normalize = PSF_NONE});
    assert_int_equal(k.w, 5);
    assert_int_equal(k.cx, 2);
    for (int i = 0; i < 25; i++)
        CHECK_LE(fabs((double)(k.tap[i] - line[i % 5] * line[i / 5])), FLT_EPSILON);
}

/* Returns where the middle's light falls to a part, along the axis or on the diagonal. */
static double contour(const psf *k, double part, bool diagonal) {
    uint32_t i = 0;
    double was, now = 1, peak = (double)k->tap[k->cy * k->w + k->cx];
    do {
        i++, was = now;
        now = (double)k->tap[(k->cy + (diagonal ? i : 0)) * k->w + k->cx + i] / peak;
    } while (now > part);
    return (i - (part - now) / (was - now)) * (diagonal ? sqrt(2) : 1);
}

/* A point that becomes large is no square: its contours are nearly round. */
TEST(a_point_stays_round) {
    static const float one = 1;
    for (double size = 2.5; size < 12; size *= 1.5) {
        OWN(psf) k = make(1, 1, 1, &one, (psf_options){.size = size, .normalize = PSF_NONE});
        CHECK_LE(contour(&k, 0.01, true) / contour(&k, 0.01, false), 1.15);
    }
}

/* Returns the area that the square of side 1 around (x, y) shares with that around (u, v) once it
 * is turned back: by the lengths of strips along y, which are exact. */
static double shared(double x, double y, double u, double v, double degrees) {
    enum { STRIPS = 2000 };
    const double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
    double sum = 0;
    for (int i = 0; i < STRIPS; i++) {
        const double at = x - 0.5 + (i + 0.5) / STRIPS; /* u = at c - y s, v = at s + y c */
        double low = fmax(y - 0.5, (v - 0.5 - at * s) / c),
               high = fmin(y + 0.5, (v + 0.5 - at * s) / c);
        low = fmax(low, (at * c - u - 0.5) / s), high = fmin(high, (at * c - u + 0.5) / s);
        sum += fmax(0, high - low);
    }
    return sum / STRIPS;
}

/* Compares the turn of a kernel by less than a right angle. */
static void check_turn(const psf *k, const psf *from, const double center[2], double degrees) {
    double light = 0;
    for (uint32_t i = 0; i < k->w * k->h; i++) {
        const double u = (double)(i % k->w) - k->cx, v = (double)(i / k->w) - k->cy;
        double want = 0;
        for (uint32_t q = 0; q < from->w * from->h; q++) {
            const double x = q % from->w - center[0], y = q / from->w - center[1];
            const double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
            if (hypot(x * c - y * s - u, x * s + y * c - v) < 1.5)
                want += shared(x, y, u, v, degrees) * (double)from->tap[q];
        }
        CHECK_LE(fabs((double)k->tap[i] - want), 1e-5); /* edges of 1 in 57 cross strips */
        CHECK_LE(0, k->tap[i]);
        light += (double)k->tap[i];
    }
    CHECK_LE(fabs(light - from->sum[0]), 1e-6 * from->sum[0]);
}

static const float PATTERN[9 * 7] = {
    0.1f, 0,    0.3f,        [11] = 0.7f, 0.2f,     0.9f,         [20] = 0.4f,
    1,    0.6f, [30] = 0.8f, 0.5f,        [41] = 1, [54] = 0.25f, [62] = 0.75f};

TEST(any_turn) {
    static const double by[] = {33, 7.5, 89, -20, 400};
    for (size_t i = 0; i < COUNT(by); i++) {
        psf_options o = {.normalize = PSF_NONE, .center = PSF_AT, .at = {4.25, 2}, .turn = by[i]};
        OWN(psf) k = make(9, 7, 1, PATTERN, o);
        o.turn = 0, o.at[0] = 4;
        OWN(psf) plain = make(9, 7, 1, PATTERN, o);
        double rest = fmod(by[i] + 360, 90);
        if (by[i] < 0) { /* 340: three right angles and 70, so turn back by one */
            psf_options back = {
                .normalize = PSF_NONE, .center = PSF_AT, .at = {k.cx, k.cy}, .turn = 90};
            OWN(psf) first = make(k.w, k.h, 1, k.tap, back);
            check_turn(&first, &plain, (double[]){4.25, 2}, rest);
        } else {
            check_turn(&k, &plain, (double[]){4.25, 2}, rest);
        }
    }
    /* A kernel is turned once it has its size, by the shapes that those taps have. */
    psf_options large = {.normalize = PSF_NONE, .size = 2.3};
    OWN(psf) sized = make(9, 7, 1, PATTERN, large);
    large.turn = 21;
    OWN(psf) both = make(9, 7, 1, PATTERN, large);
    check_turn(&both, &sized, (double[]){sized.cx, sized.cy}, 21);
}

/* Right angles only move taps, a whole turn none, and half a turn is what `correlate` does. */
TEST(right_turns) {
    psf_options o = {.normalize = PSF_NONE, .center = PSF_AT, .at = {6, 1}};
    OWN(psf) plain = make(9, 7, 1, PATTERN, o);
    for (int turns = -4; turns <= 4; turns++) {
        o.turn = 90 * turns;
        OWN(psf) k = make(9, 7, 1, PATTERN, o);
        assert_int_equal(k.w * k.h, 63);
        for (int y = -1; y <= 5; y++)
            for (int x = -6; x <= 2; x++) {
                int u = x, v = y;
                for (int i = 0; i < (turns + 4) % 4; i++) {
                    int old = u;
                    u = -v, v = old; /* right becomes down */
                }
                assert_true(k.tap[(v + (int)k.cy) * (int)k.w + u + (int)k.cx] ==
                            plain.tap[(y + 1) * 9 + x + 6]);
            }
        if (turns % 4 == 0) assert_true(psf_same(&k, &plain));
    }
    o.turn = 180;
    OWN(psf) half = make(9, 7, 1, PATTERN, o);
    o.turn = 0, o.correlate = true;
    OWN(psf) correlated = make(9, 7, 1, PATTERN, o);
    assert_true(psf_same(&half, &correlated));
    o.turn = 360, o.correlate = false;
    OWN(psf) whole = make(9, 7, 1, PATTERN, o);
    CHECK_OK(psf_made_with(&whole, &plain.made, &e));
}

/* A kernel that half a turn leaves as it is stays so to the bit, and its spectrum real. */
TEST(turned_symmetry) {
    float tap[11 * 9];
    for (int i = 0; i < 99; i++) tap[i] = (float)(i <= 49 ? i * i % 23 : (98 - i) * (98 - i) % 23);
    for (int i = 1; i < 90; i += 4) {
        OWN(psf) k = make(11, 9, 1, tap, (psf_options){.turn = i});
        assert_true(psf_is_symmetric(&k));
    }
}

/* On pixels that are twice as wide as high, the kernel is turned as it is shown. */
TEST(a_turn_of_wide_pixels) {
    psf_options o = {.normalize = PSF_NONE, .turn = 30};
    OWN(psf) shown = make(9, 7, 1, PATTERN, o);
    OWN(psf)
    want =
        make(shown.w, shown.h, 1, shown.tap,
             (psf_options){
                 .normalize = PSF_NONE, .center = PSF_AT, .at = {shown.cx, shown.cy}, .wide = 0.5});
    o.wide = 0.5, o.aspect = 2;
    OWN(psf) k = make(9, 7, 1, PATTERN, o);
    assert_true(k.w == want.w && k.h == want.h && k.cx == want.cx && k.cy == want.cy);
    for (uint32_t i = 0; i < k.w * k.h; i++) CHECK_LE(fabsf(k.tap[i] - want.tap[i]), 1e-6f);
    o.turn = 0;
    OWN(psf) unturned = make(9, 7, 1, PATTERN, o);
    o.aspect = 1;
    OWN(psf) squeezed = make(9, 7, 1, PATTERN, o);
    assert_true(psf_same(&unturned, &squeezed));
}

TEST(refusals) {
    float tap[3 * 17] = {1, 1, 1};
    psf_options none = {0};
    refused(0, 3, 1, tap, none, ERR_DATA, "0 x 3 taps");
    refused(40000, 1, 1, tap, none, ERR_DATA, "40000 x 1 taps");
    refused(1, 1, 0, tap, none, ERR_DATA, "0 colour channels");
    refused(1, 1, 17, tap, none, ERR_DATA, "17 colour channels");
    static const float negative[3] = {1, -3, 1}, zero[3] = {1, -2, 1};
    refused(3, 1, 1, negative, none, ERR_DATA, "luminance sum is -1");
    refused(3, 1, 1, zero, (psf_options){.normalize = PSF_SUM}, ERR_DATA, "mean sum is 0");
    static const float colours[3] = {1, 0, 1};
    refused(1, 1, 3, colours, (psf_options){.normalize = PSF_PER_CHANNEL}, ERR_DATA,
            "channel sum is 0 (channel 1)");
    static const float nan_inf[6] = {1, 1, 1, 1, NAN, INFINITY};
    refused(3, 2, 1, nan_inf, none, ERR_DATA, "2 of the kernel's 6 taps");
    refused(3, 2, 1, nan_inf, none, ERR_DATA, "x 1, y 1");
    refused(3, 1, 1, tap, (psf_options){.size = -1}, ERR_CONFIG, "kernel_scale is -1");
    refused(3, 1, 1, tap, (psf_options){.size = NAN}, ERR_CONFIG, "kernel_scale");
    refused(3, 1, 1, tap, (psf_options){.size = 1e9}, ERR_CONFIG, "kernel_scale 1e+09");
    refused(3, 1, 1, tap, (psf_options){.turn = NAN}, ERR_CONFIG, "kernel_turn is");
    refused(3, 1, 1, tap, (psf_options){.center = PSF_AT, .at = {2.5, 0}}, ERR_CONFIG, "x = 2.5");
    refused(3, 1, 1, tap, (psf_options){.center = PSF_AT, .at = {0, NAN}}, ERR_CONFIG, "y = ");
    refused(3, 1, 1, zero, (psf_options){.center = PSF_CENTROID}, ERR_DATA, "centre of gravity");
    static const float huge[4] = {3e38f, 3e38f, 3e38f, 3e38f};
    refused(2, 2, 1, huge, (psf_options){.size = 0.1}, ERR_DATA, "too large for float");
    OWN(psf) k = make(3, 1, 1, zero, (psf_options){.normalize = PSF_NONE});
}

/* With zero borders the cropped kernel gives the same pixels, to the bit. */
TEST(cropping) {
    float tap[11 * 9], in[5 * 5];
    for (int i = 0; i < 99; i++) tap[i] = (float)(i * i % 23);
    for (int i = 0; i < 25; i++) in[i] = (float)(i * 7 % 13);
    for (uint32_t at = 0; at < 99; at += 7)
        for (uint32_t w = 1; w <= 5; w += 2) {
            psf_options o = {.center = PSF_AT, .at = {at % 11, at / 11}};
            OWN(psf) k = make(11, 9, 1, tap, o), c = make(11, 9, 1, tap, o);
            psf_crop(&c, w, 5);
            assert_true(c.w <= 2 * w - 1 && c.h <= 9);
            assert_true(c.scale[0] == k.scale[0]);
            for (int i = 0; i < 25; i++)
                assert_true(pixel_of(&k, in, (int)w, 5, i % (int)w, i / 5) ==
                            pixel_of(&c, in, (int)w, 5, i % (int)w, i / 5));
        }
}

TEST(luminance) {
    static const float tap[6] = {1, 1, 2, 2, 3, 5};
    static const double weight[3] = {0.5, 0.25, 0.25};
    OWN(psf) k = make(2, 1, 3, tap, (psf_options){.normalize = PSF_PER_CHANNEL}), y;
    CHECK_OK(psf_luminance(&y, &k, weight, false, &e));
    assert_int_equal(y.channels, 1);
    double want = 0.5 * 1 / 2 + 0.25 * 2 / 4 + 0.25 * 3 / 8;
    CHECK_LE(fabs(y.scale[0] * (double)y.tap[0] - want), FLT_EPSILON);
    CHECK_LE(fabs(y.scale[0] * y.sum[0] - 1), FLT_EPSILON);
}

TEST(hashes) {
    static const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 2, 3, 4, 5, 7};
    psf k[8] = {
        make(3, 2, 1, a, (psf_options){0}),
        make(2, 3, 1, a, (psf_options){0}),
        make(1, 2, 3, a, (psf_options){0}),
        make(3, 2, 1, b, (psf_options){0}),
        make(3, 2, 1, a, (psf_options){.normalize = PSF_NONE}),
        make(3, 2, 1, a, (psf_options){.center = PSF_AT, .at = {0, 1}}),
        make(3, 2, 1, a, (psf_options){.correlate = true}),
        make(3, 2, 1, a, (psf_options){.turn = 30}),
    };
    OWN(psf) copy;
    CHECK_OK(psf_copy(&copy, &k[0], &e));
    hash128 same = psf_hash(&copy), first = psf_hash(&k[0]);
    assert_true(same.lo == first.lo && same.hi == first.hi);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++) {
            hash128 x = psf_hash(&k[i]), y = psf_hash(&k[j]);
            assert_true(x.lo != y.lo && x.hi != y.hi);
        }
    for (int i = 0; i < 8; i++) psf_free(&k[i]);
}

TEST(settings_of_a_spectrum) {
    static const float a[6] = {1, 2, 3, 4, 5, 6};
    psf_options o = {.center = PSF_AT, .at = {1, 0}, .size = 1};
    OWN(psf) k = make(3, 2, 1, a, o);
    o.size = 0; /* stands for 1 */
    CHECK_OK(psf_made_with(&k, &o, &e));
    static const struct {
        psf_options o;
        const char *words;
    } other[] = {
        {{.center = PSF_AT, .at = {1, 1}}, "kernel_center y 0, and 1"},
        {{.center = PSF_PEAK}, "kernel_center at, and peak"},
        {{.center = PSF_AT, .at = {1, 0}, .normalize = PSF_SUM}, "normalize luminance, and sum"},
        {{.center = PSF_AT, .at = {1, 0}, .correlate = true}, "correlate false, and true"},
        {{.center = PSF_AT, .at = {1, 0}, .size = 2}, "kernel_scale 1, and 2"},
        {{.center = PSF_AT, .at = {1, 0}, .turn = -30}, "kernel_turn 0, and 330"},
    };
    for (size_t i = 0; i < COUNT(other); i++)
        CHECK_REFUSED(psf_made_with(&k, &other[i].o, &e), ERR_CONFIG, other[i].words);
}

RUN_TESTS(NULL, NULL)
