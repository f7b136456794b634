/* test_scan.c - the one pass over an image's planes: against plain loops, for any number of
 * threads, and the repair of bad pixels. */
#include "image/repair.h"
#include "image/scan.h"

#include "unit/check.h"
#include "unit/make_image.h"

#include "base/half.h"

enum { W = 203, H = 117, CHANNELS = 3 };

static float random_value(uint64_t *seed) { /* of some thirty octaves, either sign */
    uint64_t r = make_random(seed);
    float v = ldexpf((float)(r >> 40), (int)(r & 31) - 40);
    return r & 32 ? -v : v;
}

typedef struct {
    float plane[CHANNELS][W * H];
    const void *list[CHANNELS];
    pixel_type type[CHANNELS];
} planes;

static planes *make_planes(void) {
    planes *p = calloc(1, sizeof *p);
    uint64_t seed = 7;
    for (int c = 0; c < CHANNELS; c++) {
        p->list[c] = p->plane[c];
        p->type[c] = PIXEL_FLOAT;
        for (int i = 0; i < W * H; i++) p->plane[c][i] = random_value(&seed);
    }
    return p;
}

static scan_request request_of(const planes *p) {
    return (scan_request){.w = W, .h = H, .channels = CHANNELS, .plane = p->list, .type = p->type};
}

static scan scan_of(const scan_request *r, par *threads) {
    scan s;
    CHECK_OK(scan_make(&s, r, threads, &e));
    return s;
}

/* Up to 16 floats are added before a double takes their sum. */
static void check_sums(const scan_channel *got, const float *v) {
    double sum = 0, squares = 0, size = 0;
    for (int i = 0; i < W * H; i++)
        sum += (double)v[i], squares += (double)v[i] * (double)v[i], size += fabs((double)v[i]);
    CHECK_LE(fabs(got->sum - sum), 10 * 0x1p-24 * size);
    CHECK_LE(fabs(got->squares - squares), 10 * 0x1p-24 * squares);
}

/* Of floats, of halfs, and of floats whose squares are none. */
TEST(matches_plain_loops) {
    OWN_HEAP planes *p = make_planes();
    static uint16_t halfs[W * H];
    for (int i = 0; i < W * H; i++) {
        halfs[i] = half_from_float((float)(i % 777));
        p->plane[1][i] = half_to_float(halfs[i]);
        p->plane[2][i] *= 1e-30f;
    }
    p->list[1] = halfs;
    p->type[1] = PIXEL_HALF;
    scan_request r = request_of(p);
    OWN(scan) s = scan_of(&r, make_threads());
    for (int c = 0; c < CHANNELS; c++) {
        const scan_channel *got = &s.channel[c];
        float least = INFINITY, greatest = -INFINITY;
        static uint64_t count[SCAN_BINS];
        memset(count, 0, sizeof count);
        for (int i = 0; i < W * H; i++) {
            float v = p->plane[c][i];
            least = fminf(least, v), greatest = fmaxf(greatest, v);
            uint32_t b = 0;
            while (!(fabsf(v) < scan_bin_floor(b + 1))) b++;
            count[b]++;
        }
        check_sums(got, p->plane[c]);
        assert_true(got->pixels == W * H && scan_median(got->count) > 0);
        assert_true(got->least == least && got->greatest == greatest);
        assert_memory_equal(got->count, count, sizeof count);
    }
}

/* Bit by bit. */
TEST(is_the_same_on_any_number_of_threads) {
    OWN_HEAP planes *p = make_planes();
    scan_request r = request_of(p);
    OPEN(par) *one = par_open(1, &e);
    OWN(scan) first = scan_of(&r, one);
    for (int threads = 2; threads <= 4; threads++) {
        OPEN(par) *t = par_open(threads, &e);
        OWN(scan) s = scan_of(&r, t);
        for (int c = 0; c < CHANNELS; c++)
            assert_memory_equal(&s.channel[c].sum, &first.channel[c].sum, 2 * sizeof(double));
    }
}

