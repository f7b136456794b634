/* test_field.c - kernels that vary over the frame, against sums with the kernel of each source
 * pixel, in double: math/field.h, kernel/kernel_field.h and bloom/field.h.
 *
 *     test_field                       some trials, and cases of their own
 *     test_field RUNS [SEED [DEVICE]]  more of them */
#include "base/log.h"
#include "bloom/promise/accuracy.h"
#include "kernel/kernel_field.h"
#include "unit/glare.h"
#include "unit/reference.h"

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

/* --- a field and its definition ------------------------------------------------------------------
 */

enum { SIDE = 4, NODES = SIDE * SIDE + 1 };

typedef struct {
    uint32_t nx, ny;
    double x[SIDE], y[SIDE]; /* places, which increase */
    uint32_t channels;
    image *node[NODES]; /* one part each, its channels in the order B G R, or Y */
    double common;      /* the share of one more node, behind the others; 0: there is none */
} grid;

static uint32_t nodes_of(const grid *g) {
    return g->nx * g->ny + (g->common > 0);
}

/* Returns how much of a pixel's light goes to node n of an axis: by the words of
 * docs/inside/math.md. */
static double hat(const double *at, uint32_t nodes, uint32_t n, double share) {
    if (share <= at[0]) return n == 0;
    if (share >= at[nodes - 1]) return n == nodes - 1;
    for (uint32_t i = 0; i + 1 < nodes; i++) {
        const double t = (share - at[i]) / (at[i + 1] - at[i]);
        if (share < at[i] || share > at[i + 1]) continue;
        if (n == i) return 1 - t;
        if (n == i + 1) return t;
    }
    return 0;
}

/* The image of a field: a part for each node, in an order that nobody should rely on. */
static image *field_image(const grid *g) {
    make_part part[NODES];
    char name[NODES][16], at[64];
    const uint32_t n = nodes_of(g);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t of = n - 1 - i;
        const image_part *p = &g->node[of]->head.part[0];
        snprintf(name[i], sizeof name[i], "node %u", i);
        part[i] = (make_part)PART(g->channels == 3 ? "B:float G:float R:float" : "Y:float", 0, 0,
                                  image_width(p), image_height(p), .name = name[i]);
    }
    image *img = make_image(part, (int)n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t of = n - 1 - i;
        image_part *p = &img->head.part[i];
        p->aspect = 1;
        if (of == g->nx * g->ny)
            snprintf(at, sizeof at, "everywhere %.17g", g->common);
        else
            snprintf(at, sizeof at, "%.17g %.17g", g->x[of % g->nx], g->y[of / g->nx]);
        CHECK_OK(image_set_text(p, KERNEL_NODE_ATTR, at, &e));
        for (uint32_t c = 0; c < g->channels; c++)
            memcpy(img->plane[i][c], g->node[of]->plane[0][c],
                   (size_t)image_width(p) * image_height(p) * sizeof(float));
    }
    return img;
}

static psf node_psf(const grid *g, uint32_t n, psf_options o) {
    psf k;
    const image_part *p = &g->node[n]->head.part[0];
    const float *taps[3];
    for (uint32_t c = 0; c < g->channels; c++)
        taps[c] = g->node[n]->plane[0][g->channels - 1 - c]; /* R G B */
    image_luminance(&(image_part){0}, o.luminance);
    CHECK_OK(psf_make(&k, &(psf_planes){image_width(p), image_height(p), g->channels, taps, NULL},
                      &o, &e));
    return k;
}

static double excess(double v, double threshold, double knee) {
    if (!(threshold > 0)) return v;
    const double over = v - threshold;
    if (over < knee) return over <= -knee ? 0 : (over + knee) * (over + knee) / (4 * knee);
    return over > 0 ? over : 0;
}

