/* Edits of kernels, each against a plain reference in double: the definition, written again. */
#include "app/commands.h"
#include "kernel/edit/edit.h"
#include "unit/check.h"
#include "unit/make_image.h"

static edit_kernel noise(uint32_t w, uint32_t h, uint32_t channels, uint64_t seed) {
    edit_kernel k;
    CHECK_OK(edit_new(&k, w, h, channels, &e));
    for (size_t i = 0; i < (size_t)w * h * channels; i++) k.tap[i] = make_chance(&seed);
    return k;
}

/* Returns the tap at x, y from the centre, or 0. */
static double at(const edit_kernel *k, uint32_t c, int x, int y) {
    int px = x + (int)k->w / 2, py = y + (int)k->h / 2;
    if (px < 0 || py < 0 || px >= (int)k->w || py >= (int)k->h) return 0;
    return k->tap[((size_t)c * k->h + (size_t)py) * k->w + (size_t)px];
}

static edit_kernel apply(const char *name, edit_request *r) {
    edit_kernel to = {0};
    edit_account told = {0};
    const edit *d = edit_find(name);
    assert_non_null(d);
    r->threads = make_threads();
    CHECK_OK(d->apply(&to, r, &told, &e));
    for (int i = 0; i < told.sayings; i++) assert_true(strlen(told.saying[i].words) > 5);
    return to;
}

static edit_kernel apply_1(const char *name, const edit_kernel *k, double a, double b, double c) {
    edit_request r = {.inputs = 1, .value = {a, b, c}};
    r.input[0].kernel = *k;
    return apply(name, &r);
}

TEST(right_angles) {
    const uint32_t size[4][2] = {{7, 7}, {8, 8}, {9, 4}, {6, 11}};
    for (int s = 0; s < 4; s++)
        for (int q = -1; q <= 4; q++) {
            OWN(edit_kernel) k = noise(size[s][0], size[s][1], 1 + 2 * (s & 1), 5);
            OWN(edit_kernel) t = apply_1("rotate", &k, 90 * q, 0, 0);
            assert_true(t.channels == k.channels);
            for (uint32_t c = 0; c < k.channels; c++)
                for (int y = -6; y <= 6; y++)
                    for (int x = -6; x <= 6; x++) {
                        int tx = x, ty = y;
                        for (int i = 0; i < (q + 4) % 4; i++) {
                            int old = tx;
                            tx = -ty, ty = old; /* right becomes down */
                        }
                        assert_true(at(&t, c, tx, ty) == at(&k, c, x, y));
                    }
            CHECK_LE(fabs(edit_light(&t) - edit_light(&k)), 1e-12 * edit_light(&k));
        }
}

/* The area under a tap's shape between two places, by points. */
static double shape_area(double from, double to, double by) {
    enum { N = 4000 };
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double x = fabs(from + (to - from) * (i + 0.5) / N);
        double spline = x < 1 ? 2 / 3.0 - x * x + x * x * x / 2 : pow(fmax(0, 2 - x), 3) / 6;
        sum += by <= 1 ? x < 0.5 : by > 2 ? spline : fmax(0, 1 - x);
    }
    return sum * (to - from) / N;
}

TEST(stretches) {
    const double by[4][2] = {{1, 1}, {2, 1}, {0.5, 0.7}, {1.3, 3}};
    OWN(edit_kernel) k = noise(8, 7, 1, 9);
    for (int s = 0; s < 4; s++) {
        OWN(edit_kernel) t = apply_1("stretch", &k, by[s][0], by[s][1], 0);
        CHECK_LE(fabs(edit_light(&t) - edit_light(&k)), 1e-12 * edit_light(&k));
        for (int y = -12; y <= 12; y++)
            for (int x = -12; x <= 12; x++) {
                double sum = 0, sx = by[s][0], sy = by[s][1];
                if (s == 0) {
                    assert_true(at(&t, 0, x, y) == at(&k, 0, x, y));
                    continue;
                }
                for (int j = -4; j <= 4; j++)
                    for (int i = -4; i <= 4; i++)
                        if (at(&k, 0, i, j) > 0 && fabs(i - x / sx) < 3 && fabs(j - y / sy) < 3)
                            sum += at(&k, 0, i, j) *
                                   shape_area((x - 0.5) / sx - i, (x + 0.5) / sx - i, sx) *
                                   shape_area((y - 0.5) / sy - j, (y + 0.5) / sy - j, sy);
                CHECK_LE(fabs(sum - at(&t, 0, x, y)), 5e-3);
            }
    }
}

