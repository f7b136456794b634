#include "lab/ocean_bench.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/number.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_time.h"
#include "image/format.h"
#include "lab/lab_choice.h"
#include "lab/lab_shaders.h"
#include "lab/ocean.h"
#include "lab/ocean_view.h"
#include "shaders/lab/ids.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The frame that is compared with double, and shown. */
enum { CHECKED = 1000, GROUP = 64 };

/* --- a sea on a device ----------------------------------------------------------------------- */

/* What one transform makes of the sea. The images are pairs A and B, see lab_step. */
typedef struct {
    const ocean *o;
    lab_program p;
    lab_ready ready;
    gpu_layouts layouts; /* of the shader that makes the spectra */
    gpu_sets set, sets;  /* of that shader, and two of each image */
    VkPipeline pipeline;
    gpu_buffer waves, turns, roots, frequencies, image[OCEAN_IMAGES][2];
    uint32_t frame;
} sea;

static void sea_free(sea *s, const lab_gpu *g) {
    const gpu_device *d = &g->g;
    vkDestroyPipeline(d->dev, s->pipeline, NULL);
    gpu_sets_free(&s->set, d);
    gpu_sets_free(&s->sets, d);
    gpu_layouts_free(&s->layouts, d);
    gpu_buffer *all[] = {&s->waves, &s->turns, &s->roots, &s->frequencies};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) gpu_buffer_free(all[i], d);
    for (int i = 0; i < 2 * OCEAN_IMAGES; i++) gpu_buffer_free(&s->image[i / 2][i % 2], d);
    lab_ready_free(&s->ready);
    lab_program_free(&s->p);
}

/* Uploads the roots exp(+2 pi i m / OCEAN_LOOP), and the frequency at each place of an axis. */
static bool make_tables(sea *s, const gpu_device *d, err *e) {
    uint32_t n = s->o->n;
    float root[2 * OCEAN_LOOP];
    uint32_t natural[LAB_MOST];
    lab_program roots = {.n = OCEAN_LOOP};
    bool ok = lab_add_roots(&roots, e);
    for (uint32_t m = 0; ok && m < 2 * OCEAN_LOOP; m++)
        root[m] = m % 2 ? -roots.table[m] : roots.table[m];
    lab_program_free(&roots);
    for (uint32_t i = 0; i < n; i++) natural[i] = i;
    return ok && lab_gpu_upload(&s->roots, d, root, sizeof root, e) &&
           lab_gpu_upload(&s->frequencies, d, s->p.frequency ? s->p.frequency : natural,
                          n * sizeof natural[0], e);
}

/* Makes it from one with its ocean; the caller frees it after a failure, too. */
static bool sea_make(sea *s, const lab_gpu *g, const lab_transform *t, err *e) {
    const gpu_device *d = &g->g;
    uint32_t n = s->o->n;
    size_t count = (size_t)n * n;
    const lab_ask ask = {n, g->limits, g->subgroup};
    const lab_shader evolve = {LAB_OCEAN, {ID_THREADS, ID_LENGTH}, {GROUP, n}, 2};
    s->p.n = n;
    if (!t->program(&s->p, &ask, e) || !lab_ready_make(&s->ready, g, &s->p, e) ||
        !lab_gpu_upload(&s->waves, d, s->o->wave, count * sizeof *s->o->wave, e) ||
        !lab_gpu_upload(&s->turns, d, s->o->turns, count * sizeof *s->o->turns, e) ||
        !make_tables(s, d, e) || !gpu_layouts_make(&s->layouts, d, OCEAN_BINDINGS, e) ||
        !gpu_sets_make(&s->set, d, &s->layouts, 1, e) ||
        !gpu_sets_make(&s->sets, d, &s->ready.layouts, 2 * OCEAN_IMAGES, e) ||
        !lab_gpu_pipeline(&s->pipeline, d, &s->layouts, &evolve, e))
        return false;
    const gpu_buffer_params params = {"image", GPU_ON_DEVICE, count * sizeof(lab_complex)};
    for (int i = 0; i < 2 * OCEAN_IMAGES; i++)
        if (!gpu_buffer_make(&s->image[i / 2][i % 2], d, &params, e)) return false;
    const gpu_buffer *bound[OCEAN_BINDINGS] = {[OCEAN_WAVES] = &s->waves,
                                               [OCEAN_TURNS] = &s->turns,
                                               [OCEAN_ROOTS] = &s->roots,
                                               [OCEAN_FREQUENCY] = &s->frequencies};
    for (int i = 0; i < OCEAN_IMAGES; i++) {
        bound[OCEAN_IMAGE + i] = &s->image[i][0];
        lab_bind(&s->ready, &s->sets.set[2 * i], s->image[i]);
    }
    gpu_bind(s->set.set[0], d, &s->layouts, bound);
    return true;
}

