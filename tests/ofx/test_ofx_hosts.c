/* The OpenFX plug-in and its hosts: time, mistakes, missing suites, threads, stops, and what the
 * process keeps. */
#include "base/clock.h"
#include "ofx/stage.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>

/* --- time ------------------------------------------------------------------------------------- */

/* At amount 0 the source passes, and controls may change with each frame. */
TEST(controls_are_those_of_the_time) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float"), *want = program(img, "--amount 0.75");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *out = pic_like(in);
    rig_set_number(s.x, "amount", 0);
    rig_param(s.x, "amount")->slope = 0.25;
    rig_connect(s.x, RIG_OUTPUT, out);
    for (int t = 0; t < 4; t++) {
        rig_set args = {.count = 0}, got = {.count = 0};
        rig_put(&args, OFX_TIME, 0, t);
        assert_int_equal(rig_call(s.r, OFX_IS_IDENTITY, s.x, &args, &got),
                         t ? OFX_DEFAULT : OFX_OK);
        assert_string_equal(rig_text(&got, OFX_NAME, 0), t ? "" : OFX_SOURCE);
        assert_int_equal(rig_render(s.r, s.x, t, NULL), OFX_OK);
        if (!t) assert_memory_equal(out->block, in->block, in->bytes);
    }
    check_same(out, want, "", 4);
}

/* --- mistakes --------------------------------------------------------------------------------- */

/* A kernel that is not there, or damaged, is a message, and the source passes. */
TEST(missing_kernels_are_a_message) {
    make_text("damaged.exr", "v/1\1 and nothing");
    const char *const file[] = {"", "none.exr", make_path("damaged.exr"), "/", "no-such-name"};
    for (int without = 0; without < 2; without++) {
        rig *r = rig_open(bundle("one.ofx.bundle"), without ? WITHOUT_MESSAGE2 : 0);
        stage s = {r, rig_effect(r, OFX_FILTER)};
        OWN(image) *img = scene("float");
        OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *out = pic_like(in);
        rig_connect(s.x, RIG_OUTPUT, out);
        for (size_t i = 0; i < COUNT(file); i++) {
            s.x->messages = 0;
            memset(out->block, 1, out->bytes);
            rig_set_kernel(s.x, file[i]);
            for (int again = 0; again < 2; again++)
                assert_int_equal(rig_render(r, s.x, 0, NULL), OFX_OK);
            assert_memory_equal(out->block, in->block, in->bytes);
            assert_int_equal(s.x->messages, 1); /* and not with every frame */
            assert_true(strlen(s.x->said) > 10);
        }
        rig_set_kernel(s.x, KERNEL);
        assert_int_equal(rig_render(r, s.x, 0, NULL), OFX_OK);
        assert_int_equal(s.x->cleared, !without);
        stage_close(&s);
    }
}

/* A project may come from a machine with a card that this one has not: that is a message, and the
 * processor works. */
TEST(missing_cards_are_a_message) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *out = pic_like(in), *want = render(&s);
    rig_set_number(s.x, "device", 2);
    rig_connect(s.x, RIG_OUTPUT, out);
    for (int i = 0; i < 2; i++) assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
    assert_true(s.x->messages <= 1);
    EACH(out) {
        const double v = pic_get(want, x, y, c);
        CHECK_LE(fabs(pic_get(out, x, y, c) - v), 2e-3 * v);
    }
}

/* Size, a proxy's scale or a pixel's aspect may make a kernel of any size: one that is far larger
 * than the frame is a message, and the source passes at once. */
TEST(kernels_far_beyond_the_frame_are_a_message) {
    static const struct {
        double size, scale, aspect;
    } ROW[] = {{50, 1, 1}, {1, 900, 1}, {1, 1, 0.021}, {1, 2e-3, 0.03}};
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *out = pic_like(in);
    rig_connect(s.x, RIG_OUTPUT, out);
    for (size_t i = 0; i < COUNT(ROW); i++) {
        const bool fits = i == 3;
        rig_set args = {.count = 0}, got = {.count = 0};
        s.x->messages = 0;
        rig_set_number(s.x, "size", ROW[i].size);
        rig_set_number(s.x, "grow", i == 0);
        rig_scale(s.x, ROW[i].scale, ROW[i].aspect);
        assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
        assert_int_equal(s.x->messages, fits ? 0 : 1);
        if (!fits) {
            assert_memory_equal(out->block, in->block, in->bytes);
            assert_non_null(strstr(s.x->said, "make Size smaller"));
        }
        const ofx_status region = rig_call(s.r, OFX_REGION_OF_DEFINITION, s.x, &args, &got);
        if (i == 0) assert_int_equal(region, OFX_DEFAULT);
    }
}

