/* The figures and the false colours that `kernel show` draws, against sums over the taps. */
#include "app/kernel/kernel_picture.h"
#include "base/file.h"
#include "image/flat/flat.h"
#include "image/flat/heat.h"
#include "image/format.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { W = 40, H = 31 };
static float tap[3][W * H];

static kernel_page page(lint *l) {
    uint64_t seed = 3;
    for (int i = 0; i < 3 * W * H; i++) {
        double r = hypot(i % W - W / 2, i % (W * H) / W - H / 2);
        tap[i / (W * H)][i % (W * H)] = (float)(pow(1 + r, -3) * (1 + 0.3 * make_chance(&seed)));
    }
    kernel_page k = {.name = "a <kernel> & \"more\"",
                     .origin = "",
                     .figures = l,
                     .w = W,
                     .h = H,
                     .channels = 3,
                     .plane = {tap[0], tap[1], tap[2]},
                     .decades = 4};
    memcpy(k.chromaticities, IMAGE_REC709, sizeof k.chromaticities);
    CHECK_OK(lint_kernel(l, &(psf_planes){W, H, 3, k.plane}, &e));
    CHECK_OK(kernel_page_measure(&k, &e));
    return k;
}

TEST(rings) {
    lint l;
    OWN(kernel_page) k = page(&l);
    for (int c = 0; c < 3; c++) {
        double all = 0;
        for (int i = 0; i < W * H; i++) all += (double)tap[c][i];
        for (uint32_t r = 0; r < k.rings; r++) {
            double sum = 0, within = 0, count = 0;
            for (int i = 0; i < W * H; i++) {
                double d = hypot(i % W - W / 2, i / W - H / 2);
                if (d < r + 0.5) within += (double)tap[c][i];
                if (d < r + 0.5 && d >= r - 0.5) sum += (double)tap[c][i], count++;
            }
            CHECK_LE(fabs(k.mean[c][r] - (count > 0 ? sum / count / all : 0)), 1e-12);
            CHECK_LE(fabs(k.within[c][r] - within / all), 1e-12);
            assert_true(k.edge[r] == r + 0.5);
        }
        CHECK_LE(fabs(k.within[c][k.rings - 1] - 1), 1e-12);
    }
}

/* A picture that is not scaled down has a square of pixels for each tap, in the colour of its
 * logarithm. */
TEST(colours) {
    lint l;
    OWN(kernel_page) k = page(&l);
    size_t bytes;
    OWN_MEM uint8_t *png = kernel_picture_png(&k, &bytes, &e);
    assert_non_null(png);
    const char *path = make_file("page.png", png, bytes);
    OWN(image) *img = image_load(path, NULL, make_threads(), &e);
    assert_non_null(img);
    const image_part *p = &img->head.part[0];
    const uint32_t by = 480 / W, margin = (image_height(p) - H * by) / 2;
    double high = 0;
    for (int i = 0; i < W * H; i++)
        high = fmax(high, (double)tap[0][i] + (double)tap[1][i] + (double)tap[2][i]);
    for (int i = 0; i < W * H; i++) {
        double v = ((double)tap[0][i] + (double)tap[1][i] + (double)tap[2][i]) / high;
        uint8_t want[3];
        heat_colour((float)fmax(0, 1 + log10(v) / 4), want);
        size_t at = (size_t)(margin + (uint32_t)(i / W) * by + by / 2) * image_width(p) + margin +
                    (uint32_t)(i % W) * by + by / 2;
        for (int c = 0; c < 3; c++) {
            int channel = image_find_channel(p, (const char *[]){"R", "G", "B"}[c]);
            float is;
            image_to_float(&is, img->plane[0][channel], p->channel[channel].type, at, 1);
            CHECK_LE(fabs((double)flat_to_srgb(is) * 255 - want[c]), 1.01);
        }
    }
}

/* Names are escaped. */
TEST(svg) {
    lint l;
    OWN(kernel_page) k = page(&l);
    OWN(text) to = {0};
    CHECK_OK(kernel_page_svg(&k, make_threads(), &to, &e));
    assert_non_null(strstr(to.s, "<title>a &lt;kernel&gt; &amp; &quot;more&quot;</title>"));
    assert_null(strstr(to.s, "<kernel>"));
    /* No coordinate is NaN; the data of pictures may have these letters. */
    assert_true(!strstr(to.s, "\"nan") && !strstr(to.s, " nan") && !strstr(to.s, " inf"));
}

RUN_TESTS(NULL, NULL)
