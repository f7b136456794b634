/* The C library: what its calls do, and what they refuse. The bytes are those of the program. */
#include "base/half.h"
#include "unit/lib_calls.h"

#include <unistd.h>

static double dot(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* <A x, y> = <x, At y>, relative to |A x| |y|, for blooms, or for what takes their glare away. */
static void check_adjoint(const fb_settings *set, uint32_t w, uint32_t h, uint32_t channels,
                          bool solve) {
    OPEN(calls) o = open_calls(TAPS, TAPS + 4, channels == 1 ? 1 : 3, set);
    size_t n = (size_t)w * h * channels;
    OWN_HEAP float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y),
                   *ax = malloc(n * sizeof *ax), *aty = malloc(n * sizeof *aty);
    for (size_t i = 0; i < n; i++) x[i] = (float)(number() - 0.2), y[i] = (float)(number() - 0.5);
    call_floats(solve ? fb_solve : fb_bloom, o.s, ax, x, w, h, channels);
    call_floats(solve ? fb_solve_adjoint : fb_apply_adjoint, o.s, aty, y, w, h, channels);
    double left = dot(ax, y, n), right = dot(x, aty, n);
    double scale = sqrt(dot(ax, ax, n) * dot(y, y, n));
    CHECK_LE(fabs(left - right), 1e-6 * scale);
}

TEST(the_adjoint_is_one) {
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    for (int32_t x = 0; x <= FB_PADDING_WRAP; x++)
        for (int32_t y = 0; y <= FB_PADDING_WRAP; y++) {
            set.padding_x = x, set.padding_y = y;
            set.amount = (x + y) % 2 ? 0.3 : 1;
            set.correlate = x == y;
            for (int solve = 0; solve < 2; solve++) {
                set.tolerance = solve ? 1e-6 : 1e-3;
                check_adjoint(&set, W, H, x == 1 ? y == 2 ? 4 : 3 : 1, solve);
                check_adjoint(&set, 5, 9, 1, solve); /* the kernel is the larger one */
                check_adjoint(&set, 1, 1, 3, solve);
            }
        }
}

/* Planes of doubles: the result by the definition, and the transpose, to what doubles can do. */
TEST(doubles_stay_doubles) {
    enum { N = 19, K = 7 };
    static double x[N][N], y[N][N], ax[N][N], aty[N][N];
    double tap[K][K]; /* what floats cannot hold, as the pixels are */
    double sum = 0, left = 0, right = 0;
    fb_error e;
    fb_kernel *k;
    fb_context *c = open_context();
    fb_settings set;
    fb_plane taps, px, py, pax, paty;
    for (int i = 0; i < K * K; i++) sum += tap[i / K][i % K] = number();
    interleaved(&taps, tap, FB_DOUBLE, K, 1);
    assert_int_equal(fb_kernel_copy(&k, c, K, K, 1, &taps, &e), FB_OK);
    for (int i = 0; i < N * N; i++) /* what floats cannot tell apart */
        x[i / N][i % N] = number() + 1e-9 * number(),
                     y[i / N][i % N] = number() - 0.5 + 1e-9 * number();
    interleaved(&px, x, FB_DOUBLE, N, 1);
    interleaved(&py, y, FB_DOUBLE, N, 1);
    interleaved(&pax, ax, FB_DOUBLE, N, 1);
    interleaved(&paty, aty, FB_DOUBLE, N, 1);
    fb_settings_init(&set, sizeof set);
    set.padding_x = FB_PADDING_WRAP, set.padding_y = FB_PADDING_CLAMP;
    set.amount = 0.75;
    fb_session *s = open_session(k, &set);
    fb_image is = image_of(&px, &pax, N, N, 1);
    fb_report r = {.size = sizeof r};
    LIB_OK(fb_bloom(s, &is, &r, &e));
    assert_int_equal(r.precision, FB_PRECISION_FLOAT64);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int v = 0; v < K; v++)
                for (int u = 0; u < K; u++) {
                    int from_y = i - (v - K / 2), from_x = j - (u - K / 2);
                    from_y = from_y < 0 ? 0 : from_y < N ? from_y : N - 1;
                    want += tap[v][u] * x[from_y][(from_x + N) % N];
                }
            CHECK_LE(fabs(ax[i][j] - (0.75 * want / sum + 0.25 * x[i][j])), 1e-13);
        }
    is.in = &py, is.out = &paty;
    LIB_OK(fb_apply_adjoint(s, &is, NULL, &e));
    for (int i = 0; i < N * N; i++) {
        left += ax[i / N][i % N] * y[i / N][i % N];
        right += x[i / N][i % N] * aty[i / N][i % N];
    }
    CHECK_LE(fabs(left - right), 1e-12);
    CHECK_LE(1e-3, fabs(left));

    /* Nothing is spread: 48 bits stay. */
    fb_session_close(s);
    set.amount = 0;
    s = open_session(k, &set);
    is.in = &px, is.out = &pax;
    LIB_OK(fb_bloom(s, &is, NULL, &e));
    for (int i = 0; i < N * N; i++)
        CHECK_LE(fabs(ax[i / N][i % N] - x[i / N][i % N]), 0x1p-48 * x[i / N][i % N]);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
}

