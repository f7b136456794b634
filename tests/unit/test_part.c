/* test_part.c - an image that is bloomed in tiles is the same as one that is bloomed whole: for
 * all borders, sizes from one pixel on, kernels that are larger than the image, one channel or
 * three of the kernel, and each way of cutting the image that the planner chooses for some amount
 * of memory. --verify finds what a tile got wrong. */
#include "bloom/part.h"

#include "base/number.h"
#include "unit/check.h"
#include "unit/glare.h"
#include "unit/make_image.h"
#include "unit/row_files.h"

/* One case: an image, a kernel, and settings. */
typedef struct {
    image *in, *want; /* want: the whole image in float64 */
    bloom_settings s;
    device_pool *devices;
    session *session;
    row_files f;
    rows_source from;
    rows_sink to;
    part_job job;
} tried;

static void open_case(tried *t, image *in, const char *kernel, const bloom_settings *s) {
    *t = (tried){.in = in, .s = *s};
    t->want = glare_truth(in, kernel, s);
    t->devices = MADE(device_pool_open(make_threads(), NULL, 0, &e));
    t->session = MADE(session_open(&t->s, kernel, NULL, t->devices, &e));
    t->f = (row_files){.in = in, .step = 1, .upwards = in->head.part[0].order == LINES_DECREASING};
    t->from = row_files_source(&t->f);
    t->to = row_files_sink(&t->f);
    t->job = (part_job){.s = &t->s,
                        .threads = make_threads(),
                        .session = t->session,
                        .height = image_height(&in->head.part[0]),
                        .came = in->head.part[0].data,
                        .in = &t->from,
                        .out = &t->to};
}

static void tried_close(tried *t) {
    session_close(&t->session);
    device_pool_close(&t->devices);
    image_free(&t->want);
    image_free(&t->in);
}

/* A tile with its transform, and the rows that are held and made. */
static uint64_t bytes_of(void *ctx, const tiling *t) {
    uint64_t rows = 2ull * t->kept[PLAN_Y] + t->before[PLAN_Y] + t->after[PLAN_Y];
    (void)ctx;
    return 40ull * t->tile[PLAN_X] * t->tile[PLAN_Y] + 12 * rows * t->size[PLAN_X];
}

/* What the planner would ask of these tiles. */
static tiling_request request_of(const tried *t) {
    const image_part *p = &t->in->head.part[0];
    uint32_t n = (uint32_t)p->channels;
    tiling_request r = {.rows = t->f.step, .planes = n, .bytes = bytes_of};
    kernel_at k = {
        .need = {
            .channels = n, .w = image_width(p), .h = image_height(p), .height = image_height(p)}};
    CHECK_OK(kernel_at_sketch(&k, &t->s, session_kernel(t->session), &e));
    r.ask = k.ask;
    return r;
}

/* Every pixel of the result is what the whole image has, within the tolerance. */
static void check_result(const tried *t, const tiling *cut) {
    const image_part *p = &t->want->head.part[0];
    for (int c = 0; c < p->channels; c++) {
        int own = image_find_channel(&t->in->head.part[0], p->channel[c].name);
        double dark = own < 0 ? 0 : glare_dark(t->in, own);
        for (size_t i = 0; i < (size_t)image_width(p) * image_height(p); i++) {
            float want, got;
            image_to_float(&want, t->want->plane[0][c], p->channel[c].type, i, 1);
            image_to_float(&got, t->f.out->plane[0][c], p->channel[c].type, i, 1);
            double most = t->s.tolerance * fmax(fabs((double)want), dark),
                   unit = fabs((double)want);
            most += p->channel[c].type == PIXEL_HALF ? 0x1p-10 * unit + 0x1p-24 : 0x1p-22 * unit;
            /* The additive layer has the errors of the image. */
            if (own < 0) most += 1;
            if (!(fabs((double)got - (double)want) <= most))
                fail_msg("%u x %u, borders %d %d, tiles of %u x %u, kept %u x %u: channel %s, "
                         "pixel %zu, "
                         "%zu is %.9g, not %.9g",
                         cut->size[0], cut->size[1], t->s.border[0], t->s.border[1], cut->tile[0],
                         cut->tile[1], cut->kept[0], cut->kept[1], p->channel[c].name,
                         i % image_width(p), i / image_width(p), (double)got, (double)want);
        }
    }
}