/* Records the next frame. */
static void record_frame(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    sea *s = ctx;
    const VkPipelineBindPoint COMPUTE = VK_PIPELINE_BIND_POINT_COMPUTE;
    uint32_t frame = s->frame++ % OCEAN_LOOP;
    vkCmdBindPipeline(c, COMPUTE, s->pipeline);
    vkCmdBindDescriptorSets(c, COMPUTE, s->layouts.pipeline, 0, 1, s->set.set, 0, NULL);
    vkCmdPushConstants(c, s->layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof frame,
                       &frame);
    vkCmdDispatch(c, ceil_div_u32(s->o->n, GROUP), s->o->n, 1);
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
    lab_record(&s->ready, c, s->sets.set, OCEAN_IMAGES, LAB_BACKWARD);
    gpu_stamp(c, stamps, next);
}

/* --- checked --------------------------------------------------------------------------------- */

/* Brings image i to the host. */
static bool download(sea *s, int i, lab_complex *to, err *e) {
    const gpu_device *d = &s->ready.g->g;
    VkCommandBuffer c;
    VkBufferCopy all = {0, 0, s->ready.down.bytes};
    if (!gpu_begin(d, d->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e))
        return false;
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_COPY);
    vkCmdCopyBuffer(c, s->image[i][0].buf, s->ready.down.buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_HOST);
    if (!gpu_run_once(d, c, e)) return false;
    memcpy(to, s->ready.down.map, s->ready.down.bytes);
    return true;
}

/* Sets the largest and the root of the mean squared error over all images, each relative to the
 * root of the mean square of its image. */
static bool check(sea *s, double *const want[OCEAN_IMAGES], double *worst, double *rms, err *e) {
    const gpu_device *d = &s->ready.g->g;
    size_t count = (size_t)s->o->n * s->o->n;
    uint32_t none = 0;
    VkCommandBuffer c;
    lab_complex *got = mem_raw(count, sizeof *got, "image", e);
    s->frame = CHECKED;
    bool ok = got &&
              gpu_begin(d, d->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e);
    if (ok) {
        record_frame(s, c, VK_NULL_HANDLE, &none);
        ok = gpu_run_once(d, c, e);
    }
    *worst = *rms = 0;
    for (int i = 0; ok && i < OCEAN_IMAGES; i++) {
        double sum = 0, error = 0, most = 0;
        if (!(ok = download(s, i, got, e))) break;
        for (size_t k = 0; k < count; k++) {
            double re = want[i][2 * k], im = want[i][2 * k + 1];
            double x = (double)got[k].re - re, y = (double)got[k].im - im, square = x * x + y * y;
            sum += re * re + im * im;
            error += square;
            if (!(square <= most)) most = square; /* NaN counts */
        }
        *rms = fmax(*rms, sqrt(error / sum));
        *worst = fmax(*worst, sqrt(most / (sum / (double)count)));
    }
    mem_free(got);
    unsigned messages = gpu_device_messages(d);
    return ok && (!messages || err_set(e, ERR_INTERNAL,
                                       "%u messages from the Vulkan validation layer", messages));
}

/* --- timed ----------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    uint32_t n, rounds;
    measure_spread frame; /* seconds */
    double worst, rms;
    uint64_t bytes;
} row;

static const double ROUND = 2e-3, TOTAL = 2; /* seconds, as in lab_run.c */
enum { MOST_FRAMES = 100 };

static bool time_frames(row *r, sea *s, const lab_bench_request *q, err *e) {
    const gpu_device *d = &s->ready.g->g;
    gpu_timing t = {1, 1, record_frame, s};
    double all = 0, step, *seconds = mem_new(q->rounds, sizeof *seconds, "times", e);
    bool ok = seconds && gpu_time(d, &t, &all, &step, e);
    double start = clock_now();
    do {
        t.count = (uint32_t)clamp_double(ROUND / fmax(all, 1e-9), 1, MOST_FRAMES);
        ok = ok && gpu_time(d, &t, &all, &step, e);
    } while (ok && clock_now() - start < q->warm_up);
    r->rounds = (uint32_t)clamp_double(TOTAL / (t.count * fmax(all, 1e-9)), 1, q->rounds);
    for (uint32_t i = 0; ok && i < r->rounds; i++) ok = gpu_time(d, &t, &seconds[i], &step, e);
    if (ok) r->frame = measure_spread_of(seconds, r->rounds);
    mem_free(seconds);
    return ok;
}

static bool run_one(row *r, const lab_gpu *g, const lab_transform *t, const ocean *o,
                    double *const want[OCEAN_IMAGES], const lab_bench_request *q, err *e) {
    sea s = {.o = o};
    *r = (row){.name = t->name, .n = o->n};
    bool ok = sea_make(&s, g, t, e) && check(&s, want, &r->worst, &r->rms, e) &&
              time_frames(r, &s, q, e);
    /* The waves and their turns, the spectra, and the transforms. */
    r->bytes = (16 + 4 + 8 * OCEAN_IMAGES) * (uint64_t)o->n * o->n + OCEAN_IMAGES * s.p.bytes;
    sea_free(&s, g);
    return ok || err_in(e, "%s of %u x %u", t->name, o->n, o->n);
}

/* --- shown ----------------------------------------------------------------------------------- */

typedef struct {
    const lab_bench_request *r;
    const char *picture;
    lab_choice choice;
    lab_gpu gpu;
    text *out;
    json_out json;
} bench;

