/* Kernels of photographs: known kernels, photographed by a camera that is written down here (8
 * bits, the curve of sRGB, noise, white at 1), must come back. */
#include "kernel/edit/edit.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { W = 341, H = 333, CX = 172, CY = 165, REACH = 150 };

typedef double light_at(double x, double y);

static double moffat(double x, double y) {
    return pow(1 + (x * x + y * y) / (1.4 * 1.4), -1.5);
}

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
static int64_t moved[2]; /* of the camera */

static edit_input photograph(light_at *light, double exposure, double ground, double codes,
                             uint64_t seed) {
    edit_input in = {.amount = NAN, .quantum = decode(1 / 255.0), .name = "lamp.png"};
    CHECK_OK(edit_new(&in.kernel, W, H, 1, &e));
    for (int i = 0; i < W * H; i++) {
        double v = exposure *
                       light((double)(i % W - CX - moved[0]), (double)(i / W - CY - moved[1])) +
                   ground;
        double code = round(encode(fmin(v, 1)) * 255 + codes * normal(&seed));
        in.kernel.tap[i] = decode(fmin(fmax(code, 0), 255) / 255);
    }
    return in;
}

static edit_kernel apply(const char *name, edit_request *r, edit_account *told) {
    edit_kernel to = {0};
    r->threads = make_threads();
    CHECK_OK(edit_find(name)->apply(&to, r, told, &e));
    for (int i = 0; i < r->inputs; i++) edit_free(&r->input[i].kernel);
    return to;
}

static const edit_saying *said(const edit_account *a, const char *key) {
    for (int i = 0; i < a->sayings; i++)
        if (strcmp(a->saying[i].key, key) == 0) return &a->saying[i];
    return NULL;
}

/* Returns the mean of a ring of a kernel, or with NULL of the light itself. */
static double ring(const edit_kernel *k, light_at *light, int radius) {
    double sum = 0, count = 0;
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++) {
            if ((int)(hypot(x, y) + 0.5) != radius) continue;
            sum += light ? light(x, y)
                         : k->tap[(size_t)(y + (int)k->h / 2) * k->w + (size_t)(x + (int)k->w / 2)];
            count++;
        }
    return sum / count;
}

/* Three exposures of 8 bits, up to 3000 times apart: every ring to 2 %, over six decades. */
TEST(merge_recovers) {
    for (int measured = 0; measured < 2; measured++) {
        edit_request r = {.inputs = 3, .value = {0}};
        OWN(edit_account) told = {0};
        const double exposure[3] = {3000, 0.9, 55};
        for (int i = 0; i < 3; i++) {
            r.input[i] = photograph(moffat, exposure[i], 0, 0.7, (uint64_t)i + 1);
            if (!measured) r.input[i].amount = exposure[i];
        }
        OWN(edit_kernel) k = apply("merge", &r, &told);
        double is_all = 0, all = 0, low = 1;
        for (int i = 0; i <= REACH; i++)
            is_all += ring(&k, NULL, i) * fmax(i, 0.16),
                all += ring(NULL, moffat, i) * fmax(i, 0.16);
        for (int i = 0; i <= REACH; i++) {
            double is = ring(&k, NULL, i) / is_all * all, want = ring(NULL, moffat, i);
            CHECK_LE(fabs(is / want - 1), 0.02);
            low = fmin(low, want);
            /* What it says of itself is neither boast nor doubt. */
            CHECK_LE(told.ring[i].deviation, 0.05);
            assert_true(told.ring[i].exposures >= 1 && told.ring[i].exposures <= 3);
        }
        CHECK_LE(low, 1e-6);
        assert_true(said(&told, "known_to_0.02") != NULL);
        CHECK_LE(140, said(&told, "known_to_0.02")->value);
        const edit_saying *longest = &told.saying[0];
        for (int i = 0; i < told.sayings; i++)
            if (strcmp(told.saying[i].key, "exposure") == 0) longest = &told.saying[i];
        CHECK_LE(fabs(longest->value / (3000 / 0.9) - 1), measured ? 0.02 : 1e-12);
    }
}

/* Exposures that do not say the truth are noticed. */
TEST(merge_doubts) {
    edit_request r = {.inputs = 2};
    OWN(edit_account) told = {0};
    r.input[0] = photograph(moffat, 0.9, 0, 0.7, 1), r.input[0].amount = 1;
    r.input[1] = photograph(moffat, 45, 0, 0.7, 2), r.input[1].amount = 100;
    OWN(edit_kernel) k = apply("merge", &r, &told);
    const edit_saying *s = said(&told, "exposure_differs");
    assert_non_null(s);
    CHECK_LE(fabs(s->value - 50), 1.5);
    double most = 0;
    for (uint32_t i = 0; i < told.rings; i++)
        if (told.ring[i].exposures > 1) most = fmax(most, told.ring[i].deviation);
    CHECK_LE(0.1, most);
}

