/* The C library in hosts: threads that share handles, memory and messages of the host's, calls that
 * are cancelled. */
#include "unit/lib_calls.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    fb_session *s;
    const float *in, *want;
    pthread_t thread;
} sharer;

static void *use(void *arg) {
    sharer *u = arg;
    OWN_HEAP float *out = malloc(sizeof *out * 3 * W * H);
    for (int i = 0; i < 8; i++) {
        bloom_floats(u->s, out, u->in, W, H, 3);
        assert_memory_equal(out, u->want, sizeof *out * 3 * W * H);
    }
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
    bloom_floats(s, want, in, W, H, 3);
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
        is[i] = image_of(a[i], b[i], W, H, 3);
    }
    LIB_OK(fb_bloom_all(s, is, MANY, r, &e));
    for (int i = 0; i < MANY; i++) assert_memory_equal(out[i], want, sizeof want);
    for (int i = 0; i < MANY; i++) assert_int_equal(r[i].kept, 1);
    is[8].width = 0;
    assert_int_equal(fb_bloom_all(s, is, MANY, NULL, &e), FB_BAD_ARGUMENT);
    assert_non_null(strstr(e.text, "image 8"));
    assert_int_equal(fb_bloom_all(s, NULL, 0, NULL, &e), FB_OK);
    fb_session_close(s);
}

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
    bloom_floats(s, out, in, W, H, 3);
    call_floats(fb_apply_adjoint, s, out, in, W, H, 3);
    assert_true(w.said > 0 && w.asked > 1000000);
    assert_int_equal(fb_context_used(other), before);

    /* More than the budget has; the other one has more. */
    enum { WIDE = 2000 };
    float *large = calloc(3ul * WIDE * WIDE, sizeof *large);
    fb_plane a[3];
    interleaved(a, large, FB_FLOAT, WIDE, 3);
    const fb_image is = image_of(a, a, WIDE, WIDE, 3);
    assert_int_equal(fb_bloom(s, &is, NULL, &e), FB_NO_MEMORY);
    fb_kernel *k2 = open_kernel(other, TAPS, TAPS, 1);
    fb_session *s2 = open_session(k2, NULL);
    LIB_OK(fb_bloom(s2, &is, NULL, &e));
    free(large);

    w.refuses = true;
    assert_int_equal(fb_bloom(s, &is, NULL, &e), FB_NO_MEMORY);
    w.refuses = false;
    bloom_floats(s, out, in, W, H, 3);
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
    OPEN(calls) o = open_calls(TAPS, TAPS, 3, NULL);
    fb_session *s = o.s;
    static float in[3 * W * H], out[3 * W * H], want[3 * W * H];
    fb_plane a[3], b[3];
    fb_error e;
    for (int i = 0; i < 3 * W * H; i++) in[i] = (float)number();
    interleaved(a, in, FB_FLOAT, W, 3);
    interleaved(b, out, FB_FLOAT, W, 3);
    follower f = {.s = s};
    fb_image is = image_of(a, b, W, H, 3);
    is.progress = follow;
    is.user = &f;
    int32_t code = FB_CANCELLED;
    for (f.most = 0; code == FB_CANCELLED; f.most++) {
        f.last = f.calls = 0;
        code = fb_bloom(s, &is, NULL, &e);
        assert_true(code == FB_OK || code == FB_CANCELLED);
    }
    assert_true(f.most > 3);
    bloom_floats(s, want, in, W, H, 3);
    assert_memory_equal(want, out, sizeof want);
}

/* A host that says once that it wants no more, in the middle of a pass. */
typedef struct {
    int calls, stop;
} watcher;

static int watch(void *user, double done) {
    watcher *w = user;
    (void)done;
    return ++w->calls == w->stop;
}

/* The host is asked between pieces of the work, too, and once is enough. */
TEST(hosts_are_asked_often) {
    enum { WIDE = 1500, TALL = 900 };
    OPEN(calls) o = open_calls(TAPS, TAPS, 1, NULL);
    OWN_HEAP float *in = calloc(WIDE * TALL, sizeof *in), *out = calloc(WIDE * TALL, sizeof *out);
    fb_plane a, b;
    fb_error e;
    watcher w = {0};
    interleaved(&a, in, FB_FLOAT, WIDE, 1);
    interleaved(&b, out, FB_FLOAT, WIDE, 1);
    fb_image is = image_of(&a, &b, WIDE, TALL, 1);
    is.progress = watch;
    is.user = &w;
    for (int i = 0; i < WIDE * TALL; i++) in[i] = (float)number();
    LIB_OK(fb_bloom(o.s, &is, NULL, &e));
    assert_true(w.calls > 3); /* its three steps, and more */
    for (int stop = w.calls - 1; stop > 0; stop--) {
        w = (watcher){.stop = stop};
        const int32_t code = fb_bloom(o.s, &is, NULL, &e);
        assert_true(code == (w.calls < stop ? FB_OK : FB_CANCELLED));
        assert_true(w.calls <= stop);
    }
}

RUN_TESTS(NULL, NULL)