/* A channel's result by the definition. */
static void define(long double *want, const float *in, const float *mask, const image_part *p,
                   const grid *g, uint32_t c, const bloom_settings *s) {
    const int64_t w = image_width(p), h = image_height(p);
    const double across = (double)image_box_width(&p->display),
                 down = (double)image_box_height(&p->display);
    double *spread = malloc((size_t)(w * h) * 2 * sizeof *spread), *part = spread + w * h;
    for (int64_t i = 0; i < w * h; i++) {
        const double m = mask ? fmax(0, fmin(1, (double)mask[i])) : 1;
        spread[i] = excess(m * (double)in[i], s->threshold, s->knee);
        want[i] = (long double)in[i] - (long double)spread[i] * (1 - (long double)s->sharpen);
    }
    for (uint32_t n = 0; n < nodes_of(g); n++) {
        const bool all = n == g->nx * g->ny;
        psf k = node_psf(g, n, s->kernel);
        const float *tap = k.tap + (k.channels == 1 ? 0 : (size_t)c * k.w * k.h);
        const double scale = k.scale[k.channels == 1 ? 0 : c] * (1 - s->sharpen) *
                             (all ? g->common : 1 - g->common);
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++) {
                const double px = ((double)(p->data.x0 - p->display.x0 + x) + 0.5) / across,
                             py = ((double)(p->data.y0 - p->display.y0 + y) + 0.5) / down;
                part[y * w + x] =
                    spread[y * w + x] *
                    (all ? 1 : hat(g->x, g->nx, n % g->nx, px) * hat(g->y, g->ny, n / g->nx, py));
            }
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++)
                for (uint32_t q = 0; q < k.h; q++) {
                    const int64_t from = reference_source(y - q + k.cy, h, s->border[1]);
                    for (uint32_t r = 0; from >= 0 && r < k.w; r++) {
                        const int64_t at = reference_source(x - r + k.cx, w, s->border[0]);
                        if (at >= 0)
                            want[y * w + x] += (long double)part[from * w + at] * scale *
                                               (double)tap[q * k.w + r];
                    }
                }
        psf_free(&k);
    }
    free(spread);
}

/* --- trials -------------------------------------------------------------------------------------
 */

typedef struct {
    uint64_t number;
    const char *device;
    grid g;
    bloom_settings s;
    image *img;
} trial;