/* Images that do not go together, or are of kinds that the host was not told of, are a message and
 * no frame; on the log where the host shows none. */
TEST(images_that_do_not_match_are_a_message) {
    static const struct {
        int from, to, mask; /* channels; mask 0: none, 2: no kind that there is */
        pic_type type;      /* of the output */
    } ROW[] = {{4, 3, 0, PIC_FLOAT}, {1, 4, 0, PIC_FLOAT}, {4, 4, 0, PIC_HALF}, {3, 3, 0, PIC_BYTE},
               {2, 4, 0, PIC_FLOAT}, {4, 2, 0, PIC_FLOAT}, {4, 4, 2, PIC_FLOAT}};
    for (int without = 0; without < 2; without++) {
        rig *r = rig_open(bundle("one.ofx.bundle"), without ? WITHOUT_MESSAGE : 0);
        stage s = {r, rig_effect(r, OFX_GENERAL)};
        const int log = dup(2);
        const char *path = make_path("log");
        assert_non_null(freopen(path, "w", stderr));
        for (size_t i = 0; i < COUNT(ROW); i++) {
            const ofx_rect_i at = {0, 0, 9 + (int)i, 5};
            OPEN(pic) *in = pic_new(at, ROW[i].from, PIC_FLOAT, 0, false),
                      *out = pic_new(at, ROW[i].to, ROW[i].type, 0, false),
                      *mask = ROW[i].mask ? pic_new(at, 2, PIC_FLOAT, 0, false) : NULL;
            s.x->messages = 0;
            rig_connect(s.x, RIG_SOURCE, in);
            rig_connect(s.x, RIG_OUTPUT, out);
            rig_connect(s.x, RIG_MASK, mask);
            for (int again = 0; again < 2; again++)
                assert_int_equal(rig_render(r, s.x, 0, NULL), OFX_FAILED);
            assert_int_equal(s.x->messages, !without);
            assert_int_equal(s.x->open_images, 0);
            if (!without) assert_non_null(strstr(s.x->said, "must be alike"));
        }
        fflush(stderr);
        dup2(log, 2);
        close(log);
        shell("test $(grep -c 'must be alike' '%s') -eq %d", path, without ? (int)COUNT(ROW) : 0);
        stage_close(&s);
    }
}

/* What a project of another version, or a damaged one, brings. */
TEST(bad_values_do_no_harm) {
    static const double BAD[] = {NAN, INFINITY, -INFINITY, -1, 99, 1e30, -2147483648.0, 0};
    OPEN(stage) s = open_stage(OFX_GENERAL);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *out = pic_like(in);
    rig_connect(s.x, RIG_OUTPUT, out);
    for (int p = 0; p < s.x->params.count; p++)
        for (size_t i = 0; i < COUNT(BAD); i++) {
            struct ofx_param *c = &s.x->params.param[p];
            const struct ofx_param was = *c;
            const bool whole = strcmp(c->type, OFX_TYPE_CHOICE) == 0 ||
                               !strcmp(c->type, OFX_TYPE_BOOLEAN);
            if ((whole && !(fabs(BAD[i]) < 3e9)) || !strcmp(c->name, "device")) continue;
            for (int k = 0; k < 3; k++) c->v[k] = BAD[i];
            c->text = i % 2 ? NULL : "\377\1";
            const ofx_status is = rig_render(s.r, s.x, 0, NULL);
            assert_true(is == OFX_OK || is == OFX_MEMORY);
            assert_int_equal(s.x->open_images, 0);
            *c = was;
        }
}

