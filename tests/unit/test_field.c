/* test_field.c - kernels that vary over the frame, against sums with the kernel of each source
 * pixel, in double: math/field.h, kernel/kernel_field.h and bloom/field.h.
 *
 *     test_field                       some trials; test_field_cases.c has cases of their own
 *     test_field RUNS [SEED [DEVICE]]  more of them */
#include "bloom/part.h"
#include "bloom/promise/accuracy.h"
#include "unit/fields.h"
#include "unit/row_files.h"

static uint64_t stream;
static uint32_t one_of(uint32_t n) {
    return make_below(&stream, n);
}
static uint32_t between(uint32_t low, uint32_t high) {
    return low + one_of(high - low + 1);
}
static double chance(void) {
    return make_chance(&stream);
}
static double decades(double low, double high) {
    return pow(10, low + (high - low) * chance());
}

/* --- trials -------------------------------------------------------------------------------------
 */

typedef struct {
    uint64_t number;
    const char *device;
    grid g;
    bloom_settings s;
    image *img;
    tiling cut; /* channels of 0: it is bloomed as a whole */
} trial;

static struct {
    uint64_t runs, kept, doubles, tiled;
    double nearest, predicted;
} tally;

static device_pool *devices;

static void describe(const trial *t, const char *what) {
    const image_part *p = &t->img->head.part[0];
    print_message(
        "%s\n  trial %llu on %s: %u x %u pixels, display %d %d %d %d, %u x %u nodes of %u, padding "
        "%s,%s, tolerance %g, precision %d, %s, normalize %d, sharpen %g, threshold %g, %s\n",
        what, (unsigned long long)t->number, t->device, image_width(p), image_height(p),
        p->display.x0, p->display.y0, p->display.x1, p->display.y1, t->g.nx, t->g.ny, t->g.channels,
        plan_border_name(t->s.border[0]), plan_border_name(t->s.border[1]), t->s.tolerance,
        t->s.precision, spectrum_mode_name(t->s.spectrum), t->s.kernel.normalize, t->s.sharpen,
        t->s.threshold, t->s.mask ? "masked" : "");
    if (t->cut.channels)
        print_message("  tiles of %u x %u, kept %u x %u, %u engines idle\n", t->cut.tile[0],
                      t->cut.tile[1], t->cut.kept[0], t->cut.kept[1], t->cut.idle);
    if (t->g.common > 0) print_message("  a common node with %g\n", t->g.common);
    for (uint32_t i = 0; i < t->g.nx * t->g.ny; i++)
        print_message("  node %g %g: %u x %u\n", t->g.x[i % t->g.nx], t->g.y[i / t->g.nx],
                      image_width(&t->g.node[i]->head.part[0]),
                      image_height(&t->g.node[i]->head.part[0]));
}

static void draw_places(double *at, uint32_t n) {
    double from = -0.3 * chance(), to = 1 + 0.3 * chance();
    if (one_of(2)) from = 0, to = 1;
    if (one_of(5) == 0) from = chance(), to = from + 0.3;
    for (uint32_t i = 0; i < n; i++)
        at[i] = n == 1 ? from
                       : from + (to - from) *
                                    (i + (i && i + 1 < n ? 0.8 * (chance() - 0.5) : 0.0)) / (n - 1);
}

static void draw_node(grid *g, uint32_t n, bool signs) {
    const uint32_t w = between(1, 15), h = one_of(3) ? between(1, 15) : w;
    g->node[n] = glare_image(g->channels == 3 ? "B:float G:float R:float" : "Y:float", w, h);
    const uint32_t kind = one_of(4);
    for (uint32_t c = 0; c < g->channels; c++)
        for (uint32_t i = 0; i < w * h; i++) {
            const double x = (double)(i % w) - w / 2, y = (double)(i / w) - h / 2;
            const double v = kind == 0   ? chance()
                             : kind == 1 ? pow(1 + x * x + y * y, -1.5)
                             : kind == 2 ? (i == one_of(w * h)) + 1e-4
                                         : (x == 0 && y == 0 ? 9 : 0.1 * chance());
            glare_put(g->node[n], (int)c, i, (float)(signs && one_of(3) == 0 ? -0.5 * v : v));
        }
}

