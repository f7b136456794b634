#include "lab/article_bench.h"

#include "base/mem.h"
#include "engine/gpu/gpu_time.h"
#include "math/reference.h"

#include <math.h>

enum { CHANNELS = 3, PIXELS = 128 /* that are compared */ };

/* --- the image, and what it becomes ----------------------------------------------------------- */

typedef struct {
    const article_request *r;
    float *in[CHANNELS], *out[CHANNELS];
    double want[PIXELS][CHANNELS];
} article_scene;

/* Returns where pixel i of those that are compared is: the corners, then places all over the image,
 * by steps of the golden ratio. */
static void article_place(const article_request *r, uint32_t i, int64_t *x, int64_t *y) {
    uint32_t w = r->size[PLAN_X], h = r->size[PLAN_Y];
    *x = i < 4 ? (int64_t)(i % 2) * (w - 1) : (int64_t)(fmod(i * 0.61803398874989, 1) * w);
    *y = i < 4 ? (int64_t)(i / 2) * (h - 1) : (int64_t)i * h / PIXELS;
}

static bool want_pixel(void *ctx, size_t i, int worker, err *e) {
    (void)worker, (void)e;
    article_scene *s = ctx;
    const psf *k = s->r->kernel;
    int64_t x, y;
    article_place(s->r, (uint32_t)i, &x, &y);
    for (uint32_t c = 0; c < CHANNELS; c++) {
        uint32_t from = k->channels == 1 ? 0 : c;
        const reference one = {.in = s->in[c],
                               .w = s->r->size[PLAN_X],
                               .h = s->r->size[PLAN_Y],
                               .tap = k->tap + (size_t)from * k->w * k->h,
                               .kernel_w = k->w,
                               .kernel_h = k->h,
                               .cx = k->cx,
                               .cy = k->cy,
                               .scale = k->scale[from]};
        s->want[i][c] = reference_pixel(&one, x, y);
    }
    return true;
}

/* Noise from 0 to 0.5, with one pixel of about a thousand at 30: the light that makes bloom. */
static bool scene_make(article_scene *s, const article_request *r, err *e) {
    size_t n = (size_t)r->size[PLAN_X] * r->size[PLAN_Y];
    uint32_t seed = 1;
    s->r = r;
    for (int c = 0; c < CHANNELS; c++) {
        if (!(s->in[c] = mem_raw(n, sizeof(float), "a plane of noise", e)) ||
            !(s->out[c] = mem_raw(n, sizeof(float), "a plane", e)))
            return false;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            s->in[c][i] = seed >> 22 ? (float)(seed >> 8) * 0x1p-25f : 30;
        }
    }
    return par_for(r->threads, PIXELS, want_pixel, s, e);
}

static void article_enter_errors(article_row *to, const article_scene *s) {
    double worst = 0, difference = 0, all = 0;
    for (uint32_t i = 0; i < PIXELS; i++)
        for (int c = 0; c < CHANNELS; c++) {
            int64_t x, y;
            article_place(s->r, i, &x, &y);
            double want = s->want[i][c],
                   d = fabs((double)s->out[c][y * s->r->size[PLAN_X] + x] - want);
            if (!(d / fabs(want) <= worst)) worst = d / fabs(want); /* NaN counts as worst */
            difference += d * d;
            all += want * want;
        }
    to->worst = worst;
    to->rms = sqrt(difference / all);
}

/* --- the article's ---------------------------------------------------------------------------- */

typedef struct {
    article a;
    const lab_gpu *g;
} article_runner;

static bool article_round(void *of, uint32_t count, double *to, err *e) {
    article_runner *r = of;
    engine_repeat copies = {.count = count};
    if (!lab_time(&r->a.ready, count, &to[ARTICLE_FRAME], &to[ARTICLE_PASS], e) ||
        !gpu_time_copies(&r->g->g, &copies, r->a.plan.bytes, ARTICLE_PASSES, e))
        return false;
    to[ARTICLE_COPY] = copies.copy;
    for (int i = 0; i < ARTICLE_PASSES; i++) to[ARTICLE_COPY_PASS + i] = copies.copy_pass[i];
    return true;
}

/* Each round has the frames of the request. */
static bool time_rounds(article_row *to, const article_request *r, lab_round *one, void *of,
                        err *e) {
    const lab_pace pace = {r->rounds, r->queue, r->warm_up, ARTICLE_TIMES};
    uint32_t rounds;
    return lab_rounds(to->time, &rounds, &pace, one, of, e);
}

