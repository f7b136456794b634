/* The shipped recipes, by what a person sees in them: each kernel blooms white lamps that are 1, 4
 * and 40 pixels wide, of which the one of 4 has 32000 times the light of a white pixel. A step is
 * the first of 8 bits in sRGB, 3e-4 of white. Rings and rays are looked at in kernels of half the
 * size, with a lamp of a quarter of the light.
 *
 * What a kernel is meant to have stands in its recipe, as "is": "ring" (it has rings: it may get
 * brighter outwards, and its colours may alternate), "spikes" (its core is no round spot), "tint"
 * (its light has a colour of its own), "even" (its arms are equal, as a telescope's are).
 * Noise against banding and light at the border are not the kernels' own: test_png and look.bats
 * have these two. */
#include "base/hash.h"
#include "kernel/lint.h"
#include "kernel/make/field_recipe.h"
#include "kernel/make/kernel_recipe.h"
#include "unit/check.h"
#include "unit/wrong.h"

#include <glob.h>

enum { DIRECTIONS = 360, RADII = 120, KERNELS = 20, FACE = 64 };
static const double STEP = 3e-4, SEEN = 3e-3;

typedef struct {
    const char *path;
    kernel_recipe r;
    image *img;
    const float *plane[MODEL_CHANNELS]; /* R, G, B of the image */
    double *lit[MODEL_CHANNELS];        /* what a lamp becomes */
    uint32_t channels;
    int lamp; /* its width */
    char is[64];
} look;

static bool is(const look *k, const char *word) {
    return strstr(k->is, word) != NULL;
}

static double tap(const look *k, uint32_t c, int64_t x, int64_t y) {
    bool in = x >= 0 && y >= 0 && x < k->r.w && y < k->r.h;
    return in ? (double)k->plane[c][(size_t)y * k->r.w + (size_t)x] : 0;
}

static look make(const char *path, double scale, par *threads) {
    look k = {.path = path};
    CHECK_OK(kernel_recipe_file(&k.r, path, &e));
    CHECK_OK(kernel_recipe_scale(&k.r, scale, &e));
    CHECK_OK(k.img = kernel_recipe_make(&k.r, threads, &e));
    k.channels = (uint32_t)k.img->head.part[0].channels;
    for (uint32_t c = 0; c < k.channels; c++) k.plane[c] = k.img->plane[0][k.channels - 1 - c];
    char words[8192] = "";
    FILE *f = fopen(path, "r");
    assert_true(f && fread(words, 1, sizeof words - 1, f) > 0);
    fclose(f);
    const char *at = strstr(words, "\"is\": \"");
    if (at) sscanf(at + 7, "%63[^\"]", k.is);
    for (uint32_t c = 0; c < k.channels; c++)
        k.lit[c] = calloc((size_t)k.r.w * k.r.h, sizeof(double));
    return k;
}

/* Lights a round lamp, or a square one of up to 12 pixels; `light` is the sum over its pixels. The
 * middle of an even lamp lies half a pixel before the middle tap. Runs of a row are differences of
 * sums. */
static void shine(look *k, int side, double light) {
    int64_t w = k->r.w, h = k->r.h;
    double pixels = 0, *sums = calloc((size_t)w + 1, sizeof *sums);
    k->lamp = side;
    for (int pass = 0; pass < 2; pass++)
        for (int row = 0; row < side; row++) {
            double at = row - (side - 1) / 2.0, half = side / 2.0;
            int64_t wide = side <= 12 ? side : 2 * (int64_t)sqrt(fmax(half * half - at * at, 0));
            if (!pass) pixels += (double)wide;
            for (uint32_t c = 0; pass && c < k->channels; c++)
                for (int64_t y = 0; y < h; y++) {
                    double *to = k->lit[c] + y * w;
                    if (row == 0) memset(to, 0, (size_t)w * sizeof *to);
                    int64_t from = y - row + side / 2, before = wide / 2;
                    if (from < 0 || from >= h) continue;
                    const float *in = k->plane[c] + from * w;
                    for (int64_t x = 0; x < w; x++) sums[x + 1] = sums[x] + (double)in[x];
                    for (int64_t x = 0; x < w; x++) {
                        int64_t a = x - (wide - 1 - before), b = x + before + 1;
                        to[x] += light / pixels * (sums[b < w ? b : w] - sums[a > 0 ? a : 0]);
                    }
                }
        }
    free(sums);
}

