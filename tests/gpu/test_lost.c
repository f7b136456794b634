/* test_lost.c - a device that fails in the middle of a frame: the frame's error says so, its slot
 * is not used again, other frames come back whole, and after that all is as before; where the
 * device was chosen by `auto`, the CPU does the frame instead. And threads that share an engine
 * copy their planes while another one submits. The driver fails and waits here by functions of this
 * test in the table of Vulkan's. */
#include "bloom/session.h"
#include "engine/gpu/gpu_device.h"
#include "gpu/pipeline.h"
#include "unit/glare.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SLOTS = 2, CHANNELS = 2, W = 19, H = 13, PIXELS = W * H, STEPS = 3 };

/* Calls until one fails; 0: none does. */
static int submissions, waits, hangs;

/* What the driver does. */
static gpu_vulkan driver;

/* The next submission waits: until it is let go, or in vain after ten seconds. */
static atomic_bool hold, held, in_vain;

static void wait_here(void) {
    if (!atomic_exchange(&hold, false)) return;
    atomic_store(&held, true);
    for (int i = 0; atomic_load(&held) && i < 10000; i++) usleep(1000);
    atomic_store(&in_vain, atomic_exchange(&held, false));
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue q, uint32_t n, const VkSubmitInfo *s,
                                             VkFence f) {
    wait_here();
    if (submissions && --submissions == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return driver.QueueSubmit(q, n, s, f);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for(VkDevice d, uint32_t n, const VkFence *f,
                                               VkBool32 all, uint64_t ns) {
    if (waits && --waits == 0) return VK_ERROR_DEVICE_LOST;
    if (hangs) return VK_TIMEOUT;
    return driver.WaitForFences(d, n, f, all, ns);
}

/* A frame's fence is reset once its planes are copied. */
static atomic_int resets;

static VKAPI_ATTR VkResult VKAPI_CALL reset(VkDevice d, uint32_t n, const VkFence *f) {
    atomic_fetch_add(&resets, 1);
    return driver.ResetFences(d, n, f);
}

/* Allocations of device memory until all fail; 0: none does. */
static int allocations;

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice d, const VkMemoryAllocateInfo *a,
                                               const VkAllocationCallbacks *c, VkDeviceMemory *m) {
    if (allocations == 1) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (allocations) allocations--;
    return driver.AllocateMemory(d, a, c, m);
}

FIXTURE(begin) {
    err e = {0};
    if (!gpu_vulkan_open(&e)) return pipe_begin(state);
    driver = vk;
    vk.QueueSubmit = submit;
    vk.WaitForFences = wait_for;
    vk.ResetFences = reset;
    vk.AllocateMemory = allocate;
    return pipe_begin(state);
}

typedef struct {
    float in[SLOTS][CHANNELS][PIXELS], got[SLOTS][CHANNELS][PIXELS];
    const void *from[SLOTS][CHANNELS];
    void *to[SLOTS][CHANNELS];
    engine_frame f[SLOTS];
    join how;
} film;

static const double TAP[CHANNELS], GAIN[CHANNELS] = {1, 2};

static film *make_film(void) {
    film *m = calloc(1, sizeof *m);
    uint64_t seed = 5;
    m->how = join_plain(CHANNELS, TAP, GAIN);
    for (int s = 0; s < SLOTS; s++) {
        for (int c = 0; c < CHANNELS; c++) {
            for (int i = 0; i < PIXELS; i++) m->in[s][c][i] = (float)pipe_random(&seed);
            m->from[s][c] = m->in[s][c];
            m->to[s][c] = m->got[s][c];
        }
        m->f[s] = (engine_frame){.in = m->from[s], .out = m->to[s], .join = &m->how};
    }
    return m;
}

/* Copies by the device: three submissions for a frame. */
static void prepare(engine *g, const engine_device *d) {
    const pipe_case c =
        PIPE(W, H, 3, 3, 0, 0, .channels = CHANNELS, .spectra = 1, .tapless = true, .staged = true);
    pipe_prepare(g, &c, d, SLOTS);
}

static void run_both(engine *g, film *m) {
    memset(m->got, 0, sizeof m->got);
    for (uint32_t s = 0; s < SLOTS; s++) CHECK_OK(engine_submit(g, s, &m->f[s], &e));
    for (uint32_t s = 0; s < SLOTS; s++) CHECK_OK(engine_wait(g, s, NULL, NULL, &e));
}

/* With a frame under way in slot 1, one fails in slot 0: at a submission, or where it is waited
 * for. */
static void fail_once(engine *g, film *m, int submission) {
    CHECK_OK(engine_submit(g, 1, &m->f[1], &e));
    submissions = submission;
    waits = !submission;
    assert_false(engine_submit(g, 0, &m->f[0], &e) && engine_wait(g, 0, NULL, NULL, &e));
    assert_int_equal(submissions + waits, 0);
    assert_int_equal(e.code, ERR_RETRY);
    CHECK_REFUSED(engine_submit(g, 0, &m->f[0], &e), ERR_RETRY, "slot 0 of 2 has lost a frame");
    assert_false(engine_wait(g, 0, NULL, NULL, &e));
    memset(m->got[1], 0, sizeof m->got[1]);
    CHECK_OK(engine_wait(g, 1, NULL, NULL, &e));
}

/* Calls the test for every Vulkan device, with its engine, prepared, and with what both slots give
 * there. */
static void on_each_device(void (*test)(const engine_device *d, engine *g, film *m, film *want)) {
    bool any = false;
    for (uint32_t i = 0; i < devices; i++) {
        if (device[i].class == ENGINE_CPU) continue;
        any = true;
        OPEN(engine) *g = MADE(engine_open(&device[i], make_threads(), NULL, &e));
        OWN_HEAP film *m = make_film(), *want = make_film();
        prepare(g, &device[i]);
        run_both(g, want);
        test(&device[i], g, m, want);
    }
    if (!any) skip();
}

static void fail_each_submission(const engine_device *d, engine *g, film *m, film *want) {
    for (int submission = 0; submission <= STEPS; submission++) {
        fail_once(g, m, submission);
        assert_memory_equal(m->got[1], want->got[1], sizeof want->got[1]);
        prepare(g, d);
        run_both(g, m);
        assert_memory_equal(m->got, want->got, sizeof want->got);
    }
}

TEST(slots) {
    on_each_device(fail_each_submission);
}

typedef struct {
    engine *g;
    film *m;
    uint32_t slot;
    err e;
} submitter;

static void *submit_one(void *arg) {
    submitter *s = arg;
    engine_submit(s->g, s->slot, &s->m->f[s->slot], &s->e);
    return NULL;
}

/* While the frame of slot 0 is in the middle of its submission, the planes of slot 1 are copied:
 * writing over them later does not change its result. */
static void copy_beside(const engine_device *d, engine *g, film *m, film *want) {
    (void)d;
    submitter s[SLOTS] = {{.g = g, .m = m}, {.g = g, .m = m, .slot = 1}};
    pthread_t thread[SLOTS];
    atomic_store(&resets, 0);
    atomic_store(&hold, true);
    assert_int_equal(pthread_create(&thread[0], NULL, submit_one, &s[0]), 0);
    while (!atomic_load(&held)) usleep(1000);
    assert_int_equal(pthread_create(&thread[1], NULL, submit_one, &s[1]), 0);
    while (atomic_load(&resets) < SLOTS && atomic_load(&held)) usleep(1000);
    memset(m->in[1], 0, sizeof m->in[1]);
    atomic_store(&held, false);
    for (int k = 0; k < SLOTS; k++) pthread_join(thread[k], NULL);
    assert_false(atomic_load(&in_vain));
    for (uint32_t k = 0; k < SLOTS; k++) {
        CHECK_OK(s[k].e.code == 0, s[k].e);
        CHECK_OK(engine_wait(g, k, NULL, NULL, &e));
    }
    assert_memory_equal(m->got, want->got, sizeof want->got);
}

TEST(copies_beside_a_submission) {
    on_each_device(copy_beside);
}

/* Pixels from 1 to 7. */
static image *make_pixels(const char *channel) {
    image *img = glare_image(channel, W, H);
    for (uint32_t i = 0; i < PIXELS; i++) glare_put(img, 0, i, 1 + (float)(i % 7));
    return img;
}

/* An engine with two slots: one image fails, the next gets an engine that does not. */
TEST(blooms) {
    bloom_settings s = glare_settings(glare_device(1));
    if (!s.device) skip();
    s.slots = 2;
    s.images = 9;
    const char *kernel = glare_kernel("lost.exr", glare_power, 5, 5, "R:float");
    OPEN(bloom) *one = MADE(bloom_open(&s, kernel, make_threads(), &e));
    OWN(image) *img = make_pixels("R:float"), *want = glare_copy(img);
    bloom_report r;
    CHECK_OK(bloom_image(one, want, &r, &e));
    assert_int_equal(r.sum.plan.frames, 2);
    for (int wait = 0; wait < 2; wait++) {
        OWN(image) *lost = glare_copy(img), *got = glare_copy(img);
        *(wait ? &waits : &submissions) = 1;
        CHECK_REFUSED(bloom_image(one, lost, &r, &e), ERR_RETRY, "");
        CHECK_OK(bloom_image(one, got, &r, &e));
        check_same_pixels(got, want);
    }
}

/* Opens the machine's devices, the Vulkan device as one that `auto` takes for a long run. NULL:
 * there is only the CPU, or no CPU. */
static device_pool *biased_pool(void) {
    device_forecast all[ENGINE_DEVICES];
    const device_list *list = NULL;
    const device_request r = {
        .want = "all", .images = 1, .ask = {.size = {W, H}, .channels = 1, .spectra = 1}};
    device_pool *p = device_pool_open(make_threads(), NULL, 0, &e);
    CHECK_OK(p && device_pool_choose(p, all, &list, &r, &e) >= 0);
    bool cpu = false, vulkan = false;
    for (uint32_t i = 0; i < list->count; i++) {
        bool is_cpu = list->device[i].class == ENGINE_CPU;
        ((device_list *)list)->device[i].discrete = !is_cpu;
        cpu |= is_cpu;
        vulkan |= !is_cpu;
    }
    if (!cpu || !vulkan) device_pool_close(&p);
    return p;
}

/* Ways to fail. The last one, a device that hangs, is never freed, which is a leak to sanitizers.
 */
enum { FAILURES = WITH_SAN ? 3 : 4 };

/* Whether memory, a submission or a frame fails: the image is bloomed on the CPU, the report says
 * why, and the images after it do not ask the device again. */
static void auto_with(const char *channel, float near) {
    device_pool *pool = biased_pool();
    if (!pool) skip();
    int *const FAILURE[4] = {&allocations, &submissions, &waits, &hangs};
    const char *kernel = glare_kernel("auto.exr", glare_power, 5, 5, "R:float");
    OWN(image) *img = make_pixels(channel), *want = glare_copy(img);
    bloom_report r;
    bloom_settings s = glare_settings("cpu");
    glare_bloom(want, kernel, &s, &r);
    for (int f = 0; f < FAILURES; f++) {
        s = glare_settings("auto");
        s.images = UINT32_MAX;
        if (!pool) pool = biased_pool();
        bloom *b = MADE(bloom_open_on(&s, kernel, NULL, pool, &e));
        for (int frame = 0; frame < 3; frame++) {
            OWN(image) *got = glare_copy(img);
            if (frame == 1 || f == 0) *FAILURE[f] = 1; /* at once, or after a frame that came */
            CHECK_OK(bloom_image(b, got, &r, &e));
            bool on_cpu = f == 0 || frame > 0, here = f == 0 ? frame == 0 : frame == 1;
            assert_int_equal(r.sum.device.class == ENGINE_CPU, on_cpu);
            assert_int_equal(r.notes, here);
            if (here) assert_non_null(strstr(r.note[0], "the CPU was used instead"));
            for (uint32_t i = 0; i < PIXELS; i++)
                CHECK_LE(fabsf(glare_get(got, 0, i) - glare_get(want, 0, i)), near);
        }
        allocations = submissions = waits = hangs = 0;
        bloom_close(&b);
        device_pool_close(&pool);
    }
}

TEST(auto_takes_the_cpu) {
    auto_with("R:float", 1e-5f);
    auto_with("R:half", 1e-2f); /* the halfs become floats then */
}

RUN_TESTS(begin, pipe_end)