static bool run_article(article_row *to, const lab_gpu *g, const article_scene *s, uint32_t first,
                        err *e) {
    const article_request *r = s->r;
    const article_ask ask = {{r->size[PLAN_X], r->size[PLAN_Y]}, r->kernel->w, first, false};
    const lab_ask limits = {0, g->limits, g->subgroup};
    article_plan p;
    if (!article_plan_make(&p, &ask, &limits, e)) return false;
    article_runner run = {.g = g};
    bool ok = article_open(&run.a, g, &p, r->kernel, r->threads, e) &&
              article_run(&run.a, (const float *const *)s->in, s->out, e) &&
              time_rounds(to, r, article_round, &run, e);
    article_close(&run.a, g);
    if (!ok) return false;
    article_enter_errors(to, s);
    to->bloom = "article";
    to->first = first;
    for (int i = 0; i < 2; i++) to->length[i] = p.line[i].length;
    for (int i = 0; i < ARTICLE_PASSES; i++) to->bytes[i] = p.bytes[i];
    return true;
}

/* --- ours ------------------------------------------------------------------------------------- */

typedef struct {
    const plan *p;
    engine *g;
    const engine_frame *frame;
} our_runner;

/* Returns which of the article's passes does the same: a plan may have more than three. */
static int pass_like(const plan *p, uint32_t pass) {
    uint32_t i = 0;
    while (i < pass && !p->pass[i].axis) i++;
    return p->pass[pass].axis ? ARTICLE_CONVOLVE : i == pass ? ARTICLE_FORWARD : ARTICLE_INVERSE;
}

static bool our_round(void *of, uint32_t count, double *to, err *e) {
    const our_runner *o = of;
    engine_repeat r = {.count = count};
    if (!engine_time(o->g, o->frame, &r, e)) return false;
    for (int t = 0; t < ARTICLE_TIMES; t++) to[t] = 0;
    to[ARTICLE_FRAME] = r.frame;
    to[ARTICLE_COPY] = r.copy;
    for (uint32_t i = 0; i < o->p->passes; i++) {
        to[ARTICLE_PASS + pass_like(o->p, i)] += r.pass[i];
        to[ARTICLE_COPY_PASS + pass_like(o->p, i)] += r.copy_pass[i];
    }
    return true;
}

static bool article_spectrum_for(spectrum_lines *to, const psf *k, const plan *p, par *threads,
                                 err *e) {
    spectrum source = {0};
    const spectrum_request want = {.mode = SPECTRUM_RESAMPLED,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length}};
    bool ok = spectrum_make(&source, k, threads, e) && spectrum_at(to, &source, &want, threads, e);
    spectrum_free(&source);
    return ok;
}