static void add_row(bench *b, const row *r) {
    double second = fmax(r->frame.median, 1e-12);
    json_out *j = &b->json;
    switch (b->r->output) {
    case LAB_WORDS:
        text_add(b->out, "%5u  %-21s %10.0f %10.4f %9.2f  %8.2g  %8.2g\n", r->n, r->name,
                 1 / second, r->frame.median * 1e3, (double)r->bytes * 1e-6, r->worst, r->rms);
        break;
    case LAB_CSV:
        text_add(b->out, "%s,\"%s\",%u,%u,%.9f,%" PRIu64 ",%.3g,%.3g\n", r->name, b->r->gpu->name,
                 r->n, r->rounds, r->frame.median, r->bytes, r->worst, r->rms);
        break;
    case LAB_JSON:
        json_block(j, NULL);
        json_string(j, "algorithm", r->name);
        json_string(j, "device", b->r->gpu->name);
        json_uint(j, "size", r->n);
        json_uint(j, "rounds", r->rounds);
        json_object(j, "frame");
        json_fixed(j, "least", 9, r->frame.least);
        json_fixed(j, "low", 9, r->frame.low);
        json_fixed(j, "median", 9, r->frame.median);
        json_fixed(j, "high", 9, r->frame.high);
        json_close(j);
        json_real(j, "frames_per_second", 6, 1 / second);
        json_uint(j, "bytes", r->bytes);
        json_real(j, "worst", 3, r->worst);
        json_real(j, "rms", 3, r->rms);
        json_close(j);
        break;
    }
}

static void begin(bench *b) {
    if (b->r->output == LAB_JSON) {
        b->json = json_begin(b->out);
        json_list(&b->json, "results");
    } else if (b->r->output == LAB_CSV) {
        text_add(b->out, "algorithm,device,size,rounds,frame,bytes,worst,rms\n");
    } else {
        text_add(b->out,
                 "a sea of n x n points, 8 fields in 4 complex transforms a frame; %s, medians of "
                 "up to %u rounds\n%5s  %-21s %10s %10s %9s  %8s  %8s\n",
                 b->r->gpu->name, b->r->rounds, "n", "algorithm", "frames/s", "frame ms",
                 "MB moved", "worst", "rms");
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool takes(const bench *b, int i, uint32_t n) {
    const lab_transform *t = &LAB_TRANSFORMS[i];
    return b->choice.wanted[i] && t->program && !t->length && t->takes(n);
}

static bool run_size(bench *b, uint32_t n, bool draw, err *e) {
    ocean o = {0};
    double *want[OCEAN_IMAGES] = {0};
    bool ok = ocean_make(&o, n, e);
    for (int i = 0; ok && i < OCEAN_IMAGES; i++)
        ok = (want[i] = mem_raw((size_t)n * n, 2 * sizeof **want, "fields in double", e));
    ok = ok && ocean_fields(want, &o, CHECKED, b->r->threads, e);
    for (int i = 0; ok && i < LAB_TRANSFORM_COUNT; i++) {
        row r;
        if (!takes(b, i, n)) continue;
        ok = run_one(&r, &b->gpu, &LAB_TRANSFORMS[i], &o, want, b->r, e);
        if (ok) add_row(b, &r);
    }
    if (ok && draw) ok = ocean_view(b->picture, want, n, b->r->threads, e);
    for (int i = 0; i < OCEAN_IMAGES; i++) mem_free(want[i]);
    ocean_free(&o);
    return ok;
}

/* Refuses what cannot make a sea. */
static bool check_choice(const bench *b, err *e) {
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
        if (b->choice.wanted[i] && !b->choice.all && !LAB_TRANSFORMS[i].program)
            return err_set(e, ERR_USAGE,
                           "--algorithm %s: the sea is made on a GPU, and this "
                           "transform runs on the CPU",
                           LAB_TRANSFORMS[i].name);
    for (uint32_t s = 0; s < b->choice.sizes; s++)
        if (b->choice.size[s] % 2 || b->choice.size[s] < 64)
            return err_set(e, ERR_USAGE, "--size %u: a sea has an even side, from 64 on",
                           b->choice.size[s]);
    return true;
}

bool lab_bench_ocean(text *out, const lab_bench_request *r, const char *picture, err *e) {
    bench b = {.r = r, .gpu = {.threads = r->threads}, .picture = picture, .out = out};
    if (!lab_choice_read(&b.choice, r->sizes ? r->sizes : "512,1024", r->algorithms, r->gpu, e) ||
        !check_choice(&b, e))
        return false;
    if (!r->gpu) return err_set(e, ERR_NO_DEVICE, "bench ocean needs a GPU, or --device software");
    if (picture && !image_can_create(picture, e)) return false;
    bool ok = lab_gpu_open(&b.gpu, r->gpu, e);
    begin(&b);
    for (uint32_t i = 0; ok && i < b.choice.sizes; i++)
        ok = run_size(&b, b.choice.size[i], picture && i == 0, e);
    if (r->output == LAB_JSON) {
        json_close(&b.json);
        json_end(&b.json);
    }
    lab_gpu_close(&b.gpu);
    return ok;
}
