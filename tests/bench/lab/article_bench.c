/* article_bench.c - `fftlab article`: the bloom of the article beside ours, on one
 * device, with one image and one kernel. The image is noise with a few very bright pixels, as
 * frames have them. Both are held to the definition in double, at some of the pixels. */
#include "lab/article.h"
#include "lab/lab_bench.h"

#include "base/mem.h"
#include "lab/definition.h"

#include <math.h>

enum { CHANNELS = 3, PIXELS = 128 /* that are compared */ };

/* --- the image, and what it becomes ----------------------------------------------------------- */

typedef struct {
    const lab_bench *b;
    const psf *kernel;
    uint32_t size[PLAN_AXES];
    float *in[CHANNELS], *out[CHANNELS];
    double want[PIXELS][CHANNELS];
} article_scene;

/* Returns where pixel i of those that are compared is: the corners, then places all over the image,
 * by steps of the golden ratio. */
static size_t article_place(const article_scene *s, size_t i) {
    size_t w = s->size[PLAN_X], h = s->size[PLAN_Y];
    size_t x = i < 4 ? i % 2 * (w - 1)
                     : (size_t)(fmod((double)i * 0.61803398874989, 1) * (double)w);
    size_t y = i < 4 ? i / 2 * (h - 1) : i * h / PIXELS;
    return y * w + x;
}

/* Noise from 0 to 0.5, with one pixel of about a thousand at 30: the light that makes bloom. */
static bool article_scene_make(article_scene *s, err *e) {
    const psf *k = s->kernel;
    uint32_t seed = 1, w = s->size[PLAN_X], h = s->size[PLAN_Y];
    size_t n = (size_t)w * h;
    for (uint32_t c = 0; c < CHANNELS; c++) {
        uint32_t from = k->channels == 1 ? 0 : c;
        if (!(s->in[c] = mem_raw(n, sizeof(float), "a plane of noise", e)) ||
            !(s->out[c] = mem_raw(n, sizeof(float), "a plane", e)))
            return false;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            s->in[c][i] = seed >> 22 ? (float)(seed >> 8) * 0x1p-25f : 30;
        }
        const reference one = {.in = s->in[c],
                               .w = w,
                               .h = h,
                               .tap = k->tap + (size_t)from * k->w * k->h,
                               .kernel_w = k->w,
                               .kernel_h = k->h,
                               .cx = k->cx,
                               .cy = k->cy,
                               .scale = k->scale[from]};
        for (size_t i = 0; i < PIXELS; i++) {
            size_t at = article_place(s, i);
            s->want[i][c] = reference_pixel(&one, (int64_t)(at % w), (int64_t)(at / w));
        }
    }
    return true;
}

/* Fills the row of a bloom that has made s->out, with passes that move these bytes. */
static bool article_fill_row(lab_row *to, const article_scene *s,
                             const uint64_t bytes[ARTICLE_PASSES], lab_round *round, void *of,
                             err *e) {
    const lab_bench_request *r = s->b->r;
    const lab_pace pace = {r->rounds, r->queue, r->warm_up, 1};
    float got[PIXELS][CHANNELS];
    for (int i = 0; i < ARTICLE_PASSES; i++) to->bytes += (double)bytes[i];
    for (uint32_t i = 0; i < PIXELS; i++)
        for (int c = 0; c < CHANNELS; c++) got[i][c] = s->out[c][article_place(s, i)];
    lab_compare(to, got[0], s->want[0], PIXELS * CHANNELS);
    to->device = r->gpu->name;
    to->kernel = s->kernel->w;
    to->queue = r->queue;
    to->pixels = PIXELS;
    for (int i = 0; i < 2; i++) to->size[i] = s->size[i];
    return lab_rounds(to, &pace, round, of, e) &&
           lab_copies(to, &s->b->gpu, bytes, ARTICLE_PASSES, e);
}

/* --- the article's ---------------------------------------------------------------------------- */

static bool article_round(void *of, engine_repeat *r, err *e) {
    article *a = of;
    return lab_time(&a->ready, r->count, &r->frame, r->pass, e);
}

