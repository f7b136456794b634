/* lab_run.c - what all benchmarks of the lab share, rounds, copies and errors; and the runner of
 * transforms, which also make the sea. */
#include "lab/lab_bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "engine/gpu/gpu_time.h"
#include "lab/ocean.h"
#include "math/fft.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* --- the truth ------------------------------------------------------------------------------- */

/* Copies some lines of numbers, `line` doubles apart, to the order of fft.h, or back. */
static void lab_move_lines(double *image, double *room, size_t n, size_t lines, bool columns,
                           bool back) {
    size_t step = 2 * (columns ? n : 1), line = 2 * (columns ? 1 : n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < lines; k++)
            for (size_t part = 0; part < 2; part++) {
                double *there = &image[k * line + i * step + part];
                double *here = &room[i * FFT_STEP + part * FFT_LINES + k];
                *(back ? there : here) = *(back ? here : there);
            }
}

bool lab_transform_double(double *image, size_t n, err *e) {
    fft *f = fft_new((uint32_t)n, e);
    double *room = mem_new(2 * n, FFT_STEP * sizeof *room, "lines of the reference", e);
    bool ok = f && room;
    for (int columns = 0; ok && columns < 2; columns++)
        for (size_t l = 0; l < n; l += FFT_LINES) {
            double *first = image + l * 2 * (columns ? 1 : n);
            size_t lines = min_size(FFT_LINES, n - l);
            lab_move_lines(first, room, n, lines, columns, false);
            double *made = fft_forward(f, room, room + n * FFT_STEP);
            lab_move_lines(first, made, n, lines, columns, true);
        }
    mem_free(room);
    fft_free(&f);
    return ok;
}

bool lab_truth_make(lab_truth *t, uint32_t n, err *e) {
    size_t count = 2 * (size_t)n * n;
    uint64_t seed = n;
    for (int way = 0; way < LAB_WAYS; way++)
        if (!(t->value[way] = mem_raw(count, sizeof(double), "image in double", e))) return false;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        float v = (float)(seed >> 40) * 0x1p-23f - 1;
        t->value[LAB_BACKWARD][i] = t->value[LAB_FORWARD][i] = (double)v;
    }
    return lab_transform_double(t->value[LAB_FORWARD], n, e);
}

void lab_truth_free(lab_truth *t) {
    for (int way = 0; way < LAB_WAYS; way++) mem_free(t->value[way]);
    *t = (lab_truth){0};
}

void lab_compare(lab_row *to, const float *got, const double *want, size_t count) {
    double sum = 0, error = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        double d = fabs((double)got[i] - want[i]);
        sum += want[i] * want[i];
        error += d * d;
        worst = fmax(worst, isnan(d) ? INFINITY : d);
    }
    to->worst = fmax(to->worst, worst / sqrt(sum / (double)count));
    to->rms = fmax(to->rms, isnan(error) ? INFINITY : sqrt(error / sum));
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* A fast thing is repeated until a round takes at least ROUND seconds. All rounds together take
 * little more than TOTAL seconds, so slow things have fewer rounds. */
static const double ROUND = 2e-3, TOTAL = 2;
enum { MOST_REPEATS = 100, SERIES = 1 + LAB_PARTS };

/* The stamps between the parts cost about a microsecond each. So they only say how the time of a
 * repetition without stamps is to be shared out. */
bool lab_rounds(lab_row *to, const lab_pace *p, lab_round *round, void *of, err *e) {
    engine_repeat one = {.count = max_u32(p->count, 1)};
    double start = clock_now();
    uint32_t n = p->rounds;
    do {
        if (!round(of, &one, e)) return false;
        double seconds = fmax(one.frame, 1e-9);
        if (p->count) continue;
        one.count = (uint32_t)clamp_double(ROUND / seconds, 1, MOST_REPEATS);
        n = (uint32_t)clamp_double(TOTAL / (one.count * seconds), 1, p->rounds);
    } while (clock_now() - start < p->warm_up);
    double *value = mem_raw(n, SERIES * sizeof *value, "times", e);
    bool ok = value != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        double sum = 0;
        ok = round(of, &one, e);
        for (int k = 0; k < LAB_PARTS; k++) sum += one.pass[k];
        for (uint32_t k = 0; k < LAB_PARTS; k++)
            value[(1 + k) * n + i] = sum > 0 ? one.frame * one.pass[k] / sum : 0;
        value[i] = one.frame / p->frames;
    }
    for (uint32_t s = 0; ok && s < SERIES; s++)
        *(s ? &to->part[s - 1] : &to->seconds) = measure_spread_of(value + s * n, n);
    to->rounds = n;
    mem_free(value);
    return ok;
}

