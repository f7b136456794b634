/* test_in_flight.c - several frames in flight on one engine: they come back whole in any order, the
 * same bits as one after the other, whether the host or the device copies them, from one thread or
 * from several. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "base/par.h"

#include <pthread.h>

enum { SLOTS = 3, FRAMES = 7, CHANNELS = 3, W = 37, H = 29, PIXELS = W * H };

typedef struct {
    float in[FRAMES][CHANNELS][PIXELS], want[FRAMES][CHANNELS][PIXELS],
        got[FRAMES][CHANNELS][PIXELS];
    uint16_t half[FRAMES][CHANNELS][PIXELS];
    bool halfs; /* these travel */
    join how[FRAMES];
} film;

typedef struct {
    const void *in[CHANNELS];
    void *out[CHANNELS];
    engine_frame f;
} frame;

static film *make_film(bool halfs) {
    film *m = calloc(1, sizeof *m);
    uint64_t seed = 1;
    m->halfs = halfs;
    for (int i = 0; i < FRAMES; i++)
        for (int c = 0; c < CHANNELS; c++) {
            m->how[i].channel[c].gain = 1 + 0.25 * i + c;
            for (int k = 0; k < PIXELS; k++)
                m->half[i][c][k] = half_from_float((float)pipe_random(&seed));
            half_to_floats(m->in[i][c], m->half[i][c], PIXELS);
        }
    return m;
}

static void aim(frame *to, film *m, int i, float (*out)[PIXELS]) {
    for (int c = 0; c < CHANNELS; c++) {
        to->in[c] = m->halfs ? (void *)m->half[i][c] : (void *)m->in[i][c];
        to->out[c] = out[c];
    }
    to->f = (engine_frame){.in = to->in, .out = to->out, .join = &m->how[i]};
}

static void check_times(const engine_times *t, const engine_device *d) {
    double sum = t->upload + t->download;
    for (int i = 0; i < PLAN_PASSES; i++) sum += t->pass[i];
    CHECK_LE(fabs(sum - t->total), 1e-9 + (d->class == ENGINE_CPU ? 1 : 0));
    CHECK_LE(0, t->upload);
    CHECK_LE(0, t->download);
    assert_true(t->pass[0] > 0 && t->pass[2] > 0);
}

/* Each slot is taken again as soon as its frame has come back; the order of waiting is that of
 * `turn`, which is not that of submitting. */
static void fly(engine *g, film *m, const engine_device *d) {
    static const uint32_t TURN[] = {1, 0, 2};
    frame f[FRAMES];
    int at[SLOTS], next = 0, done = 0;
    for (uint32_t s = 0; s < SLOTS; s++) at[s] = -1;
    for (uint32_t turn = 0; done < FRAMES; turn++) {
        uint32_t s = TURN[turn % SLOTS];
        if (at[s] >= 0) {
            engine_times t;
            CHECK_OK(engine_wait(g, s, NULL, &t, &e));
            check_times(&t, d);
            at[s] = -1;
            done++;
        }
        for (uint32_t k = 0; k < SLOTS && next < FRAMES; k++) {
            if (at[k] >= 0 || (turn > 0 && k != s)) continue;
            aim(&f[next], m, next, m->got[next]);
            CHECK_OK(engine_submit(g, k, &f[next].f, &e));
            at[k] = next++;
        }
    }
}

/* A thread with a slot of its own, and every SLOTS'th frame. */
typedef struct {
    engine *g;
    film *m;
    uint32_t slot;
    err e;
    pthread_t thread;
    /* Of work_beside: */
    const pipe_case *c;
    const engine_device *d;
    bool same;
} pilot;

static void *fly_alone(void *arg) {
    pilot *p = arg;
    frame f;
    bool ok = true;
    for (int round = 0; round < 4; round++)
        for (int i = (int)p->slot; ok && i < FRAMES; i += SLOTS) {
            aim(&f, p->m, i, p->m->got[i]);
            ok = engine_submit(p->g, p->slot, &f.f, &p->e) &&
                 engine_wait(p->g, p->slot, NULL, NULL, &p->e);
        }
    return NULL;
}

static void fly_by_threads(engine *g, film *m) {
    pilot p[SLOTS];
    for (uint32_t s = 0; s < SLOTS; s++) {
        p[s] = (pilot){.g = g, .m = m, .slot = s};
        assert_int_equal(pthread_create(&p[s].thread, NULL, fly_alone, &p[s]), 0);
    }
    for (uint32_t s = 0; s < SLOTS; s++) pthread_join(p[s].thread, NULL);
    for (uint32_t s = 0; s < SLOTS; s++)
        if (p[s].e.code) fail_msg("slot %u: %s", s, p[s].e.msg);
}

