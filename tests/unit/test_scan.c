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
    return (scan_request){W, H, CHANNELS, p->list, p->type, true};
}

static scan scan_of(const scan_request *r, par *threads) {
    scan s;
    CHECK_OK(scan_make(&s, r, threads, &e));
    return s;
}

TEST(matches_plain_loops) {
    OWN_HEAP planes *p = make_planes();
    scan_request r = request_of(p);
    OWN(scan) s = scan_of(&r, make_threads());
    for (int c = 0; c < CHANNELS; c++) {
        const scan_channel *got = &s.channel[c];
        double sum = 0, squares = 0, size = 0;
        float least = INFINITY, greatest = -INFINITY;
        static uint64_t count[SCAN_BINS];
        memset(count, 0, sizeof count);
        for (int i = 0; i < W * H; i++) {
            float v = p->plane[c][i];
            sum += v, squares += (double)v * v, size += fabs(v);
            least = fminf(least, v), greatest = fmaxf(greatest, v);
            uint32_t b = 0;
            while (!(fabsf(v) < scan_bin_floor(b + 1))) b++;
            count[b]++;
        }
        CHECK_LE(fabs(got->sum - sum), 10 * 0x1p-24 * size); /* floats were added up in part */
        CHECK_LE(fabs(got->squares - squares), 10 * 0x1p-24 * squares);
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

/* Without histograms all else is the same, bit by bit. */
TEST(histograms_change_nothing_else) {
    OWN_HEAP planes *p = make_planes();
    scan_request r = request_of(p);
    OWN(scan) with = scan_of(&r, make_threads());
    r.histogram = false;
    OWN(scan) without = scan_of(&r, make_threads());
    for (int c = 0; c < CHANNELS; c++) {
        const scan_channel *a = &with.channel[c], *b = &without.channel[c];
        assert_true(a->count && !b->count);
        assert_true(a->sum == b->sum && a->squares == b->squares && a->pixels == W * H);
        assert_true(a->least == b->least && a->greatest == b->greatest);
        assert_true(scan_median(a->count) > 0 && scan_median(b->count) == 0);
    }
}

/* Both ways of adding up, of halfs and floats: against plain loops. Up to 16 floats
 * are added before a double takes their sum. */
TEST(sums_match_plain_loops) {
    const double rounding = 10 * 0x1p-24;
    OWN_HEAP planes *p = make_planes();
    static uint16_t halfs[W * H];
    for (int i = 0; i < W * H; i++)
        p->plane[1][i] = half_to_float(half_from_float((float)(i % 777)));
    half_from_floats(halfs, p->plane[1], W * H);
    for (int i = 0; i < W * H; i++) p->plane[2][i] *= 1e-30f; /* squares are no floats */
    p->list[1] = halfs;
    p->type[1] = PIXEL_HALF;
    scan_request r = request_of(p);
    r.histogram = false;
    OWN(scan) s = scan_of(&r, make_threads());
    for (int c = 0; c < CHANNELS; c++) {
        const scan_channel *a = &s.channel[c];
        double sum = 0, squares = 0, size = 0;
        for (int i = 0; i < W * H; i++) {
            double v = (double)p->plane[c][i];
            sum += v, squares += v * v, size += fabs(v);
        }
        CHECK_LE(fabs(a->sum - sum), rounding * size);
        CHECK_LE(fabs(a->squares - squares), rounding * squares);
    }
}

TEST(bins_and_median) {
    static const float V[] = {0, 1e-40f, 1e-30f, 0.1f, 1, 1.2f, 65504, 3.4e38f, -5};
    for (size_t i = 0; i < sizeof V / sizeof V[0]; i++) {
        uint32_t b = scan_bin(V[i]);
        assert_true(b < SCAN_BINS);
        CHECK_LE(scan_bin_floor(b), fabsf(V[i]));
        assert_true(fabsf(V[i]) < scan_bin_floor(b + 1));
    }
    assert_true(isinf(scan_bin_floor(SCAN_BINS)));
    float dark[100] = {0};
    const void *list = dark;
    pixel_type type = PIXEL_FLOAT;
    scan_request r = {10, 10, 1, &list, &type, true};
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

TEST(repair_takes_the_nearest_ring) {
    enum { SW = 31, SH = 23 };
    static const int SHARE[] = {1, 40, 95, 100}; /* per cent of bad pixels */
    for (int k = 0; k < 4; k++) {
        float v[SW * SH], got[SW * SH];
        uint64_t seed = 11;
        for (int i = 0; i < SW * SH; i++) {
            v[i] = (float)(make_random(&seed) % 1000) / 8;
            if ((int)(make_random(&seed) % 100) < SHARE[k]) v[i] = i & 1 ? NAN : INFINITY;
        }
        double added, sum = 0;
        memcpy(got, v, sizeof v);
        CHECK_OK(repair_plane(&added, &(repair_request){got, PIXEL_FLOAT, SW, SH, true, 0, 0},
                              make_threads(), &e));
        for (int i = 0; i < SW * SH; i++) {
            float want = isfinite(v[i]) ? v[i] : slow_neighbours(v, SW, SH, i % SW, i / SW);
            CHECK_LE(fabsf(got[i] - want), 1e-6f * want);
            sum += isfinite(v[i]) ? 0 : (double)got[i];
        }
        CHECK_LE(fabs(added - sum), 1e-12 * sum);
        memcpy(got, v, sizeof v);
        CHECK_OK(repair_plane(&added, &(repair_request){got, PIXEL_FLOAT, SW, SH, false, 0, 0},
                              make_threads(), &e));
        assert_true(added == 0);
        for (int i = 0; i < SW * SH; i++) assert_true(got[i] == (isfinite(v[i]) ? v[i] : 0));
    }
    uint16_t half[4] = {half_from_float(2), 0x7e00, 0x7c00, half_from_float(4)};
    double added;
    CHECK_OK(repair_plane(&added, &(repair_request){half, PIXEL_HALF, 4, 1, true, 0, 0},
                          make_threads(), &e));
    assert_true(half_to_float(half[1]) == 2 && half_to_float(half[2]) == 4 && added == 6);
}

RUN_TESTS(NULL, NULL)
