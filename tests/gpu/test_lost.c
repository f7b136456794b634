/* test_lost.c - a device that fails in the middle of a frame: the frame's error says so, its slot
 * is not used again, other frames come back whole, and after that all is as before. The driver
 * fails here because this program has its own vkQueueSubmit and vkWaitForFences. */
#include "bloom/bloom.h"
#include "engine/gpu/gpu_device.h"
#include "gpu/pipeline.h"
#include "unit/glare.h"

#include <dlfcn.h>

enum { SLOTS = 2, CHANNELS = 2, W = 19, H = 13, PIXELS = W * H, STEPS = 3 };

static engine_device device[ENGINE_DEVICES];
static uint32_t devices;

/* --- a driver that fails --------------------------------------------------------------------- */

/* Calls until one fails; 0: none does. */
static int submissions, waits;

static void *driver(const char *name) {
    static void *library;
    if (!library) library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *f = library ? dlsym(library, name) : NULL;
    if (!f) abort();
    return f;
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *s,
                                             VkFence f) {
    if (submissions && --submissions == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return ((PFN_vkQueueSubmit)driver("vkQueueSubmit"))(q, n, s, f);
}

VKAPI_ATTR VkResult VKAPI_CALL vkWaitForFences(VkDevice d, uint32_t n, const VkFence *f,
                                               VkBool32 all, uint64_t ns) {
    if (waits && --waits == 0) return VK_ERROR_DEVICE_LOST;
    return ((PFN_vkWaitForFences)driver("vkWaitForFences"))(d, n, f, all, ns);
}

/* --- engines --------------------------------------------------------------------------------- */

typedef struct {
    float in[SLOTS][CHANNELS][PIXELS], got[SLOTS][CHANNELS][PIXELS];
    const void *from[SLOTS][CHANNELS];
    void *to[SLOTS][CHANNELS];
    engine_frame f[SLOTS];
} film;

static const double TAP[CHANNELS], GAIN[CHANNELS] = {1, 2};

static film *make_film(void) {
    film *m = calloc(1, sizeof *m);
    uint64_t seed = 5;
    for (int s = 0; s < SLOTS; s++) {
        for (int c = 0; c < CHANNELS; c++) {
            for (int i = 0; i < PIXELS; i++) m->in[s][c][i] = (float)pipe_random(&seed);
            m->from[s][c] = m->in[s][c];
            m->to[s][c] = m->got[s][c];
        }
        m->f[s] = (engine_frame){m->from[s], m->to[s], TAP, GAIN, NULL, NULL};
    }
    return m;
}

static void prepare(engine *g, const engine_device *d) {
    const pipe_case c = {
        .w = W, .h = H, .kw = 3, .kh = 3, .channels = CHANNELS, .spectra = 1, .tapless = true};
    plan p;
    err e = {0};
    plan_request ask = pipe_request(&c, d);
    CHECK_OK(plan_make(&p, &ask, &e), e);
    spectrum_lines l = {.channels = 1, .halves = p.halves, .length = p.axis[1].length};
    size_t n = 2 * (size_t)l.halves * l.length;
    uint64_t seed = 3;
    CHECK_OK((l.value = mem_new(n, sizeof(float), "spectrum", &e)), e);
    for (size_t i = 0; i < n; i++) ((float *)l.value)[i] = (float)pipe_random(&seed);
    /* Copies by the device: three submissions for a frame. */
    engine_options o = {.slots = SLOTS, .timestamps = true, .staged = true};
    CHECK_OK(engine_prepare(g, &p, &l, &o, &e), e);
    spectrum_lines_free(&l);
}

static void run_both(engine *g, film *m) {
    err e = {0};
    memset(m->got, 0, sizeof m->got);
    for (uint32_t s = 0; s < SLOTS; s++) CHECK_OK(engine_submit(g, s, &m->f[s], &e), e);
    for (uint32_t s = 0; s < SLOTS; s++) CHECK_OK(engine_wait(g, s, NULL, &e), e);
}

/* With a frame under way in slot 1, one fails in slot 0: at a submission, or where it is waited
 * for. */
static void fail_once(engine *g, film *m, int submission) {
    err e = {0};
    CHECK_OK(engine_submit(g, 1, &m->f[1], &e), e);
    submissions = submission;
    waits = !submission;
    assert_false(engine_submit(g, 0, &m->f[0], &e) && engine_wait(g, 0, NULL, &e));
    assert_int_equal(submissions + waits, 0);
    assert_int_equal(e.code, ERR_RETRY);
    e = (err){0};
    assert_false(engine_submit(g, 0, &m->f[0], &e));
    assert_int_equal(e.code, ERR_RETRY);
    assert_non_null(strstr(e.msg, "slot 0 of 2 has lost a frame"));
    assert_false(engine_wait(g, 0, NULL, &e));
    memset(m->got[1], 0, sizeof m->got[1]);
    CHECK_OK(engine_wait(g, 1, NULL, &e), e);
}

static void slots(void **state) {
    (void)state;
    bool any = false;
    for (uint32_t i = 0; i < devices; i++) {
        if (device[i].class == ENGINE_CPU) continue;
        any = true;
        err e = {0};
        engine *g = engine_open(&device[i], make_threads(), NULL, &e);
        CHECK_OK(g, e);
        film *m = make_film(), *want = make_film();
        prepare(g, &device[i]);
        run_both(g, want);
        for (int submission = 0; submission <= STEPS; submission++) {
            fail_once(g, m, submission);
            assert_memory_equal(m->got[1], want->got[1], sizeof want->got[1]);
            prepare(g, &device[i]);
            run_both(g, m);
            assert_memory_equal(m->got, want->got, sizeof want->got);
        }
        free(m);
        free(want);
        engine_close(&g);
    }
    if (!any) skip();
}

/* --- blooms ---------------------------------------------------------------------------------- */

/* Two that share an engine: one fails, the other gets an engine that does not. */
static void blooms(void **state) {
    (void)state;
    const char *name = NULL;
    for (int i = 0; !name && glare_device(i); i++)
        if (strcmp(glare_device(i), "cpu") != 0) name = glare_device(i);
    if (!name) skip();
    err e = {0};
    bloom_settings s = glare_settings(name);
    s.slots = 2;
    s.images = 9;
    const char *kernel = glare_kernel("lost.exr", glare_power, 5, 5, "R:float");
    bloom *one = bloom_open(&s, kernel, make_threads(), &e), *two = NULL;
    CHECK_OK(one && (two = bloom_beside(one, &e)), e);
    image *img = glare_image("R:float", W, H), *want = glare_copy(img);
    for (uint32_t i = 0; i < PIXELS; i++) {
        glare_put(img, 0, i, 1 + (float)(i % 7));
        glare_put(want, 0, i, 1 + (float)(i % 7));
    }
    bloom_report *r = calloc(1, sizeof *r);
    CHECK_OK(bloom_image(one, want, r, &e), e);
    assert_true(bloom_has_room(one));
    for (int wait = 0; wait < 2; wait++) {
        image *lost = glare_copy(img), *got = glare_copy(img);
        *(wait ? &waits : &submissions) = 1;
        memset(r, 0, sizeof *r);
        assert_false(bloom_image(one, lost, r, &e));
        assert_int_equal(e.code, ERR_RETRY);
        e = (err){0};
        memset(r, 0, sizeof *r);
        CHECK_OK(bloom_image(two, got, r, &e), e);
        assert_memory_equal(got->plane[0][0], want->plane[0][0], PIXELS * sizeof(float));
        image_free(&lost);
        image_free(&got);
    }
    free(r);
    image_free(&img);
    image_free(&want);
    bloom_close(&one);
    bloom_close(&two);
}

int main(void) {
    setenv("FFTBLOOM_VALIDATION", "1", 0);
    devices = engine_devices(device, ENGINE_DEVICES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots),
        cmocka_unit_test(blooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