TEST(bins_and_median) {
    static const float V[] = {0, 1e-40f, 1e-30f, 0.1f, 1, 1.2f, 65504, 3.4e38f, -5};
    for (size_t i = 0; i < COUNT(V); i++) {
        uint32_t b = scan_bin(V[i]);
        assert_true(b < SCAN_BINS);
        CHECK_LE(scan_bin_floor(b), fabsf(V[i]));
        assert_true(fabsf(V[i]) < scan_bin_floor(b + 1));
    }
    assert_true(isinf(scan_bin_floor(SCAN_BINS)));
    float dark[100] = {0};
    const void *list = dark;
    pixel_type type = PIXEL_FLOAT;
    scan_request r = {.w = 10, .h = 10, .channels = 1, .plane = &list, .type = &type};
    OWN(scan) s = scan_of(&r, make_threads());
    assert_true(scan_median(s.channel[0].count) == 0 && s.channel[0].greatest == 0);
    scan_free(&s);
    for (int i = 0; i < 51; i++) dark[i] = i < 25 ? 1e-3f : i == 25 ? 0.5f : 700;
    s = scan_of(&r, make_threads());
    double median = scan_median(s.channel[0].count);
    CHECK_LE(fabs(log2(median / 0.5)), 1 / 8.0);
}

TEST(bad_pixels_are_found) {
    OWN_HEAP planes *p = make_planes();
    p->plane[0][5] = NAN;
    p->plane[1][3 * W + 7] = INFINITY;
    p->plane[1][110 * W + 200] = -INFINITY;
    for (int i = 0; i < 20; i++) p->plane[2][(4 + i) * W] = NAN;
    scan_request r = request_of(p);
    OWN(scan) s = scan_of(&r, make_threads());
    assert_int_equal(s.bad, 23);
    assert_int_equal(s.channel[1].bad, 2);
    const scan_bad *b = s.first;
    assert_true(b[0].channel == 0 && b[0].x == 5 && b[0].y == 0 && isnan(b[0].value));
    assert_true(b[1].channel == 1 && b[1].x == 7 && b[1].y == 3 && b[1].value == INFINITY);
    assert_true(b[2].x == 200 && b[2].y == 110 && b[2].value == -INFINITY);
    for (uint32_t i = 3; i < SCAN_BAD; i++)
        assert_true(b[i].channel == 2 && b[i].x == 0 && b[i].y == 1 + i);
    assert_true(isfinite(s.channel[1].sum) && isfinite(s.channel[2].squares));
}

/* The mean of the nearest ring, found by asking every pixel. */
static float slow_neighbours(const float *v, int w, int h, int x, int y) {
    for (int d = 1; d < w + h; d++) {
        double sum = 0;
        int n = 0;
        for (int j = 0; j < h; j++)
            for (int i = 0; i < w; i++) {
                int away = abs(i - x) > abs(j - y) ? abs(i - x) : abs(j - y);
                if (away != d || !isfinite(v[j * w + i])) continue;
                sum += v[j * w + i];
                n++;
            }
        if (n) return (float)(sum / n);
    }
    return 0;
}

/* Rows of a plane in memory. */
typedef struct {
    const float *v;
    uint32_t w, most; /* the most rows that were read at once */
} plane;

static bool read_rows(void *ctx, float *to, uint32_t row, uint32_t rows, err *bad) {
    plane *p = ctx;
    (void)bad;
    memcpy(to, p->v + (size_t)row * p->w, (size_t)p->w * rows * sizeof *to);
    p->most = rows > p->most ? rows : p->most;
    return true;
}

/* All rows at once, and one or five at a time: neighbours may be beyond the rows at hand. */
TEST(repairs_take_the_nearest_ring) {
    enum { SW = 31, SH = 23 };
    static const int SHARE[] = {0, 1, 40, 95, 99, 100}; /* per cent of bad pixels */
    static const uint32_t SOME[] = {SH, 1, 5};
    for (int k = 0; k < 6 * 3; k++) {
        float v[SW * SH], got[SW * SH];
        uint64_t seed = 11;
        for (int i = 0; i < SW * SH; i++) {
            v[i] = (float)(make_random(&seed) % 1000) / 8;
            if ((int)(make_random(&seed) % 100) < SHARE[k / 3]) v[i] = NAN;
        }
        double sum = 0;
        plane own = {v, SW, 0};
        repairs r;
        memcpy(got, v, sizeof v);
        CHECK_OK(repairs_find(
            &r,
            &(repair_plane){
                SW, SH, SOME[k % 3], {0, 0, SW - 1, SH - 1}, PIXEL_FLOAT, read_rows, &own},
            make_threads(), &e));
        for (uint32_t y = 0; y < SH; y += 3)
            repairs_put(&r, got + y * SW, PIXEL_FLOAT, SW, y, y + 3 < SH ? 3 : SH - y);
        for (int i = 0; i < SW * SH; i++) {
            float want = isfinite(v[i]) ? v[i] : slow_neighbours(v, SW, SH, i % SW, i / SW);
            if (SHARE[k / 3] == 100) continue;
            CHECK_LE(fabsf(got[i] - want), 1e-6f * want);
            sum += isfinite(v[i]) ? 0 : (double)got[i];
        }
        CHECK_LE(fabs(r.added - sum), 1e-12 * sum);
        if (SHARE[k / 3] == 100 || SHARE[k / 3] == 0) assert_true(r.count == 0);
        if (SHARE[k / 3] == 0) assert_int_equal(own.most, SOME[k % 3]);
        repairs_free(&r);
    }
    /* They are as the type holds them. */
    const float row[4] = {2049.5f, NAN, 2048, 2048};
    repairs r;
    const repair_plane one = {4, 1, 1, {0, 0, 3, 0}, PIXEL_HALF, read_rows, &(plane){row, 4, 0}};
    CHECK_OK(repairs_find(&r, &one, make_threads(), &e));
    uint16_t half[4] = {half_from_float(2), 0x7e00, 0x7c00, half_from_float(4)};
    repairs_put(&r, half, PIXEL_HALF, 4, 0, 1);
    assert_true(half_to_float(half[1]) == 2048 && half[2] == 0x7c00);
    assert_true(r.count == 1 && r.added == 2048);
    repairs_free(&r);
}

