/* test_device_pool.c - engines of a pool: several tasks at a time, who waits for whom, what is
 * kept, and what happens where memory or a device fails. */
#include "base/host.h"
#include "device/device_pool.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { W = 64, H = 48, TASKS = 6, MANY = 6 }; /* MANY: MOST_ALIKE of the pool */

/* Tasks that differ in their kernel. */
typedef struct bench {
    device_pool *pool;
    device_decision decided;
    device_task task[TASKS];
    atomic_int made[TASKS];
    struct job {
        struct bench *b;
        int i;
    } job[TASKS];
} bench;

static bool make_spectrum(void *ctx, spectrum_lines *to, const plan *p, err *e) {
    const struct job *j = ctx;
    atomic_fetch_add(&j->b->made[j->i], 1);
    *to = (spectrum_lines){.channels = 1, .halves = p->halves, .length = p->axis[1].length};
    to->value = mem_new(2 * (size_t)to->halves * to->length, sizeof(float), "spectrum", e);
    return to->value != NULL;
}

/* Tasks for images of `size` times W x H on the device of that name, with `slots` slots. */
static bench *open_bench(const char *device, uint32_t size, uint32_t slots, uint32_t idle) {
    bench *b = calloc(1, sizeof *b);
    CHECK_OK((b->pool = device_pool_open(make_threads(), NULL, idle, &e)));
    const device_request r = {.want = device,
                              .ask = {.size = {size * W, size * H},
                                      .reach_lo = {3, 3},
                                      .reach_hi = {3, 3},
                                      .channels = 1,
                                      .spectra = 1,
                                      .frames = slots}};
    device_pool_decide(b->pool, &b->decided, &r);
    CHECK_OK(b->decided.way[WAY_FLOAT32].possible, b->decided.way[WAY_FLOAT32].why);
    for (int i = 0; i < TASKS; i++) {
        b->job[i] = (struct job){b, i};
        b->task[i] = (device_task){.kernel = {1, (uint64_t)i},
                                   .on = &b->decided.way[WAY_FLOAT32],
                                   .spectra = make_spectrum,
                                   .ctx = &b->job[i]};
    }
    return b;
}

static void bench_close(bench **b) {
    device_pool_close(&(*b)->pool);
    free(*b);
}

static device_lease take(bench *b, int task) {
    device_lease l = {0};
    bool refused;
    CHECK_OK(device_take(&l, b->pool, &b->task[task], &refused, &e));
    return l;
}

static void give(bench *b, device_lease l) {
    device_give(b->pool, &l, false);
}

static void use(bench *b, int task) {
    give(b, take(b, task));
}

/* One thread may hold slots of different tasks here, since it gives them back by itself. */
TEST(several_at_a_time) {
    OPEN(bench) *b = open_bench("cpu", 1, 2, 0);
    device_lease l[TASKS], again;
    for (int i = 0; i < TASKS; i++) l[i] = take(b, i);
    for (int i = 1; i < TASKS; i++) assert_ptr_not_equal(l[i].engine, l[0].engine);
    again = take(b, 2);
    assert_ptr_equal(again.engine, l[2].engine);
    assert_int_not_equal(again.slot, l[2].slot);
    give(b, again);
    for (int i = 0; i < TASKS; i++) give(b, l[i]);
    for (int i = 0; i < TASKS; i++) assert_int_equal(b->made[i], 1);
}

static int stop(void *ctx, double done) {
    (void)done;
    return atomic_fetch_add((atomic_int *)ctx, 1) > 2;
}

static void *wait_in_vain(void *arg) {
    bench *b = arg;
    atomic_int asked = 0;
    device_lease l;
    bool refused;
    err e = {0};
    host_set((host){.progress = stop, .progress_ctx = &asked, .span = 1});
    assert_false(device_take(&l, b->pool, &b->task[0], &refused, &e));
    assert_int_equal(e.code, ERR_CANCELLED);
    assert_false(refused);
    return NULL;
}

/* A thread that waits for a slot may be stopped, and those behind it get theirs. */
TEST(waiting_is_stopped) {
    OPEN(bench) *b = open_bench("cpu", 1, 2, 0);
    const device_lease one = take(b, 0), two = take(b, 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_in_vain, b), 0);
    pthread_join(thread, NULL);
    give(b, one);
    give(b, two);
    use(b, 0);
    assert_int_equal(b->made[0], 1);
}

/* The pool keeps the last used engines that nobody uses, up to the number that it was opened with,
 * and one more, which is prepared again for the next task. */