static void look_free(look *k) {
    image_free(&k->img);
    for (int c = 0; c < MODEL_CHANNELS; c++) free(k->lit[c]);
    kernel_recipe_free(&k->r);
}

/* Returns the light at a distance and direction from the lamp's middle. */
static double lit_at(const look *k, uint32_t c, double r, double a) {
    double off = k->lamp % 2 ? 0 : 0.5;
    double x = k->r.w / 2 - off + r * cos(a), y = k->r.h / 2 - off + r * sin(a);
    double fx = x - floor(x), fy = y - floor(y);
    if (x < 0 || y < 0 || x >= k->r.w - 1 || y >= k->r.h - 1) return 0;
    const double *at = k->lit[c] + (size_t)y * k->r.w + (size_t)x;
    return (1 - fy) * ((1 - fx) * at[0] + fx * at[1]) +
           fy * ((1 - fx) * at[k->r.w] + fx * at[k->r.w + 1]);
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts what a ring has; v[DIRECTIONS / 2] is its median. */
static void ring_of(const look *k, uint32_t c, double r, double v[DIRECTIONS]) {
    for (int d = 0; d < DIRECTIONS; d++) v[d] = lit_at(k, c, r, 2 * M_PI * d / DIRECTIONS);
    qsort(v, DIRECTIONS, sizeof *v, rising);
}

static double median(const look *k, uint32_t c, double r) {
    double v[DIRECTIONS];
    ring_of(k, c, r, v);
    return v[DIRECTIONS / 2];
}

/* The largest distance that has a whole ring. */
static double reach(const look *k) {
    return 0.96 * (k->r.w < k->r.h ? k->r.w : k->r.h) / 2 - 2;
}

/* --- the checks ------------------------------------------------------------------------------ */

/* 1. A single pixel does not stay a square: its neighbours have a ninth of its light or more. */
static void check_core(const look *k) {
    int64_t x = k->r.w / 2, y = k->r.h / 2;
    for (uint32_t c = 0; c < k->channels; c++) {
        double beside = tap(k, c, x - 1, y) + tap(k, c, x + 1, y) + tap(k, c, x, y - 1) +
                        tap(k, c, x, y + 1);
        double part = beside / 4 / tap(k, c, x, y);
        if (!(part >= 0.11))
            wrong("%s: channel %u: the neighbours have only %.3f of the middle", k->path, c, part);
    }
}

/* Returns where the light falls to a part of the middle's, on average over four directions. */
static double contour(const look *k, uint32_t c, double part, double first) {
    double sum = 0, middle = lit_at(k, c, 0, 0);
    for (int i = 0; i < 4; i++) {
        double r = 0.25, a = first + M_PI / 2 * i;
        while (r < reach(k) && lit_at(k, c, r, a) > part * middle) r += 0.02;
        sum += r / 4;
    }
    return sum;
}

/* 1. The lamp of 4 pixels, which is a square, is none where it ends: on the diagonals it is hardly
 * wider than along the axes. A square has 1.41; the rays of an iris make up to 1.12. */
static void check_contour(const look *k) {
    static const double PART[] = {0.1, 0.01}, MOST[] = {1.15, 1.15};
    for (uint32_t c = 0; c < k->channels && !is(k, "spikes"); c++)
        for (int i = 0; i < 2; i++) {
            double wide = contour(k, c, PART[i], M_PI / 4) / contour(k, c, PART[i], 0);
            if (!(wide <= MOST[i]))
                wrong("%s: channel %u: a lamp is a square: %.2f at %g", k->path, c, wide, PART[i]);
        }
}

/* 2. No dark gap: rings get darker outwards. 3. No visible end: none falls faster than r^-8, and no
 * ray of more than four steps falls faster than r^-12 over half as much again: 10 is what the fade
 * to the border makes, which is smooth over that third of the way. */
static void check_rings(const look *k) {
    double most = reach(k), from = k->lamp / 2.0 + 2, ratio = pow(most / from, 1.0 / RADII);
    double gap = 1, end = 0, ray = 0, inner = from + k->lamp / 2.0 + 5;
    for (uint32_t c = 0; c < k->channels; c++) {
        double lowest = INFINITY, v[DIRECTIONS], w[DIRECTIONS];
        for (int i = 0; i < RADII; i++) {
            double r = from * pow(ratio, i);
            ring_of(k, c, r, v);
            double now = v[DIRECTIONS / 2], brightest = v[DIRECTIONS - 1];
            if (brightest < STEP) break; /* a thin ray of a few steps has no end that one sees */
            if (now >= STEP) gap = fmax(gap, now / lowest), lowest = fmin(lowest, now);
            if (r < inner) continue;
            ring_of(k, c, 1.2 * r, w);
            if (1.2 * r < most && now >= STEP)
                end = fmax(end, log(now / w[DIRECTIONS / 2]) / log(1.2));
            if (1.5 * r < most && brightest >= 4 * STEP) {
                ring_of(k, c, 1.5 * r, w);
                ray = fmax(ray, log(brightest / w[DIRECTIONS - 1]) / log(1.5));
            }
        }
    }
    if (!is(k, "ring") && !(gap <= 1.05))
        wrong("%s: a ring is %.2f times as bright as one within", k->path, gap);
    if (!(end <= 8)) wrong("%s: the glow of a lamp of %d ends as r^-%.1f", k->path, k->lamp, end);
    if (!(ray <= 12)) wrong("%s: the rays of a lamp of %d end as r^-%.1f", k->path, k->lamp, ray);
}

/* Returns how far a lamp `times` as strong is seen, in its brightest direction. */
static double seen_to(const look *k, double times) {
    double v[DIRECTIONS], r = k->lamp / 2.0 + 1;
    for (; r < reach(k); r *= 1.02) {
        ring_of(k, k->channels > 1, r, v);
        if (v[DIRECTIONS - 1] * times < SEEN) break;
    }
    return r;
}

/* 4. Strength makes length: a lamp that is ten times as strong is seen half as far again. It is
 * compared where both fit. */
static void check_growth(const look *k) {
    double times = 1;
    while (times > 1e-6 && seen_to(k, times) >= 0.9 * reach(k)) times /= 2;
    double grow = seen_to(k, times) / seen_to(k, times / 10);
    if (!(grow >= 1.5)) wrong("%s: ten times the light reaches %.2f times as far", k->path, grow);
}

/* 5. No rainbow: rings do not change between reddish and bluish, and have little colour. */
static void check_colour(const look *k) {
    double most = 0, ratio = pow(reach(k) / 4, 1.0 / RADII);
    int flips = 0, now = 0;
    for (int i = 0; i < RADII && k->channels > 1; i++) {
        double r = 4 * pow(ratio, i), low = INFINITY, high = 0, v[MODEL_CHANNELS];
        for (uint32_t c = 0; c < k->channels; c++) {
            v[c] = median(k, c, r);
            low = fmin(low, v[c]), high = fmax(high, v[c]);
        }
        if (low < STEP) break;
        if (high > 1) continue; /* white on a screen */
        int is_red = v[0] > 1.15 * v[2] ? 1 : v[2] > 1.15 * v[0] ? -1 : 0;
        flips += is_red && now && is_red != now;
        if (is_red) now = is_red;
        most = fmax(most, 1 - low / high);
    }
    if (!is(k, "tint") && !(most <= 0.45))
        wrong("%s: rings have the saturation %.2f", k->path, most);
    if (!is(k, "ring") && !is(k, "tint") && flips)
        wrong("%s: rings change their colour %d times", k->path, flips);
}

/* 6. Arms of a filter or an iris are not equal. An arm is a peak that is half as high again as what
 * lies 8 degrees from it. Kernels of many needles have no arms. */
static void check_arms(const look *k) {
    double v[DIRECTIONS], sum = 0, square = 0, r = 0.08 * reach(k) + k->lamp;
    int arms = 0;
    for (int d = 0; d < DIRECTIONS; d++)
        v[d] = lit_at(k, k->channels > 1, r, 2 * M_PI * d / DIRECTIONS);
    for (int d = 0; d < DIRECTIONS; d++) {
        bool peak = true;
        for (int i = -5; i <= 5; i++) peak = peak && v[d] >= v[(d + i + DIRECTIONS) % DIRECTIONS];
        double beside = (v[(d + 8) % DIRECTIONS] + v[(d + DIRECTIONS - 8) % DIRECTIONS]) / 2;
        if (!peak || v[d] < 1.5 * beside) continue;
        arms++, sum += v[d], square += v[d] * v[d];
    }
    if (arms < 4 || arms > 20) return;
    double mean = sum / arms, differ = sqrt(fmax(square / arms - mean * mean, 0)) / mean;
    if (!is(k, "even") && !(differ >= 0.03 && differ <= 0.5))
        wrong("%s: %d arms differ by %.3f of their mean", k->path, arms, differ);
}

/* 7. The square does not show: no outermost tap makes half a step of a lamp of 1e5. */
static void check_border(const look *k) {
    for (uint32_t c = 0; c < k->channels; c++)
        for (int64_t i = 0; i < (int64_t)k->r.w * k->r.h; i++) {
            int64_t x = i % k->r.w, y = i / k->r.w;
            if (x > 0 && y > 0 && x < k->r.w - 1 && y < k->r.h - 1) continue;
            if (tap(k, c, x, y) * 1e5 > STEP / 2)
                wrong("%s: the border shows at %d, %d", k->path, (int)x, (int)y);
        }
}

/* What a screen shows around the lamp, every second pixel. */
typedef float face[FACE][FACE][MODEL_CHANNELS];

static void show(face to, const look *k) {
    for (int y = 0; y < FACE; y++)
        for (int x = 0; x < FACE; x++)
            for (uint32_t c = 0; c < MODEL_CHANNELS; c++) {
                int64_t px = k->r.w / 2 + 2 * (x - FACE / 2), py = k->r.h / 2 + 2 * (y - FACE / 2);
                double v = k->lit[k->channels > 1 ? c : 0][py * k->r.w + px];
                to[y][x][c] = (float)pow(fmin(v, 1), 1 / 2.2);
            }
}

/* No two are alike: on a screen they differ by 2 % of white, as a root of the mean square. */
static void check_faces(const face *all, char **path, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double sum = 0;
            const float *a = &all[i][0][0][0], *b = &all[j][0][0][0];
            for (size_t t = 0; t < sizeof(face) / sizeof(float); t++)
                sum += (double)(a[t] - b[t]) * (double)(a[t] - b[t]);
            sum = sqrt(sum / (sizeof(face) / sizeof(float)));
            if (!(sum >= 0.02)) wrong("%s and %s look alike: %.3f", path[i], path[j], sum);
        }
}

