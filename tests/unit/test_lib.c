/* The C library: what its calls do, and what they refuse. The bytes are those of the program. */
#include "base/half.h"
#include "lib/fftbloom.h"
#include "unit/glare.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { W = 61, H = 47, TAPS = 21 };

/* --- what tests are made of ------------------------------------------------------------------- */

static uint64_t seed = 1;

static double number(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 40) * 0x1p-24;
}

static fb_context *open_context(void) {
    fb_context *c;
    fb_error e;
    const fb_context_options o = {.size = sizeof o, .device = "cpu", .threads = 2};
    if (fb_context_open(&c, &o, &e)) fail_msg("%s", e.text);
    return c;
}

/* Returns planes of packed pixels that lie side by side. */
static void interleaved(fb_plane *to, void *data, int32_t type, uint32_t w, uint32_t channels) {
    size_t bytes = type == FB_HALF ? 2 : type == FB_FLOAT ? 4 : 8;
    for (uint32_t c = 0; c < channels; c++)
        to[c] = (fb_plane){.data = (char *)data + c * bytes,
                           .pixel_stride = (ptrdiff_t)(channels * bytes),
                           .row_stride = (ptrdiff_t)(w * channels * bytes),
                           .type = type};
}

/* A kernel with no symmetry, whose centre is not its middle. */
static fb_kernel *open_kernel(fb_context *c, uint32_t w, uint32_t h, uint32_t channels) {
    fb_kernel *k;
    fb_error e;
    float *tap = malloc(sizeof *tap * w * h * channels);
    fb_plane plane[3];
    for (uint32_t i = 0; i < w * h * channels; i++) tap[i] = (float)number();
    for (uint32_t i = 0; i < channels; i++)
        tap[(h / 2 * w + w / 2) * channels + i] = (float)(w * h);
    interleaved(plane, tap, FB_FLOAT, w, channels);
    if (fb_kernel_copy(&k, c, w, h, channels, plane, &e)) fail_msg("%s", e.text);
    free(tap);
    return k;
}

static fb_session *open_session(fb_kernel *k, const fb_settings *set) {
    fb_session *s;
    fb_error e;
    if (fb_session_open(&s, k, set, &e)) fail_msg("%s", e.text);
    return s;
}

static void bloom_floats(fb_session *s, float *out, const float *in, uint32_t w, uint32_t h,
                         uint32_t channels, bool adjoint) {
    fb_plane a[4], b[4];
    fb_error e;
    float *copy = malloc(sizeof *copy * w * h * channels);
    memcpy(copy, in, sizeof *copy * w * h * channels);
    interleaved(a, copy, FB_FLOAT, w, channels);
    interleaved(b, out, FB_FLOAT, w, channels);
    const fb_image is = {
        .size = sizeof is, .width = w, .height = h, .channels = channels, .in = a, .out = b};
    if ((adjoint ? fb_apply_adjoint : fb_bloom)(s, &is, NULL, &e)) fail_msg("%s", e.text);
    assert_memory_equal(copy, in, sizeof *copy * w * h * channels); /* it is only read */
    free(copy);
}

/* --- the adjoint ------------------------------------------------------------------------------ */

