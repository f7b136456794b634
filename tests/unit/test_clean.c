/* Kernels of photographs: known kernels, photographed by a camera that is written down here (8
 * bits, the curve of sRGB, noise, white at 1), must come back. */
#include "kernel/edit/edit.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { W = 341, H = 333, CX = 172, CY = 165, REACH = 150 };

typedef double light_at(double x, double y);

static double soft(double x, double y) {
    return pow(1 + (x * x + y * y) / 16, -1.6);
}

/* Six rays on a veil. */
static double star(double x, double y) {
    double r = hypot(x, y);
    double ray = pow(cos(3 * atan2(y, x)), 40) * r * r / (25 + r * r);
    return pow(1 + r * r / 9, -1.6) + 0.5 * ray * pow(1 + r * r / 9, -1.2);
}

static double normal(uint64_t *seed) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += make_chance(seed);
    return sum - 6;
}

static double encode(double v) {
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static double decode(double s) {
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

/* `codes` is the deviation of the noise, in steps of the 8 bits. */
static edit_input photograph(light_at *light, double exposure, double ground, double codes,
                             uint64_t seed) {
    edit_input in = {.amount = NAN, .quantum = decode(1 / 255.0), .name = "lamp.png"};
    CHECK_OK(edit_new(&in.kernel, W, H, 1, &e));
    for (int i = 0; i < W * H; i++) {
        double v = exposure * light(i % W - CX, i / W - CY) + ground;
        double code = round(encode(fmin(v, 1)) * 255 + codes * normal(&seed));
        in.kernel.tap[i] = decode(fmin(fmax(code, 0), 255) / 255);
    }
    return in;
}

static edit_kernel apply(const char *name, edit_request *r, edit_account *told) {
    edit_kernel to = {0};
    r->threads = make_threads();
    CHECK_OK(edit_find(name)->apply(&to, r, told, &e));
    for (int i = 0; i < r->inputs; i++) edit_kernel_free(&r->input[i].kernel);
    return to;
}

static const edit_saying *said(const edit_account *a, const char *key) {
    for (int i = 0; i < a->sayings; i++)
        if (strcmp(a->saying[i].key, key) == 0) return &a->saying[i];
    return NULL;
}

typedef struct {
    double taps, rings;
} difference;

/* Returns how much of the light is at the wrong place in the kernel: summed tap by tap, noise
 * included, and summed over rings. Both have sum 1 over the square of this half side. */
static difference wrong(const edit_kernel *k, light_at *light, int half) {
    double is = 0, want = 0, by_ring[2 * REACH] = {0};
    difference d = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int y = -half; y <= half; y++)
            for (int x = -half; x <= half; x++) {
                double v = k->tap[(size_t)(y + (int)k->h / 2) * k->w + (size_t)(x + (int)k->w / 2)];
                double off = pass ? v / is - light(x, y) / want : 0;
                if (pass == 0) is += v, want += light(x, y);
                d.taps += fabs(off);
                by_ring[(int)(hypot(x, y) + 0.5)] += off;
            }
    for (int r = 0; r < 2 * REACH; r++) d.rings += fabs(by_ring[r]);
    return d;
}

/* A clipped picture with a background and noise: 5 % of the light. The rays' own noise stays. */
TEST(clean_recovers) {
    light_at *const LIGHT[2] = {soft, star};
    for (int l = 0; l < 2; l++) {
        edit_request r = {.inputs = 1, .value = {1, 5, 1}};
        edit_account told = {0};
        r.input[0] = photograph(LIGHT[l], 3, 0.02, 1, 7);
        OWN(edit_kernel) k = apply("clean", &r, &told);
        assert_true(k.w == 338 && k.h == 331); /* the centre is 172, 165 of 341 x 333 */
        assert_true(said(&told, "background") && said(&told, "core_extrapolated"));
        difference d = wrong(&k, LIGHT[l], 150);
        CHECK_LE(d.rings, 0.05);
        CHECK_LE(d.taps, l == 0 ? 0.05 : 0.08);
        for (size_t i = 0; i < (size_t)k.w * k.h; i++) CHECK_LE(0, k.tap[i]);
    }
}

/* A kernel without faults stays as it is, to the bit. */
TEST(clean_leaves) {
    edit_request r = {.inputs = 1, .value = {1, 5, 1}};
    edit_account told = {0};
    CHECK_OK(edit_new(&r.input[0].kernel, 129, 129, 1, &e));
    for (int i = 0; i < 129 * 129; i++) r.input[0].kernel.tap[i] = star(i % 129 - 64, i / 129 - 64);
    OWN(edit_kernel) k = apply("clean", &r, &told);
    assert_non_null(said(&told, "nothing"));
    assert_true(k.w == 129 && k.h == 129);
    for (int i = 0; i < 129 * 129; i++) assert_true(k.tap[i] == star(i % 129 - 64, i / 129 - 64));
}

RUN_TESTS(NULL, NULL)
