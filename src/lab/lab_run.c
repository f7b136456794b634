#include "lab/lab_run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
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
} lines_job;

/* Transforms FFT_LINES neighbouring rows or columns, or those that are left. */
static bool transform_lines(void *ctx, size_t index, int worker, err *e) {
    (void)e;
    const lines_job *j = ctx;
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
    lines_job j = {image, n, false, f, NULL};
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

/* --- comparing ------------------------------------------------------------------------------- */

/* Returns the place of frequency (x, y) in an image that a program leaves. */
static size_t place_of(const uint32_t *place, uint32_t n, uint32_t x, uint32_t y) {
    return place ? (size_t)place[y] * n + place[x] : (size_t)y * n + x;
}

void lab_compare(lab_result *to, int way, const lab_complex *got, const lab_truth *t,
                 const uint32_t *place) {
    double sum = 0, error = 0, worst = 0;
    for (uint32_t y = 0; y < t->n; y++)
        for (uint32_t x = 0; x < t->n; x++) {
            size_t i = (size_t)y * t->n + x;
            lab_complex g = got[way == LAB_FORWARD ? place_of(place, t->n, x, y) : i];
            double re = way == LAB_FORWARD ? t->spectrum[2 * i] : (double)t->image[i].re;
            double im = way == LAB_FORWARD ? t->spectrum[2 * i + 1] : (double)t->image[i].im;
            double d = ((double)g.re - re) * ((double)g.re - re) +
                       ((double)g.im - im) * ((double)g.im - im);
            sum += re * re + im * im;
            error += d;
            if (!(d <= worst)) worst = d; /* NaN counts */
        }
    to->rms[way] = sqrt(error / sum);
    to->worst[way] = sqrt(worst / (sum / ((double)t->n * t->n)));
}

/* Fills `image` with what the transform is given. */
static void fill_input(lab_complex *image, int way, const lab_truth *t, const uint32_t *place) {
    if (way == LAB_FORWARD) {
        memcpy(image, t->image, sizeof *image * t->n * t->n);
        return;
    }
    for (uint32_t y = 0; y < t->n; y++)
        for (uint32_t x = 0; x < t->n; x++) {
            const double *from = t->spectrum + 2 * ((size_t)y * t->n + x);
            image[place_of(place, t->n, x, y)] = (lab_complex){(float)from[0], (float)from[1]};
        }
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* A fast transform is repeated until a round takes at least ROUND seconds. All rounds together take
 * little more than TOTAL seconds, so slow transforms have fewer rounds. */
static const double ROUND = 2e-3, TOTAL = 2;
enum { MOST_REPEATS = 100 };

/* Returns how often a round repeats a transform there and back that takes so long, and sets the
 * number of rounds. */
static uint32_t repeats(lab_result *to, const lab_request *r, double seconds) {
    double pair = fmax(seconds, 1e-9), count = floor(clamp_double(ROUND / pair, 1, MOST_REPEATS));
    to->rounds = (uint32_t)clamp_double(TOTAL / (count * pair), 1, r->rounds);
    return (uint32_t)count;
}

typedef struct {
    lab_complex *image;
    double *time[LAB_WAYS];
} room;

static bool make_room(room *m, const lab_request *r, err *e) {
    m->image = mem_raw((size_t)r->truth->n * r->truth->n, sizeof *m->image, "image", e);
    for (int way = 0; way < LAB_WAYS; way++)
        m->time[way] = mem_new(r->rounds, sizeof(double), "times", e);
    return m->image && m->time[0] && m->time[1];
}

static void free_room(room *m) {
    mem_free(m->image);
    for (int way = 0; way < LAB_WAYS; way++) mem_free(m->time[way]);
}

static void spread(lab_result *to, const room *m) {
    for (int way = 0; to->rounds && way < LAB_WAYS; way++)
        to->seconds[way] = measure_spread_of(m->time[way], to->rounds);
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

static bool run_cpu(lab_result *to, const lab_request *r, room *m, err *e) {
    const lab_cpu_form *f = r->t->cpu;
    double pair = 0;
    void *made = f->make(r->truth->n, e);
    if (!made) return false;
    for (int way = 0; way < LAB_WAYS; way++) {
        fill_input(m->image, way, r->truth, NULL);
        double start = thread_now();
        f->run(made, m->image, way);
        pair += thread_now() - start;
        lab_compare(to, way, m->image, r->truth, NULL);
    }
    uint32_t count = r->rounds ? repeats(to, r, pair) : 0;
    for (uint32_t i = 0; i < to->rounds; i++)
        for (uint32_t k = 0; k < count; k++)
            for (int way = 0; way < LAB_WAYS; way++) {
                double start = thread_now();
                f->run(made, m->image, way);
                m->time[way][i] += (thread_now() - start) / count;
            }
    /* A CPU's caches hide what a transform moves; it reads and writes the image once at least. */
    to->account.bytes = 2 * sizeof *m->image * (uint64_t)r->truth->n * r->truth->n;
    if (r->rounds) to->copy = copy_seconds(r->truth, m->image);
    f->free(made);
    return true;
}

/* --- on a GPU -------------------------------------------------------------------------------- */

/* Fills place[] with the inverse of p->frequency; NULL: natural order. */
static bool places_of(uint32_t **place, const lab_program *p, err *e) {
    *place = NULL;
    if (!p->frequency) return true;
    if (!(*place = mem_raw(p->n, sizeof **place, "places", e))) return false;
    for (uint32_t i = 0; i < p->n; i++) (*place)[p->frequency[i]] = i;
    return true;
}

static bool time_gpu(lab_result *to, const lab_request *r, lab_ready *ready, const room *m,
                     err *e) {
    double one[LAB_WAYS], copy;
    if (!r->rounds) return true;
    if (!lab_time(ready, 1, one, e)) return false;
    uint32_t count = repeats(to, r, one[0] + one[1]);
    double start = clock_now();
    while (clock_now() - start < r->warm_up)
        if (!lab_time(ready, count, one, e)) return false;
    count = repeats(to, r, one[0] + one[1]);
    for (uint32_t i = 0; i < to->rounds; i++) {
        if (!lab_time(ready, count, one, e)) return false;
        for (int way = 0; way < LAB_WAYS; way++) m->time[way][i] = one[way];
    }
    if (!lab_time_copy(r->gpu, r->truth->n, count, &copy, e)) return false;
    to->copy = copy * (double)to->account.bytes /
               (2.0 * sizeof(lab_complex) * (double)r->truth->n * r->truth->n);
    return true;
}

static bool run_gpu(lab_result *to, const lab_request *r, room *m, err *e) {
    lab_program p = {.n = r->truth->n};
    lab_ready ready = {0};
    uint32_t *place = NULL;
    const lab_ask ask = {r->truth->n, r->gpu->limits, r->gpu->subgroup};
    bool ok = r->t->program(&p, &ask, e) && places_of(&place, &p, e) &&
              lab_ready_make(&ready, r->gpu, &p, e);
    for (int way = 0; ok && way < LAB_WAYS; way++) {
        fill_input(m->image, way, r->truth, place);
        ok = lab_run_once(&ready, m->image, way, e);
        if (ok) lab_compare(to, way, m->image, r->truth, place);
    }
    to->account = (lab_account){p.bytes, p.steps[LAB_FORWARD], p.barriers, p.shared};
    ok = ok && time_gpu(to, r, &ready, m, e);
    lab_ready_free(&ready);
    lab_program_free(&p);
    mem_free(place);
    return ok;
}

bool lab_run(lab_result *to, const lab_request *r, err *e) {
    room m = {0};
    *to = (lab_result){0};
    bool ok = make_room(&m, r, e) && (r->t->cpu ? run_cpu : run_gpu)(to, r, &m, e);
    if (ok) spread(to, &m);
    free_room(&m);
    return ok || err_in(e, "%s of %u x %u", r->t->name, r->truth->n, r->truth->n);
}