/* A level of black in all pictures, as cameras have that write a dark frame above 0. */
TEST(merge_finds_black) {
    for (int given = 0; given < 2; given++) {
        edit_request r = {.inputs = 3};
        OWN(edit_account) told = {0};
        for (int i = 0; i < 3; i++) {
            r.input[i] = photograph(moffat, 0.9 * pow(60, i), 0.0015, 0.7, (uint64_t)i + 1);
            if (given) r.input[i].amount = 0.9 * pow(60, i);
        }
        OWN(edit_kernel) k = apply("merge", &r, &told);
        const edit_saying *black = said(&told, "black");
        assert_non_null(black);
        CHECK_LE(fabs(black->value - 0.0015), 3e-5);
        assert_null(said(&told, "exposure_differs"));
        double scale = ring(NULL, moffat, 2) / ring(&k, NULL, 2);
        for (int i = 0; i <= 140; i++)
            CHECK_LE(fabs(scale * ring(&k, NULL, i) / ring(NULL, moffat, i) - 1), 0.05);
        CHECK_LE(100, said(&told, "known_to_0.1")->value);
    }
}

static double any(uint64_t *seed, double from, double to) {
    return from + (to - from) * make_chance(seed);
}

/* Photographs a lamp with a black level, noise and glow of the sky that nobody has told, three
 * times, and merges the pictures; one time in four with a time that is wrong. Returns whether every
 * ring that the result calls known is as near to the light as it says. */
static bool is_covered(uint64_t seed, double known[2]) {
    light_at *const LIGHT[3] = {moffat, soft, star};
    light_at *light = LIGHT[seed % 3];
    double black = make_random(&seed) % 2 ? 0 : any(&seed, 2e-4, 4e-3);
    double noise = any(&seed, 0.3, 1.5), apart = any(&seed, 15, 90), sky = any(&seed, 0, 1e-7);
    bool given = make_random(&seed) % 2, wrong = make_random(&seed) % 2;
    edit_request r = {.inputs = 3};
    OWN(edit_account) told = {0};
    for (int i = 0; i < 3; i++) {
        double exposure = 0.8 * pow(apart, i);
        r.input[i] =
            photograph(light, exposure, black + sky * exposure, noise, seed + 7 + (uint64_t)i);
        if (given) r.input[i].amount = exposure * (wrong && i == 2 ? any(&seed, 0.7, 1.4) : 1);
    }
    OWN(edit_kernel) k = apply("merge", &r, &told);
    bool covered = true;
    for (int l = 0; l < 2; l++) {
        const edit_saying *s = said(&told, l ? "known_to_0.1" : "known_to_0.02");
        int end = s ? (int)s->value : 0, off = 0;
        double is = 0, want = 0;
        known[l] = end;
        for (int i = 0; i < end; i++) {
            is += ring(&k, NULL, i) * fmax(i, 0.16);
            want += (ring(NULL, light, i) + sky) * fmax(i, 0.16);
        }
        for (int i = 0; i < end; i++) {
            double error = ring(&k, NULL, i) / is * want / (ring(NULL, light, i) + sky) - 1;
            double level = l ? 0.1 : 0.02; /* a ring that says more of itself is not called known */
            off += told.ring[i].deviation <= level && !(fabs(error) <= level);
        }
        covered &= off <= end / 50; /* a few may be off by chance */
    }
    return covered;
}

/* Exposures that overlap near white: what the shorter one has of noise must not decide how much it
 * counts for, or the rings in between are too bright. These sets have most of it. */
TEST(merge_has_no_bias_near_white) {
    static const uint64_t SEED[] = {1102, 1111, 1138, 1201, 1204};
    for (size_t i = 0; i < COUNT(SEED); i++) {
        double known[2];
        assert_true(is_covered(SEED[i], known));
        CHECK_LE(100, known[0]);
    }
}

