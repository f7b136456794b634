/* Core and tail of a kernel: where a tail begins, what is moved into the middle, and that blooming
 * with a core is blooming by the kernel that has it in its middle. */
#include "kernel/psf_core.h"
#include "unit/glare.h"
#include "unit/taps.h"

enum { SIDE = 65 };

static psf kernel_of(const float *tap, uint32_t w, uint32_t h) {
    psf k;
    CHECK_OK(psf_make(&k, &(psf_planes){w, h, 1, &tap, NULL}, &(psf_options){.normalize = PSF_NONE},
                      &e));
    return k;
}

/* Light that falls off as distance^-2.5 from `edge` on, and as `inner` says within. fade: of the
 * last third. */
static double radius_of(double edge, double inner, bool fade) {
    static float tap[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        double r = hypot(i % SIDE - SIDE / 2, i / SIDE - SIDE / 2);
        double v = pow(fmax(r, 0.5), -2.5) * (r < edge ? pow(edge / fmax(r, 0.5), inner) : 1);
        double out = (r / (SIDE / 2) - 2.0 / 3) * 3;
        if (fade && out > 0) v *= out < 1 ? (1 + cos(M_PI * out)) / 2 : 0;
        tap[i] = (float)v;
    }
    OWN(psf) k = kernel_of(tap, SIDE, SIDE);
    double r = NAN;
    CHECK_OK(psf_core_radius(&r, &k, &e));
    return r;
}

TEST(a_core_ends_where_the_tail_begins) {
    assert_float_equal(radius_of(0, 0, false), 1, 0);
    assert_float_equal(radius_of(0, 0, true), 1, 0);
    for (int edge = 4; edge <= 12; edge += 4) { /* a slope is of rings up to twice as far */
        CHECK_LE(edge / 2.0, radius_of(edge, 2, false));
        CHECK_LE(radius_of(edge, 2, false), edge + 1);
        CHECK_LE(edge / 2.0, radius_of(edge, 2, true));
        CHECK_LE(radius_of(edge, 2, true), edge + 1);
    }
}

TEST(small_kernels_have_a_core_of_one_tap) {
    static const float tap[25] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    for (uint32_t w = 1; w <= 5; w++) {
        double r = NAN;
        OWN(psf) k = kernel_of(tap, w, 5);
        CHECK_OK(psf_core_radius(&r, &k, &e));
        assert_float_equal(r, 1, 0);
    }
}

static double glare_rough(int c, int x, int y) {
    uint64_t seed = (uint64_t)(c * 10000 + y * 100 + x + 1);
    return exp2(-8 * make_chance(&seed)) - 0.1;
}

/* Sums of floats in double: the middle is rounded once. */
TEST(the_core_goes_into_the_middle) {
    enum { W = 23, H = 18 };
    float tap[W * H];
    for (int i = 0; i < W * H; i++) tap[i] = (float)glare_rough(0, i % W, i / W);
    for (double radius = 0; radius < 16; radius += 0.5) {
        OWN(psf) k = kernel_of(tap, W, H);
        const psf_split s = psf_core_split(&k, 0, radius);
        double core = 0, tail = 0;
        psf_core_fold(&k, radius);
        for (int i = 0; i < W * H; i++) {
            const int x = i % W - W / 2, y = i / W - H / 2;
            const bool in = x * x + y * y <= radius * radius;
            if (in) core += (double)tap[i];
            if (!in) tail += fabs((double)tap[i]);
            if (!in) assert_float_equal(k.tap[i], tap[i], 0);
            if (in && (x || y)) assert_float_equal(k.tap[i], 0, 0);
        }
        assert_float_equal(k.tap[H / 2 * W + W / 2], (float)core, 0);
        assert_float_equal(s.core, core, 1e-12);
        assert_float_equal(s.tail, tail, 1e-12);
    }
}

/* By the kernel that a test has folded itself; the spectrum of the whole kernel lies in the cache
 * by then. */
TEST(a_bloom_with_a_core_is_one_by_the_folded_kernel) {
    enum { W = 24, H = 17, FULL = 0, BY_HAND = 1 };
    float tap[2][3][W * H];
    const char *path[2], *cache = make_folder("cache");
    for (int c = 0; c < 3; c++) {
        double core = 0;
        for (int i = 0; i < W * H; i++) {
            const int x = i % W - W / 2, y = i / W - H / 2;
            tap[FULL][c][i] = tap[BY_HAND][c][i] = (float)(glare_rough(c, i % W, i / W) / 100);
            if (x * x + y * y > 9) continue;
            core += (double)tap[FULL][c][i];
            tap[BY_HAND][c][i] = 0;
        }
        tap[BY_HAND][c][H / 2 * W + W / 2] = (float)core;
    }
    for (int k = 0; k < 2; k++) {
        image *img = make_blank("B:float G:float R:float", 0, 0, W, H);
        for (int c = 0; c < 3; c++) memcpy(img->plane[0][c], tap[k][2 - c], sizeof tap[k][c]);
        path[k] = make_path(k == FULL ? "full.exr" : "by_hand.exr");
        CHECK_OK(image_save(path[k], img, make_threads(), &e));
        image_free(&img);
    }
    for (int i = 0; i < BORDERS + 1 && glare_device(i / BORDERS); i++) { /* a device: one border */
        const int border = i % BORDERS;
        bloom_settings s = glare_settings(glare_device(i / BORDERS));
        s.cache_dir = cache;
        s.cache_size = 1000000000;
        image *got[3];
        bloom_report r;
        s.kernel.normalize = PSF_NONE;
        s.border[PLAN_X] = s.border[PLAN_Y] = (plan_border)border;
        for (int k = 0; k < 3; k++) {
            s.core = k == 1 ? 3 : 0;
            got[k] = MAKE("B:float G:float R:float", 0, 0, 61, 43);
            glare_bloom(got[k], path[k == 2 ? BY_HAND : FULL], &s, &r);
        }
        check_same_pixels(got[1], got[2]);
        assert_memory_not_equal(got[0]->plane[0][0], got[1]->plane[0][0], 61 * 43 * sizeof(float));
        for (int k = 0; k < 3; k++) image_free(&got[k]);
    }
}

RUN_TESTS(NULL, NULL)
