/* article_bench.c - `fftbloom bench --engine article`: the bloom of the article beside ours, on one
 * device, with one image and one kernel. The image is noise with a few very bright pixels, as
 * frames have them. Both are held to the definition in double, at some of the pixels. */
#include "lab/article.h"
#include "lab/lab_bench.h"

#include "base/mem.h"
#include "engine/gpu/gpu_time.h"
#include "math/reference.h"

#include <math.h>

enum { CHANNELS = 3, PIXELS = 128 /* that are compared */ };

/* What a round times: per frame, without stamps between the passes; per pass, with them; and copies
 * on the device that move as many bytes. */
enum {
    TIME_FRAME,
    TIME_PASS,
    TIME_COPY = TIME_PASS + ARTICLE_PASSES,
    TIME_COPY_PASS,
    TIMES = TIME_COPY_PASS + ARTICLE_PASSES
};
_Static_assert(TIMES <= (int)LAB_SERIES, "a round has room for all");

/* --- the image, and what it becomes ----------------------------------------------------------- */

typedef struct {
    const lab_bench_request *r;
    const psf *kernel;
    uint32_t size[PLAN_AXES];
    float *in[CHANNELS], *out[CHANNELS];
    double want[PIXELS][CHANNELS];
} article_scene;

/* Returns where pixel i of those that are compared is: the corners, then places all over the image,
 * by steps of the golden ratio. */
static void article_place(const article_scene *s, uint32_t i, int64_t *x, int64_t *y) {
    uint32_t w = s->size[PLAN_X], h = s->size[PLAN_Y];
    *x = i < 4 ? (int64_t)(i % 2) * (w - 1) : (int64_t)(fmod(i * 0.61803398874989, 1) * w);
    *y = i < 4 ? (int64_t)(i / 2) * (h - 1) : (int64_t)i * h / PIXELS;
}

