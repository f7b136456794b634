/* The C library for those who learn: the gradient by the kernel, masks, what is emitted, and
 * batches with a session for each image. */
#include "unit/lib_calls.h"

enum { N = 17, M = 13, KW = 6, KH = 5, MOST = 4 * N * M };

/* Pixels and taps in doubles, and a session of these. */
typedef struct {
    fb_context *c;
    double tap[3 * KW * KH], x[MOST], y[MOST];
    uint32_t kernels, channels;
    fb_settings set;
} learning;

static learning *begin(uint32_t kernels, uint32_t channels) {
    learning *l = calloc(1, sizeof *l);
    l->c = open_context();
    l->kernels = kernels, l->channels = channels;
    fb_settings_init(&l->set, sizeof l->set);
    for (uint32_t i = 0; i < kernels * KW * KH; i++) l->tap[i] = 0.1 + number();
    for (uint32_t i = 0; i < MOST; i++) l->x[i] = number() - 0.2, l->y[i] = number() - 0.5;
    return l;
}

static void end(learning *l) {
    fb_context_close(l->c);
    free(l);
}

static fb_session *session_of(const learning *l) {
    fb_plane plane[3];
    fb_kernel *k;
    fb_error e;
    interleaved(plane, (void *)(uintptr_t)l->tap, FB_DOUBLE, KW, l->kernels);
    LIB_OK(fb_kernel_copy(&k, l->c, KW, KH, l->kernels, plane, &e));
    fb_session *s = open_session(k, &l->set);
    fb_kernel_close(k);
    return s;
}

/* Returns <y, bloom(x)>. */
static double score(const learning *l) {
    static double out[MOST];
    fb_plane a[4], b[4];
    fb_error e;
    fb_session *s = session_of(l);
    double sum = 0;
    interleaved(a, (void *)(uintptr_t)l->x, FB_DOUBLE, N, l->channels);
    interleaved(b, out, FB_DOUBLE, N, l->channels);
    const fb_image is = image_of(a, b, N, M, l->channels);
    LIB_OK(fb_bloom(s, &is, NULL, &e));
    fb_session_close(s);
    for (uint32_t i = 0; i < N * M * l->channels; i++) sum += l->y[i] * out[i];
    return sum;
}

/* The gradient by each tap is the slope of the score, and no farther off than the report says. */
static void check_gradient(learning *l) {
    static double g[3 * KW * KH];
    fb_plane a[4], b[4], to[3];
    fb_error e;
    fb_report r = {.size = sizeof r};
    fb_session *s = session_of(l);
    double most = 0;
    interleaved(a, l->x, FB_DOUBLE, N, l->channels);
    interleaved(b, l->y, FB_DOUBLE, N, l->channels);
    interleaved(to, g, FB_DOUBLE, KW, l->kernels);
    const fb_image is = image_of(a, b, N, M, l->channels);
    LIB_OK(fb_kernel_adjoint(s, &is, 1, to, &r, &e));
    fb_session_close(s);
    assert_true(r.kept);
    for (uint32_t i = 0; i < l->kernels * KW * KH; i++) most = fmax(most, fabs(g[i]));
    CHECK_LE(r.error, 1e-10 * most + 1e-13);
    const double step = 1e-4;
    for (uint32_t i = 0; i < l->kernels * KW * KH; i += 1 + i % 4) {
        const double was = l->tap[i];
        l->tap[i] = was + step;
        double slope = score(l);
        l->tap[i] = was - step;
        slope = (slope - score(l)) / (2 * step);
        l->tap[i] = was;
        CHECK_LE(fabs(slope - g[i]), 1e-7 * (most + 1));
    }
}

TEST(the_gradient_by_the_kernel_is_its_slope) {
    static const uint32_t SHAPE[][2] = {{1, 1}, {1, 3}, {3, 3}, {3, 1}, {3, 4}, {1, 4}};
    for (int i = 0; i < 24; i++) {
        learning *l = begin(SHAPE[i % 6][0], SHAPE[i % 6][1]);
        l->set.padding_x = i % 4, l->set.padding_y = (i + i / 4) % 4;
        l->set.normalize = i / 6;
        l->set.correlate = i % 3 == 1;
        l->set.alpha = i % 2;
        l->set.amount = i % 5 ? 0.7 : 1;
        l->set.kernel_center = i % 7 == 3 ? FB_CENTER_CORNER : i % 7 == 5 ? FB_CENTER_AT : 0;
        l->set.center_x = 1, l->set.center_y = 4;
        if (i % 4 == 2)
            memcpy(l->set.tint, (double[]){0.5, 1.5, i % 8 ? 0 : 2}, sizeof l->set.tint);
        if (i % 5 == 3) l->set.core = 1 + i % 2 * 0.5;
        check_gradient(l);
        end(l);
    }
}

