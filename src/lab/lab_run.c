#include "lab/lab_run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "engine/gpu/gpu_time.h"
#include "math/fft.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* --- the truth ------------------------------------------------------------------------------- */

typedef struct {
    double *image;
    uint32_t n;
    bool columns;
    const fft *f;
    double *scratch; /* two of n * FFT_STEP per worker */
} lab_lines_job;

/* Transforms FFT_LINES neighbouring rows or columns, or those that are left. */
static bool transform_lines(void *ctx, size_t index, int worker, err *e) {
    (void)e;
    const lab_lines_job *j = ctx;
    size_t n = j->n, step = 2 * (j->columns ? n : 1), line = 2 * (j->columns ? 1 : n);
    double *a = j->scratch + (size_t)worker * 2 * n * FFT_STEP, *b = a + n * FFT_STEP;
    double *first = j->image + index * FFT_LINES * line;
    size_t lines = min_size(FFT_LINES, n - index * FFT_LINES);
    memset(a, 0, n * FFT_STEP * sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < lines; l++) {
            a[i * FFT_STEP + l] = first[l * line + i * step];
            a[i * FFT_STEP + FFT_LINES + l] = first[l * line + i * step + 1];
        }
    a = fft_forward(j->f, a, b);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < lines; l++) {
            first[l * line + i * step] = a[i * FFT_STEP + l];
            first[l * line + i * step + 1] = a[i * FFT_STEP + FFT_LINES + l];
        }
    return true;
}

bool lab_transform_double(double *image, uint32_t n, par *threads, err *e) {
    fft *f = fft_new(n, e);
    lab_lines_job j = {image, n, false, f, NULL};
    j.scratch = mem_raw((size_t)par_workers(threads) * 2 * n, FFT_STEP * sizeof(double),
                        "lines of the reference", e);
    bool ok = f && j.scratch;
    for (int columns = 0; ok && columns < 2; columns++) {
        j.columns = columns;
        ok = par_for(threads, ceil_div_u32(n, FFT_LINES), transform_lines, &j, e);
    }
    mem_free(j.scratch);
    fft_free(&f);
    return ok;
}

bool lab_truth_make(lab_truth *t, uint32_t n, par *threads, err *e) {
    size_t count = (size_t)n * n;
    uint64_t seed = n;
    t->n = n;
    t->image = mem_raw(count, sizeof *t->image, "image", e);
    t->spectrum = mem_raw(count, 2 * sizeof *t->spectrum, "spectrum in double", e);
    if (!t->image || !t->spectrum) return false;
    float *v = (float *)t->image;
    for (size_t i = 0; i < 2 * count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        v[i] = (float)(seed >> 40) * 0x1p-23f - 1;
        t->spectrum[i] = (double)v[i];
    }
    return lab_transform_double(t->spectrum, n, threads, e);
}