TEST(mixes) {
    edit_request r = {.inputs = 3};
    edit_kernel k[3] = {noise(6, 5, 3, 1), noise(9, 9, 1, 2), noise(3, 4, 1, 3)};
    const double share[3] = {0.5, 0.3, 0.2}, move[3][2] = {{0, 0}, {2, -3}, {0.25, -0.5}};
    for (int i = 0; i < 3; i++) {
        r.input[i].kernel = k[i], r.input[i].amount = share[i];
        memcpy(r.input[i].offset, move[i], sizeof move[i]);
    }
    edit_kernel t = apply("mix", &r);
    assert_true(t.channels == 3);
    for (uint32_t c = 0; c < 3; c++)
        for (int y = -9; y <= 9; y++)
            for (int x = -9; x <= 9; x++) {
                double sum = 0;
                for (int i = 0; i < 3; i++) {
                    double fx = move[i][0] - floor(move[i][0]), fy = move[i][1] - floor(move[i][1]);
                    int dx = x - (int)floor(move[i][0]), dy = y - (int)floor(move[i][1]);
                    uint32_t ci = k[i].channels == 3 ? c : 0;
                    sum += share[i] * k[i].channels / edit_light(&k[i]) *
                           ((1 - fx) * (1 - fy) * at(&k[i], ci, dx, dy) +
                            fx * (1 - fy) * at(&k[i], ci, dx - 1, dy) +
                            (1 - fx) * fy * at(&k[i], ci, dx, dy - 1) +
                            fx * fy * at(&k[i], ci, dx - 1, dy - 1));
                }
                CHECK_LE(fabs(sum - at(&t, c, x, y)), 1e-14);
            }
    CHECK_LE(fabs(edit_light(&t) / 3 - 1), 1e-12);
    edit_kernel_free(&t);
    /* A result is as large as the largest input, dark taps included. */
    edit_request dark = {.inputs = 2, .input = {{.kernel = k[2]}, {.amount = 0.5}}};
    err e = {0};
    dark.input[0].amount = 0.5;
    CHECK_OK(edit_new(&dark.input[1].kernel, 21, 18, 1, &e));
    dark.input[1].kernel.tap[9 * 21 + 10] = 1;
    t = apply("mix", &dark);
    assert_true(t.w == 21 && t.h == 18);
    edit_kernel_free(&t);
    edit_kernel_free(&dark.input[1].kernel);
    for (int i = 0; i < 3; i++) edit_kernel_free(&k[i]);
}

TEST(sizes) {
    double lost;
    edit_kernel k = noise(8, 7, 3, 8), t;
    CHECK_OK(edit_copy(&t, &k, &e));
    CHECK_OK(edit_fit(&t, 11, 12, &lost, &e));
    assert_true(lost == 0 && t.w == 11 && t.h == 12);
    for (int y = -9; y < 9; y++)
        for (int x = -9; x < 9; x++) assert_true(at(&t, 2, x, y) == at(&k, 2, x, y));
    CHECK_OK(edit_fit(&t, 3, 3, &lost, &e));
    CHECK_LE(fabs(lost - (1 - edit_light(&t) / edit_light(&k))), 1e-12);
    edit_kernel_free(&t);
    edit_kernel_free(&k);
    /* The smallest square that keeps a share. */
    CHECK_OK(edit_new(&k, 41, 41, 1, &e));
    for (int i = 0; i < 41 * 41; i++) k.tap[i] = exp(-hypot(i % 41 - 20, i / 41 - 20));
    t = apply_1("crop", &k, 0.99, 0, 0);
    CHECK_LE(0.99 * edit_light(&k), edit_light(&t));
    CHECK_OK(edit_fit(&t, t.w - 2, t.h - 2, &lost, &e));
    assert_true(edit_light(&t) < 0.99 * edit_light(&k));
    edit_kernel_free(&t);
    /* A fade takes what it says and leaves the middle. */
    double before = edit_light(&k), taken = edit_fade(&k, 0.5);
    CHECK_LE(fabs(edit_light(&k) - (1 - taken) * before), 1e-12 * before);
    assert_true(taken > 0 && at(&k, 0, 20, 0) == 0 && at(&k, 0, 10, 0) == exp(-10));
    edit_kernel_free(&k);
}

/* No size, no darkness and no negative tap crashes an edit; it may refuse, and then says why. */
TEST(odd_kernels) {
    for (int d = 0; d < EDIT_COUNT; d++)
        for (int i = 0; i < 9 * 9 * 3; i++) {
            edit_request r = {.inputs = 1, .threads = make_threads()};
            edit_account told = {0};
            edit_kernel to = {0};
            for (int q = 0; q < r.inputs; q++) {
                edit_kernel *k = &r.input[q].kernel;
                *k = noise(1 + (uint32_t)i % 9, 1 + (uint32_t)i / 9 % 9, 1 + 2 * (i & 1), 3);
                for (size_t t = 0; t < (size_t)k->w * k->h * k->channels; t++)
                    k->tap[t] *= i / 81 == 0 ? 0 : i / 81 == 1 ? 1 : t % 3 - 1.0;
                r.input[q].amount = NAN;
            }
            for (int p = 0; p < edit_parameters(&EDITS[d]); p++)
                r.value[p] = p + 1 == d ? EDITS[d].parameter[p].min : EDITS[d].parameter[p].preset;
            if (strcmp(EDITS[d].name, "rotate") == 0) r.value[0] = i;
            if (strcmp(EDITS[d].name, "stretch") == 0) r.value[0] = 0.01 + i % 7 * 0.5;
            e = (err){0};
            bool ok = EDITS[d].apply(&to, &r, &told, &e);
            assert_true(ok == (e.code == 0));
            assert_true(ok || strlen(e.msg) > 10);
            for (size_t t = 0; ok && t < (size_t)to.w * to.h * to.channels; t++)
                assert_true(isfinite(to.tap[t]));
            edit_kernel_free(&to);
            for (int q = 0; q < r.inputs; q++) edit_kernel_free(&r.input[q].kernel);
        }
}

/* Each edit has an action of its name, which takes as many words and names its parameters. */
TEST(actions) {
    for (int i = 0; i < EDIT_COUNT; i++) {
        const edit *d = &EDITS[i];
        const command_action *a = command_find_action(command_find(&COMMANDS, "kernel"), d->name);
        assert_non_null(a);
        assert_int_equal(a->min_words, 1 + d->last_word);
        assert_int_equal(a->max_words, (d->moves ? EDIT_INPUTS : 1) + d->last_word);
        assert_true((strstr(a->options, "param") != NULL) ==
                    (edit_parameters(d) > 0 && !d->last_word));
        assert_true((strstr(a->usage, "@X,Y") != NULL) == d->moves);
        assert_true(!d->amount == !strchr(a->usage, ':'));
    }
}

RUN_TESTS(NULL, NULL)
