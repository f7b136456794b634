/* Conventions of other tools: the same light from the same picture, by a direct sum that knows
 * nothing of how taps were moved. */
#include "kernel/convention.h"
#include "unit/check.h"

typedef struct {
    uint32_t w, h, cx, cy;
    const convention *of;
    const float *tap;
} picture;

/* Returns the light that a light at the origin throws to (x, y), by the tool's own rule. */
static float thrown(const picture *k, int x, int y) {
    int qx = k->of->turned ? (int)k->cx - x : (int)k->cx + x;
    int qy = k->of->turned ? (int)k->cy - y : (int)k->cy + y;
    if (k->of->center == CENTER_WRAPPED) {
        /* Periodic, and each tap stands for one place: that nearest to the centre. */
        if (2 * x > (int)k->w - 1 || 2 * -x > (int)k->w || 2 * y > (int)k->h - 1 ||
            2 * -y > (int)k->h)
            return 0;
        qx = (x + (int)k->w) % (int)k->w, qy = (y + (int)k->h) % (int)k->h;
    }
    if (qx < 0 || qy < 0 || qx >= (int)k->w || qy >= (int)k->h) return 0;
    return k->tap[qy * (int)k->w + qx];
}

TEST(every_pair) {
    for (uint32_t w = 1; w <= 6; w++)
        for (uint32_t h = 1; h <= 5; h += 2)
            for (int f = 0; f < CONVENTION_COUNT; f++)
                for (int t = 0; t < CONVENTION_COUNT; t++) {
                    float in[30], out[400];
                    for (uint32_t i = 0; i < w * h; i++) in[i] = (float)(i + 1);
                    convention_request r = {
                        .from = &CONVENTIONS[f], .to = &CONVENTIONS[t], .size = {w, h}};
                    /* Where its window begins is how oiiotool's picture says its centre. */
                    r.window[0] = -(int32_t)(w / 2), r.window[1] = -(int32_t)(h / 2);
                    convention_move m;
                    double lost;
                    CHECK_OK(convention_plan(&m, &r, &e));
                    assert_true(m.size[0] * m.size[1] <= 400);
                    convention_apply(out, in, &r, &m, &lost);
                    assert_true(lost == 0);
                    bool before = CONVENTIONS[f].center == CENTER_BEFORE_HALF;
                    picture a = {w,
                                 h,
                                 before ? (w - 1) / 2 : w / 2,
                                 before ? (h - 1) / 2 : h / 2,
                                 &CONVENTIONS[f],
                                 in};
                    picture b = {m.size[0],   m.size[1],       m.center[0],
                                 m.center[1], &CONVENTIONS[t], out};
                    for (int y = -8; y <= 8; y++)
                        for (int x = -8; x <= 8; x++)
                            assert_true(thrown(&a, x, y) == thrown(&b, x, y));
                    /* No side grows by more than the tap that makes room for the centre. */
                    assert_true(m.size[0] <= w + 1 && m.size[1] <= h + 1);
                }
}

TEST(sizes) {
    float in[25], out[100];
    for (int i = 0; i < 25; i++) in[i] = (float)(i + 1);
    convention_request r = {
        .from = &CONVENTIONS[0], .to = &CONVENTIONS[0], .size = {5, 5}, .wanted = {10, 3}};
    convention_move m;
    double lost;
    CHECK_OK(convention_plan(&m, &r, &e));
    convention_apply(out, in, &r, &m, &lost);
    assert_true(out[1 * 10 + 5] == 13 && m.center[0] == 5 && m.center[1] == 1);
    /* The upper and the lower row are gone: 1..5 and 21..25. */
    assert_true(lost == 15 + 115);
    r.centered = true;
    r.at[0] = 5;
    CHECK_REFUSED(convention_plan(&m, &r, &e), ERR_CONFIG, "");
    /* A window that does not hold 0. */
    r = (convention_request){.from = &CONVENTIONS[2], .to = &CONVENTIONS[0], .size = {5, 5}};
    r.window[0] = 1;
    assert_false(convention_plan(&m, &r, &e));
}

RUN_TESTS(NULL, NULL)