void lab_truth_free(lab_truth *t) {
    mem_free(t->image);
    mem_free(t->spectrum);
    *t = (lab_truth){0};
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* A fast thing is repeated until a round takes at least ROUND seconds. All rounds together take
 * little more than TOTAL seconds, so slow things have fewer rounds. */
static const double ROUND = 2e-3, TOTAL = 2;
enum { MOST_REPEATS = 100 };

bool lab_rounds(measure_spread *to, uint32_t *rounds, const lab_pace *p, lab_round *round, void *of,
                err *e) {
    double one[LAB_SERIES], start = clock_now();
    uint32_t count = max_u32(p->count, 1);
    *rounds = p->rounds;
    do {
        double sum = 0;
        if (!round(of, count, one, e)) return false;
        for (uint32_t s = 0; s < p->series; s++) sum += one[s];
        sum = fmax(sum, 1e-9);
        if (p->count) continue;
        count = (uint32_t)clamp_double(ROUND / sum, 1, MOST_REPEATS);
        *rounds = (uint32_t)clamp_double(TOTAL / (count * sum), 1, p->rounds);
    } while (clock_now() - start < p->warm_up);
    double *value = mem_raw(*rounds, LAB_SERIES * sizeof *value, "times", e);
    bool ok = value != NULL;
    for (uint32_t i = 0; ok && i < *rounds; i++) {
        ok = round(of, count, one, e);
        for (uint32_t s = 0; s < p->series; s++) value[s * *rounds + i] = one[s];
    }
    for (uint32_t s = 0; ok && s < p->series; s++)
        to[s] = measure_spread_of(value + s * *rounds, *rounds);
    mem_free(value);
    return ok;
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Returns the place of frequency (x, y) in an image that a program leaves. */
static size_t lab_place_of(const uint32_t *place, uint32_t n, uint32_t x, uint32_t y) {
    return place ? (size_t)place[y] * n + place[x] : (size_t)y * n + x;
}

lab_error lab_compare(const lab_complex *got, const double *want, uint32_t n,
                      const uint32_t *place) {
    double sum = 0, error = 0, worst = 0;
    for (uint32_t y = 0; y < n; y++)
        for (uint32_t x = 0; x < n; x++, want += 2) {
            lab_complex g = got[lab_place_of(place, n, x, y)];
            double re = (double)g.re - want[0], im = (double)g.im - want[1];
            double d = re * re + im * im;
            sum += want[0] * want[0] + want[1] * want[1];
            error += d;
            if (!(d <= worst)) worst = d; /* NaN counts */
        }
    return (lab_error){.worst = sqrt(worst / (sum / ((double)n * n))), .rms = sqrt(error / sum)};
}

/* What a transform works on: its input of a way, and what it should make of that, in double. */
typedef struct {
    lab_complex *image;
    double *noise; /* the truth's image */
} room;

static bool lab_make_room(room *m, const lab_truth *t, err *e) {
    size_t count = (size_t)t->n * t->n;
    m->image = mem_raw(count, sizeof *m->image, "image", e);
    m->noise = mem_raw(count, 2 * sizeof *m->noise, "image in double", e);
    for (size_t i = 0; m->noise && i < count; i++)
        m->noise[2 * i] = (double)t->image[i].re, m->noise[2 * i + 1] = (double)t->image[i].im;
    return m->image && m->noise;
}

/* Fills the image with what the transform is given. */
static void fill_input(const room *m, int way, const lab_truth *t, const uint32_t *place) {
    const double *from = t->spectrum;
    if (way == LAB_FORWARD)
        memcpy(m->image, t->image, sizeof *m->image * t->n * t->n);
    else
        for (uint32_t y = 0; y < t->n; y++)
            for (uint32_t x = 0; x < t->n; x++, from += 2)
                m->image[lab_place_of(place, t->n, x, y)] =
                    (lab_complex){(float)from[0], (float)from[1]};
}

static lab_error check_output(const room *m, int way, const lab_truth *t, const uint32_t *place) {
    return way == LAB_FORWARD ? lab_compare(m->image, t->spectrum, t->n, place)
                              : lab_compare(m->image, m->noise, t->n, NULL);
}

/* --- on the CPU ------------------------------------------------------------------------------ */

/* Returns the seconds that this thread has worked: what other processes take does not count. */
static double thread_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double copy_seconds(const lab_truth *t, lab_complex *to) {
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double start = thread_now();
        memcpy(to, t->image, sizeof *to * t->n * t->n);
        best = fmin(best, thread_now() - start);
    }
    return best;
}

typedef struct {
    const lab_cpu_form *f;
    void *made;
    lab_complex *image;
} cpu_job;

static bool cpu_round(void *of, uint32_t count, double *value, err *e) {
    (void)e;
    const cpu_job *j = of;
    value[LAB_FORWARD] = value[LAB_BACKWARD] = 0;
    for (uint32_t k = 0; k < count; k++)
        for (int way = 0; way < LAB_WAYS; way++) {
            double start = thread_now();
            j->f->run(j->made, j->image, way);
            value[way] += (thread_now() - start) / count;
        }
    return true;
}

static bool run_cpu(lab_result *to, const lab_request *r, const room *m, err *e) {
    const lab_pace pace = {.rounds = r->rounds, .series = LAB_WAYS};
    cpu_job j = {r->t->cpu, r->t->cpu->make(r->truth->n, e), m->image};
    if (!j.made) return false;
    for (int way = 0; way < LAB_WAYS; way++) {
        fill_input(m, way, r->truth, NULL);
        j.f->run(j.made, m->image, way);
        to->error[way] = check_output(m, way, r->truth, NULL);
    }
    /* A CPU's caches hide what a transform moves; it reads and writes the image once at least. */
    to->account.bytes = 2 * sizeof *m->image * (uint64_t)r->truth->n * r->truth->n;
    bool ok = !r->rounds || lab_rounds(to->seconds, &to->rounds, &pace, cpu_round, &j, e);
    if (r->rounds) to->copy = copy_seconds(r->truth, m->image);
    j.f->free(j.made);
    return ok;
}

/* --- on a GPU -------------------------------------------------------------------------------- */

/* The stamps between the transforms cost about a microsecond each. So they only say how the time
 * of a repetition without stamps is to be shared out. */
static bool gpu_round(void *of, uint32_t count, double *value, err *e) {
    double both;
    if (!lab_time(of, count, &both, value, e)) return false;
    double sum = value[LAB_FORWARD] + value[LAB_BACKWARD];
    for (int way = 0; way < LAB_WAYS; way++)
        value[way] = sum > 0 ? both * value[way] / sum : both / 2;
    return true;
}

static bool time_gpu(lab_result *to, const lab_request *r, lab_ready *ready, err *e) {
    const lab_pace pace = {.rounds = r->rounds, .warm_up = r->warm_up, .series = LAB_WAYS};
    const uint64_t image = 2 * sizeof(lab_complex) * (uint64_t)r->truth->n * r->truth->n;
    if (!lab_rounds(to->seconds, &to->rounds, &pace, gpu_round, ready, e)) return false;
    double pair = fmax(to->seconds[0].median + to->seconds[1].median, 1e-9);
    engine_repeat copies = {.count = (uint32_t)clamp_double(ROUND / pair, 1, MOST_REPEATS)};
    if (!gpu_time_copies(&r->gpu->g, &copies, &image, 1, e)) return false;
    to->copy = copies.copy * (double)to->account.bytes / (double)image;
    return true;
}

static bool run_gpu(lab_result *to, const lab_request *r, const room *m, err *e) {
    uint32_t n = r->truth->n, *place = NULL;
    lab_program p = {.n = n};
    lab_ready ready = {0};
    const lab_ask ask = {n, r->gpu->limits, r->gpu->subgroup};
    bool ok = r->t->program(&p, &ask, e) && lab_ready_make(&ready, r->gpu, &p, e) &&
              (!p.frequency || (place = mem_raw(n, sizeof *place, "places", e)));
    for (uint32_t i = 0; ok && place && i < n; i++) place[p.frequency[i]] = i;
    for (int way = 0; ok && way < LAB_WAYS; way++) {
        fill_input(m, way, r->truth, place);
        ok = lab_put(&ready, LAB_A, m->image, e) && lab_do(&ready, way, e) &&
             lab_get(&ready, LAB_A, m->image, e);
        if (ok) to->error[way] = check_output(m, way, r->truth, place);
    }
    to->account = p.account;
    to->account.dispatches = p.steps[LAB_FORWARD];
    ok = ok && (!r->rounds || time_gpu(to, r, &ready, e));
    lab_ready_free(&ready);
    lab_program_free(&p);
    mem_free(place);
    return ok;
}

bool lab_run(lab_result *to, const lab_request *r, err *e) {
    room m = {NULL, NULL};
    *to = (lab_result){0};
    bool ok = lab_make_room(&m, r->truth, e) && (r->t->cpu ? run_cpu : run_gpu)(to, r, &m, e);
    mem_free(m.image);
    mem_free(m.noise);
    return ok || err_in(e, "%s of %u x %u", r->t->name, r->truth->n, r->truth->n);
}