TEST(gradients_add_up_over_a_batch_of_any_type) {
    learning *l = begin(1, 1);
    static float x[2][N * M], y[2][N * M];
    static double both[KW * KH], one[KW * KH], two[KW * KH];
    fb_plane a[2], b[2], to;
    fb_image is[2];
    fb_error e;
    fb_session *s = session_of(l);
    for (int i = 0; i < N * M; i++)
        for (int k = 0; k < 2; k++) x[k][i] = (float)number(), y[k][i] = 1e-20F * (float)number();
    for (int i = 0; i < 2; i++) {
        interleaved(&a[i], x[i], FB_FLOAT, N, 1);
        interleaved(&b[i], y[i], FB_FLOAT, N, 1);
        is[i] = image_of(&a[i], &b[i], N, M, 1);
    }
    interleaved(&to, both, FB_DOUBLE, KW, 1);
    LIB_OK(fb_kernel_adjoint(s, is, 2, &to, NULL, &e));
    interleaved(&to, one, FB_DOUBLE, KW, 1);
    LIB_OK(fb_kernel_adjoint(s, is, 1, &to, NULL, &e));
    interleaved(&to, two, FB_DOUBLE, KW, 1);
    LIB_OK(fb_kernel_adjoint(s, is + 1, 1, &to, NULL, &e));
    for (int i = 0; i < KW * KH; i++) {
        assert_true(both[i] != 0);
        CHECK_LE(fabs(both[i] - one[i] - two[i]), 1e-12 * 1e-18);
    }
    memset(y, 0, sizeof y); /* nothing comes back, nothing is to be learned */
    LIB_OK(fb_kernel_adjoint(s, is, 2, &to, NULL, &e));
    for (int i = 0; i < KW * KH; i++) assert_true(two[i] == 0);
    y[1][3] = NAN;
    assert_int_equal(fb_kernel_adjoint(s, is, 2, &to, NULL, &e), FB_BAD_PIXELS);
    assert_non_null(strstr(e.text, "image 1: pixel 3 of a plane of `out`"));
    x[0][N + 2] = NAN; /* a transpose has a frame around the image, and names the image's pixel */
    assert_int_equal(fb_apply_adjoint(s, is, NULL, &e), FB_BAD_PIXELS);
    assert_non_null(strstr(e.text, "'Y' at 2, 1"));
    x[0][N + 2] = 1;
    assert_int_equal(fb_kernel_adjoint(NULL, is, 2, &to, NULL, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_adjoint(s, is, 1, NULL, NULL, &e), FB_BAD_ARGUMENT);
    fb_session_close(s);
    l->set.kernel_scale = 2;
    s = session_of(l);
    assert_int_equal(fb_kernel_adjoint(s, is, 1, &to, NULL, &e), FB_BAD_SETTING);
    assert_string_equal(e.setting, "kernel_scale");
    fb_session_close(s);
    l->set.kernel_scale = 1, l->set.kernel_turn = 90;
    s = session_of(l);
    assert_int_equal(fb_kernel_adjoint(s, is, 1, &to, NULL, &e), FB_BAD_SETTING);
    assert_string_equal(e.setting, "kernel_turn");
    fb_session_close(s);
    end(l);
}

/* A mask, and the same by hand: out = (1 - m) x + bloom(m x). */
TEST(a_mask_limits_what_is_spread) {
    enum { C = 3 };
    OPEN(calls) o = open_calls(TAPS, TAPS, C, NULL);
    static float x[C * W * H], part[C * W * H], want[C * W * H], out[C * W * H], m[W * H];
    static float emit[C * W * H], y[C * W * H], aty[C * W * H];
    fb_plane a[C], b[C], mask, extra[C];
    fb_error e;
    for (int i = 0; i < W * H; i++) m[i] = i % 3 ? (float)number() : i % 2 ? 2 : -1;
    for (int i = 0; i < C * W * H; i++) {
        const float by = fminf(fmaxf(m[i / C], 0), 1);
        x[i] = (float)number(), part[i] = by * x[i], y[i] = (float)number() - 0.5F;
    }
    bloom_floats(o.s, want, part, W, H, C);
    interleaved(a, x, FB_FLOAT, W, C);
    interleaved(b, out, FB_FLOAT, W, C);
    interleaved(&mask, m, FB_FLOAT, W, 1);
    interleaved(extra, emit, FB_FLOAT, W, C);
    fb_image is = image_of(a, b, W, H, C);
    is.mask = &mask;
    LIB_OK(fb_bloom(o.s, &is, NULL, &e));
    double left = 0, right = 0, size = 0;
    for (int i = 0; i < C * W * H; i++) {
        CHECK_LE(fabsf(out[i] - (want[i] + x[i] - part[i])), 1e-5F);
        left += (double)out[i] * (double)y[i], size += fabs((double)out[i] * (double)y[i]);
    }
    fb_image back = is;
    interleaved(a, y, FB_FLOAT, W, C);
    interleaved(b, aty, FB_FLOAT, W, C);
    LIB_OK(fb_apply_adjoint(o.s, &back, NULL, &e));
    for (int i = 0; i < C * W * H; i++) right += (double)aty[i] * (double)x[i];
    CHECK_LE(fabs(left - right), 1e-6 * size);

    interleaved(a, x, FB_FLOAT, W, C);
    interleaved(b, out, FB_FLOAT, W, C);
    is.emit = extra;
    assert_int_equal(fb_bloom(o.s, &is, NULL, &e), FB_BAD_SETTING);
    assert_string_equal(e.setting, "emit");
    is.emit = NULL;
    interleaved(&mask, out, FB_FLOAT, W, 1);
    assert_int_equal(fb_bloom(o.s, &is, NULL, &e), FB_BAD_ARGUMENT);
    assert_string_equal(e.text, "`out` lies over `mask`");
}

TEST(what_is_emitted_comes_beside_the_result) {
    static float x[4 * W * H], out[4 * W * H], emit[4 * W * H], plain[4 * W * H];
    fb_plane a[4], b[4], extra[4];
    fb_error e;
    for (int i = 0; i < 4 * W * H; i++) x[i] = (float)(4 * number() * number());
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t channels = i % 4 == 3 ? 4 : i % 4 == 0 ? 1 : 3;
        const int32_t type = i % 4 == 2 ? FB_DOUBLE : FB_FLOAT;
        static double wide[4 * W * H];
        fb_settings set;
        fb_settings_init(&set, sizeof set);
        set.emit = 1 + (int32_t)i / 4 % 3;
        set.threshold = i > 11 ? 1 : 0;
        set.amount = 0.6;
        OPEN(calls) o = open_calls(TAPS, TAPS, channels == 1 ? 1 : 3, &set);
        memset(emit, 0, sizeof emit);
        for (uint32_t k = 0; k < W * H * channels; k++) wide[k] = (double)x[k];
        interleaved(a, type == FB_DOUBLE ? (void *)wide : x, type, W, channels);
        interleaved(b, out, FB_FLOAT, W, channels);
        interleaved(extra, emit, FB_FLOAT, W, channels);
        fb_image is = image_of(a, b, W, H, channels);
        LIB_OK(fb_bloom(o.s, &is, NULL, &e));
        memcpy(plain, out, sizeof out);
        is.emit = extra;
        LIB_OK(fb_bloom(o.s, &is, NULL, &e));
        for (uint32_t k = 0; k < W * H * channels; k++)
            CHECK_LE(fabsf(plain[k] - out[k]), 2e-6F * (1 + out[k]));
        double glare = 0, more = 0;
        for (uint32_t k = 0; k < W * H * channels; k++) {
            const bool kept = channels == 4 && k % 4 == 3;
            const float source = set.threshold > 0 ? fmaxf(0, x[k] - 1) : x[k];
            if (kept)
                assert_true(emit[k] == 0);
            else if (set.emit == FB_EMIT_ADDITIVE)
                CHECK_LE(fabsf(emit[k] - (out[k] - x[k])), 1e-5F);
            else if (set.emit == FB_EMIT_SOURCE)
                CHECK_LE(fabsf(emit[k] - source), 1e-6F);
            else
                assert_true(emit[k] >= 0), glare += (double)emit[k], more += (double)source;
        }
        if (set.emit == FB_EMIT_GLARE) {
            CHECK_LE(glare, 0.6 * more * 1.0001);
            CHECK_LE(0.1 * more, glare);
        }
    }
}