static bool want_pixel(void *ctx, size_t i, int worker, err *e) {
    (void)worker, (void)e;
    article_scene *s = ctx;
    const psf *k = s->kernel;
    int64_t x, y;
    article_place(s, (uint32_t)i, &x, &y);
    for (uint32_t c = 0; c < CHANNELS; c++) {
        uint32_t from = k->channels == 1 ? 0 : c;
        const reference one = {.in = s->in[c],
                               .w = s->size[PLAN_X],
                               .h = s->size[PLAN_Y],
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
static bool scene_make(article_scene *s, err *e) {
    size_t n = (size_t)s->size[PLAN_X] * s->size[PLAN_Y];
    uint32_t seed = 1;
    for (int c = 0; c < CHANNELS; c++) {
        if (!(s->in[c] = mem_raw(n, sizeof(float), "a plane of noise", e)) ||
            !(s->out[c] = mem_raw(n, sizeof(float), "a plane", e)))
            return false;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            s->in[c][i] = seed >> 22 ? (float)(seed >> 8) * 0x1p-25f : 30;
        }
    }
    return par_for(s->r->threads, PIXELS, want_pixel, s, e);
}

/* Fills the row of a bloom that has made s->out: its times, which `round` takes, and its errors.
 * The passes have their bytes already. */
static bool article_fill_row(lab_row *to, const article_scene *s, lab_round *round, void *of,
                             err *e) {
    const lab_bench_request *r = s->r;
    const lab_pace pace = {r->rounds, r->queue, r->warm_up, TIMES};
    measure_spread copy[1 + ARTICLE_PASSES], *spread[TIMES] = {&to->all.seconds};
    double difference = 0, all = 0;
    for (int i = 0; i < ARTICLE_PASSES; i++) spread[TIME_PASS + i] = &to->part[i].seconds;
    for (int i = 0; i <= ARTICLE_PASSES; i++) spread[TIME_COPY + i] = &copy[i];
    if (!lab_rounds(spread, &to->rounds, &pace, round, of, e)) return false;
    to->all.copy = copy[0].median;
    to->copies = to->all.seconds.median / to->all.copy;
    for (int i = 0; i < ARTICLE_PASSES; i++) {
        to->part[i].copy = copy[1 + i].median;
        to->all.bytes += to->part[i].bytes;
    }
    for (uint32_t i = 0; i < PIXELS; i++)
        for (int c = 0; c < CHANNELS; c++) {
            int64_t x, y;
            article_place(s, i, &x, &y);
            double want = s->want[i][c],
                   d = fabs((double)s->out[c][y * s->size[PLAN_X] + x] - want);
            if (!(d / fabs(want) <= to->all.worst)) to->all.worst = d / fabs(want); /* NaN, too */
            difference += d * d;
            all += want * want;
        }
    to->all.rms = sqrt(difference / all);
    to->device = r->gpu->name;
    to->kernel = s->kernel->w;
    to->queue = r->queue;
    to->pixels = PIXELS;
    for (int i = 0; i < 2; i++) to->size[i] = s->size[i];
    return true;
}

/* --- the article's ---------------------------------------------------------------------------- */

typedef struct {
    article a;
    const lab_gpu *g;
} article_runner;

static bool article_round(void *of, uint32_t count, double *to, err *e) {
    article_runner *r = of;
    engine_repeat copies = {.count = count};
    if (!lab_time(&r->a.ready, count, &to[TIME_FRAME], &to[TIME_PASS], e) ||
        !gpu_time_copies(&r->g->g, &copies, r->a.plan.bytes, ARTICLE_PASSES, e))
        return false;
    to[TIME_COPY] = copies.copy;
    for (int i = 0; i < ARTICLE_PASSES; i++) to[TIME_COPY_PASS + i] = copies.copy_pass[i];
    return true;
}

static bool run_article(lab_row *to, const lab_gpu *g, const article_scene *s, uint32_t first,
                        err *e) {
    const article_ask ask = {{s->size[PLAN_X], s->size[PLAN_Y]}, s->kernel->w, first, false};
    const lab_ask limits = {0, g->limits, g->subgroup};
    article_plan p;
    if (!article_plan_make(&p, &ask, &limits, e)) return false;
    *to = (lab_row){.name = "article", .first = first == PLAN_X ? "x" : "y"};
    for (int i = 0; i < 2; i++) to->length[i] = p.line[i].length;
    for (int i = 0; i < ARTICLE_PASSES; i++) to->part[i].bytes = (double)p.bytes[i];
    article_runner run = {.g = g};
    bool ok = article_open(&run.a, g, &p, s->kernel, s->r->threads, e) &&
              article_run(&run.a, (const float *const *)s->in, s->out, e) &&
              article_fill_row(to, s, article_round, &run, e);
    article_close(&run.a, g);
    return ok;
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
    for (int t = 0; t < TIMES; t++) to[t] = 0;
    to[TIME_FRAME] = r.frame;
    to[TIME_COPY] = r.copy;
    for (uint32_t i = 0; i < o->p->passes; i++) {
        to[TIME_PASS + pass_like(o->p, i)] += r.pass[i];
        to[TIME_COPY_PASS + pass_like(o->p, i)] += r.copy_pass[i];
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
static bool run_ours(lab_row *to, const article_scene *s, err *e) {
    const lab_bench_request *r = s->r;
    const psf *k = s->kernel;
    const plan_request ask = {.size = {s->size[PLAN_X], s->size[PLAN_Y]},
                              .reach_lo = {k->cx, k->cy},
                              .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                              .channels = CHANNELS,
                              .spectra = k->channels,
                              .limits = r->gpu->limits};
    plan p;
    spectrum_lines lines = {0};
    if (!plan_make(&p, &ask, e) || !article_spectrum_for(&lines, k, &p, r->threads, e))
        return false;
    double tap[CHANNELS], gain[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
        tap[c] = lines.tap[k->channels == 1 ? 0 : c];
        gain[c] = 1;
    }
    const join how = join_plain(CHANNELS, tap, gain);
    const engine_frame frame = {
        .in = (const void *const *)s->in, .out = (void *const *)s->out, .join = &how};
    *to = (lab_row){.name = "fftbloom", .first = p.first == PLAN_X ? "x" : "y"};
    for (int i = 0; i < 2; i++) to->length[i] = p.axis[i].length;
    for (uint32_t i = 0; i < p.passes; i++)
        to->part[pass_like(&p, i)].bytes += (double)p.pass[i].bytes;
    const engine_options options = {.slots = 1, .timestamps = true};
    our_runner o = {&p, engine_open(r->gpu, r->threads, r->cache_dir, e), &frame};
    bool ok = o.g && engine_prepare(o.g, &p, &lines, &options, e) &&
              engine_run(o.g, &frame, NULL, e) && article_fill_row(to, s, our_round, &o, e);
    engine_close(&o.g);
    spectrum_lines_free(&lines);
    return ok;
}

/* --- all of it -------------------------------------------------------------------------------- */

bool lab_bench_article(lab_bench *b, const uint32_t size[PLAN_AXES], const psf *kernel, err *e) {
    article_scene s = {.r = b->r, .kernel = kernel, .size = {size[PLAN_X], size[PLAN_Y]}};
    lab_row row[3];
    bool ok = scene_make(&s, e) && run_article(&row[0], &b->gpu, &s, PLAN_X, e) &&
              run_article(&row[1], &b->gpu, &s, PLAN_Y, e) && run_ours(&row[2], &s, e);
    for (int i = 0; ok && i < 3; i++) lab_add_row(b, &row[i]);
    for (int c = 0; c < CHANNELS; c++) mem_free(s.in[c]), mem_free(s.out[c]);
    return ok;
}
