#include "lab/article_bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/gpu/gpu_time.h"
#include "math/reference.h"

#include <inttypes.h>
#include <math.h>

enum { CHANNELS = 3, PIXELS = 128 /* that are compared */ };

/* --- what the article says ---------------------------------------------------------------------
 *
 * Milliseconds of a frame on an NVIDIA GeForce RTX 4060. */

static const char PUBLISHED_ON[] = "NVIDIA GeForce RTX 4060";
static const struct {
    uint32_t w, h, kernel;
    double ms[PLAN_AXES]; /* x first, y first */
} PUBLISHED[] = {
    {1280, 720, 256, {0.73, 0.57}},
    {1280, 720, 512, {1.04, 1.45}},
    {1920, 1080, 256, {4.4, 4.4}}, /* "4.4 ms", of any kernel and order */
    {1920, 1080, 512, {4.4, 4.4}},
};

double article_published(const uint32_t size[PLAN_AXES], uint32_t kernel, uint32_t first) {
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof PUBLISHED[0]; i++)
        if (PUBLISHED[i].w == size[PLAN_X] && PUBLISHED[i].h == size[PLAN_Y] &&
            PUBLISHED[i].kernel == kernel)
            return PUBLISHED[i].ms[first] * 1e-3;
    return 0;
}

/* --- the image, and what it becomes ------------------------------------------------------------
 */

typedef struct {
    const article_request *r;
    float *in[CHANNELS], *out[CHANNELS];
    double want[PIXELS][CHANNELS];
} scene;

/* Returns where pixel i of those that are compared is: the corners, then places all over the image,
 * by steps of the golden ratio. */
static void place(const article_request *r, uint32_t i, int64_t *x, int64_t *y) {
    uint32_t w = r->size[PLAN_X], h = r->size[PLAN_Y];
    *x = i < 4 ? (int64_t)(i % 2) * (w - 1) : (int64_t)(fmod(i * 0.61803398874989, 1) * w);
    *y = i < 4 ? (int64_t)(i / 2) * (h - 1) : (int64_t)i * h / PIXELS;
}