TEST(kept_and_dropped) {
    for (uint32_t idle = 0; idle < 3; idle++) {
        OPEN(bench) *b = open_bench("cpu", 1, 1, idle);
        for (int i = 0; i < 4; i++) use(b, i);
        use(b, 3);
        assert_int_equal(b->made[3], 1);
        for (int i = 3; i >= 0; i--) {
            atomic_store(&b->made[i], 0);
            use(b, i);
            assert_int_equal(b->made[i], 3 - i > (int)idle);
            if (3 - i > (int)idle) break;
        }
        device_pool_trim(b->pool);
        atomic_store(&b->made[3], 0);
        use(b, 3);
        assert_int_equal(b->made[3], 1);
    }
}

/* A plan of another size is another task, whatever its kernel. */
TEST(plans_differ) {
    OPEN(bench) *b = open_bench("cpu", 1, 1, 2), *large = open_bench("cpu", 2, 1, 2);
    device_lease one = take(b, 0);
    b->task[1] = b->task[0];
    b->task[1].on = &large->decided.way[WAY_FLOAT32];
    device_lease two = take(b, 1);
    assert_ptr_not_equal(one.engine, two.engine);
    assert_int_equal(b->made[0], 2);
    give(b, one);
    give(b, two);
}

typedef struct {
    bench *b;
    int task, turn;
    atomic_int *turns;
    atomic_bool has;
    atomic_int id; /* of the thread, to the kernel */
    device_lease l;
    pthread_t thread;
} waiter;

static void *wait_for(void *arg) {
    waiter *w = arg;
    atomic_store(&w->id, gettid());
    w->l = take(w->b, w->task);
    w->turn = atomic_fetch_add(w->turns, 1);
    atomic_store(&w->has, true);
    return NULL;
}

/* Starts a thread, and returns when it sleeps: 20 ms are too short on a busy machine. */
static void start(waiter *w) {
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for, w), 0);
    char state = 'R', path[64];
    for (int k = 0; k < 5000 && (k < 20 || state != 'S'); k++) {
        usleep(1000);
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&w->id));
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'R';
        if (f) fclose(f);
    }
}

/* The first that waits for a slot gets it first. */
TEST(first_come) {
    OPEN(bench) *b = open_bench("cpu", 1, 2, 0);
    atomic_int turns = 0;
    waiter w[MANY];
    device_lease l = take(b, 0), other = take(b, 0);
    for (int i = 0; i < MANY; i++) {
        w[i] = (waiter){.b = b, .turns = &turns};
        start(&w[i]);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(turns, i);
        give(b, l);
        for (int k = 0; !w[i].has && k < 5000; k++) usleep(1000);
        assert_true(w[i].has && w[i].turn == i);
        pthread_join(w[i].thread, NULL);
        l = w[i].l;
    }
    give(b, l);
    give(b, other);
    assert_int_equal(b->made[0], 1);
}

/* Engines of one slot: a task gets one of its own, also where another has one for the same kernel.
 */
TEST(one_slot_each) {
    OPEN(bench) *b = open_bench("cpu", 1, 1, 0);
    device_lease l[MANY + 2];
    for (int i = 0; i < MANY + 2; i++) l[i] = take(b, 0);
    assert_int_equal(b->made[0], MANY + 2);
    for (int i = 0; i < MANY + 2; i++) give(b, l[i]);
}

/* Returns the name of a device with a driver; NULL: there is none. */
static const char *driven(void) {
    static engine_device d[ENGINE_DEVICES];
    const uint32_t count = engine_devices(d, ENGINE_DEVICES);
    for (uint32_t i = 0; i < count; i++)
        if (d[i].class != ENGINE_CPU) return d[i].name;
    return NULL;
}

/* A thread may be stopped while a driver starts and compiles, which nothing can stop: what is made
 * then is for the next one. */
TEST(making_is_stopped) {
    if (!driven()) skip();
    for (int i = 0; i < 2; i++) {
        OPEN(bench) *b = open_bench(driven(), 1, 2, 0);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_in_vain, b), 0);
        pthread_join(thread, NULL);
        if (i) use(b, 0);
        assert_int_equal(b->made[0], 1);
    }
}

enum { ENTERED = 1 + 1 + PAR_MORE }; /* as many as may be in, of one thread */

static int stop_late(void *ctx, double done) {
    return atomic_fetch_add((atomic_int *)ctx, 1) > 2000;
}

static void *enter_and_take(void *arg) {
    waiter *w = arg;
    par *threads = device_pool_threads(w->b->pool);
    bool refused;
    err e = {0};
    host_set((host){.progress = stop_late, .progress_ctx = w->turns, .span = 1});
    par_enter(threads, 0);
    atomic_fetch_add(w->turns + 1, 1);
    while (atomic_load(w->turns + 1) < ENTERED) usleep(1000);
    w->has = device_take(&w->l, w->b->pool, &w->b->task[0], &refused, &e);
    if (w->has) give(w->b, w->l);
    par_leave(threads);
    return NULL;
}