static void draw_plate(image *img) {
    const image_part *p = &img->head.part[0];
    const size_t n = (size_t)image_width(p) * image_height(p);
    for (int c = 0; c < p->channels; c++) {
        const uint32_t kind = one_of(6);
        const double level = decades(-3, 2);
        const bool mask = p->channel[c].name[0] == 'm';
        for (size_t i = 0; i < n; i++) {
            double v = kind == 0   ? level
                       : kind == 1 ? level * chance()
                       : kind == 2 ? (one_of((uint32_t)n) == 0 ? decades(0, 5) : level)
                       : kind == 3 ? level * (chance() - 0.2)
                       : kind == 4 ? 0
                                   : level * pow(10, 4 * chance());
            if (mask) v = one_of(3) ? chance() : one_of(2);
            glare_put(img, c, i, (float)fmin(v, 65000));
        }
        if (kind == 4 && !mask) glare_put(img, c, one_of((uint32_t)n), (float)decades(-3, 4.8));
    }
}

/* A tile with its transform, and the rows that are held and made. */
static uint64_t bytes_of(void *ctx, const tiling *t) {
    uint64_t rows = 2ull * t->kept[PLAN_Y] + t->before[PLAN_Y] + t->after[PLAN_Y];
    (void)ctx;
    return 40ull * t->tile[PLAN_X] * t->tile[PLAN_Y] + 12 * rows * t->size[PLAN_X];
}

/* Cuts the image into tiles that some amount of memory holds, with margins for all nodes. */
static void draw_tiles(trial *t) {
    const image_part *p = &t->img->head.part[0];
    tiling_request r = {.memory = (uint64_t)decades(3.6, 4.8), .rows = 1, .planes = 1};
    err none = {0};
    r.bytes = bytes_of;
    r.ask = (plan_request){.size = {image_width(p), image_height(p)},
                           .border = {t->s.border[0], t->s.border[1]},
                           .channels = 1,
                           .spectra = 1};
    for (uint32_t n = 0; n < nodes_of(&t->g); n++) {
        const image_part *k = &t->g.node[n]->head.part[0];
        const uint32_t taps[] = {image_width(k), image_height(k)};
        for (int a = 0; a < PLAN_AXES; a++) {
            r.ask.reach_lo[a] = max_u32(r.ask.reach_lo[a], taps[a] / 2);
            r.ask.reach_hi[a] = max_u32(r.ask.reach_hi[a], taps[a] - 1 - taps[a] / 2);
        }
    }
    if (!tiling_choose(&t->cut, &r, &none) || !(t->cut.cut[PLAN_X] || t->cut.cut[PLAN_Y]))
        t->cut = (tiling){.channels = 0};
    t->cut.idle = one_of(3) * one_of(9);
}

static void draw(trial *t) {
    static const char *const LIST[] = {"Y:float",          "B:float G:float R:float",
                                       "Y:half",           "B:half G:half R:half",
                                       "Y:float m.m:half", "B:half G:half R:half m.m:float"};
    grid *g = &t->g;
    bloom_settings *s = &t->s;
    stream = t->number * 0xda942042e4dd58b5u + 55;
    *s = glare_settings(t->device);
    g->nx = between(1, SIDE), g->ny = between(1, SIDE - 1);
    draw_places(g->x, g->nx);
    draw_places(g->y, g->ny);
    const bool signs = one_of(5) == 0, colour = one_of(3) == 0;
    g->channels = colour && one_of(2) ? 3 : 1;
    for (uint32_t n = 0; n < g->nx * g->ny; n++) draw_node(g, n, signs);
    s->kernel.normalize = signs ? PSF_NONE : (psf_normalize)one_of(4);
    s->border[0] = (plan_border)one_of(BORDERS);
    s->border[1] = one_of(2) ? s->border[0] : (plan_border)one_of(BORDERS);
    s->precision = one_of(3) ? PRECISION_AUTO : one_of(2) ? PRECISION_FLOAT32 : PRECISION_FLOAT64;
    s->spectrum = one_of(2) ? SPECTRUM_RESAMPLED : SPECTRUM_EXACT;
    s->tolerance = one_of(2) ? 1e-3 : decades(-6, -2);
    s->sharpen = one_of(3) ? 0 : chance();
    if (one_of(4) == 0)
        s->threshold = decades(-2, 1), s->knee = one_of(2) ? 0 : s->threshold * chance();
    s->verify = one_of(4) ? 0 : 10;
    s->half_overflow = OVERFLOW_CLAMP;
    const bool masked = one_of(4) == 0;
    s->mask = masked ? "m.m" : NULL;
    const uint32_t list = masked ? 4u + colour : 2u * one_of(2) + colour;
    const bool tiles = one_of(2);
    t->img = glare_image(LIST[list], between(1, tiles ? 70 : 40), between(1, tiles ? 50 : 30));
    image_part *p = &t->img->head.part[0];
    p->display = p->data;
    if (one_of(3) == 0) { /* a crop */
        p->display.x0 -= (int32_t)one_of(20), p->display.y0 += (int32_t)one_of(5);
        p->display.x1 += (int32_t)one_of(20) + 6, p->display.y1 += 6;
    }
    draw_plate(t->img);
    g->common = one_of(3) ? 0 : chance() * 0.9 + 0.05;
    if (g->common > 0) draw_node(g, g->nx * g->ny, signs);
    if (tiles) draw_tiles(t);
}