static bool want_pixel(void *ctx, size_t i, int worker, err *e) {
    (void)worker, (void)e;
    scene *s = ctx;
    const psf *k = s->r->kernel;
    int64_t x, y;
    place(s->r, (uint32_t)i, &x, &y);
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
static bool scene_make(scene *s, const article_request *r, err *e) {
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

static void scene_free(scene *s) {
    for (int c = 0; c < CHANNELS; c++) {
        mem_free(s->in[c]);
        mem_free(s->out[c]);
    }
}

static void compare(article_row *to, const scene *s) {
    double worst = 0, difference = 0, all = 0;
    for (uint32_t i = 0; i < PIXELS; i++)
        for (int c = 0; c < CHANNELS; c++) {
            int64_t x, y;
            place(s->r, i, &x, &y);
            double want = s->want[i][c],
                   d = fabs((double)s->out[c][y * s->r->size[PLAN_X] + x] - want);
            if (!(d / fabs(want) <= worst)) worst = d / fabs(want); /* NaN counts as worst */
            difference += d * d;
            all += want * want;
        }
    to->worst = worst;
    to->rms = sqrt(difference / all);
}

/* --- times -------------------------------------------------------------------------------------
 */

/* Fills `to` with the times of one round of `count` frames. */
typedef bool round_fn(void *of, uint32_t count, double to[ARTICLE_TIMES], err *e);

static bool time_rounds(article_row *to, const article_request *r, round_fn *one, void *of,
                        err *e) {
    double(*round)[ARTICLE_TIMES] = mem_new(r->rounds, sizeof *round, "times", e);
    double *value = mem_new(r->rounds, sizeof *value, "times", e), start = clock_now();
    bool ok = round && value;
    do ok = ok && one(of, r->queue, round[0], e);
    while (ok && clock_now() - start < r->warm_up);
    for (uint32_t i = 0; ok && i < r->rounds; i++) ok = one(of, r->queue, round[i], e);
    for (int t = 0; ok && t < ARTICLE_TIMES; t++) {
        for (uint32_t i = 0; i < r->rounds; i++) value[i] = round[i][t];
        to->time[t] = measure_spread_of(value, r->rounds);
    }
    mem_free(round);
    mem_free(value);
    return ok;
}

/* --- the article's -----------------------------------------------------------------------------
 */

typedef struct {
    const lab_gpu *g;
    const article_plan *p;
    article *a;
} article_runner;

static bool article_round(void *of, uint32_t count, double to[ARTICLE_TIMES], err *e) {
    const article_runner *a = of;
    engine_repeat copies = {.count = count};
    if (!article_time(a->a, count, &to[ARTICLE_FRAME], &to[ARTICLE_PASS], e) ||
        !gpu_time_copies(&a->g->g, &copies, a->p->bytes, ARTICLE_PASSES, e))
        return false;
    to[ARTICLE_COPY] = copies.copy;
    for (int i = 0; i < ARTICLE_PASSES; i++) to[ARTICLE_COPY_PASS + i] = copies.copy_pass[i];
    return true;
}

static bool run_article(article_row *to, const lab_gpu *g, const scene *s, uint32_t first, err *e) {
    const article_request *r = s->r;
    const article_ask ask = {{r->size[PLAN_X], r->size[PLAN_Y]}, r->kernel->w, first, false};
    const nabla_limits limits = {g->limits.invocations, g->limits.shared_bytes, g->subgroup};
    article_plan p;
    if (!article_plan_make(&p, &ask, &limits, e)) return false;
    article_runner a = {g, &p, article_open(g, &p, r->kernel, r->threads, e)};
    bool ok = a.a && article_run(a.a, (const float *const *)s->in, s->out, e) &&
              time_rounds(to, r, article_round, &a, e);
    article_close(&a.a);
    if (!ok) return false;
    compare(to, s);
    to->bloom = "article";
    to->first = first;
    to->published = article_published(r->size, r->kernel->w, first);
    for (int i = 0; i < 2; i++) to->length[i] = p.line[i].length;
    for (int i = 0; i < ARTICLE_PASSES; i++) to->bytes[i] = p.bytes[i];
    return true;
}

/* --- ours --------------------------------------------------------------------------------------
 */

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

static bool our_round(void *of, uint32_t count, double to[ARTICLE_TIMES], err *e) {
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

static bool spectrum_for(spectrum_lines *to, const psf *k, const plan *p, par *threads, err *e) {
    spectrum source = {0};
    const spectrum_request want = {.mode = SPECTRUM_RESAMPLED,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length}};
    bool ok = spectrum_make(&source, k, threads, e) && spectrum_at(to, &source, &want, threads, e);
    spectrum_free(&source);
    return ok;
}

/* Our engine convolves with all of the kernel here, its centre included, as the article's does. */
static bool run_ours(article_row *to, const scene *s, err *e) {
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
    if (!plan_make(&p, &ask, e) || !spectrum_for(&lines, k, &p, r->threads, e)) return false;
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
    compare(to, s);
    to->bloom = "fftbloom";
    to->first = p.first;
    for (int i = 0; i < 2; i++) to->length[i] = p.axis[i].length;
    for (uint32_t i = 0; i < p.passes; i++) to->bytes[pass_like(&p, i)] += p.pass[i].bytes;
    return true;
}

/* --- all of it ---------------------------------------------------------------------------------
 */

bool article_compare(article_row to[ARTICLE_ROWS], const article_request *r, err *e) {
    scene s = {0};
    lab_gpu g = {0};
    for (int i = 0; i < ARTICLE_ROWS; i++) to[i] = (article_row){0};
    bool ok = scene_make(&s, r, e) && lab_gpu_open(&g, r->device, e) &&
              run_article(&to[ARTICLE_X], &g, &s, PLAN_X, e) &&
              run_article(&to[ARTICLE_Y], &g, &s, PLAN_Y, e);
    lab_gpu_close(&g);
    ok = ok && run_ours(&to[ARTICLE_OURS], &s, e);
    scene_free(&s);
    return ok;
}

/* --- how it is shown ---------------------------------------------------------------------------
 */

static const char *const PASS[ARTICLE_PASSES] = {"forward", "convolve", "inverse"};

static uint64_t all_bytes(const article_row *row) {
    return row->bytes[0] + row->bytes[1] + row->bytes[2];
}

void article_words(text *to, const article_request *r, const article_row row[ARTICLE_ROWS]) {
    text_add(to,
             "%s: %u x %u, kernel %u x %u; medians of %u rounds of %u frame%s, the data on the "
             "device\n",
             r->device->name, r->size[PLAN_X], r->size[PLAN_Y], r->kernel->w, r->kernel->h,
             r->rounds, r->queue, r->queue == 1 ? "" : "s");
    text_add(to, "  %-8s %5s %11s %9s %9s %9s %9s %8s %8s %8s %8s %9s\n", "us", "first", "lengths",
             "forward", "convolve", "inverse", "frame", "MB moved", "copies", "worst", "rms",
             "published");
    for (int i = 0; i < ARTICLE_ROWS; i++) {
        const article_row *w = &row[i];
        const measure_spread *t = w->time;
        text_add(to, "  %-8s %5s %4u x %4u", w->bloom, w->first == PLAN_X ? "x" : "y", w->length[0],
                 w->length[1]);
        for (int p = 0; p < ARTICLE_PASSES; p++)
            text_add(to, " %9.1f", t[ARTICLE_PASS + p].median * 1e6);
        text_add(to, " %9.1f %8.1f %6.2f x %8.2g %8.2g", t[ARTICLE_FRAME].median * 1e6,
                 (double)all_bytes(w) * 1e-6,
                 t[ARTICLE_COPY].median > 0 ? t[ARTICLE_FRAME].median / t[ARTICLE_COPY].median : 0,
                 w->worst, w->rms);
        if (w->published > 0) text_add(to, " %9.0f", w->published * 1e6);
        text_add(to, "\n");
    }
    if (row[ARTICLE_X].published > 0) text_add(to, "  published for an %s\n", PUBLISHED_ON);
}

static void spread_json(json_out *j, const char *key, const measure_spread *s) {
    json_object(j, key);
    json_fixed(j, "least", 9, s->least);
    json_fixed(j, "low", 9, s->low);
    json_fixed(j, "median", 9, s->median);
    json_fixed(j, "high", 9, s->high);
    json_fixed(j, "most", 9, s->most);
    json_close(j);
}

static void row_json(json_out *j, const article_request *r, const article_row *w) {
    json_block(j, NULL);
    json_string(j, "bloom", w->bloom);
    json_string(j, "device", r->device->name);
    json_uints(j, "image", r->size, PLAN_AXES);
    json_uint(j, "kernel", r->kernel->w);
    json_uint(j, "rounds", r->rounds);
    json_uint(j, "queue", r->queue);
    json_string(j, "first", w->first == PLAN_X ? "x" : "y");
    json_uints(j, "lengths", w->length, 2);
    spread_json(j, "frame", &w->time[ARTICLE_FRAME]);
    json_uint(j, "bytes", all_bytes(w));
    json_fixed(j, "copy", 9, w->time[ARTICLE_COPY].median);
    json_list(j, "passes");
    for (int i = 0; i < ARTICLE_PASSES; i++) {
        json_object(j, NULL);
        json_string(j, "pass", PASS[i]);
        json_uint(j, "bytes", w->bytes[i]);
        json_fixed(j, "copy", 9, w->time[ARTICLE_COPY_PASS + i].median);
        spread_json(j, "seconds", &w->time[ARTICLE_PASS + i]);
        json_close(j);
    }
    json_close(j);
    json_object(j, "error");
    json_uint(j, "pixels", PIXELS);
    json_real(j, "worst", 3, w->worst);
    json_real(j, "rms", 3, w->rms);
    json_close(j);
    if (w->published > 0) {
        json_object(j, "published");
        json_string(j, "device", PUBLISHED_ON);
        json_fixed(j, "seconds", 9, w->published);
        json_close(j);
    }
    json_close(j);
}

void article_json(json_out *j, const article_request *r, const article_row row[ARTICLE_ROWS]) {
    for (int i = 0; i < ARTICLE_ROWS; i++) row_json(j, r, &row[i]);
}

const char ARTICLE_CSV_HEAD[] =
    "bloom,device,width,height,kernel,rounds,queue,first,length_1,length_2,forward,convolve,"
    "inverse,frame,least,bytes,copy,worst,rms,published,published_on\n";

void article_csv(text *to, const article_request *r, const article_row row[ARTICLE_ROWS]) {
    for (int i = 0; i < ARTICLE_ROWS; i++) {
        const article_row *w = &row[i];
        text_add(to, "%s,\"%s\",%u,%u,%u,%u,%u,%s,%u,%u,", w->bloom, r->device->name,
                 r->size[PLAN_X], r->size[PLAN_Y], r->kernel->w, r->rounds, r->queue,
                 w->first == PLAN_X ? "x" : "y", w->length[0], w->length[1]);
        for (int p = 0; p < ARTICLE_PASSES; p++)
            text_add(to, "%.9f,", w->time[ARTICLE_PASS + p].median);
        text_add(to, "%.9f,%.9f,%" PRIu64 ",%.9f,%.3g,%.3g,", w->time[ARTICLE_FRAME].median,
                 w->time[ARTICLE_FRAME].least, all_bytes(w), w->time[ARTICLE_COPY].median, w->worst,
                 w->rms);
        if (w->published > 0)
            text_add(to, "%.9f,%s\n", w->published, PUBLISHED_ON);
        else
            text_add(to, ",\n");
    }
}