/* Lights a lamp, and looks at it. */
static void check_lamp(look *k, int side, double light) {
    shine(k, side, light);
    check_rings(k);
    check_growth(k);
    check_colour(k);
    check_arms(k);
}

/* 8. Its taps at half the size are those of testdata/shipped.txt, and the linter has the figures of
 * that file and nothing to warn of. Returns whether the file has them. */
static bool check_golden(const look *k, const char *golden) {
    const psf_planes taps = {k->r.w, k->r.h, k->channels, (const float *const *)k->plane, NULL};
    const char *name = strrchr(k->path, '/') + 1;
    kernel_finding found[KERNEL_FINDINGS];
    char line[256], hex[HASH_TEXT];
    lint l;
    CHECK_OK(lint_kernel(&l, &taps, &e));
    if (kernel_findings(found, &l) && found[0].warning) wrong("%s: %s", k->path, found[0].words);
    hash_state h;
    hash_begin(&h);
    for (uint32_t c = 0; c < k->channels; c++)
        hash_add(&h, k->plane[c], (size_t)k->r.w * k->r.h * sizeof(float));
    hash_text(hash_end(&h), hex);
    snprintf(line, sizeof line, "%.*s %s %ux%u %.6g %.6g %.6g %.6g %.6g\n", (int)strcspn(name, "."),
             name, hex, k->r.w, k->r.h, l.centre_tap, l.inner_radius, l.radius_90, l.radius_99,
             l.glare);
    bool known = strstr(golden, line);
    if (!known) wrong("testdata/shipped.txt has not this line:\n%s", line);
    return known;
}