/* Blooms with these tiles. */
static void try_tiles(tried *t, const tiling *cut, bloom_report *r) {
    OWN(image_header) head = {0};
    CHECK_OK(image_header_copy(&head, &t->in->head, &e) && part_header(&head.part[0], &t->s, &e));
    t->f.out = image_new(&head, &e);
    t->f.next = t->f.upwards ? image_height(&head.part[0]) : 0;
    t->f.rows = 0;
    t->job.cut = cut;
    part_made made;
    *r = (bloom_report){.sum.promise.tolerance = t->s.tolerance};
    CHECK_OK(part_bloom(&made, &t->job, &e));
    report_add_part(r, &made);
    part_made_free(&made);
    assert_int_equal(t->f.next, t->f.upwards ? 0 : image_height(&head.part[0]));
}

/* Returns the number of transforms. Tiles of which one pixel counts would take minutes. */
static uint64_t turns_of(const tiling *t) {
    return (uint64_t)t->count[PLAN_X] * t->count[PLAN_Y];
}

/* Tries all tilings that are chosen for some amount of memory. */
static int try_all(tried *t) {
    tiling_request r = request_of(t);
    tiling before = {0};
    OWN_MEM bloom_report *report = mem_new(1, sizeof *report, "report", NULL);
    int count = 0;
    for (r.memory = 1 << 26; r.memory > 1 << 10; r.memory = r.memory * 7 / 8) {
        tiling cut = {0};
        if (!tiling_choose(&cut, &r, &e)) break;
        if (turns_of(&cut) > 40 || memcmp(&cut, &before, sizeof cut) == 0) continue;
        before = cut;
        try_tiles(t, &cut, report);
        check_result(t, &cut);
        assert_true(report->sum.promise.method.kept);
        assert_int_equal(report->sum.verified.found.broken, 0);
        /* Each pixel at most once. */
        uint64_t all = (uint64_t)r.ask.size[PLAN_X] * r.ask.size[PLAN_Y] * r.ask.channels;
        assert_true(!t->s.verify || report->sum.verified.found.pixels >= min_u64(t->s.verify, all));
        for (uint32_t i = 0; i < report->ledger_rows; i++)
            CHECK_LE(fabs(ledger_gap(&report->ledger[i])), 1e-6);
        image_free(&t->f.out);
        count++;
    }
    return count;
}

static image *any_image(const char *channels, uint32_t w, uint32_t h, line_order order) {
    image *img = make_image((make_part[]){PART(channels, -3, 5, w, h, .order = order)}, 1);
    img->head.part[0].aspect = 1; /* kernels are scaled by it */
    return img;
}

static bloom_settings settings_of(plan_border x, plan_border y) {
    bloom_settings s = glare_settings("cpu");
    s.border[PLAN_X] = x;
    s.border[PLAN_Y] = y;
    s.tolerance = 1e-4;
    s.verify = 20;
    return s;
}

TEST(all_borders_and_sizes) {
    static const uint32_t SIZE[][2] = {{61, 47}, {9, 150}, {150, 9}, {1, 1},
                                       {2, 3},   {33, 1},  {1, 40}};
    enum { SIZES = COUNT(SIZE) };
    int count = 0;
    for (int x = 0; x < BORDERS; x++)
        for (int y = 0; y < BORDERS; y++)
            for (int i = 0; i < SIZES; i++) {
                /* Even and odd, one channel or three, smaller than the image and larger. */
                bool three = (x + y + i) % 2, large = (x + i) % 3 == 0;
                const char *kernel = glare_kernel("kernel.exr", glare_lopsided, large ? 70 : 21,
                                                  large ? 53 : 16,
                                                  three ? "R:float G:float B:float" : "R:float");
                OPEN(tried) t;
                bloom_settings s = settings_of((plan_border)x, (plan_border)y);
                open_case(
                    &t,
                    any_image("R:float G:float B:float", SIZE[i][0], SIZE[i][1], LINES_INCREASING),
                    kernel, &s);
                count += try_all(&t);
            }
    print_message("%d tilings\n", count);
    assert_true(count > 150);
}