static bool run_article(lab_row *to, const article_scene *s, uint32_t first, err *e) {
    const lab_gpu *g = &s->b->gpu;
    const lab_ask limits = {0, g->limits, g->subgroup};
    article a = {0};
    article_plan p;
    if (!article_plan_make(&p, s->size, s->kernel->w, first, &limits, e)) return false;
    *to = (lab_row){.name = "article", .first = first == PLAN_X ? "x" : "y"};
    for (int i = 0; i < 2; i++) to->length[i] = p.line[i].length;
    bool ok = article_open(&a, g, &p, s->kernel, s->b->r->threads, e) &&
              article_run(&a, (const float *const *)s->in, s->out, e) &&
              article_fill_row(to, s, p.bytes, article_round, &a, e);
    article_close(&a, g);
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

static bool our_round(void *of, engine_repeat *to, err *e) {
    const our_runner *o = of;
    engine_repeat r = {.count = to->count};
    if (!engine_time(o->g, o->frame, &r, e)) return false;
    *to = (engine_repeat){.count = r.count, .frame = r.frame};
    for (uint32_t i = 0; i < o->p->passes; i++) to->pass[pass_like(o->p, i)] += r.pass[i];
    return true;
}

/* Our engine convolves with all of the kernel here, its centre included, as the article's does. */
static bool run_ours(lab_row *to, const article_scene *s, err *e) {
    const lab_bench_request *r = s->b->r;
    const psf *k = s->kernel;
    const plan_request ask = {.size = {s->size[PLAN_X], s->size[PLAN_Y]},
                              .reach_lo = {k->cx, k->cy},
                              .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                              .channels = CHANNELS,
                              .spectra = k->channels,
                              .limits = r->gpu->limits};
    plan p;
    uint64_t bytes[ARTICLE_PASSES] = {0};
    spectrum source = {0};
    spectrum_lines lines = {0};
    if (!plan_make(&p, &ask, e)) return false;
    *to = (lab_row){.name = "fftbloom", .first = p.first == PLAN_X ? "x" : "y", .own = true};
    for (int i = 0; i < 2; i++) to->length[i] = p.axis[i].length;
    for (uint32_t i = 0; i < p.passes; i++) bytes[pass_like(&p, i)] += p.pass[i].bytes;
    const spectrum_request want = {.mode = SPECTRUM_RESAMPLED,
                                   .first = p.first,
                                   .length = {p.axis[0].length, p.axis[1].length}};
    bool ok = spectrum_make(&source, k, r->threads, e) &&
              spectrum_at(&lines, &source, &want, r->threads, e);
    double tap[CHANNELS], gain[CHANNELS] = {1, 1, 1};
    for (int c = 0; c < CHANNELS; c++) tap[c] = lines.tap[k->channels == 1 ? 0 : c];
    const join how = join_plain(CHANNELS, tap, gain);
    const engine_frame frame = {
        .in = (const void *const *)s->in, .out = (void *const *)s->out, .join = &how};
    const engine_options options = {.slots = 1};
    our_runner o = {&p, ok ? engine_open(r->gpu, r->threads, r->cache_dir, e) : NULL, &frame};
    ok = o.g && engine_prepare(o.g, &p, &lines, &options, e) && engine_run(o.g, &frame, NULL, e) &&
         article_fill_row(to, s, bytes, our_round, &o, e);
    engine_close(&o.g);
    spectrum_lines_free(&lines);
    spectrum_free(&source);
    return ok;
}

/* --- all of it -------------------------------------------------------------------------------- */

bool lab_bench_article(lab_bench *b, const uint32_t size[PLAN_AXES], const psf *kernel, err *e) {
    article_scene s = {.b = b, .kernel = kernel, .size = {size[PLAN_X], size[PLAN_Y]}};
    lab_row row[3];
    bool ok = article_scene_make(&s, e) && run_article(&row[0], &s, PLAN_X, e) &&
              run_article(&row[1], &s, PLAN_Y, e) && run_ours(&row[2], &s, e);
    for (int i = 0; ok && i < 3; i++) lab_add_row(b, &row[i]);
    for (int c = 0; c < CHANNELS; c++) mem_free(s.in[c]), mem_free(s.out[c]);
    return ok;
}