static double dot(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* <A x, y> = <x, At y>, relative to |A x| |y|. */
static void check_adjoint(fb_context *c, const fb_settings *set, uint32_t w, uint32_t h,
                          uint32_t taps, uint32_t channels) {
    fb_kernel *k = open_kernel(c, taps, taps + 4, channels == 1 ? 1 : 3);
    fb_session *s = open_session(k, set);
    size_t n = (size_t)w * h * channels;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *ax = malloc(n * sizeof *ax),
          *aty = malloc(n * sizeof *aty);
    for (size_t i = 0; i < n; i++) x[i] = (float)(number() - 0.2), y[i] = (float)(number() - 0.5);
    bloom_floats(s, ax, x, w, h, channels, false);
    bloom_floats(s, aty, y, w, h, channels, true);
    double left = dot(ax, y, n), right = dot(x, aty, n);
    double scale = sqrt(dot(ax, ax, n) * dot(y, y, n));
    CHECK_LE(fabs(left - right), 1e-6 * scale);
    free(x), free(y), free(ax), free(aty);
    fb_session_close(s);
    fb_kernel_close(k);
}

TEST(the_adjoint_is_one) {
    fb_context *c = open_context();
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    for (int32_t x = 0; x <= FB_PADDING_WRAP; x++)
        for (int32_t y = 0; y <= FB_PADDING_WRAP; y++) {
            set.padding_x = x, set.padding_y = y;
            set.amount = (x + y) % 2 ? 0.3 : 1;
            set.correlate = x == y;
            check_adjoint(c, &set, W, H, TAPS, x == 1 ? y == 2 ? 4 : 3 : 1);
            check_adjoint(c, &set, 5, 9, TAPS, 1); /* the kernel is the larger one */
            check_adjoint(c, &set, 1, 1, TAPS, 3);
        }
    fb_context_close(c);
}

/* --- layouts ---------------------------------------------------------------------------------- */

/* The same image in other layouts gives the same values. */
TEST(layouts_are_one) {
    fb_context *c = open_context();
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    fb_session *s = open_session(k, NULL);
    enum { N = W * H };
    static float in[3 * N], want[3 * N], planar[3][N + 7], back[3][N + 7];
    for (int i = 0; i < 3 * N; i++) in[i] = half_to_float(half_from_float((float)number() * 9));
    bloom_floats(s, want, in, W, H, 3, false);

    /* Planes from the bottom up, from the right to the left, one in doubles, one in halfs. */
    static double wide[N];
    static uint16_t half[N];
    fb_plane a[3], b[3];
    fb_error e;
    for (int i = 0; i < N; i++) {
        planar[0][N - 1 - i] = in[3 * i];
        wide[i] = (double)in[3 * i + 1];
        half[i] = half_from_float(in[3 * i + 2]);
    }
    a[0] = (fb_plane){&planar[0][N - 1], -4, -4 * W, FB_FLOAT, 0};
    a[1] = (fb_plane){wide, 8, 8 * W, FB_DOUBLE, 0};
    a[2] = (fb_plane){half, 2, 2 * W, FB_HALF, 0};
    for (int i = 0; i < 3; i++) b[i] = (fb_plane){back[i], 4 * H, 4, FB_FLOAT, 0}; /* by columns */
    const fb_image is = {
        .size = sizeof is, .width = W, .height = H, .channels = 3, .in = a, .out = b};
    fb_report r = {.size = sizeof r};
    if (fb_bloom(s, &is, &r, &e)) fail_msg("%s", e.text);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int i = 0; i < 3; i++)
                assert_memory_equal(&back[i][x * H + y], &want[3 * (y * W + x) + i], 4);
    assert_int_equal(r.kept, 1);
    CHECK_LE(r.error, r.allowed);
    CHECK_LE(fabs(r.energy_in - r.energy_out), 0.02 * r.energy_in);

    /* In place. */
    static float place[3 * N];
    memcpy(place, in, sizeof in);
    interleaved(a, place, FB_FLOAT, W, 3);
    const fb_image same = {
        .size = sizeof same, .width = W, .height = H, .channels = 3, .in = a, .out = a};
    if (fb_bloom(s, &same, NULL, &e)) fail_msg("%s", e.text);
    assert_memory_equal(place, want, sizeof want);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
}

/* --- bad input -------------------------------------------------------------------------------- */