/* An engine on the same device, prepared otherwise, made and closed again and again while the first
 * one has frames. */
static void *work_beside(void *arg) {
    pilot *p = arg;
    const pipe_case other =
        PIPE(W + 4, H, 3, 3, 0, 0, .channels = CHANNELS, .spectra = 1, .tapless = true);
    OWN_HEAP film *m = make_film(p->m->halfs);
    for (int round = 0; round < 2; round++) {
        OPEN(engine) *g = engine_beside(p->g, &p->e);
        if (!g) break;
        pipe_prepare(g, &other, p->d, 1);
        pipe_prepare(g, p->c, p->d, 1);
        for (int i = 0; i < FRAMES; i++) {
            frame f;
            aim(&f, m, i, m->got[i]);
            if (!engine_run(g, &f.f, NULL, &p->e)) break;
        }
    }
    p->same = memcmp(m->got, p->m->want, sizeof m->got) == 0;
    return NULL;
}

static void fly_beside(engine *g, film *m, const pipe_case *c, const engine_device *d) {
    pilot p = {.g = g, .m = m, .c = c, .d = d};
    assert_int_equal(pthread_create(&p.thread, NULL, work_beside, &p), 0);
    fly_by_threads(g, m);
    pthread_join(p.thread, NULL);
    if (p.e.code) fail_msg("beside: %s", p.e.msg);
    assert_true(p.same);
}

static void check_film(const film *m, const pipe_case *c, const engine_device *d) {
    for (int i = 0; i < FRAMES; i++)
        if (memcmp(m->got[i], m->want[i], sizeof m->want[i]) != 0)
            fail_msg("%s, staged %d, samples %d: frame %d in flight with others is another",
                     d->name, c->staged, c->samples, i);
}

static void run_on(const pipe_case *c, const engine_device *d) {
    OPEN(engine) *g = MADE(engine_open(d, threads, NULL, &e));
    OWN_HEAP film *m = make_film(c->samples == PIPE_HALFS_TOLD);
    pipe_prepare(g, c, d, 1);
    for (int i = 0; i < FRAMES; i++) {
        frame f;
        aim(&f, m, i, m->want[i]);
        CHECK_OK(engine_run(g, &f.f, NULL, &e));
    }
    pipe_prepare(g, c, d, SLOTS);
    fly(g, m, d);
    check_film(m, c, d);
    if (d->class != ENGINE_CPU) {
        memset(m->got, 0, sizeof m->got);
        fly_by_threads(g, m);
        check_film(m, c, d);
        memset(m->got, 0, sizeof m->got);
        fly_beside(g, m, c, d);
        check_film(m, c, d);
    }
    /* Two frames that are told apart: the test could not fail otherwise. */
    assert_memory_not_equal(m->want[0], m->want[1], sizeof m->want[0]);
    if (d->class != ENGINE_CPU) {
        frame f;
        aim(&f, m, 0, m->got[0]);
        assert_false(engine_wait(g, 0, NULL, NULL, &e));
        CHECK_OK(engine_submit(g, 0, &f.f, &e));
        assert_false(engine_submit(g, 0, &f.f, &e));
        assert_false(engine_submit(g, SLOTS, &f.f, &e));
        CHECK_OK(engine_wait(g, 0, NULL, NULL, &e));
    }
}

TEST(flights) {
    static const struct {
        bool staged; /* the device copies, and not the host */
        pipe_samples samples;
        uint64_t range; /* of a buffer: in chunks */
    } CASE[] = {{false, PIPE_HALFS, 0},
                {true, PIPE_HALFS, 0},
                {false, PIPE_HALFS_TOLD, 0},
                {true, PIPE_HALFS_TOLD, 32768}};
    if (!devices) skip();
    for (int k = 0; k < 4; k++) {
        const pipe_case c = PIPE(W, H, 8, 5, 4, 2, .border = {BORDER_MIRROR, BORDER_ZERO},
                                 .channels = CHANNELS, .spectra = 1, .gain = 1,
                                 .shrink = {.buffer_range = CASE[k].range}, .tapless = true,
                                 .samples = CASE[k].samples, .staged = CASE[k].staged);
        for (uint32_t i = 0; i < devices; i++)
            if (device[i].class != ENGINE_CPU || !c.staged) run_on(&c, &device[i]);
    }
}

RUN_TESTS(pipe_begin, pipe_end)