/* Our engine convolves with all of the kernel here, its centre included, as the article's does. */
static bool run_ours(article_row *to, const article_scene *s, err *e) {
    const article_request *r = s->r;
    const psf *k = r->kernel;
    const plan_request ask = {.size = {r->size[PLAN_X], r->size[PLAN_Y]},
                              .reach_lo = {k->cx, k->cy},
                              .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                              .channels = CHANNELS,
                              .spectra = k->channels,
                              .limits = r->device->limits};
    plan p;
    spectrum_lines lines = {0};
    if (!plan_make(&p, &ask, e) || !article_spectrum_for(&lines, k, &p, r->threads, e))
        return false;
    double tap[CHANNELS], gain[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
        tap[c] = lines.tap[k->channels == 1 ? 0 : c];
        gain[c] = 1;
    }
    const engine_frame frame = {
        .in = (const void *const *)s->in, .tap = tap, .gain = gain, .out = (void *const *)s->out};
    const engine_options options = {.slots = 1, .timestamps = true};
    our_runner o = {&p, engine_open(r->device, r->threads, r->cache_dir, e), &frame};
    bool ok = o.g && engine_prepare(o.g, &p, &lines, &options, e) &&
              engine_run(o.g, &frame, NULL, e) && time_rounds(to, r, our_round, &o, e);
    engine_close(&o.g);
    spectrum_lines_free(&lines);
    if (!ok) return false;
    article_enter_errors(to, s);
    to->bloom = "fftbloom";
    to->first = p.first;
    for (int i = 0; i < 2; i++) to->length[i] = p.axis[i].length;
    for (uint32_t i = 0; i < p.passes; i++) to->bytes[pass_like(&p, i)] += p.pass[i].bytes;
    return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

bool article_compare(article_row to[ARTICLE_ROWS], const article_request *r, err *e) {
    article_scene s = {0};
    lab_gpu g = {0};
    for (int i = 0; i < ARTICLE_ROWS; i++) to[i] = (article_row){0};
    bool ok = scene_make(&s, r, e) && lab_gpu_open(&g, r->device, e) &&
              run_article(&to[ARTICLE_X], &g, &s, PLAN_X, e) &&
              run_article(&to[ARTICLE_Y], &g, &s, PLAN_Y, e);
    lab_gpu_close(&g);
    ok = ok && run_ours(&to[ARTICLE_OURS], &s, e);
    for (int c = 0; c < CHANNELS; c++) mem_free(s.in[c]), mem_free(s.out[c]);
    return ok;
}

/* --- how it is shown -------------------------------------------------------------------------- */

/* clang-format off */
const lab_column ARTICLE_COLUMN[ARTICLE_COLUMNS] = {
    {"bloom", LAB_NAME, "bloom", -8, 0, 1},
    {"device", LAB_NAME, NULL, 0, 0, 1},
    {"width", LAB_COUNT, "width", 5, 0, 1},
    {"height", LAB_COUNT, "height", 6, 0, 1},
    {"kernel", LAB_COUNT, "kernel", 6, 0, 1},
    {"rounds", LAB_COUNT, NULL, 0, 0, 1},
    {"queue", LAB_COUNT, NULL, 0, 0, 1},
    {"first", LAB_NAME, "first", 5, 0, 1},
    {"length_1", LAB_COUNT, "lengths", 7, 0, 1},
    {"length_2", LAB_COUNT, "", 5, 0, 1},
    {"forward.bytes", LAB_COUNT, NULL, 0, 0, 1},
    {"forward.copy", LAB_SECONDS, NULL, 0, 0, 1},
    {"forward.seconds", LAB_SPREAD, "forward us", 11, 1, 1e-6},
    {"convolve.bytes", LAB_COUNT, NULL, 0, 0, 1},
    {"convolve.copy", LAB_SECONDS, NULL, 0, 0, 1},
    {"convolve.seconds", LAB_SPREAD, "convolve us", 11, 1, 1e-6},
    {"inverse.bytes", LAB_COUNT, NULL, 0, 0, 1},
    {"inverse.copy", LAB_SECONDS, NULL, 0, 0, 1},
    {"inverse.seconds", LAB_SPREAD, "inverse us", 11, 1, 1e-6},
    {"frame", LAB_SPREAD, "frame us", 9, 1, 1e-6},
    {"bytes", LAB_COUNT, "MB moved", 8, 1, 1e6},
    {"copy", LAB_SECONDS, NULL, 0, 0, 1},
    {NULL, LAB_REAL, "copies", 6, 2, 1},
    {"pixels", LAB_COUNT, NULL, 0, 0, 1},
    {"worst", LAB_REAL, "worst", 8, -1, 1},
    {"rms", LAB_REAL, "rms", 8, -1, 1},
};

void article_show(lab_table *t, const article_request *r, const article_row row[ARTICLE_ROWS]) {
    for (const article_row *w = row; w < row + ARTICLE_ROWS; w++) {
        const measure_spread *s = w->time;
        const lab_cell cell[] = {
            LAB_W(w->bloom), LAB_W(r->device->name), LAB_N(r->size[PLAN_X]), LAB_N(r->size[PLAN_Y]),
            LAB_N(r->kernel->w), LAB_N(r->rounds), LAB_N(r->queue),
            LAB_W(w->first == PLAN_X ? "x" : "y"), LAB_N(w->length[0]), LAB_N(w->length[1]),
            LAB_N(w->bytes[0]), LAB_N(s[ARTICLE_COPY_PASS].median), LAB_S(&s[ARTICLE_PASS]),
            LAB_N(w->bytes[1]), LAB_N(s[ARTICLE_COPY_PASS + 1].median), LAB_S(&s[ARTICLE_PASS + 1]),
            LAB_N(w->bytes[2]), LAB_N(s[ARTICLE_COPY_PASS + 2].median), LAB_S(&s[ARTICLE_PASS + 2]),
            LAB_S(&s[ARTICLE_FRAME]), LAB_N(w->bytes[0] + w->bytes[1] + w->bytes[2]),
            LAB_N(s[ARTICLE_COPY].median),
            LAB_N(s[ARTICLE_FRAME].median / s[ARTICLE_COPY].median), LAB_N(PIXELS),
            LAB_N(w->worst), LAB_N(w->rms)};
        _Static_assert(sizeof cell / sizeof cell[0] == ARTICLE_COLUMNS, "a value for each column");
        lab_table_row(t, cell);
    }
}
/* clang-format on */