/* --- what single kernels are for ----------------------------------------------------------------
 */

static void in_range(const look *k, const char *what, double v, double low, double high) {
    if (!(v >= low && v <= high))
        wrong("%s: %s is %.3f, and not from %g to %g", k->path, what, v, low, high);
}

/* The mean of the four taps at a distance along the axes, and of those on the diagonals. */
static double tap_ring(const look *k, uint32_t c, int64_t r) {
    int64_t x = k->r.w / 2, y = k->r.h / 2, d = (int64_t)((double)r * M_SQRT1_2 + 0.5);
    double near = tap(k, c, x + r, y) + tap(k, c, x - r, y) + tap(k, c, x, y + r) +
                  tap(k, c, x, y - r);
    return (near + tap(k, c, x + d, y + d) + tap(k, c, x - d, y + d) + tap(k, c, x + d, y - d) +
            tap(k, c, x - d, y - d)) /
           8;
}

/* The core of a pixel is at most three pixels wide at half its height, its halo has no plateau, is
 * warm near the light and cool far out. */
static void check_portrait(const look *k) {
    for (uint32_t c = 0; c < k->channels; c++) {
        in_range(k, "two taps from the middle", tap_ring(k, c, 2) / tap_ring(k, c, 0), 0, 0.5);
        for (int64_t r = 2; r < 300; r += r / 8 + 1)
            in_range(k, "a plateau", tap_ring(k, c, r + r / 2) / tap_ring(k, c, r), 0, 0.75);
    }
    in_range(k, "red by blue at 8", tap_ring(k, 0, 8) / tap_ring(k, 2, 8), 1.15, 1.6);
    in_range(k, "red by blue at 150", tap_ring(k, 0, 150) / tap_ring(k, 2, 150), 0.8, 0.97);
}