bool lab_copies(lab_row *to, const lab_gpu *g, const uint64_t *bytes, uint32_t count, err *e) {
    double seconds = fmax(to->seconds.median, 1e-9), moved = 0;
    engine_repeat r = {.count = (uint32_t)clamp_double(ROUND / seconds, 1, MOST_REPEATS)};
    if (!gpu_time_copies(&g->g, &r, bytes, count, e)) return false;
    for (uint32_t i = 0; i < count; i++) moved += (double)bytes[i];
    to->copies = to->seconds.median / (r.copy * to->bytes / moved);
    return true;
}

/* --- transforms, and a sea of them ------------------------------------------------------------ */

/* A transform that is run: on the CPU with some room, or on a GPU as a program. */
typedef struct {
    const lab_request *r;
    textbook cpu;
    lab_program p;
    lab_ready ready;
    lab_complex *image, *other;
    uint32_t where[OCEAN_IMAGES]; /* the buffer of each image of the sea */
} lab_runner;

static bool runner_make(lab_runner *u, err *e) {
    const lab_request *r = u->r;
    uint32_t n = u->p.n = r->n;
    u->image = mem_raw((size_t)n * n, sizeof *u->image, "image", e);
    u->other = mem_raw((size_t)n * n, sizeof *u->image, "image in another order", e);
    if (!u->image || !u->other) return false;
    u->p.bytes = 2 * sizeof *u->image * (uint64_t)n * n;
    if (r->t->cpu) {
        u->cpu = (textbook){.n = n,
                            .root = (lab_complex *)lab_roots(n, e),
                            .line = mem_raw(n, sizeof(lab_complex), "line", e),
                            .spare = mem_raw(n, sizeof(lab_complex), "line", e)};
        return u->cpu.root && u->cpu.line && u->cpu.spare;
    }
    const lab_ask ask = {n, r->gpu->limits, r->gpu->subgroup};
    return r->t->program(&u->p, &ask, r->t, e) && (!r->sea || ocean_program(&u->p, u->where, e)) &&
           lab_ready_make(&u->ready, r->gpu, &u->p, e);
}

/* Sorts an image by frequency: from the order that the transform leaves, or back to it. */
static void runner_sort(lab_runner *u, bool back) {
    const uint32_t *frequency = u->p.frequency;
    size_t n = u->r->n;
    if (!frequency) return;
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++) {
            size_t here = y * n + x, there = frequency[y] * n + frequency[x];
            u->other[back ? here : there] = u->image[back ? there : here];
        }
    memcpy(u->image, u->other, n * n * sizeof *u->image);
}

/* Gives it the input of a way, and enters the errors of what it makes of that. */
static bool check_way(lab_row *to, lab_runner *u, int way, err *e) {
    const double *from = u->r->truth->value[!way];
    size_t count = (size_t)u->r->n * u->r->n;
    for (size_t i = 0; i < count; i++)
        u->image[i] = (lab_complex){(float)from[2 * i], (float)from[2 * i + 1]};
    if (way == LAB_BACKWARD) runner_sort(u, true);
    if (u->r->t->cpu)
        textbook_run(&u->cpu, u->r->t->cpu, u->image, way);
    else if (!lab_put(&u->ready, LAB_A, u->image, e) || !lab_do(&u->ready, way, e) ||
             !lab_get(&u->ready, LAB_A, u->image, e))
        return false;
    if (way == LAB_FORWARD) runner_sort(u, false);
    lab_compare(to, (float *)u->image, u->r->truth->value[way], 2 * count);
    return true;
}