static struct {
    uint64_t runs, kept, doubles;
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
    t->img = glare_image(LIST[list], between(1, 40), between(1, 30));
    image_part *p = &t->img->head.part[0];
    p->display = p->data;
    if (one_of(3) == 0) { /* a crop */
        p->display.x0 -= (int32_t)one_of(20), p->display.y0 += (int32_t)one_of(5);
        p->display.x1 += (int32_t)one_of(20) + 6, p->display.y1 += 6;
    }
    draw_plate(t->img);
    g->common = one_of(3) ? 0 : chance() * 0.9 + 0.05;
    if (g->common > 0) draw_node(g, g->nx * g->ny, signs);
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

static bool run_trial(uint64_t number, const char *device) {
    trial t = {.number = number, .device = device};
    kernel_source k;
    draw(&t);
    OWN(image) *field = field_image(&t.g);
    if (!devices) devices = MADE(device_pool_open(make_threads(), NULL, 0, &e));
    CHECK_OK(kernel_field_image(&k, "field", field, &e));
    OPEN(bloom) *b = MADE(bloom_open_on(&t.s, NULL, &k, devices, &e));
    OWN(image) *got = glare_copy(t.img);
    OWN_HEAP bloom_report *r = malloc(sizeof *r);
    bool ok = bloom_image(b, got, r, &e);
    if (!ok && e.code == ERR_TOLERANCE && !r->sum.promise.method.kept) ok = true, e = (err){0};
    if (!ok)
        describe(&t, e.msg);
    else
        ok = compare(&t, got, r);
    tally.runs++, tally.kept += ok && r->sum.promise.method.kept;
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
    print_message("%llu fields on %s: %llu kept, %llu in doubles, %llu broken; nearest %.3g of "
                  "what is allowed, "
                  "%.3g of what is predicted\n",
                  (unsigned long long)tally.runs, device, (unsigned long long)tally.kept,
                  (unsigned long long)tally.doubles, (unsigned long long)broken, tally.nearest,
                  tally.predicted);
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

/* --- cases
 * ---------------------------------------------------------------------------------------- */

/* A field of 3 x 2 uneven nodes with a kernel of its own in each, none of which is like another, or
 * like itself turned or mirrored. */
static grid uneven(void) {
    grid g = {.nx = 3, .ny = 2, .x = {0, 0.3, 1}, .y = {0.1, 0.9}, .channels = 1};
    for (uint32_t n = 0; n < 6; n++) {
        g.node[n] = glare_image("Y:float", 7 + 2 * (n % 3), 5 + n);
        const image_part *p = &g.node[n]->head.part[0];
        const uint32_t w = image_width(p), h = image_height(p);
        for (uint32_t i = 0; i < w * h; i++)
            glare_put(g.node[n], 0, i, (float)(1 + i % w) * (float)(2 + n) / (float)(1 + i / w));
    }
    return g;
}
/* A black frame whose display window is what it has. */
static image *black(uint32_t w, uint32_t h) {
    image *img = make_blank("Y:float", 0, 0, w, h);
    img->head.part[0].aspect = 1;
    img->head.part[0].display = img->head.part[0].data;
    return img;
}
static void free_grid(grid *g) {
    for (uint32_t i = 0; i < g->nx * g->ny; i++) image_free(&g->node[i]);
}
static kernel_source source_of(const grid *g) {
    kernel_source k;
    OWN(image) *img = field_image(g);
    CHECK_OK(kernel_field_image(&k, "field", img, &e));
    return k;
}
static image *bloomed(const image *img, const kernel_source *k, const bloom_settings *s,
                      par *threads) {
    image *got = glare_copy(img);
    OWN_HEAP bloom_report *r = malloc(sizeof *r);
    device_pool *pool = MADE(device_pool_open(threads, NULL, 0, &e));
    bloom *b = MADE(bloom_open_on(s, NULL, k, pool, &e));
    CHECK_OK(bloom_image(b, got, r, &e));
    assert_true(r->sum.promise.method.kept);
    bloom_close(&b);
    device_pool_close(&pool);
    return got;
}

TEST(a_field_of_equal_nodes_is_one_kernel) {
    grid g = uneven();
    for (uint32_t n = 1; n < 6; n++) {
        image_free(&g.node[n]);
        g.node[n] = glare_copy(g.node[0]);
    }
    kernel_source k = source_of(&g), one;
    CHECK_OK(kernel_source_image(&one, "one", g.node[0], &e));
    assert_null(k.field);
    const bloom_settings s = glare_settings("cpu");
    OWN(image) *img = glare_image("Y:float", 40, 30);
    OWN(image) *a = bloomed(img, &k, &s, make_threads());
    OWN(image) *b = bloomed(img, &one, &s, make_threads());
    check_same_pixels(a, b);
    kernel_source_free(&k);
    kernel_source_free(&one);
    free_grid(&g);
}

TEST(a_file_and_any_number_of_threads_give_the_same_bytes) {
    grid g = uneven();
    kernel_source k = source_of(&g), read;
    OWN(image) *field = field_image(&g);
    const char *path = make_path("field.exr");
    CHECK_OK(image_save(path, field, make_threads(), &e));
    CHECK_OK(kernel_field_load(&read, path, make_threads(), &e));
    CHECK_REFUSED(kernel_source_load(&(kernel_source){0}, path, make_threads(), &e), ERR_CONFIG,
                  "is a field of 6 kernels");
    OPEN(par) *alone = MADE(par_open(1, &e));
    bloom_settings s = glare_settings("cpu");
    OWN(image) *img = glare_image("B:float G:float R:float", 70, 50);
    for (int b = 0; b < BORDERS; b++) {
        s.border[0] = s.border[1] = (plan_border)b;
        OWN(image) *first = bloomed(img, &k, &s, make_threads());
        OWN(image) *second = bloomed(img, &read, &s, alone);
        check_same_pixels(first, second);
    }
    kernel_source_free(&k);
    kernel_source_free(&read);
    free_grid(&g);
}

/* Lamps at each border and corner: light that a border shows goes out by the kernel of its pixel.
 */
TEST(lamps_at_borders_have_the_kernels_of_their_places) {
    grid g = uneven();
    kernel_source k = source_of(&g);
    bloom_settings s = glare_settings("cpu");
    OWN_HEAP long double *want = malloc(31 * 23 * sizeof *want);
    for (int b = 0; b < BORDERS; b++)
        for (int lamp = 0; lamp < 9; lamp++) {
            OWN(image) *img = black(31, 23);
            s.border[0] = s.border[1] = (plan_border)b;
            const size_t x = (size_t)(lamp % 3) * 15, y = (size_t)(lamp / 3) * 11;
            glare_put(img, 0, y * 31 + x, 1000);
            OWN(image) *got = bloomed(img, &k, &s, make_threads());
            define(want, img->plane[0][0], NULL, &img->head.part[0], &g, 0, &s);
            for (size_t i = 0; i < 31 * 23; i++)
                CHECK_LE(fabs((double)(want[i] - (long double)glare_get(got, 0, i))),
                         1e-3 * fmax((double)want[i], 0.1));
        }
    kernel_source_free(&k);
    free_grid(&g);
}

/* Between lines of nodes weights are straight lines, so kernels that are even about their centres,
 * of all widths, leave a flat plate flat. */
TEST(a_flat_plate_stays_flat_in_a_cell) {
    grid g = uneven();
    for (uint32_t n = 0; n < 6; n++) {
        image_free(&g.node[n]);
        g.node[n] = glare_image("Y:float", 3 + 2 * n, 13 - 2 * n);
        for (uint32_t i = 0; i < (3 + 2 * n) * (13 - 2 * n); i++) glare_put(g.node[n], 0, i, 1);
    }
    kernel_source k = source_of(&g);
    bloom_settings s = glare_settings("cpu");
    s.tolerance = 1e-5;
    OWN(image) *img = black(120, 60); /* lines at 36, 6 and 54 */
    for (size_t i = 0; i < 120 * 60; i++) glare_put(img, 0, i, 3);
    OWN(image) *got = bloomed(img, &k, &s, make_threads());
    for (size_t y = 6 + 7; y < 54 - 7; y++)
        for (size_t x = 7; x < 120 - 7; x++)
            if (x < 36 - 7 || x > 36 + 7)
                CHECK_LE(fabs((double)glare_get(got, 0, y * 120 + x) - 3), 3 * 1e-5);
    kernel_source_free(&k);
    free_grid(&g);
}

/* From a place to the next the weights change by at most one part in the pixels of a cell, so a
 * star's light does by that part of what two nodes differ by, also across a line of nodes. */
TEST(a_star_that_moves_meets_no_seam) {
    enum { W = 120, H = 40, CELL = 35 }; /* 0.3 of 120 pixels, and 0.7 */
    grid g = uneven();
    kernel_source k = source_of(&g);
    bloom_settings s = glare_settings("cpu");
    OWN(image) *before = NULL;
    double most = 0;
    for (uint32_t n = 0; n < 6; n++) {
        psf is = node_psf(&g, n, s.kernel);
        for (uint32_t i = 0; i < is.w * is.h; i++)
            most = fmax(most, is.scale[0] * (double)is.tap[i]);
        psf_free(&is);
    }
    for (uint32_t x = 25; x < 50; x++) { /* the line is at 36 */
        OWN(image) *img = black(W, H);
        glare_put(img, 0, 20 * W + x, 1000);
        image *got = bloomed(img, &k, &s, make_threads());
        for (size_t i = 0; before && i + 1 < W * H; i++) {
            if (i % W == W - 1) continue;
            CHECK_LE(fabs((double)glare_get(got, 0, i + 1) - (double)glare_get(before, 0, i)),
                     1000 * most * 2 / CELL + 2e-3 * 1000 * most);
        }
        image_free(&before);
        before = got;
    }
    kernel_source_free(&k);
    free_grid(&g);
}

/* Opens a bloom that must be refused. */
static void refuse(const kernel_source *k, const bloom_settings *s, const char *words) {
    if (!devices) devices = MADE(device_pool_open(make_threads(), NULL, 0, &e));
    CHECK_REFUSED(bloom_open_on(s, NULL, k, devices, &e), ERR_CONFIG, words);
}

TEST(what_a_field_does_not_do_is_refused_by_name) {
    grid g = uneven();
    kernel_source k = source_of(&g);
    bloom_settings s = glare_settings("cpu");
    s.solve = BLOOM_DEGLARE;
    refuse(&k, &s, "deglare takes one kernel");
    s = glare_settings("cpu"), s.window = WINDOW_GROW;
    refuse(&k, &s, "--window keep");
    s = glare_settings("cpu"), s.core = NAN;
    refuse(&k, &s, "--core auto");
    s = glare_settings("cpu"), s.kernel.center = PSF_AT;
    refuse(&k, &s, "their middles");
    kernel_source_free(&k);
    free_grid(&g);
}

TEST(parts_that_are_no_grid_are_refused) {
    grid g = uneven();
    kernel_source k;
    OWN(image) *img = field_image(&g);
    CHECK_OK(image_set_text(&img->head.part[0], KERNEL_NODE_ATTR, "0.31 0.9", &e));
    CHECK_REFUSED(kernel_field_image(&k, "f", img, &e), ERR_DATA, "6 parts are no grid");
    CHECK_OK(image_set_text(&img->head.part[0], KERNEL_NODE_ATTR, "0 0.9", &e));
    CHECK_REFUSED(kernel_field_image(&k, "f", img, &e), ERR_DATA,
                  "two parts have their node at 0 0.9");
    CHECK_OK(image_set_text(&img->head.part[0], KERNEL_NODE_ATTR, "0,9", &e));
    CHECK_REFUSED(kernel_field_image(&k, "f", img, &e), ERR_DATA, "is '0,9', and must be");
    CHECK_OK(image_set_text(&img->head.part[0], KERNEL_NODE_ATTR, "1 0.9", &e));
    img->head.part[0].aspect = 2;
    CHECK_REFUSED(kernel_field_image(&k, "f", img, &e), ERR_DATA, "different pixel aspects");
    free_grid(&g);
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
