#include "base/mem.h"
#include "base/number.h"
#include "image/format.h"
#include "lab/lab_bench.h"
#include "lab/lab_shaders.h"
#include "lab/ocean.h"

#include <math.h>
#include <string.h>

/* The frame that is compared with double, and shown. */
enum { CHECKED = 1000, GROUP = 64 };

/* --- the program of a sea -------------------------------------------------------------------- */

/* Makes of a transform's program one frame of the sea: the spectra of four images, and their four
 * inverse transforms side by side. where[i]: the buffer that has image i. The program does not own
 * the tables of the ocean. */
static bool ocean_program(lab_program *p, uint32_t where[OCEAN_IMAGES], const lab_transform *t,
                          const lab_ask *ask, const ocean *o, err *e) {
    uint32_t n = ask->n;
    uint64_t count = (uint64_t)n * n;
    *p = (lab_program){.n = n};
    if (!t->program(p, ask, e)) return false;
    p->steps[LAB_FORWARD] = 0;
    memmove(p->step[LAB_BACKWARD] + 1, p->step[LAB_BACKWARD],
            p->steps[LAB_BACKWARD]++ * sizeof(lab_step));
    uint32_t evolve = 2 * OCEAN_IMAGES, shader = lab_add_shader(p, LAB_OCEAN);
    for (uint32_t i = 1; i < p->steps[LAB_BACKWARD]; i++)
        p->step[LAB_BACKWARD][i].several = OCEAN_IMAGES;
    p->step[LAB_BACKWARD][0] = (lab_step){.shader = shader,
                                          .set = evolve,
                                          .by_frame = true,
                                          .groups = {ceil_div_u32(n, GROUP), n, 1}};
    lab_add_constant(p, ID_THREADS, GROUP);
    lab_add_constant(p, ID_LENGTH, n);
    where[0] = LAB_A;
    for (uint32_t i = 1; i < OCEAN_IMAGES; i++) {
        where[i] = lab_add_buffer(p, count * sizeof(lab_complex), NULL);
        uint32_t pair[] = {where[i], lab_add_buffer(p, count * sizeof(lab_complex), NULL)};
        for (uint32_t back = 0; back < 2; back++) {
            uint32_t *set = memcpy(p->set[2 * i + back], p->set[back], sizeof p->set[0]);
            set[LAB_FROM] = pair[back];
            set[LAB_TO] = pair[1 - back];
        }
    }
    uint32_t *frequency = mem_raw(n, sizeof *frequency, "frequencies", e);
    for (uint32_t i = 0; frequency && i < n; i++) frequency[i] = p->frequency ? p->frequency[i] : i;
    float *roots = lab_roots(OCEAN_LOOP, e); /* made positive: exp(+2 pi i m / OCEAN_LOOP) */
    for (uint32_t m = 1; roots && m < 2 * OCEAN_LOOP; m += 2) roots[m] = -roots[m];
    p->sets = evolve + 1;
    p->bindings = OCEAN_BINDINGS;
    p->set[evolve][OCEAN_WAVES] = lab_add_buffer(p, count * sizeof *o->wave, NULL);
    p->set[evolve][OCEAN_TURNS] = lab_add_buffer(p, count * sizeof *o->turns, NULL);
    p->set[evolve][OCEAN_ROOTS] = lab_add_buffer(p, OCEAN_LOOP * sizeof(lab_complex), roots);
    p->set[evolve][OCEAN_FREQUENCY] = lab_add_buffer(p, n * sizeof *frequency, frequency);
    for (uint32_t i = 0; i < OCEAN_IMAGES; i++) p->set[evolve][OCEAN_IMAGE + i] = where[i];
    return roots && frequency;
}

/* --- a sea on a device ----------------------------------------------------------------------- */

typedef struct {
    const lab_gpu *gpu;
    const lab_bench_request *ask;
    const ocean *o;
    double *want[OCEAN_IMAGES]; /* of frame CHECKED */
    lab_table table;
} ocean_bench;

/* Returns the largest errors of all images. */
static bool ocean_check(lab_error *to, lab_ready *r, const uint32_t where[OCEAN_IMAGES],
                        const ocean_bench *b, err *e) {
    uint32_t n = b->o->n;
    lab_complex *got = mem_raw((size_t)n * n, sizeof *got, "image", e);
    r->frame = CHECKED;
    bool ok = got && lab_do(r, LAB_BACKWARD, e);
    *to = (lab_error){0, 0};
    for (int i = 0; ok && i < OCEAN_IMAGES; i++) {
        if (!(ok = lab_get(r, where[i], got, e))) break;
        lab_error one = lab_compare(got, b->want[i], n, NULL);
        *to = (lab_error){fmax(to->worst, one.worst), fmax(to->rms, one.rms)};
    }
    mem_free(got);
    return ok;
}

static bool ocean_round(void *of, uint32_t count, double *value, err *e) {
    double part;
    return lab_time(of, count, value, &part, e);
}