TEST(all_options) {
    int count = 0;
    for (int i = 0; i < 10; i++) {
        OPEN(tried) t;
        bloom_settings s = settings_of(BORDER_ZERO, i % 2 ? BORDER_MIRROR : BORDER_ZERO);
        s.sharpen = i == 1 ? 0.4 : 0;
        s.threshold = i == 2 ? 0.5 : 0;
        s.knee = i == 2 ? 0.2 : 0;
        s.emit_layer = i == 3 || i == 4 ? "glow" : NULL;
        s.emit = i == 4 ? EMIT_ADDITIVE : EMIT_GLARE;
        s.precision = i == 5 ? PRECISION_FLOAT64 : PRECISION_AUTO;
        s.alpha = i == 6 ? ALPHA_CONVOLVE : ALPHA_KEEP;
        s.order = i == 7 ? AXIS_Y : AXIS_AUTO;
        s.per_layer = i == 9 ? "rgba:sharpen=0.3,rgba:threshold=0.4" : NULL;
        const char *channels = i == 6   ? "R:float G:float B:float A:float"
                               : i == 8 ? "R:half G:half B:half"
                                        : "R:float G:float B:float";
        const char *kernel = glare_kernel("kernel.exr", glare_lopsided, 33, 40,
                                          i % 2 ? "R:float" : "R:float G:float B:float");
        open_case(&t, any_image(channels, 70, 64, i % 3 ? LINES_INCREASING : LINES_DECREASING),
                  kernel, &s);
        t.f.step = i % 2 ? 16 : 1;
        count += try_all(&t);
    }
    print_message("%d tilings\n", count);
    assert_true(count > 15);
}

/* A row that one band reads wrongly is no mistake of the tile's own, but --verify reads the file.
 */
TEST(verify_sees_what_tiles_do_not) {
    OPEN(tried) t;
    bloom_settings s = settings_of(BORDER_ZERO, BORDER_ZERO);
    s.verify = 50;
    open_case(&t, any_image("R:float G:float B:float", 64, 64, LINES_INCREASING),
              glare_kernel("kernel.exr", glare_lopsided, 17, 17, "R:float"), &s);
    tiling_request r = request_of(&t);
    tiling cut = {0};
    OWN_MEM bloom_report *report = mem_new(1, sizeof *report, "report", &e);
    for (r.memory = 1 << 26; !cut.cut[PLAN_Y]; r.memory = r.memory * 15 / 16)
        CHECK_OK(tiling_choose(&cut, &r, &e));
    try_tiles(&t, &cut, report);
    assert_int_equal(report->sum.verified.found.broken, 0);
    image_free(&t.f.out);
    t.f.wrong = 10;
    t.f.right = 64; /* the first reading measures the image */
    try_tiles(&t, &cut, report);
    assert_true(report->sum.verified.found.broken > 0);
    image_free(&t.f.out);
}

/* What follows from a size is made once: 0 and -0 are the same strength, and the same primaries. */
TEST(a_size_is_made_once) {
    OPEN(tried) t;
    bloom_settings s = settings_of(BORDER_ZERO, BORDER_ZERO);
    open_case(&t, any_image("R:float G:float B:float", 64, 64, LINES_INCREASING),
              glare_kernel("kernel.exr", glare_lopsided, 17, 17, "R:float"), &s);
    kernel_sizes *all = session_sizes(t.session);
    kernel_need need = {.channels = 3, .w = 64, .h = 64, .height = 64}, other = need;
    other.sharpen = -0.0;
    for (int i = 0; i < 8; i++) other.primaries[i] = -0.0f;
    const kernel_at *a = kernel_sizes_take(all, &need, (plan_planes){0}, &e);
    CHECK_OK(a);
    const kernel_at *b = kernel_sizes_take(all, &other, (plan_planes){0}, &e);
    assert_ptr_equal(a, b);
    assert_null(kernel_sizes_begin(all, &other, (plan_planes){0}));
    other.sharpen = 0.5;
    const kernel_at *c = kernel_sizes_begin(all, &other, (plan_planes){0});
    assert_non_null(c);
    assert_ptr_not_equal(a, c);
    kernel_sizes_end(all, c);
    kernel_sizes_give(all, a);
    kernel_sizes_give(all, b);
    kernel_sizes_give(all, c);
}

RUN_TESTS(NULL, NULL)
