/* Fields of kernels through the C library: made in memory, opened as files, taken apart again. The
 * grid is uneven and not square, and its kernels are unlike each other and their mirror images. */
#include "unit/lib_calls.h"

enum { NX = 3, NY = 2, NODES = NX * NY + 1 };
static const double AT_X[NX] = {-0.1, 0.3, 0.9}, AT_Y[NY] = {0.2, 0.75};
static const double SHARE = 0.25;

static uint32_t wide(uint32_t n) {
    return 4 + n; /* even and odd */
}
static uint32_t high(uint32_t n) {
    return 5 + n / 2;
}
/* The taps of node n add up to 1. */
static double tap(uint32_t n, uint32_t x, uint32_t y) {
    double sum = 0;
    for (uint32_t i = 0; i < wide(n) * high(n); i++)
        sum += 1 + (i % wide(n)) * (n + 2.0) + (i / wide(n)) * (9.0 - n);
    return (1 + x * (n + 2.0) + y * (9.0 - n)) / sum;
}

/* A context with kernels in memory, and a field of them. */
typedef struct {
    fb_context *c;
    fb_kernel *node[NODES], *k;
} fields;

static void fields_close(fields *o) {
    for (uint32_t i = 0; i < NODES; i++) fb_kernel_close(o->node[i]);
    fb_kernel_close(o->k);
    fb_context_close(o->c);
}

static fields open_fields(bool common) {
    fields o = {.c = open_context()};
    fb_error e;
    for (uint32_t n = 0; n < NODES; n++) {
        double taps[16 * 16];
        fb_plane p;
        for (uint32_t i = 0; i < wide(n) * high(n); i++) taps[i] = tap(n, i % wide(n), i / wide(n));
        interleaved(&p, taps, FB_DOUBLE, wide(n), 1);
        LIB_OK(fb_kernel_copy(&o.node[n], o.c, wide(n), high(n), 1, &p, &e));
    }
    const fb_field f = {.size = sizeof f,
                        .across = NX,
                        .down = NY,
                        .x = AT_X,
                        .y = AT_Y,
                        .nodes = o.node,
                        .common = common ? o.node[NODES - 1] : NULL,
                        .share = common ? SHARE : 0};
    LIB_OK(fb_kernel_field(&o.k, o.c, &f, &e));
    return o;
}

/* Returns how much of the light at a share of an axis is that of node n. */
static double hat(const double *at, uint32_t nodes, uint32_t n, double share) {
    share = fmin(fmax(share, at[0]), at[nodes - 1]);
    if (n > 0 && share < at[n]) return fmax(0, (share - at[n - 1]) / (at[n] - at[n - 1]));
    if (n + 1 < nodes && share > at[n]) return fmax(0, (at[n + 1] - share) / (at[n + 1] - at[n]));
    return 1;
}

/* Where an image is that is a frame, or a part of one, or more. */
static const int32_t FRAME[][4] = {{0, 0, 0, 0}, {-20, -50, 150, 130}, {9, 4, 30, 40}};

/* What a lamp of 1 at (x, y) adds to pixel (u, v), beyond a border of zeros. */
static double lamp(bool common, const int32_t frame[4], uint32_t x, uint32_t y, uint32_t u,
                   uint32_t v) {
    const double across = frame[2] ? frame[2] : W, down = frame[2] ? frame[3] : H;
    double sum = 0;
    for (uint32_t n = 0; n < (common ? NODES : NODES - 1); n++) {
        const int64_t tx = (int64_t)u - x + wide(n) / 2, ty = (int64_t)v - y + high(n) / 2;
        const double grid = n == NODES - 1
                                ? SHARE
                                : hat(AT_X, NX, n % NX, (x + 0.5 - frame[0]) / across) *
                                      hat(AT_Y, NY, n / NX, (y + 0.5 - frame[1]) / down) *
                                      (common ? 1 - SHARE : 1);
        if (tx >= 0 && ty >= 0 && tx < wide(n) && ty < high(n))
            sum += grid * tap(n, (uint32_t)tx, (uint32_t)ty);
    }
    return sum;
}