TEST(bad_images_are_refused) {
    fb_context *c = open_context();
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    fb_session *s = open_session(k, NULL);
    static float in[3 * W * H], out[3 * W * H];
    fb_plane a[3], b[3];
    fb_error e;
    interleaved(a, in, FB_FLOAT, W, 3);
    interleaved(b, out, FB_FLOAT, W, 3);
    const fb_image good = {
        .size = sizeof good, .width = W, .height = H, .channels = 3, .in = a, .out = b};
    assert_int_equal(fb_bloom(s, &good, NULL, NULL), FB_OK);
    assert_int_equal(fb_bloom(NULL, &good, NULL, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_bloom(s, NULL, NULL, &e), FB_BAD_ARGUMENT);
    const fb_image bad[] = {
        {.size = 8, .width = W, .height = H, .channels = 3, .in = a, .out = b},
        {.size = sizeof good, .height = H, .channels = 3, .in = a, .out = b},
        {.size = sizeof good, .width = W, .channels = 3, .in = a, .out = b},
        {.size = sizeof good, .width = 65537, .height = 1, .channels = 3, .in = a, .out = b},
        {.size = sizeof good, .width = W, .height = H, .channels = 0, .in = a, .out = b},
        {.size = sizeof good, .width = W, .height = H, .channels = 2, .in = a, .out = b},
        {.size = sizeof good, .width = W, .height = H, .channels = UINT32_MAX, .in = a, .out = b},
        {.size = sizeof good, .width = W, .height = H, .channels = 3, .out = b},
        {.size = sizeof good, .width = W, .height = H, .channels = 3, .in = a},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(fb_bloom(s, &bad[i], NULL, &e), FB_BAD_ARGUMENT);
        assert_int_equal(e.code, FB_BAD_ARGUMENT);
        assert_true(e.text[0]);
    }
    const ptrdiff_t strides[][2] = {
        {0, 12 * W},      {12, 0},           {2, 12 * W},          {12, 12},
        {PTRDIFF_MAX, 1}, {12, PTRDIFF_MIN}, {12, 12 * W - 12 + 4}};
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        interleaved(b, out, FB_FLOAT, W, 3);
        for (int p = 0; p < 3; p++)
            b[p].pixel_stride = strides[i][0], b[p].row_stride = strides[i][1];
        assert_int_equal(fb_bloom(s, &good, NULL, &e), FB_BAD_ARGUMENT);
    }
    interleaved(b, out, FB_FLOAT, W, 3);
    b[2].data = b[1].data; /* two planes in one place */
    assert_int_equal(fb_bloom(s, &good, NULL, &e), FB_BAD_ARGUMENT);
    b[2].data = (char *)b[1].data + 2;
    assert_int_equal(fb_bloom(s, &good, NULL, &e), FB_BAD_ARGUMENT);
    interleaved(b, out, FB_FLOAT, W, 3);
    b[1].type = 4;
    assert_int_equal(fb_bloom(s, &good, NULL, &e), FB_BAD_ARGUMENT);
    b[1].type = FB_FLOAT;
    fb_report r = {.size = 4};
    assert_int_equal(fb_bloom(s, &good, &r, &e), FB_BAD_ARGUMENT);

    in[7] = NAN;
    fb_report told = {.size = sizeof told};
    assert_int_equal(fb_bloom(s, &good, &told, &e), FB_BAD_PIXELS);
    assert_string_equal(e.setting, "nan");
    assert_int_equal(told.bad_pixels, 1);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
}