/* clang-format off */
static const lab_column COLUMN[] = {
    {"size", LAB_COUNT, "n", 5, 0, 1},
    {"algorithm", LAB_NAME, "algorithm", -21, 0, 1},
    {"device", LAB_NAME, NULL, 0, 0, 1},
    {"rounds", LAB_COUNT, NULL, 0, 0, 1},
    {"frames_per_second", LAB_REAL, "frames/s", 10, 0, 1},
    {"frame", LAB_SPREAD, "frame ms", 10, 4, 1e-3},
    {"bytes", LAB_COUNT, "MB moved", 9, 2, 1e6},
    {"worst", LAB_REAL, "worst", 9, -1, 1},
    {"rms", LAB_REAL, "rms", 9, -1, 1},
};
/* clang-format on */
enum { COLUMNS = sizeof COLUMN / sizeof COLUMN[0] };

static bool run_one(ocean_bench *b, const lab_transform *t, err *e) {
    uint32_t n = b->o->n, where[OCEAN_IMAGES], rounds = 0;
    lab_program p = {0};
    lab_ready ready = {0};
    lab_error error;
    measure_spread frame;
    const lab_ask ask = {n, b->gpu->limits, b->gpu->subgroup};
    const lab_pace pace = {.rounds = b->ask->rounds, .warm_up = b->ask->warm_up, .series = 1};
    bool ok = ocean_program(&p, where, t, &ask, b->o, e) && lab_ready_make(&ready, b->gpu, &p, e) &&
              lab_put(&ready, p.set[2 * OCEAN_IMAGES][OCEAN_WAVES], b->o->wave, e) &&
              lab_put(&ready, p.set[2 * OCEAN_IMAGES][OCEAN_TURNS], b->o->turns, e) &&
              ocean_check(&error, &ready, where, b, e) &&
              lab_rounds(&frame, &rounds, &pace, ocean_round, &ready, e);
    if (ok) {
        /* The waves and their turns, the spectra, and the transforms. */
        uint64_t bytes = (16 + 4 + 8 * OCEAN_IMAGES) * (uint64_t)n * n +
                         OCEAN_IMAGES * p.account.bytes;
        const lab_cell cell[] = {LAB_N(n),
                                 LAB_W(t->name),
                                 LAB_W(b->ask->gpu->name),
                                 LAB_N(rounds),
                                 LAB_N(1 / fmax(frame.median, 1e-12)),
                                 LAB_S(&frame),
                                 LAB_N(bytes),
                                 LAB_N(error.worst),
                                 LAB_N(error.rms)};
        _Static_assert(sizeof cell / sizeof cell[0] == COLUMNS, "a value for each column");
        lab_table_row(&b->table, cell);
    }
    lab_ready_free(&ready);
    lab_program_free(&p);
    return ok || err_in(e, "%s of %u x %u", t->name, n, n);
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool ocean_run_size(ocean_bench *b, const lab_choice *c, uint32_t n, const char *picture,
                           err *e) {
    ocean o = {0};
    bool ok = ocean_make(&o, n, e);
    b->o = &o;
    for (int i = 0; i < OCEAN_IMAGES; i++) {
        b->want[i] = ok ? mem_raw((size_t)n * n, 2 * sizeof **b->want, "fields in double", e)
                        : NULL;
        ok = b->want[i] != NULL;
    }
    ok = ok && ocean_fields(b->want, &o, CHECKED, b->ask->threads, e);
    for (int i = 0; ok && i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        if (c->wanted[i] && t->program && !t->length && t->takes(n)) ok = run_one(b, t, e);
    }
    if (ok && picture) ok = ocean_view(picture, b->want, n, b->ask->threads, e);
    for (int i = 0; i < OCEAN_IMAGES; i++) mem_free(b->want[i]);
    ocean_free(&o);
    return ok;
}

/* Refuses what cannot make a sea. */
static bool check_choice(const lab_choice *c, err *e) {
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
        if (c->wanted[i] && !c->all && !LAB_TRANSFORMS[i].program)
            return err_set(e, ERR_USAGE,
                           "--algorithm %s: the sea is made on a GPU, and this "
                           "transform runs on the CPU",
                           LAB_TRANSFORMS[i].name);
    for (uint32_t s = 0; s < c->sizes; s++)
        if (c->size[s] % 2 || c->size[s] < 64)
            return err_set(e, ERR_USAGE, "--size %u: a sea has an even side, from 64 on",
                           c->size[s]);
    return true;
}

bool lab_bench_ocean(text *out, const lab_bench_request *r, err *e) {
    lab_choice choice;
    if (!lab_choice_read(&choice, r, "512,1024", e) || !check_choice(&choice, e)) return false;
    if (!r->gpu) return err_set(e, ERR_NO_DEVICE, "bench ocean needs a GPU, or --device software");
    if (r->picture && !image_can_create(r->picture, e)) return false;
    lab_gpu gpu = {.threads = r->threads};
    json_out json;
    ocean_bench b = {&gpu, r, NULL, {NULL}, {COLUMN, COLUMNS, out, r->json ? &json : NULL, false}};
    bool ok = lab_gpu_open(&gpu, r->gpu, e);
    lab_table_begin(&b.table, "a sea of n x n points, 8 fields in 4 complex transforms a frame");
    for (uint32_t i = 0; ok && i < choice.sizes; i++)
        ok = ocean_run_size(&b, &choice, choice.size[i], i ? NULL : r->picture, e);
    lab_table_end(&b.table);
    lab_gpu_close(&gpu);
    return ok;
}
