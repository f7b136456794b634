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

bool lab_transform_double(double *image, size_t n, err *e) {
    fft *f = fft_new((uint32_t)n, e);
    double *room = mem_raw(2 * n, FFT_STEP * sizeof *room, "lines of the reference", e);
    for (int columns = 0; f && room && columns < 2; columns++)
        for (size_t l = 0; l < n; l += FFT_LINES) {
            size_t step = 2 * (columns ? n : 1), line = 2 * (columns ? 1 : n);
            size_t lines = min_size(FFT_LINES, n - l);
            double *first = image + l * line, *a = room;
            memset(a, 0, n * FFT_STEP * sizeof *a);
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < lines; k++) {
                    a[i * FFT_STEP + k] = first[k * line + i * step];
                    a[i * FFT_STEP + FFT_LINES + k] = first[k * line + i * step + 1];
                }
            a = fft_forward(f, a, a + n * FFT_STEP);
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < lines; k++) {
                    first[k * line + i * step] = a[i * FFT_STEP + k];
                    first[k * line + i * step + 1] = a[i * FFT_STEP + FFT_LINES + k];
                }
        }
    bool ok = f && room;
    mem_free(room);
    fft_free(&f);
    return ok;
}

bool lab_truth_make(lab_truth *t, uint32_t n, err *e) {
    size_t count = 2 * (size_t)n * n;
    uint64_t seed = n;
    t->n = n;
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

/* --- rounds ---------------------------------------------------------------------------------- */

/* A fast thing is repeated until a round takes at least ROUND seconds. All rounds together take
 * little more than TOTAL seconds, so slow things have fewer rounds. */
static const double ROUND = 2e-3, TOTAL = 2;
enum { MOST_REPEATS = 100 };

bool lab_rounds(measure_spread *const to[], double *rounds, const lab_pace *p, lab_round *round,
                void *of, err *e) {
    double one[LAB_SERIES], start = clock_now();
    uint32_t count = max_u32(p->count, 1), n = p->rounds;
    do {
        double sum = 0;
        if (!round(of, count, one, e)) return false;
        for (uint32_t s = 0; s < p->series; s++) sum += one[s];
        sum = fmax(sum, 1e-9);
        if (p->count) continue;
        count = (uint32_t)clamp_double(ROUND / sum, 1, MOST_REPEATS);
        n = (uint32_t)clamp_double(TOTAL / (count * sum), 1, p->rounds);
    } while (clock_now() - start < p->warm_up);
    double *value = mem_raw(n, LAB_SERIES * sizeof *value, "times", e);
    bool ok = value != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = round(of, count, one, e);
        for (uint32_t s = 0; s < p->series; s++) value[s * n + i] = one[s];
    }
    for (uint32_t s = 0; ok && s < p->series; s++) *to[s] = measure_spread_of(value + s * n, n);
    *rounds = n;
    mem_free(value);
    return ok;
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Returns the place of frequency (x, y) in an image that a program leaves. */
static size_t lab_place_of(const uint32_t *place, uint32_t n, uint32_t x, uint32_t y) {
    return place ? (size_t)place[y] * n + place[x] : (size_t)y * n + x;
}

void lab_compare(lab_part *to, const lab_complex *got, const double *want, uint32_t n,
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
    to->worst = sqrt(worst / (sum / ((double)n * n)));
    to->rms = sqrt(error / sum);
}

/* --- a transform ----------------------------------------------------------------------------- */

/* A transform that is run: on the CPU what its form has made, or on a GPU its program. */
typedef struct {
    const lab_request *r;
    const lab_cpu_form *form;
    void *made;
    lab_program p;
    lab_ready ready;
    lab_complex *image;
    uint32_t *place;              /* the forward transform leaves frequency k there; NULL: at k */
    uint32_t where[OCEAN_IMAGES]; /* the buffer of each image of the sea */
} lab_runner;

static bool runner_make(lab_runner *u, err *e) {
    const lab_request *r = u->r;
    uint32_t n = r->n;
    u->image = mem_raw((size_t)n * n, sizeof *u->image, "image", e);
    if (!u->image) return false;
    if (u->form) {
        u->p.account.bytes = 2 * sizeof *u->image * (uint64_t)n * n;
        return (u->made = u->form->make(n, e)) != NULL;
    }
    const lab_ask ask = {n, r->gpu->limits, r->gpu->subgroup};
    if (!r->t->program(&u->p, &ask, e) || (r->sea && !ocean_program(&u->p, u->where, e)) ||
        !lab_ready_make(&u->ready, r->gpu, &u->p, e))
        return false;
    if (u->p.frequency && !(u->place = mem_raw(n, sizeof *u->place, "places", e))) return false;
    for (uint32_t i = 0; u->place && i < n; i++) u->place[u->p.frequency[i]] = i;
    return true;
}

/* Gives it the input of a way, and enters the errors of what it makes of that. */
static bool check_way(lab_part *to, lab_runner *u, int way, err *e) {
    const lab_truth *t = u->r->truth;
    const double *from = t->value[!way];
    for (uint32_t y = 0; y < t->n; y++)
        for (uint32_t x = 0; x < t->n; x++, from += 2)
            u->image[lab_place_of(way == LAB_BACKWARD ? u->place : NULL, t->n, x, y)] =
                (lab_complex){(float)from[0], (float)from[1]};
    if (u->form)
        u->form->run(u->made, u->image, way);
    else if (!lab_put(&u->ready, LAB_A, u->image, e) || !lab_do(&u->ready, way, e) ||
             !lab_get(&u->ready, LAB_A, u->image, e))
        return false;
    lab_compare(to, u->image, t->value[way], t->n, way == LAB_FORWARD ? u->place : NULL);
    return true;
}

/* Makes the frame of the sea whose images are known. */
static bool check_sea(lab_part to[OCEAN_IMAGES], lab_runner *u, err *e) {
    const lab_scene *sea = u->r->sea;
    const uint32_t *tables = u->p.set[2 * OCEAN_IMAGES];
    u->ready.frame = sea->frame;
    bool ok = lab_put(&u->ready, tables[OCEAN_WAVES], sea->o.wave, e) &&
              lab_put(&u->ready, tables[OCEAN_TURNS], sea->o.turns, e) &&
              lab_do(&u->ready, LAB_BACKWARD, e);
    for (int i = 0; ok && i < OCEAN_IMAGES; i++) {
        ok = lab_get(&u->ready, u->where[i], u->image, e);
        if (ok) lab_compare(&to[i], u->image, sea->image[i], u->r->n, NULL);
    }
    return ok;
}

/* Returns the seconds that this thread has worked: what other processes take does not count. */
static double thread_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool cpu_round(void *of, uint32_t count, double *value, err *e) {
    (void)e;
    const lab_runner *u = of;
    value[LAB_FORWARD] = value[LAB_BACKWARD] = 0;
    for (uint32_t k = 0; k < count; k++)
        for (int way = 0; way < LAB_WAYS; way++) {
            double start = thread_now();
            u->form->run(u->made, u->image, way);
            value[way] += (thread_now() - start) / count;
        }
    return true;
}

/* The stamps between the transforms cost about a microsecond each. So they only say how the time
 * of a repetition without stamps is to be shared out. A frame of the sea is one thing. */
static bool gpu_round(void *of, uint32_t count, double *value, err *e) {
    lab_runner *u = of;
    int ways = u->r->sea ? 1 : LAB_WAYS;
    double both, sum = 0;
    if (!lab_time(&u->ready, count, &both, value, e)) return false;
    for (int way = 0; way < ways; way++) sum += value[way];
    for (int way = 0; way < ways; way++)
        value[way] = sum > 0 ? both * value[way] / sum : both / ways;
    return true;
}

static bool gpu_copy(lab_row *to, const lab_request *r, err *e) {
    const uint64_t image = 2 * sizeof(lab_complex) * (uint64_t)r->n * r->n;
    double pair = fmax(to->part[0].seconds.median + to->part[1].seconds.median, 1e-9);
    engine_repeat copies = {.count = (uint32_t)clamp_double(ROUND / pair, 1, MOST_REPEATS)};
    if (!gpu_time_copies(&r->gpu->g, &copies, &image, 1, e)) return false;
    to->all.copy = copies.copy * to->all.bytes / (double)image;
    return true;
}

static bool runner_time(lab_row *to, lab_runner *u, err *e) {
    const lab_request *r = u->r;
    const lab_pace pace = {
        .rounds = r->rounds, .warm_up = u->form ? 0 : r->warm_up, .series = r->sea ? 1 : LAB_WAYS};
    measure_spread *const spread[] = {r->sea ? &to->all.seconds : &to->part[LAB_FORWARD].seconds,
                                      &to->part[LAB_BACKWARD].seconds};
    if (!lab_rounds(spread, &to->rounds, &pace, u->form ? cpu_round : gpu_round, u, e))
        return false;
    if (r->sea) {
        to->per_second = 1 / fmax(to->all.seconds.median, 1e-12);
        return true;
    }
    if (u->form)
        to->all.copy = NAN;
    else if (!gpu_copy(to, r, e))
        return false;
    to->copies = (spread[0]->median + spread[1]->median) / 2 / to->all.copy;
    return true;
}

bool lab_run(lab_row *to, const lab_request *r, err *e) {
    lab_part checked[OCEAN_IMAGES] = {{.worst = 0}};
    lab_runner u = {.r = r, .form = r->t->cpu, .p = {.n = r->n}};
    const double none = u.form ? (double)NAN : 0;
    bool ok = runner_make(&u, e);
    *to = (lab_row){.t = r->t, .name = r->t->name, .about = r->t->about, .size = {r->n}};
    if (r->sea) ok = ok && check_sea(checked, &u, e);
    for (int way = 0; ok && !r->sea && way < LAB_WAYS; way++)
        ok = check_way(&checked[way], &u, way, e);
    for (int i = 0; i < OCEAN_IMAGES; i++) {
        to->all.worst = fmax(to->all.worst, checked[i].worst);
        to->all.rms = fmax(to->all.rms, checked[i].rms);
    }
    for (int way = 0; way < LAB_WAYS; way++) to->part[way] = checked[way];
    /* Of the sea: the waves and their turns, the spectra, and the transforms. */
    to->all.bytes = (double)u.p.account.bytes;
    if (r->sea)
        to->all.bytes = (16 + 4 + 8 * OCEAN_IMAGES) * (double)r->n * r->n +
                        OCEAN_IMAGES * to->all.bytes;
    to->dispatches = none + u.p.steps[LAB_FORWARD];
    to->barriers = none + u.p.account.barriers;
    to->shared = none + u.p.account.shared;
    ok = ok && (!r->rounds || runner_time(to, &u, e));
    if (u.made) u.form->free(u.made);
    lab_ready_free(&u.ready);
    lab_program_free(&u.p);
    mem_free(u.place);
    mem_free(u.image);
    return ok || err_in(e, "%s of %u x %u", r->t->name, r->n, r->n);
}