/* On film without a backing the fringe of an edge is red: strongest beside the light, without a
 * plateau, and 60 pixels from it a hundredth of what it is at 8. */
static void check_halation(const look *k) {
    double first = tap_ring(k, 0, 8) - tap_ring(k, 2, 8);
    for (int64_t r = 8; r <= 36; r += 4)
        in_range(k, "red, by that 4 within", tap_ring(k, 0, r + 4) / tap_ring(k, 0, r), 0, 0.85);
    in_range(k, "red by blue at 12", tap_ring(k, 0, 12) / tap_ring(k, 2, 12), 5, 20);
    in_range(k, "the fringe at 24, by that at 8", (tap_ring(k, 0, 24) - tap_ring(k, 2, 24)) / first,
             0, 0.1);
    in_range(k, "the fringe at 60, by that at 8", (tap_ring(k, 0, 60) - tap_ring(k, 2, 60)) / first,
             0, 0.01);
}

/* Returns the light at a place beside an arm, which leaves the middle at an angle in degrees. */
static double beside(const look *k, uint32_t c, double angle, double r, double off) {
    double a = angle * M_PI / 180, x = r * cos(a) - off * sin(a), y = r * sin(a) + off * cos(a);
    double fx = x - floor(x), fy = y - floor(y);
    int64_t px = k->r.w / 2 + (int64_t)floor(x), py = k->r.h / 2 + (int64_t)floor(y);
    return (1 - fy) * ((1 - fx) * tap(k, c, px, py) + fx * tap(k, c, px + 1, py)) +
           fy * ((1 - fx) * tap(k, c, px, py + 1) + fx * tap(k, c, px + 1, py + 1));
}