/* Only three suites are needed, and nothing is loaded without them. */
TEST(suites_may_be_missing) {
    assert_null(rig_open(bundle("one.ofx.bundle"), WITHOUT_PARAM));
    rig *r = rig_open(bundle("one.ofx.bundle"), WITHOUT_MESSAGE | WITHOUT_PROGRESS);
    stage s = {r, rig_effect(r, OFX_FILTER)};
    OWN(image) *img = scene("float");
    rig_set_kernel(s.x, "none.exr");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT);
    OPEN(pic) *out = render(&s);
    assert_memory_equal(out->block, in->block, in->bytes);
    stage_close(&s);
}

/* --- threads and stops ------------------------------------------------------------------------ */

typedef struct {
    stage s;
    pthread_t thread;
} renderer;

static void *render_some(void *arg) {
    const renderer *u = arg;
    for (int i = 0; i < 6; i++) assert_int_equal(rig_render(u->s.r, u->s.x, i, NULL), OFX_OK);
    return NULL;
}

/* Frames at once from many threads, while another one purges. */
TEST(threads_render_at_once) {
    enum { THREADS = 6 };
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *want = render(&s);
    renderer u[THREADS];
    for (int i = 0; i < THREADS; i++) {
        u[i] = (renderer){.s = {s.r, rig_effect(s.r, OFX_FILTER)}};
        rig_set_kernel(u[i].s.x, KERNEL);
        rig_param(u[i].s.x, "size")->slope = i % 2 ? 0 : 0.1;
        rig_connect(u[i].s.x, RIG_SOURCE, in);
        rig_connect(u[i].s.x, RIG_OUTPUT, pic_like(in));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&u[i].thread, NULL, render_some, &u[i]), 0);
    for (int i = 0; i < 5; i++) {
        usleep(20000);
        assert_int_equal(rig_call(s.r, OFX_PURGE, NULL, NULL, NULL), OFX_OK);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(u[i].thread, NULL);
        pic *out = u[i].s.x->clip[RIG_OUTPUT].picture;
        if (i % 2) assert_memory_equal(out->block, want->block, want->bytes);
        pic_close(&out);
        rig_effect_close(s.r, &u[i].s.x);
    }
}

static void *render_low(void *arg) {
    const renderer *u = arg;
    assert_int_equal(rig_render(u->s.r, u->s.x, 0, &(ofx_rect_i){0, 0, W, H / 2}), OFX_OK);
    return NULL;
}

/* A window of a frame that another thread makes waits for that frame, and may be stopped. */
TEST(windows_wait_for_the_frame) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *whole = render(&s), *got = pic_like(in);
    renderer u = {.s = {s.r, rig_effect(s.r, OFX_FILTER)}};
    rig_set_kernel(u.s.x, KERNEL);
    struct ofx_effect *const x[] = {s.x, u.s.x};
    for (int i = 0; i < 2; i++)
        rig_connect(x[i], RIG_SOURCE, in), rig_connect(x[i], RIG_OUTPUT, got);
    u.s.x->held = true;
    assert_int_equal(pthread_create(&u.thread, NULL, render_low, &u), 0);
    while (!u.s.x->asked) usleep(1000);
    const ofx_rect_i high = {0, H / 2, W, H};
    s.x->stop_at = s.x->asked + 50;
    assert_int_equal(rig_render(s.r, s.x, 0, &high), OFX_FAILED);
    s.x->stop_at = 0;
    u.s.x->held = false;
    assert_int_equal(rig_render(s.r, s.x, 0, &high), OFX_OK);
    pthread_join(u.thread, NULL);
    assert_memory_equal(got->block, whole->block, whole->bytes);
    rig_effect_close(s.r, &u.s.x);
}

/* A render ends soon after any question that is answered by yes, and the next one works. With
 * OFX_4K=DEVICE it is stopped at any time of a larger frame on that choice of the control, also
 * while a driver starts, and the longest wait is told. */