/* Images that lie over each other, by a row and by an image: those of a batch are bloomed at the
 * same time, in any order. */
TEST(batches_are_not_written_over_their_images) {
    enum { COUNT_OF = 3, N = W * H };
    OPEN(calls) o = open_calls(TAPS, TAPS, 1, NULL);
    static float pixel[2 * COUNT_OF * N];
    fb_plane in[COUNT_OF], out[COUNT_OF];
    fb_image image[COUNT_OF];
    fb_error e;
    const ptrdiff_t move[] = {N, W, -N, 0, COUNT_OF * N};
    for (size_t m = 0; m < COUNT(move); m++) {
        float *first = pixel + (move[m] < 0 ? N : 0);
        for (int i = 0; i < COUNT_OF; i++) {
            interleaved(&in[i], first + i * N, FB_FLOAT, W, 1);
            interleaved(&out[i], first + i * N + move[m], FB_FLOAT, W, 1);
            image[i] = image_of(&in[i], &out[i], W, H, 1);
        }
        bool apart = move[m] == 0 || move[m] == COUNT_OF * N;
        assert_int_equal(fb_bloom_all(o.s, image, COUNT_OF, NULL, &e),
                         apart ? FB_OK : FB_BAD_ARGUMENT);
        if (!apart)
            assert_non_null(strstr(e.text, m == 1 ? "lies over `in`" : "of the same batch"));
    }
}

/* The same image in other layouts gives the same values. */
TEST(layouts_are_one) {
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    set.precision = FB_PRECISION_FLOAT32; /* planes of doubles would ask for more */
    OPEN(calls) o = open_calls(TAPS, TAPS, 3, &set);
    fb_session *s = o.s;
    enum { N = W * H };
    static float in[3 * N], want[3 * N], planar[3][N + 7], back[3][N + 7];
    for (int i = 0; i < 3 * N; i++) in[i] = half_to_float(half_from_float((float)number() * 9));
    bloom_floats(s, want, in, W, H, 3);

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
    const fb_image is = image_of(a, b, W, H, 3);
    fb_report r = {.size = sizeof r};
    LIB_OK(fb_bloom(s, &is, &r, &e));
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
    const fb_image same = image_of(a, a, W, H, 3);
    LIB_OK(fb_bloom(s, &same, NULL, &e));
    assert_memory_equal(place, want, sizeof want);
}

/* Planes line by line, which fill their rows or columns to the last byte, lie apart. */
TEST(planes_may_fit_exactly) {
    OPEN(calls) o = open_calls(TAPS, TAPS, 3, NULL);
    static float in[3 * W * H], out[3 * W * H], want[3 * W * H];
    enum { FLOAT = sizeof(float) };
    fb_plane a[3], b[3];
    fb_error e;
    for (size_t i = 0; i < COUNT(in); i++) in[i] = (float)number();
    interleaved(a, in, FB_FLOAT, W, 3);
    bloom_floats(o.s, want, in, W, H, 3);
    for (int turned = 0; turned < 2; turned++) {
        const ptrdiff_t n = turned ? H : W, line = 3 * n * FLOAT;
        const fb_image is = image_of(a, b, W, H, 3);
        memset(out, 0, sizeof out);
        for (int c = 0; c < 3; c++)
            b[c] = (fb_plane){(char *)out + c * n * FLOAT, turned ? line : FLOAT,
                              turned ? FLOAT : line, FB_FLOAT, 0};
        LIB_OK(fb_bloom(o.s, &is, NULL, &e));
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < W * H; i++) {
                const int x = i % W, y = i / W, row = turned ? x : y, at = turned ? y : x;
                assert_true(out[(row * 3 + c) * n + at] == want[i * 3 + c]);
            }
        b[1].type = FB_HALF;
        b[1].data = (char *)out + n * FLOAT + 2; /* up to the third line */
        LIB_OK(fb_bloom(o.s, &is, NULL, &e));
        b[1].data = (char *)out + n * FLOAT - 2; /* from within the first */
        assert_int_equal(fb_bloom(o.s, &is, NULL, &e), FB_BAD_ARGUMENT);
    }
}