/* Checks a kernel of lamps at places that no symmetry hides, in this type. */
static void check_lamps(fb_kernel *k, bool common, const int32_t frame[4], int32_t type) {
    static const uint32_t AT[][2] = {{5, 7},   {22, 8},  {50, 9}, {7, 40},
                                     {26, 33}, {57, 41}, {40, 22}};
    static double x[W * H], out[W * H];
    static float floats[W * H], bloomed[W * H];
    fb_error e;
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    set.padding_x = set.padding_y = FB_PADDING_ZERO;
    fb_session *s = open_session(k, &set);
    fb_plane in, to;
    for (uint32_t i = 0; i < W * H; i++) x[i] = 0.01;
    for (uint32_t i = 0; i < COUNT(AT); i++) x[AT[i][1] * W + AT[i][0]] = 1 + i;
    for (uint32_t i = 0; i < W * H; i++) floats[i] = (float)x[i];
    interleaved(&in, type == FB_DOUBLE ? (void *)x : floats, type, W, 1);
    interleaved(&to, type == FB_DOUBLE ? (void *)out : bloomed, type, W, 1);
    fb_image img = image_of(&in, &to, W, H, 1);
    fb_report r = {.size = sizeof r};
    memcpy(img.frame, frame, sizeof img.frame);
    if (!frame[2]) img.size = offsetof(fb_image, frame); /* a program of before */
    LIB_OK(fb_bloom(s, &img, &r, &e));
    assert_int_equal(r.kept, 1);
    for (uint32_t v = 0; v < H; v++)
        for (uint32_t u = 0; u < W; u++) {
            double want = 0;
            for (uint32_t i = 0; i < W * H; i++)
                want += x[i] * lamp(common, frame, i % W, i / W, u, v);
            const double got = type == FB_DOUBLE ? out[v * W + u] : (double)bloomed[v * W + u];
            CHECK_LE(fabs(got - want), r.error + 1e-12);
        }
    fb_session_close(s);
}

TEST(a_field_in_memory_spreads_each_lamp_by_the_kernel_of_its_place) {
    for (int common = 0; common < 2; common++) {
        OPEN(fields) o = open_fields(common);
        for (size_t i = 0; i < COUNT(FRAME); i++) {
            check_lamps(o.k, common, FRAME[i], FB_FLOAT);
            check_lamps(o.k, common, FRAME[i], FB_DOUBLE);
        }
    }
}

TEST(frames_that_cannot_be_are_refused) {
    static const int32_t BAD[][4] = {
        {0, 0, 1, 0}, {1, 0, 0, 0}, {1 << 20, 0, 5, 5}, {0, INT32_MIN, 5, 5}, {0, 0, 5, INT32_MAX}};
    OPEN(fields) o = open_fields(false);
    static float x[W * H], out[W * H];
    fb_plane in, to;
    fb_error e;
    fb_session *s = open_session(o.k, NULL);
    interleaved(&in, x, FB_FLOAT, W, 1);
    interleaved(&to, out, FB_FLOAT, W, 1);
    fb_image img = image_of(&in, &to, W, H, 1);
    for (size_t i = 0; i < COUNT(BAD); i++) {
        memcpy(img.frame, BAD[i], sizeof img.frame);
        assert_int_equal(fb_bloom(s, &img, NULL, &e), FB_BAD_ARGUMENT);
        assert_non_null(strstr(e.text, "frame is "));
    }
    fb_session_close(s);
}

TEST(a_field_is_taken_apart_into_its_nodes) {
    OPEN(fields) o = open_fields(true);
    fb_error e;
    fb_kernel *k, *again[NODES];
    double at[3];
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t w, h;
        double taps[16 * 16];
        fb_plane p;
        LIB_OK(fb_kernel_node(&k, o.k, n, at, &e));
        if (n < NODES - 1)
            assert_true(at[0] == AT_X[n % NX] && at[1] == AT_Y[n / NX] && at[2] == 1 - SHARE);
        else
            assert_true(isnan(at[0]) && isnan(at[1]) && at[2] == SHARE);
        fb_kernel_size(k, &w, &h, NULL);
        assert_true(w == wide(n) && h == high(n));
        interleaved(&p, taps, FB_DOUBLE, w, 1);
        LIB_OK(fb_kernel_taps(k, &p, &e));
        for (uint32_t i = 0; i < w * h; i++) /* of doubles 48 bits are kept */
            CHECK_LE(fabs(taps[i] - tap(n, i % w, i / w)), 0x1p-48 * taps[i]);
        again[n] = k;
    }
    assert_int_equal(fb_kernel_node(&k, o.k, NODES, at, &e), FB_NOT_FOUND);
    assert_null(k);
    LIB_OK(fb_kernel_node(&k, again[2], 0, at, &e)); /* no field: itself */
    assert_true(k == again[2] && isnan(at[0]) && isnan(at[1]) && at[2] == 1);
    fb_kernel_close(k);
    assert_int_equal(fb_kernel_node(&k, again[2], 1, at, &e), FB_NOT_FOUND);
    for (uint32_t n = 0; n < NODES; n++) fb_kernel_close(again[n]);
}