TEST(renders_are_stopped) {
    const bool large = getenv("OFX_4K") != NULL;
    const uint32_t w = large ? 3840 : 700, h = large ? 2160 : 500;
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = street_image("R:float G:float B:float", w, h, 50);
    OPEN(pic) *in = show(&s, img, 3, PIC_FLOAT);
    if (large) rig_set_number(s.x, "device", atof(getenv("OFX_4K")));
    double longest = 0;
    int stops = 0;
    const double start = clock_now();
    OPEN(pic) *out = render(&s);
    const double whole = clock_now() - start;
    for (int i = 0; i < 40; i++) {
        if (i % 4 == 0) rig_call(s.r, OFX_PURGE, NULL, NULL, NULL);
        s.x->asked = s.x->stopped = 0;
        s.x->stop_at = large ? 0 : 1 + i;
        s.x->stop_time = large ? clock_now() + i * whole / 40 : 0;
        const ofx_status is = rig_render(s.r, s.x, 0, NULL);
        assert_true(is == (s.x->stopped ? OFX_FAILED : OFX_OK));
        assert_int_equal(s.x->open_images, 0);
        stops += s.x->stopped;
        if (large && s.x->stopped) longest = fmax(longest, clock_now() - s.x->stop_time);
    }
    printf("%d stops at %u x %u, the longest took %.0f ms\n", stops, w, h, 1e3 * longest);
    s.x->stop_at = 0;
    s.x->stop_time = 0;
    assert_true(stops > 5);
    OPEN(pic) *last = render(&s);
    assert_memory_equal(last->block, out->block, out->bytes);
}

/* --- the process ------------------------------------------------------------------------------ */

/* Two copies of the bundle in one process have nothing in common; no signal has another handler
 * than before; and what is kept goes when the host asks for it. */
TEST(bundles_are_good_guests) {
    struct sigaction before[32], after;
    for (int i = 1; i < 32; i++) sigaction(i, NULL, &before[i]);
    OPEN(stage) s = open_stage(OFX_FILTER);
    rig *other = rig_open(bundle("two.ofx.bundle"), 0);
    assert_non_null(other);
    assert_ptr_not_equal(other->plugin, s.r->plugin);
    stage t = {other, rig_effect(other, OFX_FILTER)};
    OWN(image) *img = street_image("R:float G:float B:float", 1500, 800, 50);
    OPEN(pic) *in = show(&s, img, 3, PIC_FLOAT);
    rig_set_kernel(t.x, KERNEL);
    rig_connect(t.x, RIG_SOURCE, in);
    OPEN(pic) *a = render(&s), *b = render(&t);
    assert_memory_equal(a->block, b->block, a->bytes);
    for (int i = 1; i < 32; i++) {
        sigaction(i, NULL, &after);
        assert_true(before[i].sa_handler == after.sa_handler);
    }
    stage_close(&t);
#if !WITH_SAN
    const struct mallinfo2 held = mallinfo2();
    rig_call(s.r, OFX_PURGE, NULL, NULL, NULL);
    const struct mallinfo2 left = mallinfo2();
    assert_true(left.uordblks + left.hblkhd + 10000000 < held.uordblks + held.hblkhd);
#endif
    OPEN(pic) *c = render(&s);
    assert_memory_equal(a->block, c->block, a->bytes);
}

/* Each kernel of the list is in the bundle, here with few taps; their number is that of the files.
 */
TEST(shipped_kernels_are_there) {
    const char *binary = bundle("small.ofx.bundle");
    shell("cd '%s/Contents/Resources' && rm kernels && mkdir kernels && for k in "
          "\"$OLDPWD\"/kernels/*; do "
          "sed 's/\"taps\": [x0-9\"]*/\"taps\": 33/' \"$k\" >\"kernels/${k##*/}\"; done",
          make_path("small.ofx.bundle"));
    rig *r = rig_open(binary, 0);
    OPEN(stage) s = {r, rig_effect(r, OFX_FILTER)};
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT);
    const struct ofx_param *k = rig_param(s.x, "kernel");
    int n = 0;
    while (*rig_text(&k->is, OFX_OPTION, n)) n++;
    shell("test $(ls kernels/*.json | wc -l) -eq %d", n - 1);
    rig_set_number(s.x, "kernel", k->v[0]);
    for (int i = 1; i < n; i++) {
        rig_set_number(s.x, "kernel", i);
        OPEN(pic) *out = render(&s);
        assert_memory_not_equal(out->block, in->block, in->bytes);
    }
}

RUN_TESTS(NULL, NULL)