/* An engine is made also while callers that may be stopped hold all places of the threads. */
TEST(made_while_all_wait) {
    if (!driven()) skip();
    OPEN(par) *one = MADE(par_open(1, &e));
    OPEN(bench) *b = open_bench(driven(), 1, 2, 0);
    device_pool_close(&b->pool);
    CHECK_OK((b->pool = device_pool_open(one, NULL, 0, &e)));
    atomic_int turns[2] = {0};
    waiter w[ENTERED];
    for (int i = 0; i < ENTERED; i++) {
        w[i] = (waiter){.b = b, .turns = turns};
        assert_int_equal(pthread_create(&w[i].thread, NULL, enter_and_take, &w[i]), 0);
    }
    for (int i = 0; i < ENTERED; i++) pthread_join(w[i].thread, NULL);
    for (int i = 0; i < ENTERED; i++) assert_true(w[i].has);
    assert_int_equal(b->made[0], 1);
}

/* On a GPU only some of them, and then a task waits for the first that is given back, whatever its
 * kernel is. */
TEST(some_of_a_gpu) {
    device_lease l[MANY];
    if (!driven()) skip();
    OPEN(bench) *b = open_bench(driven(), 1, 1, 0);
    for (int i = 0; i < MANY; i++) l[i] = take(b, i % 2);
    atomic_int turns = 0;
    waiter w = {.b = b, .task = 2, .turns = &turns};
    start(&w);
    assert_false(w.has);
    give(b, l[3]);
    pthread_join(w.thread, NULL);
    assert_ptr_equal(w.l.engine, l[3].engine);
    give(b, w.l);
    for (int i = 0; i < MANY; i++)
        if (i != 3) give(b, l[i]);
}

/* Where memory is too little for two engines, the second waits for the first; where it is too
 * little for one, it is refused. */
TEST(short_of_memory) {
    OPEN(bench) *b = open_bench("cpu", 16, 1, 4);
    uint64_t before = mem_used();
    device_lease l = take(b, 0);
    uint64_t one = mem_used() - before;
    give(b, l);
    device_pool_trim(b->pool);
    mem_set_limit(mem_used() + one + one * 3 / 4);
    use(b, 1); /* kept, until the next needs its memory */
    l = take(b, 0);
    atomic_int turns = 0;
    waiter w = {.b = b, .task = 1, .turns = &turns};
    start(&w);
    usleep(20000);
    assert_false(w.has);
    give(b, l);
    pthread_join(w.thread, NULL);
    give(b, w.l);
    device_pool_trim(b->pool);
    mem_set_limit(mem_used() + one / 3);
    bool refused;
    CHECK_REFUSED(device_take(&l, b->pool, &b->task[2], &refused, &e), ERR_MEMORY, "");
    mem_set_limit(UINT64_MAX / 2);
    use(b, 2);
}

/* After a failure all engines of the device are made again, and those that are in use are closed by
 * the last that uses them. */
TEST(failed) {
    OPEN(bench) *b = open_bench("cpu", 1, 2, 4);
    use(b, 2);
    device_lease l[] = {take(b, 0), take(b, 0), take(b, 1)};
    device_give(b->pool, &l[0], true);
    device_lease now = take(b, 0);
    assert_int_equal(b->made[0], 2);
    assert_ptr_not_equal(now.engine, l[1].engine);
    device_give(b->pool, &l[1], true); /* it was given up already */
    device_lease beside = take(b, 0);
    assert_ptr_equal(beside.engine, now.engine);
    use(b, 2);
    assert_int_equal(b->made[2], 2);
    give(b, l[2]);
    give(b, now);
    give(b, beside);
    assert_true(device_pool_give_up(b->pool));
    assert_false(device_pool_give_up(b->pool));
}

/* Threads that take and give whatever they like. */
static void *stir(void *arg) {
    waiter *w = arg;
    uint64_t seed = (uint64_t)w->task;
    for (int i = 0; i < 300; i++) {
        device_lease l = take(w->b, (int)make_below(&seed, TASKS));
        if (make_below(&seed, 16) == 0) device_pool_trim(w->b->pool);
        device_give(w->b->pool, &l, make_below(&seed, 64) == 0);
    }
    return NULL;
}

TEST(many_threads) {
    OPEN(bench) *b = open_bench("cpu", 1, 2, 2);
    waiter w[MANY];
    for (int i = 0; i < MANY; i++) {
        w[i] = (waiter){.b = b, .task = i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, stir, &w[i]), 0);
    }
    for (int i = 0; i < MANY; i++) pthread_join(w[i].thread, NULL);
}

RUN_TESTS(NULL, NULL)
