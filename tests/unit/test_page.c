/* The figures and the false colours that `kernel show` draws, against sums over the taps. */
#include "app/kernel/kernel_actions.h"
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
                     .plane = {tap[0], tap[1], tap[2]}};
    k.colour = *PRIMARIES_REC709;
    CHECK_OK(lint_kernel(l, &(psf_planes){W, H, 3, k.plane, NULL}, &e));
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
        }
        CHECK_LE(fabs(k.within[c][k.rings - 1] - 1), 1e-12);
    }
}

/* A picture that is not scaled down has a pixel for each tap, in the colour of its logarithm; its
 * part that people see is around the middle, and darkest at its border. */
TEST(colours) {
    lint l;
    OWN(kernel_page) k = page(&l);
    preview_picture made;
    const kernel_part whole = kernel_part_whole(&k), seen = kernel_part_seen(&k);
    CHECK_OK(kernel_picture_colours(&made, &k, &whole, W, &e));
    assert_true(made.width == W && made.height == H);
    double high = 0;
    for (int i = 0; i < W * H; i++)
        high = fmax(high, (double)tap[0][i] + (double)tap[1][i] + (double)tap[2][i]);
    for (int i = 0; i < W * H; i++) {
        double v = ((double)tap[0][i] + (double)tap[1][i] + (double)tap[2][i]) / high;
        uint8_t want[3];
        heat_colour((float)fmax(0, 1 + log10(v) / 9), want);
        for (int c = 0; c < 3; c++)
            assert_in_range(made.pixel[3 * i + c] + 1, want[c], want[c] + 2);
    }
    mem_free(made.pixel);
    const int reach = (int)ceil(l.radius_99);
    assert_true(seen.x == W / 2 - reach && seen.y == H / 2 - reach &&
                seen.w == 2u * (unsigned)reach + 1);
    CHECK_LE(pow(10, seen.low), k.mean[1][reach]);
    CHECK_LE(k.mean[1][reach], 10.1 * pow(10, seen.low));
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