/* Along 16 pixels of an arm, since its orders are brighter and darker. */
static double arm_at(const look *k, double angle, double r, double off) {
    double sum = 0;
    for (int i = 0; i < 16; i++) sum += beside(k, 1, angle, r + i - 8, off) / 16;
    return sum;
}

static double arm_width(const look *k, double angle, double r) {
    double ground = arm_at(k, angle, r, 12), top = arm_at(k, angle, r, 0) - ground, w = 0;
    while (w < 12 && arm_at(k, angle, r, w) - ground > top / 10) w += 0.05;
    if (!(arm_at(k, angle, r, 1) - ground < 0.9 * top)) wrong("%s: a flat arm at %g", k->path, r);
    return w;
}

/* The arms of a star filter are of one width, unequally bright, in colour, and end in nothing.
 * Every second one stands `off` its even place, in degrees. */
static void check_star(const look *k, double turn, int arms, double off) {
    double least = INFINITY, most = 0, colour = 0;
    for (int i = 0; i < arms; i++) {
        double angle = turn + 360.0 / arms * i + i % 2 * off, sum = 0;
        in_range(k, "width at 200 by that at 20",
                 arm_width(k, angle, 200) / arm_width(k, angle, 20), 0.3, 1.5);
        in_range(k, "the last tenth", arm_at(k, angle, 500, 0) / arm_at(k, angle, 455, 0), 0, 0.1);
        for (int r = 60; r < 200; r++) sum += beside(k, 1, angle, r, 0);
        least = fmin(least, sum), most = fmax(most, sum);
        for (int r = 20; r < 60; r++)
            colour = fmax(colour, beside(k, 0, angle, r, 0) / beside(k, 1, angle, r, 0));
    }
    in_range(k, "the brightest arm by the weakest", most / least, 1.2, 2);
    in_range(k, "red by green in an arm's orders", colour, 1.25, 2);
}

/* Returns the light in the line of a round lamp of 40, 100 taps along and some beside its axis. */
static double band(const look *k, int64_t off) {
    double sum = 0;
    for (int64_t t = -20; t <= 20; t++)
        sum += sqrt((double)(400 - t * t)) * tap(k, 2, k->r.w / 2 + 100, k->r.h / 2 + off + t);
    return sum;
}

/* The lines have nearly all their light within two taps of the axis, so they are needles; they fall
 * to a hundredth in a quarter of the frame. At the root they have the lamp's hue; from 120 taps on
 * they are blue, and a pale cyan on a lamp of sodium. The glow has no more light than they. The
 * line of a wide lamp has no hard edges. */