/* Bad pixels under a mask of 0 count as 0, and not as bad. Rows may be scanned apart. */
TEST(scans_add_up_and_leave_out_a_mask) {
    OWN_HEAP planes *p = make_planes();
    static float mask[W * H];
    for (int i = 0; i < W * H; i++) mask[i] = (float)(i % 3) / 2;
    p->plane[1][6] = NAN;      /* the mask is 0 */
    p->plane[1][7] = INFINITY; /* and is not */
    p->plane[2][50 * W] = NAN;
    mask[50 * W] = 0.1f;
    scan_request r = request_of(p);
    r.mask = mask;
    OWN(scan) all = scan_of(&r, make_threads()), sum = {0};
    assert_true(all.hidden && all.bad == 2 && all.channel[1].bad == 1 && all.channel[2].bad == 1);
    assert_true(all.first[0].x == 7 && all.first[0].y == 0);
    for (uint32_t y = 0; y < H; y += 40) {
        const void *plane[CHANNELS];
        for (int c = 0; c < CHANNELS; c++) plane[c] = p->plane[c] + (size_t)y * W;
        scan_request some = r;
        some.h = H - y < 40 ? H - y : 40;
        some.plane = plane;
        some.mask = mask + (size_t)y * W;
        scan rows = scan_of(&some, make_threads());
        scan_add(&sum, &rows);
    }
    assert_true(sum.hidden && sum.bad == 2);
    for (int c = 0; c < CHANNELS; c++) {
        const scan_channel *a = &sum.channel[c], *b = &all.channel[c];
        assert_true(a->pixels == b->pixels && a->bad == b->bad);
        assert_true(a->least == b->least && a->greatest == b->greatest);
        CHECK_LE(fabs(a->squares - b->squares), 1e-5 * b->squares);
        assert_memory_equal(a->count, b->count, SCAN_BINS * sizeof *a->count);
        assert_memory_equal(a->below, b->below, SCAN_BINS * sizeof *a->below);
    }
}

static void times_place(const void *ctx, float *v, size_t first, size_t n) {
    for (size_t i = 0; i < n; i++) v[i] *= ((const float *)ctx)[first + i];
}

/* What is measured in place of the pixels is what planes of it would be, also of halfs. */
TEST(changed_pixels) {
    OWN_HEAP planes *p = make_planes(), *q = make_planes();
    OWN_HEAP uint16_t *half = calloc(W * H, sizeof *half);
    float by[W * H];
    for (int i = 0; i < W * H; i++) {
        by[i] = (float)(i % 7) / 4;
        half[i] = half_from_float(p->plane[1][i]);
        q->plane[1][i] = half_to_float(half[i]);
        for (int c = 0; c < CHANNELS; c++) q->plane[c][i] *= by[i];
    }
    p->list[1] = half;
    p->type[1] = PIXEL_HALF;
    scan_request r = request_of(p), want_r = request_of(q);
    r.change = times_place;
    r.ctx = by;
    OWN(scan) got = scan_of(&r, make_threads());
    OWN(scan) want = scan_of(&want_r, make_threads());
    for (int c = 0; c < CHANNELS; c++) {
        const scan_channel *a = &got.channel[c], *b = &want.channel[c];
        assert_true(a->sum == b->sum && a->squares == b->squares);
        assert_true(a->least == b->least && a->greatest == b->greatest);
        assert_memory_equal(a->count, b->count, SCAN_BINS * sizeof *a->count);
    }
}

RUN_TESTS(NULL, NULL)