TEST(equal_nodes_are_one_kernel) {
    OPEN(fields) o = open_fields(false);
    fb_kernel *same[4] = {o.node[3], o.node[3], o.node[3], o.node[3]}, *k;
    const fb_field f = {
        .size = sizeof f, .across = 2, .down = 2, .x = AT_X, .y = AT_Y, .nodes = same};
    static float x[W * H], a[W * H], b[W * H];
    double at[3];
    fb_error e;
    LIB_OK(fb_kernel_field(&k, o.c, &f, &e));
    for (uint32_t i = 0; i < W * H; i++) x[i] = (float)number();
    fb_session *field = open_session(k, NULL), *one = open_session(o.node[3], NULL);
    bloom_floats(field, a, x, W, H, 1);
    bloom_floats(one, b, x, W, H, 1);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(fb_kernel_node(&(fb_kernel *){NULL}, k, 1, at, &e), FB_NOT_FOUND);
    fb_session_close(field);
    fb_session_close(one);
    fb_kernel_close(k);
}

TEST(what_needs_one_kernel_refuses_a_field_by_name) {
    OPEN(fields) o = open_fields(false);
    static float x[W * H], out[W * H];
    char words[256];
    fb_plane in, to;
    fb_error e;
    fb_session *s = open_session(o.k, NULL);
    for (uint32_t i = 0; i < W * H; i++) x[i] = 1;
    interleaved(&in, x, FB_FLOAT, W, 1);
    interleaved(&to, out, FB_FLOAT, W, 1);
    const fb_image img = image_of(&in, &to, W, H, 1);
    fb_error why[5];
    const int32_t refused[] = {
        fb_apply_adjoint(s, &img, NULL, &why[0]), fb_solve(s, &img, NULL, &why[1]),
        fb_solve_adjoint(s, &img, NULL, &why[2]), fb_kernel_adjoint(s, &img, 1, &to, NULL, &why[3]),
        fb_kernel_taps(o.k, &to, &why[4])};
    for (size_t i = 0; i < COUNT(refused); i++) {
        assert_int_equal(refused[i], FB_BAD_SETTING);
        assert_non_null(strstr(why[i].text, "'field' is a field of 6 kernels"));
    }
    LIB_OK(fb_kernel_check(o.k, words, sizeof words, &e));
    assert_non_null(strstr(words, "node 0: "));
    fb_session_close(s);
}

TEST(fields_that_cannot_be_are_refused) {
    OPEN(fields) o = open_fields(false);
    static const double DOWN[] = {0.5, 0.5};
    fb_kernel *mixed[2] = {o.node[0], NULL}, *k, *colour = open_kernel(o.c, 5, 5, 3);
    fb_error e;
    const fb_field good = {
        .size = sizeof good, .across = 2, .down = 1, .x = AT_X, .y = AT_Y, .nodes = o.node};
    fb_field bad[] = {good, good, good, good, good, good, good};
    bad[0].size = 8;
    bad[1].across = 0;
    bad[2].down = 33;
    bad[3].x = DOWN;
    bad[4].x = NULL;
    bad[5].nodes = mixed;
    bad[6].common = o.node[1], bad[6].share = 1;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(fb_kernel_field(&k, o.c, &bad[i], &e), FB_BAD_ARGUMENT);
        assert_null(k);
    }
    mixed[1] = colour;
    assert_int_equal(fb_kernel_field(&k, o.c, &bad[5], &e), FB_BAD_DATA);
    assert_non_null(strstr(e.text, "different channels"));
    mixed[1] = o.k;
    assert_int_equal(fb_kernel_field(&k, o.c, &bad[5], &e), FB_BAD_SETTING);
    assert_non_null(strstr(e.text, "is a field of 6 kernels"));
    fb_context *other = open_context();
    assert_int_equal(fb_kernel_field(&k, other, &good, &e), FB_BAD_ARGUMENT);
    fb_context_close(other);
    fb_kernel_close(colour);
}

int main(void) {
    return check_run(NULL, NULL);
}