/* Makes the frame of the sea whose images are known. */
static bool check_sea(lab_row *to, lab_runner *u, err *e) {
    const ocean *sea = u->r->sea;
    const uint32_t *tables = u->p.set[2 * OCEAN_IMAGES];
    size_t count = 2 * (size_t)u->p.n * u->p.n;
    u->ready.frame = sea->frame;
    bool ok = lab_put(&u->ready, tables[OCEAN_WAVES], sea->wave, e) &&
              lab_put(&u->ready, tables[OCEAN_TURNS], sea->turns, e) &&
              lab_do(&u->ready, LAB_BACKWARD, e);
    for (int i = 0; ok && i < OCEAN_IMAGES; i++) {
        ok = lab_get(&u->ready, u->where[i], u->image, e);
        if (ok) lab_compare(to, (float *)u->image, sea->image[i], count);
    }
    return ok;
}

/* On the CPU, what other processes take does not count. */
static bool runner_round(void *of, engine_repeat *r, err *e) {
    lab_runner *u = of;
    if (!u->r->t->cpu) return lab_time(&u->ready, r->count, &r->frame, r->pass, e);
    *r = (engine_repeat){.count = r->count};
    for (uint32_t i = 0; i < LAB_WAYS * r->count; i++) {
        clock_t start = clock();
        textbook_run(&u->cpu, u->r->t->cpu, u->image, i % LAB_WAYS);
        r->pass[i % LAB_WAYS] += (double)(clock() - start) / CLOCKS_PER_SEC / r->count;
    }
    r->frame = r->pass[LAB_FORWARD] + r->pass[LAB_BACKWARD];
    return true;
}

static bool runner_time(lab_row *to, lab_runner *u, err *e) {
    const lab_request *r = u->r;
    const lab_pace pace = {.rounds = r->rounds,
                           .warm_up = r->t->cpu ? 0 : r->warm_up,
                           .frames = r->sea ? 1 : LAB_WAYS};
    const uint64_t image = 2 * sizeof(lab_complex) * (uint64_t)r->n * r->n;
    to->copies = NAN;
    if (!lab_rounds(to, &pace, runner_round, u, e)) return false;
    to->part[LAB_PARTS - 1] = to->part[LAB_BACKWARD];
    return r->t->cpu || lab_copies(to, r->gpu, &image, 1, e);
}

bool lab_run(lab_row *to, const lab_request *r, err *e) {
    lab_runner u = {.r = r};
    const double none = r->t->cpu ? (double)NAN : 0;
    bool ok = runner_make(&u, e);
    *to = (lab_row){.name = r->t->name,
                    .about = r->t->about,
                    .cpu = r->t->cpu != NULL,
                    .own = r->t->own,
                    .size = {r->n}};
    if (r->sea) ok = ok && check_sea(to, &u, e);
    for (int way = 0; ok && !r->sea && way < LAB_WAYS; way++) ok = check_way(to, &u, way, e);
    /* Of the sea: the waves and their turns, the spectra, and the transforms. */
    to->bytes = (double)u.p.bytes;
    if (r->sea)
        to->bytes = (16 + 4 + 8 * OCEAN_IMAGES) * (double)r->n * r->n + OCEAN_IMAGES * to->bytes;
    to->dispatches = none + u.p.steps[LAB_FORWARD];
    to->barriers = none + u.p.barriers;
    to->shared = none + u.p.shared;
    ok = ok && (!r->rounds || runner_time(to, &u, e));
    mem_free(u.cpu.root);
    mem_free(u.cpu.line);
    mem_free(u.cpu.spare);
    lab_ready_free(&u.ready);
    lab_program_free(&u.p);
    mem_free(u.other);
    mem_free(u.image);
    return ok || err_in(e, "%s of %u x %u", r->t->name, r->n, r->n);
}