TEST(bad_settings_are_named) {
    fb_context *c = open_context();
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    fb_session *s;
    fb_error e;
#define REFUSED(member, v)                                                  \
    do {                                                                    \
        fb_settings set;                                                    \
        fb_settings_init(&set, sizeof set);                                 \
        set.member = (v);                                                   \
        assert_int_equal(fb_session_open(&s, k, &set, &e), FB_BAD_SETTING); \
        assert_string_equal(e.setting, #member);                            \
        assert_null(s);                                                     \
    } while (0)
    REFUSED(amount, -0.1);
    REFUSED(amount, 1.1);
    REFUSED(amount, (double)NAN);
    REFUSED(tolerance, 0);
    REFUSED(threshold, -1);
    REFUSED(knee, (double)INFINITY);
    REFUSED(kernel_scale, 0);
    REFUSED(kernel_scale, 1e9);
    REFUSED(center_x, -1);
    REFUSED(kernel_center, 5);
    REFUSED(normalize, -1);
    REFUSED(correlate, 2);
    REFUSED(padding_x, 4);
    REFUSED(padding_y, 9);
    REFUSED(precision, 3);
    REFUSED(nan, 3);
    REFUSED(half_overflow, 2);
    REFUSED(alpha, 2);
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    set.size--;
    assert_int_equal(fb_session_open(&s, k, &set, &e), FB_BAD_ARGUMENT);
    struct {
        fb_settings set;
        int later;
    } grown;
    memset(&grown, 0, sizeof grown);
    fb_settings_init(&grown.set, sizeof grown);
    assert_int_equal(fb_session_open(&s, k, &grown.set, &e), FB_OK);
    fb_session_close(s);
    grown.later = 1;
    assert_int_equal(fb_session_open(&s, k, &grown.set, &e), FB_BAD_ARGUMENT);

    /* What is not linear has no transpose. */
    fb_settings_init(&set, sizeof set);
    set.threshold = 1;
    s = open_session(k, &set);
    static float in[W * H], out[W * H];
    fb_plane a, b;
    interleaved(&a, in, FB_FLOAT, W, 1);
    interleaved(&b, out, FB_FLOAT, W, 1);
    const fb_image is = {
        .size = sizeof is, .width = W, .height = H, .channels = 1, .in = &a, .out = &b};
    assert_int_equal(fb_apply_adjoint(s, &is, NULL, &e), FB_BAD_SETTING);
    assert_string_equal(e.setting, "threshold");
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
}

TEST(bad_kernels_are_refused) {
    fb_context *c = open_context(), *none;
    fb_kernel *k;
    fb_error e;
    float tap[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
    fb_plane p = {tap, 4, 12, FB_FLOAT, 0};
    assert_int_equal(fb_context_open(NULL, NULL, &e), FB_BAD_ARGUMENT);
    const fb_context_options many = {.size = sizeof many, .threads = 100000};
    assert_int_equal(fb_context_open(&none, &many, &e), FB_BAD_ARGUMENT);
    assert_null(none);
    assert_int_equal(fb_kernel_open(&k, c, NULL, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_open(&k, c, "/no/such.exr", &e), FB_NOT_FOUND);
    assert_null(k);
    assert_int_equal(fb_kernel_copy(&k, c, 0, 3, 1, &p, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_copy(&k, c, 3, 3, 2, &p, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_copy(&k, c, 3, 3, 1, NULL, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_copy(&k, c, UINT32_MAX, 3, 1, &p, &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_copy(&k, c, 3, 3, 1, &p, &e), FB_OK);
    uint32_t w, h, channels;
    float back[9];
    fb_plane q = {back, 4, 12, FB_FLOAT, 0};
    fb_kernel_size(k, &w, &h, &channels);
    assert_true(w == 3 && h == 3 && channels == 1);
    assert_int_equal(fb_kernel_taps(k, &q, &e), FB_OK);
    assert_memory_equal(tap, back, sizeof tap);
    fb_kernel_close(k);
    for (int i = 0; i < 9; i++) tap[i] = 0;
    tap[3] = NAN;
    assert_int_equal(fb_kernel_copy(&k, c, 3, 3, 1, &p, &e), FB_OK); /* it is used: refused then */
    fb_session *s = NULL;
    if (fb_session_open(&s, k, NULL, &e) == FB_OK) {
        fb_plane b = q;
        const fb_image is = {
            .size = sizeof is, .width = 3, .height = 3, .channels = 1, .in = &q, .out = &b};
        assert_int_equal(fb_bloom(s, &is, NULL, &e), FB_BAD_DATA);
    }
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
    fb_context_close(NULL);
    fb_kernel_close(NULL);
    fb_session_close(NULL);
}

/* --- names and recipes ------------------------------------------------------------------------ */

TEST(kernels_are_made) {
    fb_context *c;
    fb_kernel *k;
    fb_error e;
    char words[2000];
    uint32_t w, h, channels;
    const fb_context_options o = {.size = sizeof o, .device = "cpu", .kernels = "kernels"};
    assert_int_equal(fb_context_open(&c, &o, &e), FB_OK);
    if (fb_kernel_make(&k, c, "{\"model\": \"disc\", \"radius\": 9, \"taps\": 33}", &e))
        fail_msg("%s", e.text);
    fb_kernel_size(k, &w, &h, &channels);
    assert_true(w == 33 && h == 33 && channels == 1);
    assert_int_equal(fb_kernel_check(k, words, sizeof words, &e), FB_OK);
    assert_string_equal(words, "");
    fb_kernel_close(k);
    const char *const bad[] = {"",
                               "{",
                               "[]",
                               "{}",
                               "{\"model\": \"none\"}",
                               "{\"model\": \"disc\", \"radius\": -1}",
                               "{\"model\": \"disc\", \"taps\": 1e9}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(fb_kernel_make(&k, c, bad[i], &e), FB_BAD_DATA);
        assert_null(k);
    }
    if (fb_kernel_open(&k, c, "star", &e)) fail_msg("%s", e.text);
    assert_int_equal(fb_kernel_check(k, words, 20, &e), FB_OK);
    assert_true(strlen(words) < 20);
    fb_kernel_close(k);
    assert_int_equal(fb_kernel_open(&k, c, "sta", &e), FB_NOT_FOUND);
    assert_non_null(strstr(e.text, "did you mean 'star'?"));
    fb_context_close(c);
}

/* --- threads ---------------------------------------------------------------------------------- */

typedef struct {
    fb_session *s;
    const float *in, *want;
    pthread_t thread;
} sharer;

static void *use(void *arg) {
    sharer *u = arg;
    float *out = malloc(sizeof *out * 3 * W * H);
    for (int i = 0; i < 8; i++) {
        bloom_floats(u->s, out, u->in, W, H, 3, false);
        assert_memory_equal(out, u->want, sizeof *out * 3 * W * H);
    }
    free(out);
    return NULL;
}

/* Handles are used by several threads, and closed in the wrong order. */
TEST(threads_share_handles) {
    fb_context *c = open_context();
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    fb_session *s = open_session(k, NULL);
    fb_context_close(c);
    fb_kernel_close(k);
    static float in[3 * W * H], want[3 * W * H];
    for (int i = 0; i < 3 * W * H; i++) in[i] = (float)number();
    bloom_floats(s, want, in, W, H, 3, false);
    sharer u[5];
    for (int i = 0; i < 5; i++) {
        u[i] = (sharer){.s = s, .in = in, .want = want};
        assert_int_equal(pthread_create(&u[i].thread, NULL, use, &u[i]), 0);
    }
    for (int i = 0; i < 5; i++) pthread_join(u[i].thread, NULL);

    /* All at once; the ninth is bad. */
    enum { MANY = 12 };
    static float out[MANY][3 * W * H];
    fb_plane a[MANY][3], b[MANY][3];
    fb_image is[MANY];
    fb_report r[MANY];
    fb_error e;
    for (int i = 0; i < MANY; i++) {
        interleaved(a[i], in, FB_FLOAT, W, 3);
        interleaved(b[i], out[i], FB_FLOAT, W, 3);
        r[i].size = sizeof r[i];
        is[i] = (fb_image){
            .size = sizeof is[i], .width = W, .height = H, .channels = 3, .in = a[i], .out = b[i]};
    }
    if (fb_bloom_all(s, is, MANY, r, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < MANY; i++) assert_memory_equal(out[i], want, sizeof want);
    for (int i = 0; i < MANY; i++) assert_int_equal(r[i].kept, 1);
    is[8].width = 0;
    assert_int_equal(fb_bloom_all(s, is, MANY, NULL, &e), FB_BAD_ARGUMENT);
    assert_non_null(strstr(e.text, "image 8"));
    assert_int_equal(fb_bloom_all(s, NULL, 0, NULL, &e), FB_OK);
    fb_session_close(s);
}

/* --- hosts ------------------------------------------------------------------------------------ */

typedef struct {
    atomic_long blocks, asked, said;
    atomic_bool refuses;
} watched;

static void *give(void *user, size_t bytes) {
    watched *w = user;
    if (w->refuses) return NULL;
    w->blocks++;
    w->asked += (long)bytes;
    return malloc(bytes);
}

static void take(void *user, void *memory) {
    watched *w = user;
    w->blocks--;
    free(memory);
}

static void hear(void *user, int level, const char *said) {
    watched *w = user;
    assert_in_range(level, FB_LOG_ERROR, FB_LOG_DEBUG);
    w->said += *said != 0;
}

/* All memory comes from the host and goes back to it; budgets are of contexts. */
TEST(hosts_are_apart) {
    watched w = {0};
    fb_error e;
    fb_context *c, *other = open_context();
    const fb_context_options o = {.size = sizeof o,
                                  .device = "cpu",
                                  .threads = 2,
                                  .mem_limit = 40 << 20,
                                  .log = hear,
                                  .log_level = FB_LOG_DEBUG,
                                  .alloc = give,
                                  .release = take,
                                  .user = &w};
    assert_int_equal(fb_context_open(&c, &o, &e), FB_OK);
    uint64_t before = fb_context_used(other);
    assert_true(fb_context_used(c) > 0);
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    fb_session *s = open_session(k, NULL);
    static float in[3 * W * H], out[3 * W * H];
    for (int i = 0; i < 3 * W * H; i++) in[i] = (float)number();
    bloom_floats(s, out, in, W, H, 3, false);
    bloom_floats(s, out, in, W, H, 3, true);
    assert_true(w.said > 0 && w.asked > 1000000);
    assert_int_equal(fb_context_used(other), before);

    /* More than the budget has; the other one has more. */
    enum { WIDE = 2000 };
    float *large = calloc(3ul * WIDE * WIDE, sizeof *large);
    fb_plane a[3];
    interleaved(a, large, FB_FLOAT, WIDE, 3);
    const fb_image is = {
        .size = sizeof is, .width = WIDE, .height = WIDE, .channels = 3, .in = a, .out = a};
    assert_int_equal(fb_bloom(s, &is, NULL, &e), FB_NO_MEMORY);
    fb_kernel *k2 = open_kernel(other, TAPS, TAPS, 1);
    fb_session *s2 = open_session(k2, NULL);
    if (fb_bloom(s2, &is, NULL, &e)) fail_msg("%s", e.text);
    free(large);

    w.refuses = true;
    assert_int_equal(fb_bloom(s, &is, NULL, &e), FB_NO_MEMORY);
    w.refuses = false;
    bloom_floats(s, out, in, W, H, 3, false);
    fb_context_close(c);
    fb_session_close(s);
    assert_true(w.blocks > 0);
    fb_kernel_close(k);
    assert_int_equal(w.blocks, 0);
    fb_session_close(s2);
    fb_kernel_close(k2);
    fb_context_close(other);
}

typedef struct {
    fb_session *s;
    double last;
    int calls, most;
} follower;

static int follow(void *user, double done) {
    follower *f = user;
    fb_error e;
    assert_true(done >= f->last && done <= 1);
    f->last = done;
    assert_int_equal(fb_apply_adjoint(f->s, &(fb_image){0}, NULL, &e), FB_BAD_ARGUMENT);
    assert_non_null(strstr(e.text, "callback"));
    return ++f->calls > f->most;
}

/* A call that is cancelled at any time leaves a session that works. */
TEST(calls_are_cancelled) {
    fb_context *c = open_context();
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    fb_session *s = open_session(k, NULL);
    static float in[3 * W * H], out[3 * W * H], want[3 * W * H];
    fb_plane a[3], b[3];
    fb_error e;
    for (int i = 0; i < 3 * W * H; i++) in[i] = (float)number();
    interleaved(a, in, FB_FLOAT, W, 3);
    interleaved(b, out, FB_FLOAT, W, 3);
    follower f = {.s = s};
    const fb_image is = {.size = sizeof is,
                         .width = W,
                         .height = H,
                         .channels = 3,
                         .in = a,
                         .out = b,
                         .progress = follow,
                         .user = &f};
    int32_t code = FB_CANCELLED;
    for (f.most = 0; code == FB_CANCELLED; f.most++) {
        f.last = f.calls = 0;
        code = fb_bloom(s, &is, NULL, &e);
        assert_true(code == FB_OK || code == FB_CANCELLED);
    }
    assert_true(f.most > 3);
    bloom_floats(s, want, in, W, H, 3, false);
    assert_memory_equal(want, out, sizeof want);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
}

int main(void) {
    return check_run(NULL, NULL);
}