static void check_anamorphic(const look *k) {
    double all = 0, heart = 0, skirt = 0, glow = 0;
    for (int64_t y = 0; y < k->r.h; y++)
        for (int64_t x = 0; x < k->r.w; x++) {
            int64_t dx = x - k->r.w / 2, dy = llabs(y - k->r.h / 2);
            if (dx * dx + dy * dy < 100) continue;
            double line = fmax(tap(k, 2, x, y) - tap(k, 0, x, y), 0);
            all += line, glow += tap(k, 0, x, y);
            if (dy <= 2) heart += line;
            if (dy > 12) skirt += line;
        }
    in_range(k, "the line's light near its axis", heart / all, 0.7, 1);
    in_range(k, "the line's light beyond 12", skirt / all, 0.03, 0.15);
    in_range(k, "the glow by the line", glow / all, 0, 1);
    in_range(k, "the line at 480, by that at 10",
             tap(k, 2, k->r.w / 2 + 480, k->r.h / 2) / tap(k, 2, k->r.w / 2 + 10, k->r.h / 2), 1e-6,
             0.01);
    in_range(k, "6 beside a band of 40, by its middle", band(k, 26) / band(k, 0), 0.08, 0.3);
    const int64_t root = k->r.w / 2 + 10;
    in_range(k, "red by blue at the root",
             tap(k, 0, root, k->r.h / 2) / tap(k, 2, root, k->r.h / 2), 0.4, 1);
    for (int64_t x = 120; x < 600; x += 40) {
        const double r = tap(k, 0, k->r.w / 2 + x, k->r.h / 2) * 10,
                     g = tap(k, 1, k->r.w / 2 + x, k->r.h / 2) * 4.8,
                     b = tap(k, 2, k->r.w / 2 + x, k->r.h / 2);
        in_range(k, "blue by the other colours on amber", b / fmax(r, g), 0.8, 100);
    }
}

/* Where the light of a kernel lies, in green, from low to high. `side` is the mean of the eight
 * neighbours by the middle: below 0.11 a lamp shows its pixels, above 0.45 the frame is soft, as
 * seeing makes it. docs/kernels.md has the mists' shares. `warm` is red by blue, 40 taps out. */
static const struct {
    const char *name;
    double side[2], within_3[2], beyond_10[2], beyond_50[2], warm[2];
} LIGHT[] = {
    {"mist-8.json", {0.11, 0.45}, {0.885, 0.895}, {0.0390, 0.0405}, {0.0090, 0.0102}, {1.1, 1.3}},
    {"mist-4.json", {0.11, 0.45}, {0.835, 0.845}, {0.0870, 0.0885}, {0.0295, 0.0305}, {1.1, 1.3}},
    {"mist-2.json", {0.11, 0.45}, {0.785, 0.795}, {0.1250, 0.1350}, {0.0455, 0.0465}, {1.1, 1.3}},
    {"mist-1.json", {0.11, 0.45}, {0.713, 0.723}, {0.1840, 0.1940}, {0.0785, 0.0795}, {1.1, 1.3}},
    {"lens-night.json", {0.11, 0.45}, {0.80, 0.88}, {0.03, 0.12}, {0.008, 0.05}, {0.9, 1.4}},
    {"sunstar.json", {0.11, 0.45}, {0.80, 0.88}, {0.03, 0.12}, {0.008, 0.05}, {0.9, 1.4}},
    {"vintage.json", {0.25, 0.45}, {0.60, 0.75}, {0.15, 0.25}, {0.03, 0.08}, {1.4, 2.0}},
    {"eye-night.json", {0.11, 0.45}, {0.80, 0.88}, {0.08, 0.12}, {0.025, 0.045}, {0.9, 1.3}},
    {"dirty-glass.json", {0.11, 0.45}, {0.65, 0.80}, {0.15, 0.35}, {0.04, 0.08}, {0.9, 1.2}},
    {"telescope.json", {0.11, 0.45}, {0.85, 0.93}, {0.03, 0.12}, {0.008, 0.03}, {0.9, 1.4}},
    {"space-telescope.json", {0.11, 0.45}, {0.80, 0.90}, {0.03, 0.09}, {0.008, 0.03}, {0.9, 1.5}}};