TEST(each_image_of_a_batch_may_have_its_session) {
    OPEN(calls) o = open_calls(TAPS, TAPS, 1, NULL);
    static float x[W * H], out[4][W * H], want[W * H];
    fb_session *own[4] = {NULL};
    fb_image is[4];
    fb_plane a, b[4];
    fb_error e;
    for (int i = 0; i < W * H; i++) x[i] = (float)number();
    interleaved(&a, x, FB_FLOAT, W, 1);
    for (uint32_t i = 0; i < 4; i++) {
        fb_kernel *k = i ? open_kernel(o.c, 3 + 4 * i, 5, 1) : NULL;
        if (i) own[i] = open_session(k, NULL);
        fb_kernel_close(k);
        interleaved(&b[i], out[i], FB_FLOAT, W, 1);
        is[i] = image_of(&a, &b[i], W, H, 1);
        is[i].session = own[i];
    }
    for (int solve = 0; solve < 2; solve++) {
        LIB_OK((solve ? fb_solve_all : fb_bloom_all)(o.s, is, 4, NULL, &e));
        for (int i = 0; i < 4; i++) {
            fb_session *const s = i ? own[i] : o.s;
            call_floats(solve ? fb_solve : fb_bloom, s, want, x, W, H, 1);
            assert_memory_equal(want, out[i], sizeof want);
        }
    }
    for (int i = 0; i < 4; i++) fb_session_close(own[i]);
    OPEN(calls) other = open_calls(TAPS, TAPS, 1, NULL);
    is[0].session = other.s, is[1].session = is[2].session = is[3].session = NULL;
    assert_int_equal(fb_bloom_all(o.s, is, 4, NULL, &e), FB_BAD_ARGUMENT);
    /* An image of the first version of the struct ends before these members. */
    is[0].size = offsetof(fb_image, mask);
    assert_int_equal(fb_bloom(o.s, is, NULL, &e), FB_OK);
}

RUN_TESTS(NULL, NULL)