static void free_trial(trial *t) {
    for (uint32_t i = 0; i < nodes_of(&t->g); i++) image_free(&t->g.node[i]);
    image_free(&t->img);
}

/* Compares all channels with the definition: the promise where it is kept, and the prediction. */
static bool compare(const trial *t, const image *got, const bloom_report *r) {
    static const char ORDER[] = "RGB";
    const image_part *p = &t->img->head.part[0], *q = &got->head.part[0];
    const size_t n = (size_t)image_width(p) * image_height(p);
    const accuracy *a = &r->sum.promise.method;
    OWN_HEAP float *in = malloc(3 * n * sizeof *in);
    OWN_HEAP long double *want = malloc(n * sizeof *want);
    float *is = in + n, *mask = t->s.mask ? in + 2 * n : NULL;
    const int of_mask = t->s.mask ? image_find_channel(p, t->s.mask) : -1;
    bool ok = true;
    if (mask) image_to_float(mask, t->img->plane[0][of_mask], p->channel[of_mask].type, 0, n);
    for (int c = 0; c < p->channels; c++) {
        if (c == of_mask) continue;
        const char *at = strchr(ORDER, p->channel[c].name[0]);
        const uint32_t index = at ? (uint32_t)(at - ORDER) : 0;
        image_to_float(in, t->img->plane[0][c], p->channel[c].type, 0, n);
        image_to_float(is, got->plane[0][c], q->channel[c].type, 0, n);
        define(want, in, mask, p, &t->g, index, &t->s);
        const double dark = glare_dark(t->img, c);
        double worst = 0, predicted = 0;
        size_t where = 0;
        for (size_t i = 0; i < n; i++) {
            const bool half = q->channel[c].type == PIXEL_HALF;
            const double should = half ? fmax(-65504, fmin(65504, (double)want[i]))
                                       : (double)want[i],
                         size = fmax(fabs(should), dark),
                         stored = half ? fabs(should) * 0x1p-11 + 0x1p-25
                                       : fabs(should) * 0x1p-24 + 0x1p-150,
                         off = fabs((double)is[i] - should) - stored;
            if (!(off > 0)) continue;
            if (!(off / (t->s.tolerance * size) <= worst))
                worst = off / (t->s.tolerance * size), where = i;
            if (!t->cut.channels) /* the report's prediction is that of one tile */
                predicted = fmax(predicted, off / (a->error[index] + accuracy_relative(a) * size));
        }
        if (a->kept) tally.nearest = fmax(tally.nearest, worst);
        tally.predicted = fmax(tally.predicted, predicted);
        if ((!a->kept || worst <= 1) && predicted <= 1) continue;
        describe(t, a->kept && worst > 1 ? "KEPT AND IS NOT" : "MORE THAN IS PREDICTED");
        print_message("  %s: at %zu, %zu %.9g, should be %.9Lg; %g of what is allowed, %g of the "
                      "prediction\n",
                      p->channel[c].name, where % image_width(p), where / image_width(p),
                      (double)is[where], want[where], worst, predicted);
        ok = false;
    }
    return ok;
}

