/* test_luminance.c - the weights of R, G and B in luminance, from a file's chromaticities: the
 * figures of docs/math.md, and attributes of which no weights can be made; and that a kernel is
 * normalised by them. */
#include "kernel/kernel_source.h"
#include "unit/check.h"
#include "unit/make_image.h"

static const double REC709[3] = {0.212639, 0.715169, 0.072192};
static const double REC2020[3] = {0.262700, 0.677998, 0.059302};

/* x, y of red, green, blue and white. */
static const float XY_REC2020[8] = {0.708f, 0.292f, 0.170f,  0.797f,
                                    0.131f, 0.046f, 0.3127f, 0.329f};

static void set_primaries(image_part *p, const void *data, uint32_t bytes) {
    CHECK_OK(image_set_attr(p, "chromaticities", "chromaticities", data, bytes, &e));
}

TEST(weights) {
    static const float ACES[8] = {0.7347f, 0.2653f, 0, 1, 0.0001f, -0.077f, 0.32168f, 0.33767f},
                       ZERO[8] = {0}, SAME[8] = {.3f, .3f, .3f, .3f, .3f, .3f, .3f, .3f},
                       BAD[8] = {0.708f, 0.292f, 0.170f, NAN, 0.131f, 0.046f, 0.3127f, 0.329f};
    static const double OF_ACES[3] = {0.343966, 0.728166, -0.072133};
    static const struct {
        const float *xy;
        uint32_t bytes;
        const double *want;
    } CASE[] = {{NULL, 0, REC709},       {XY_REC2020, 32, REC2020}, {ACES, 32, OF_ACES},
                {ZERO, 32, REC709},      {SAME, 32, REC709},        {BAD, 32, REC709},
                {XY_REC2020, 28, REC709}}; /* not eight numbers */
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(image_header) h = {.part = mem_new(1, sizeof *h.part, "part", &e), .parts = 1};
        double is[3];
        if (CASE[i].xy) set_primaries(h.part, CASE[i].xy, CASE[i].bytes);
        image_luminance(h.part, is);
        for (int c = 0; c < 3; c++)
            if (!(fabs(is[c] - CASE[i].want[c]) <= 2e-6)) fail_msg("case %zu: %g", i, is[c]);
        CHECK_LE(fabs(is[0] + is[1] + is[2] - 1), 1e-12);
    }
}

TEST(a_kernel_is_weighed) {
    const make_part part = PART("B:float G:float R:float", 0, 0, 2, 1);
    static const float TAPS[3][2] = {{1, 1}, {2, 3}, {4, 4}}; /* B G R */
    for (int wide = 0; wide < 2; wide++) {
        OWN(image) *img = make_image(&part, 1);
        const double *w = wide ? REC2020 : REC709;
        OWN(kernel_source) k;
        OWN(psf) made;
        for (int c = 0; c < 3; c++) memcpy(img->plane[0][c], TAPS[c], sizeof TAPS[c]);
        if (wide) set_primaries(&img->head.part[0], XY_REC2020, sizeof XY_REC2020);
        const char *path = make_path("weighed.exr");
        CHECK_OK(image_save(path, img, make_threads(), &e));
        CHECK_OK(kernel_source_load(&k, path, make_threads(), &e));
        const kernel_use use = {.options.normalize = PSF_LUMINANCE};
        CHECK_OK(kernel_source_psf(
            &made, &k, &use, &(kernel_need){.channels = 3, .w = 8, .h = 8, .height = 8}, NULL, &e));
        double y = w[0] * 8 + w[1] * 5 + w[2] * 2;
        for (int c = 0; c < 3; c++) CHECK_LE(fabs(made.scale[c] * y - 1), 1e-5);
    }
}

RUN_TESTS(NULL, NULL)