TEST(bad_images_are_refused) {
    OPEN(calls) o = open_calls(TAPS, TAPS, 3, NULL);
    fb_session *s = o.s;
    static float in[3 * W * H], out[3 * W * H];
    fb_plane a[3], b[3];
    fb_error e;
    interleaved(a, in, FB_FLOAT, W, 3);
    interleaved(b, out, FB_FLOAT, W, 3);
    const fb_image good = image_of(a, b, W, H, 3);
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
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(fb_bloom(s, &bad[i], NULL, &e), FB_BAD_ARGUMENT);
        assert_int_equal(e.code, FB_BAD_ARGUMENT);
        assert_true(e.text[0]);
    }
    const ptrdiff_t strides[][2] = {
        {0, 12 * W},      {12, 0},           {2, 12 * W},          {12, 12},
        {PTRDIFF_MAX, 1}, {12, PTRDIFF_MIN}, {12, 12 * W - 12 + 4}};
    for (size_t i = 0; i < COUNT(strides); i++) {
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
    b[1].type = 6;
    assert_int_equal(fb_bloom(s, &good, NULL, &e), FB_BAD_ARGUMENT);
    b[1].type = FB_FLOAT;
    fb_report r = {.size = 4};
    assert_int_equal(fb_bloom(s, &good, &r, &e), FB_BAD_ARGUMENT);

    in[7] = NAN;
    fb_report told = {.size = sizeof told};
    assert_int_equal(fb_bloom(s, &good, &told, &e), FB_BAD_PIXELS);
    assert_string_equal(e.setting, "nan");
    assert_null(strstr(e.text, "--")); /* settings have names here, and no flags */
    assert_int_equal(told.bad_pixels, 1);
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
    REFUSED(kernel_turn, 4000);
    REFUSED(kernel_turn, (double)NAN);
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
    const fb_image is = image_of(&a, &b, W, H, 1);
    a_call *const all[] = {fb_apply_adjoint, fb_solve, fb_solve_adjoint};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(all[i](s, &is, NULL, &e), FB_BAD_SETTING);
        assert_string_equal(e.setting, "threshold");
    }
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
    const fb_context_options missing = {.size = sizeof missing, .device = "nonesuch"};
    assert_int_equal(fb_context_open(&none, &missing, &e), FB_NO_DEVICE);
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
        const fb_image is = image_of(&q, &b, 3, 3, 1);
        assert_int_equal(fb_bloom(s, &is, NULL, &e), FB_BAD_DATA);
    }
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
    fb_context_close(NULL);
    fb_kernel_close(NULL);
    fb_session_close(NULL);
}

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
                               "{\"model\": \"disc\", \"taps\": 1e9}",
                               "{\"model\": \"disc\", \"field\": {\"x\": [0.5], \"y\": [0.5]}}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(fb_kernel_make(&k, c, bad[i], &e), FB_BAD_DATA);
        assert_null(k);
    }
    LIB_OK(fb_kernel_open(&k, c, "star", &e));
    assert_int_equal(fb_kernel_check(k, words, 20, &e), FB_OK);
    assert_true(strlen(words) < 20);
    fb_kernel_close(k);
    LIB_OK(fb_kernel_open(&k, c, "testdata/kernel.exr:0.25 + star", &e));
    fb_kernel_size(k, &w, &h, &channels);
    assert_true(w > 500 && h > 500 && channels == 3);
    fb_kernel_close(k);
    LIB_OK(fb_kernel_open(&k, c, "star", &e));
    fb_kernel_size(k, &w, &h, &channels);
    fb_kernel_close(k);
    uint32_t quarter[3];
    LIB_OK(fb_kernel_open_for(&k, c, "mist-1", 480, 270, &e)); /* the recipe, a quarter as large */
    fb_kernel_size(k, &quarter[0], &quarter[1], &quarter[2]);
    assert_true(quarter[0] == 256 && quarter[1] == 256 && quarter[2] == 3);
    fb_kernel_close(k);
    assert_int_equal(fb_kernel_open_for(&k, c, "mist-1", 0, 270, &e), FB_BAD_SETTING);
    assert_int_equal(fb_kernel_open_for(&k, c, "testdata/kernel.exr", 480, 270, &e),
                     FB_BAD_SETTING);
    assert_null(k);
    assert_int_equal(fb_kernel_open(&k, c, "star:0.5", &e), FB_BAD_ARGUMENT);
    assert_int_equal(fb_kernel_open(&k, c, "sunsta:0.5 + star:0.5", &e), FB_NOT_FOUND);
    assert_int_equal(fb_kernel_open(&k, c, "sunsta", &e), FB_NOT_FOUND);
    assert_non_null(strstr(e.text, "did you mean 'sunstar'?"));
    fb_context_close(c);
}

/* The program's folder: XDG says that a relative one is none. Where no folder can be used, nothing
 * is kept. */
TEST(the_cache_of_the_program) {
    const fb_context_options o = {.size = sizeof o, .device = "cpu", .cache_dir = FB_PROGRAM_CACHE};
    fb_error e;
    fb_context *c;
    unsetenv("FFTBLOOM_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", make_path("home"), 1);
    LIB_OK(fb_context_open(&c, &o, &e));
    fb_context_close(c);
    assert_int_equal(access(make_path("home/.cache/fftbloom"), F_OK), 0);
    assert_int_not_equal(access("relative", F_OK), 0);
    make_text("file", "x");
    setenv("HOME", make_path("file"), 1);
    LIB_OK(fb_context_open(&c, &o, &e));
    fb_context_close(c);
}

RUN_TESTS(NULL, NULL)
