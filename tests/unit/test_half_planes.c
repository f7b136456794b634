/* Results that are stored as halfs right away are those that are floats first. */
#include "base/half.h"
#include "unit/glare.h"
#include "unit/kernels.h"

enum { W = 151, H = 83, CHANNELS = 3 };

/* With --half-overflow float, which has nothing to do here, the result stays floats to the end. */
TEST(results) {
    const char *device, *kernel = glare_kernel("eye.exr", glare_eye, 41, 41,
                                               "R:float G:float "
                                               "B:float");
    for (int i = 0; (device = glare_device(i)); i++)
        for (int kind = 0; kind < 4; kind++) {
            bloom_settings s = glare_settings(device);
            image *a = glare_image("R:half G:half B:half", W, H), *b;
            bloom_report r[2];
            if (kind == 1) s.tolerance = 1e-4;                 /* needs a core */
            if (kind == 2) glare_put(a, 1, W * 40 + 70, 6e4F); /* and perhaps spots */
            if (kind == 3) s.order = AXIS_Y;                   /* the CPU makes columns */
            b = glare_copy(a);
            glare_bloom(a, kernel, &s, &r[0]);
            s.half_overflow = OVERFLOW_FLOAT;
            glare_bloom(b, kernel, &s, &r[1]);
            check_same_pixels(a, b);
            for (int c = 0; c < 3; c++) {
                assert_int_equal(a->head.part[0].channel[c].type, PIXEL_HALF);
                assert_true(r[0].ledger[c].out == r[1].ledger[c].out);
            }
            image_free(&a);
            image_free(&b);
        }
}

/* What is beyond halfs is clamped, counted, and refused or left to floats. */
TEST(overflow) {
    const char *device = glare_device(0);
    const char *kernel = glare_kernel("bell.exr", glare_bell, 15, 15, "R:float G:float B:float");
    if (!device) skip();
    bloom_settings s = glare_settings(device);
    s.tolerance = 1;
    s.kernel.normalize = PSF_NONE;
    image *clamped = glare_image("R:half G:half B:half", W, H), *floats = glare_copy(clamped),
          *refused = glare_copy(clamped);
    for (int c = 0; c < 3; c++) {
        glare_put(clamped, c, 5000, 6e4F);
        glare_put(floats, c, 5000, 6e4F);
        glare_put(refused, c, 5000, 6e4F);
    }
    bloom_report r[3];
    glare_bloom(clamped, kernel, &s, &r[0]);
    s.half_overflow = OVERFLOW_FLOAT;
    glare_bloom(floats, kernel, &s, &r[1]);
    s.half_overflow = OVERFLOW_ERROR;
    CHECK_REFUSED(glare_try(refused, kernel, &s, &r[2], &e), ERR_BAD_PIXELS, "");
    uint64_t over = 0;
    for (size_t i = 0; i < (size_t)W * H * 3; i++) {
        int c = (int)(i / (W * H));
        float want = glare_get(floats, c, i % (W * H)), got = glare_get(clamped, c, i % (W * H));
        over += want > HALF_MAX;
        uint16_t h = half_from_float(want > HALF_MAX ? HALF_MAX : want);
        assert_true(got == half_to_float(h));
    }
    uint64_t counted = 0;
    for (int c = 0; c < 3; c++) counted += r[0].ledger[c].overflow_pixels;
    assert_true(over > 100 && over == counted);
    assert_true(fabs(ledger_gap(&r[0].ledger[0])) < 1e-6);
    image_free(&clamped);
    image_free(&floats);
    image_free(&refused);
}

RUN_TESTS(NULL, NULL)