/* MERGE_SETS=300 build/tests/unit test_photo counts more sets, which takes two minutes. */
TEST(merge_says_what_it_knows) {
    const char *more = getenv("MERGE_SETS");
    int sets = more ? atoi(more) : 10, covered = 0;
    double reach[2] = {0};
    for (int i = 0; i < sets; i++) {
        double known[2];
        bool is = is_covered(1000 + (uint64_t)i, known);
        covered += is;
        for (int l = 0; l < 2; l++) reach[l] += known[l] / sets;
        if (more && !is) print_message("set %d: %g, %g\n", i, known[0], known[1]);
    }
    print_message(
        "%d of %d sets are within what is stated: 2 %% to ring %.0f, 10 %% to ring %.0f\n", covered,
        sets, reach[0], reach[1]);
    CHECK_LE(0.95 * sets, covered);
    CHECK_LE(30, reach[1]); /* nothing known would be right, too */
}

typedef struct {
    double taps, rings;
} difference;

/* A camera that was touched between two exposures: the same kernel as from one that was not. */
TEST(merge_moves_back) {
    edit_kernel k[2];
    for (int pass = 0; pass < 2; pass++) {
        edit_request r = {.inputs = 3};
        OWN(edit_account) told = {0};
        for (int i = 0; i < 3; i++) {
            moved[0] = pass ? 3 * i : 0, moved[1] = pass ? -2 * i : 0;
            r.input[i] = photograph(star, pow(60, i) * 0.6, 0, 0.7, (uint64_t)i + 1);
        }
        moved[0] = moved[1] = 0;
        k[pass] = apply("merge", &r, &told);
        const edit_saying *s = said(&told, "moved");
        assert_true(!s == !pass);
        if (s) CHECK_LE(fabs(s->value - hypot(3, 2)), 1e-9);
    }
    double off = 0, all = 0;
    for (int y = -100; y <= 100; y++)
        for (int x = -100; x <= 100; x++) {
            double v[2];
            for (int i = 0; i < 2; i++)
                v[i] = k[i].tap[(size_t)(y + (int)k[i].h / 2) * k[i].w +
                                (size_t)(x + (int)k[i].w / 2)];
            off += fabs(v[0] - v[1]), all += v[0];
        }
    CHECK_LE(off, 0.02 * all); /* their noise differs */
    edit_free(&k[0]);
    edit_free(&k[1]);
}

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
        OWN(edit_account) told = {0};
        r.input[0] = photograph(LIGHT[l], 3, 0.02, 1, 7);
        double raw = 0;
        for (int i = 0; i < W * H; i++) raw += r.input[0].kernel.tap[i];
        OWN(edit_kernel) k = apply("clean", &r, &told);
        assert_true(k.w == 338 && k.h == 331); /* the centre is 172, 165 of 341 x 333 */
        assert_true(said(&told, "background") && said(&told, "core_extrapolated"));
        difference d = wrong(&k, LIGHT[l], 150);
        CHECK_LE(d.rings, 0.05);
        CHECK_LE(d.taps, l == 0 ? 0.05 : 0.08);
        for (size_t i = 0; i < (size_t)k.w * k.h; i++) CHECK_LE(0, k.tap[i]);
    }
}

/* With shorter exposures the core may be cut off far below its top. */
TEST(merge_measures_the_core) {
    for (int given = 0; given < 2; given++) {
        edit_request r = {.inputs = 3}, one = {.inputs = 1, .value = {1, 5, 1}};
        OWN(edit_account) told = {0};
        r.input[0] = photograph(star, 40, 0.02, 1, 7);
        r.input[1] = photograph(star, 0.6, 0.0003, 1, 8);
        r.input[2] = photograph(star, 4, 0.002, 1, 9);
        for (int i = 0; given && i < 3; i++) r.input[i].amount = (const double[]){40, 0.6, 4}[i];
        one.input[0].kernel = apply("merge", &r, &told);
        edit_account_free(&told);
        OWN(edit_kernel) k = apply("clean", &one, &told);
        assert_true(said(&told, "background") && !said(&told, "core_extrapolated"));
        CHECK_LE(wrong(&k, star, 150).taps, 0.045);
    }
}

/* A kernel without faults stays as it is, to the bit. */
TEST(clean_leaves) {
    edit_request r = {.inputs = 1, .value = {1, 5, 1}};
    OWN(edit_account) told = {0};
    CHECK_OK(edit_new(&r.input[0].kernel, 129, 129, 1, &e));
    for (int i = 0; i < 129 * 129; i++) r.input[0].kernel.tap[i] = star(i % 129 - 64, i / 129 - 64);
    OWN(edit_kernel) k = apply("clean", &r, &told);
    assert_non_null(said(&told, "nothing"));
    assert_true(k.w == 129 && k.h == 129);
    for (int i = 0; i < 129 * 129; i++) assert_true(k.tap[i] == star(i % 129 - 64, i / 129 - 64));
}

RUN_TESTS(NULL, NULL)