static void check_light(const look *k, size_t i) {
    double sum = 0, within = 0, beyond_10 = 0, beyond_50 = 0, red = 0, blue = 0;
    for (int64_t y = 0; y < k->r.h; y++)
        for (int64_t x = 0; x < k->r.w; x++) {
            double r = hypot((double)(x - k->r.w / 2), (double)(y - k->r.h / 2));
            double v = tap(k, 1, x, y);
            sum += v, within += r <= 3 ? v : 0;
            beyond_10 += r > 10 ? v : 0, beyond_50 += r > 50 ? v : 0;
            if (r > 36 && r < 44) red += tap(k, 0, x, y), blue += tap(k, 2, x, y);
        }
    const struct {
        const char *what;
        double v;
        const double *range;
    } row[] = {
        {"the neighbours by the middle", tap_ring(k, 1, 1) / tap_ring(k, 1, 0), LIGHT[i].side},
        {"the light within 3", within / sum, LIGHT[i].within_3},
        {"the light beyond 10", beyond_10 / sum, LIGHT[i].beyond_10},
        {"the light beyond 50", beyond_50 / sum, LIGHT[i].beyond_50},
        {"red by blue at 40", red / blue, LIGHT[i].warm}};
    for (size_t j = 0; j < sizeof row / sizeof *row; j++)
        in_range(k, row[j].what, row[j].v, row[j].range[0], row[j].range[1]);
}

static void check_own(const look *k) {
    const char *name = strrchr(k->path, '/') + 1;
    for (size_t i = 0; i < sizeof LIGHT / sizeof *LIGHT; i++)
        if (strcmp(name, LIGHT[i].name) == 0) check_light(k, i);
    if (strcmp(name, "portrait.json") == 0) check_portrait(k);
    if (strcmp(name, "halation.json") == 0) check_halation(k);
    if (strcmp(name, "cross.json") == 0) check_star(k, 43, 4, 1.6);
    if (strcmp(name, "star-six.json") == 0) check_star(k, 12, 6, 0);
    if (strcmp(name, "anamorphic.json") == 0) check_anamorphic(k);
}

TEST(looks) {
    static face faces[KERNELS];
    static char golden[KERNELS * 256];
    glob_t all;
    OPEN(par) *threads = par_open(0, &e);
    FILE *f = fopen("testdata/shipped.txt", "r");
    assert_true(f && fread(golden, 1, sizeof golden - 1, f) > 0);
    fclose(f);
    assert_int_equal(glob("kernels/*.json", 0, NULL, &all), 0);
    assert_in_range(all.gl_pathc, 12, KERNELS);
    bool known = true;
    size_t n = 0; /* fields are for test_shipped_fields */
    for (size_t i = 0; i < all.gl_pathc; i++) {
        OWN(field_recipe) field = {0};
        char *path = all.gl_pathv[i];
        if (!field_recipe_is(&field, path, NULL))
            all.gl_pathv[i] = all.gl_pathv[n], all.gl_pathv[n++] = path;
    }
    for (size_t i = 0; i < n; i++) {
        OWN(look) own = make(all.gl_pathv[i], 0.5, threads);
        known &= check_golden(&own, golden);
    }
    /* Taps that the file has were looked at when it was written. */
    for (size_t i = 0; !known && i < n; i++) {
        OWN(look) own = make(all.gl_pathv[i], 1, threads);
        check_border(&own);
        check_core(&own);
        check_own(&own);
        shine(&own, 4, 32000);
        check_contour(&own);
        OWN(look) k = make(all.gl_pathv[i], 0.5, threads);
        check_lamp(&k, 1, 8000);
        check_lamp(&k, 40, 8000);
        check_lamp(&k, 4, 8000);
        show(faces[i], &k);
    }
    if (!known) check_faces(faces, all.gl_pathv, n);
    assert_int_equal(faults_found, 0);
    globfree(&all);
}

RUN_TESTS(NULL, NULL)
