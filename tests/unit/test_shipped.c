/* The shipped recipes: the taps and figures of testdata/shipped.txt, and, where taps have changed,
 * what single kernels are for. */
#include "base/hash.h"
#include "kernel/lint.h"
#include "kernel/make/kernel_recipe.h"
#include "unit/check.h"

#include <glob.h>

enum { KERNELS = 20 };

/* Says what is wrong with a kernel; the test then looks at the others, too. */
static int faults_found;
__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...) {
    va_list v;
    va_start(v, format);
    vfprintf(stdout, format, v);
    va_end(v);
    puts("");
    faults_found++;
}

typedef struct {
    const char *path;
    kernel_recipe r;
    image *img;
    const float *plane[MODEL_CHANNELS]; /* R, G, B of the image */
    uint32_t channels;
} look;

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
    return k;
}

static void look_free(look *k) {
    image_free(&k->img);
    kernel_recipe_free(&k->r);
}

/* Its taps at half the size are those of testdata/shipped.txt, and the linter has the figures of
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

/* On film without a backing red and blue are alike 8 pixels from a lamp, and 36 pixels from it red
 * is five times as strong. */
static void check_halation(const look *k) {
    double before = 0;
    for (int64_t r = 8; r <= 36; r += 4) {
        double now = tap_ring(k, 0, r) / tap_ring(k, 2, r);
        in_range(k, "red by blue, outwards", now, before, 5.6);
        if (r == 8) in_range(k, "red by blue at 8", now, 0.9, 1.2);
        before = now;
    }
    in_range(k, "red by blue at 36", before, 4.5, 5.6);
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

/* The arms of a star filter are of one width, unequally bright, in colour, and end in nothing. */
static void check_star(const look *k, double turn, int arms) {
    double least = INFINITY, most = 0, colour = 0;
    for (int i = 0; i < arms; i++) {
        double angle = turn + 360.0 / arms * i, sum = 0;
        in_range(k, "width at 200 by that at 20",
                 arm_width(k, angle, 200) / arm_width(k, angle, 20), 0.3, 1.5);
        in_range(k, "the last tenth", arm_at(k, angle, 500, 0) / arm_at(k, angle, 455, 0), 0, 0.1);
        for (int r = 60; r < 200; r++) sum += beside(k, 1, angle, r, 0);
        least = fmin(least, sum), most = fmax(most, sum);
        for (int r = 20; r < 60; r++)
            colour = fmax(colour, beside(k, 0, angle, r, 0) / beside(k, 1, angle, r, 0));
    }
    in_range(k, "the brightest arm by the weakest", most / least, 1.2, 2);
    in_range(k, "red by green in an arm's orders", colour, 1.5, 100);
}

/* Returns the light in the line of a round lamp of 40, 100 taps along and some beside its axis. */
static double band(const look *k, int64_t off) {
    double sum = 0;
    for (int64_t t = -20; t <= 20; t++)
        sum += sqrt((double)(400 - t * t)) * tap(k, 2, k->r.w / 2 + 100, k->r.h / 2 + off + t);
    return sum;
}

/* The line has half its light within two taps of its axis and a tenth beyond 12, the glow has less
 * than a third of the line's, and the line is blue on a lamp of sodium, too. That of a wide lamp
 * has no hard edges. */
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
    in_range(k, "the line's light near its axis", heart / all, 0.5, 0.8);
    in_range(k, "the line's light beyond 12", skirt / all, 0.07, 0.15);
    in_range(k, "the glow by the line", glow / all, 0, 1 / 3.0);
    in_range(k, "6 beside a band of 40, by its middle", band(k, 26) / band(k, 0), 0.08, 0.3);
    for (int64_t x = 40; x < 600; x += 40) {
        const double r = tap(k, 0, k->r.w / 2 + x, k->r.h / 2) * 10,
                     g = tap(k, 1, k->r.w / 2 + x, k->r.h / 2) * 4.8,
                     b = tap(k, 2, k->r.w / 2 + x, k->r.h / 2);
        in_range(k, "blue by the other colours on amber", b / fmax(r, g), 1.1, 100);
    }
}

/* Where the light of a kernel lies, in green, from low to high. `side` is the mean of the eight
 * neighbours by the middle: below 0.11 a lamp shows its pixels, above 0.45 the frame is soft, as
 * seeing makes it. docs/kernels.md has the mists' shares. `warm` is red by blue, 40 taps out. */
static const struct {
    const char *name;
    double side[2], within_3[2], beyond_10[2], beyond_50[2], warm[2];
} LIGHT[] = {
    {"mist-8.json", {0.11, 0.45}, {0.865, 0.875}, {0.0585, 0.0595}, {0.0165, 0.0175}, {1.1, 1.3}},
    {"mist-4.json", {0.11, 0.45}, {0.835, 0.845}, {0.0870, 0.0885}, {0.0295, 0.0305}, {1.1, 1.3}},
    {"mist-2.json", {0.11, 0.45}, {0.785, 0.795}, {0.1250, 0.1350}, {0.0455, 0.0465}, {1.1, 1.3}},
    {"mist-1.json", {0.11, 0.45}, {0.705, 0.715}, {0.1950, 0.2050}, {0.0765, 0.0775}, {1.1, 1.3}},
    {"lens-night.json", {0.11, 0.45}, {0.80, 0.88}, {0.03, 0.12}, {0.008, 0.05}, {0.9, 1.4}},
    {"sunstar.json", {0.11, 0.45}, {0.80, 0.88}, {0.03, 0.12}, {0.008, 0.05}, {0.9, 1.4}},
    {"vintage.json", {0.25, 0.45}, {0.60, 0.75}, {0.15, 0.25}, {0.03, 0.08}, {1.4, 2.0}},
    {"eye-night.json", {0.11, 0.45}, {0.68, 0.73}, {0.16, 0.18}, {0.055, 0.065}, {0.9, 1.3}},
    {"dirty-glass.json", {0.11, 0.45}, {0.65, 0.80}, {0.15, 0.35}, {0.04, 0.08}, {0.9, 1.2}},
    {"telescope.json", {0.45, 0.70}, {0.65, 0.80}, {0.03, 0.12}, {0.008, 0.03}, {0.9, 1.4}},
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
    if (strcmp(name, "cross.json") == 0) check_star(k, 43, 4);
    if (strcmp(name, "star-six.json") == 0) check_star(k, 12, 6);
    if (strcmp(name, "anamorphic.json") == 0) check_anamorphic(k);
}

TEST(looks) {
    static char golden[KERNELS * 256];
    glob_t all;
    OPEN(par) *threads = par_open(0, &e);
    FILE *f = fopen("testdata/shipped.txt", "r");
    assert_true(f && fread(golden, 1, sizeof golden - 1, f) > 0);
    fclose(f);
    assert_int_equal(glob("kernels/*.json", 0, NULL, &all), 0);
    assert_in_range(all.gl_pathc, 12, KERNELS);
    bool known = true;
    for (size_t i = 0; i < all.gl_pathc; i++) {
        OWN(look) own = make(all.gl_pathv[i], 0.5, threads);
        known &= check_golden(&own, golden);
    }
    /* Taps that the file has were looked at when it was written. */
    for (size_t i = 0; !known && i < all.gl_pathc; i++) {
        OWN(look) own = make(all.gl_pathv[i], 1, threads);
        check_own(&own);
    }
    assert_int_equal(faults_found, 0);
    globfree(&all);
}

RUN_TESTS(NULL, NULL)