/* Blooms in tiles. */
static image *bloom_tiles(const trial *t, const kernel_source *k, device_pool *pool,
                          bloom_report *r) {
    session *s = MADE(session_open(&t->s, NULL, k, pool, &e));
    const image_part *p = &t->img->head.part[0];
    row_files f = {.in = t->img, .out = glare_copy(t->img), .step = 1};
    const rows_source from = row_files_source(&f);
    const rows_sink to = row_files_sink(&f);
    const part_job job = {.s = &t->s,
                          .threads = device_pool_threads(pool),
                          .session = s,
                          .height = image_height(p),
                          .came = p->data,
                          .in = &from,
                          .out = &to,
                          .cut = &t->cut};
    part_made made;
    *r = (bloom_report){.sum.promise.tolerance = t->s.tolerance};
    if (part_bloom(&made, &job, &e))
        report_add_part(r, &made);
    else
        image_free(&f.out);
    part_made_free(&made);
    session_close(&s);
    return f.out;
}

/* One thread makes the same bytes in tiles. */
static void check_alone(const trial *t, const kernel_source *k, const image *got) {
    OPEN(par) *alone = MADE(par_open(1, &e));
    OPEN(device_pool) *pool = MADE(device_pool_open(alone, NULL, 0, &e));
    OWN_HEAP bloom_report *r = malloc(sizeof *r);
    OWN(image) *one = bloom_tiles(t, k, pool, r);
    CHECK_OK(one);
    check_same_pixels(got, one);
}

static bool run_trial(uint64_t number, const char *device) {
    trial t = {.number = number, .device = device};
    kernel_source k;
    draw(&t);
    OWN(image) *field = field_image(&t.g);
    if (!devices) devices = MADE(device_pool_open(make_threads(), NULL, 0, &e));
    CHECK_OK(kernel_field_image(&k, "field", field, &e));
    OPEN(bloom) *b = MADE(bloom_open_on(&t.s, NULL, &k, devices, &e));
    OWN_HEAP bloom_report *r = malloc(sizeof *r);
    const bool tiled = t.cut.channels > 0;
    OWN(image) *got = tiled ? bloom_tiles(&t, &k, devices, r) : glare_copy(t.img);
    bool ok = tiled ? got != NULL : bloom_image(b, got, r, &e);
    if (!ok && e.code == ERR_TOLERANCE && !r->sum.promise.method.kept) ok = true, e = (err){0};
    if (!ok)
        describe(&t, e.msg);
    else
        ok = compare(&t, got, r);
    if (ok && tiled && number % 4 == 0) check_alone(&t, &k, got);
    tally.runs++, tally.tiled += tiled, tally.kept += ok && r->sum.promise.method.kept;
    tally.doubles += r->sum.promise.method.precision == PRECISION_FLOAT64;
    for (uint32_t i = 0; ok && i < r->ledger_rows; i++)
        if (!(fabs(ledger_gap(&r->ledger[i])) <= 2e-6))
            describe(&t, "LIGHT IS LOST"), print_message("  %g\n", ledger_gap(&r->ledger[i])),
                ok = false;
    bloom_close(&b);
    kernel_source_free(&k);
    free_trial(&t);
    return ok;
}

static bool run_trials(uint64_t from, uint64_t runs, const char *device) {
    uint64_t broken = 0;
    for (uint64_t i = from; i < from + runs; i++) broken += !run_trial(i, device);
    print_message("%llu fields on %s, %llu in tiles: %llu kept, %llu in doubles, %llu broken; "
                  "nearest %.3g of what is allowed, %.3g of what is predicted\n",
                  (unsigned long long)tally.runs, device, (unsigned long long)tally.tiled,
                  (unsigned long long)tally.kept, (unsigned long long)tally.doubles,
                  (unsigned long long)broken, tally.nearest, tally.predicted);
    return !broken;
}

TEST(fields_keep_their_promise) {
    assert_true(run_trials(0, check_long() ? 2000 : 60, "cpu"));
}

/* A kernel that is not normalised, of a sum of 53 on one pixel: nearly all light leaves the image,
 * and what each pixel loses is known as floats. */
TEST(what_spills_is_as_exact_as_it_is_large) {
    assert_true(run_trial(303292, "cpu"));
}

TEST(fields_keep_their_promise_on_a_device) {
    if (!glare_device(1)) skip();
    assert_true(run_trials(5000, check_long() ? 12 : 6, glare_device(1)));
}

/* RUNS [FIRST [DEVICE]] */
static int run_many(int argc, char **argv) {
    const uint64_t runs = strtoull(argv[1], NULL, 10),
                   from = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    return !run_trials(from, runs, argc > 3 ? argv[3] : "cpu");
}

int main(int argc, char **argv) {
    const int failed = argc > 1 ? run_many(argc, argv) : check_run(NULL, NULL);
    device_pool_close(&devices);
    return failed;
}
