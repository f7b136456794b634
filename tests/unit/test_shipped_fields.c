/* The shipped kernels that vary over the frame, by their taps and by what they are for. */
#include "base/hash.h"
#include "kernel/make/field_recipe.h"
#include "kernel/make/kernel_word.h"
#include "unit/check.h"
#include "unit/make_image.h"
#include "unit/wrong.h"

#include <glob.h>

static const double STEP = 3e-4; /* the first of 8 bits in sRGB */

static image *make_field(const char *path, double scale) {
    const kernel_places in = {.shipped = "kernels"};
    kernel_word k;
    CHECK_OK(kernel_word_find(&k, path, &in, &e));
    assert_true(k.field && k.recipe);
    return MADE(kernel_word_make(&k, &(kernel_making){.scale = scale}, &in, make_threads(), &e));
}

/* What a node's green light is: how far its centroid lies from its middle in a direction, and the
 * share of its light beyond 40 taps. */
typedef struct {
    double off, beyond;
} node_look;

static node_look look_at(const image *img, int part, double ux, double uy) {
    const image_part *p = &img->head.part[part];
    const int64_t w = image_width(p), h = image_height(p);
    const float *green = img->plane[part][1];
    double sum = 0, off = 0, beyond = 0, beside = 0, middle = 0;
    for (int64_t i = 0; i < w * h; i++) {
        const double v = (double)green[i], x = (double)(i % w - w / 2), y = (double)(i / w - h / 2),
                     r = hypot(x, y);
        sum += v, off += v * (x * ux + y * uy), beyond += r > 40 ? v : 0;
        if (r == 0) middle = v;
        if (r == 1) beside += v / 4;
        const bool border = i % w == 0 || i % w == w - 1 || i < w || i >= w * (h - 1);
        if (border && v * 1e5 > STEP / 2) wrong("part %d: the border shows", part);
    }
    if (fabs(sum - 1) > 1e-4) wrong("part %d has the sum %g", part, sum);
    if (beside < 0.11 * middle) wrong("part %d shows its pixels", part);
    return (node_look){off / sum, beyond / sum};
}

/* Tails of coma point away from the middle, and the farther the longer; rays get shorter outwards.
 * Steps from node to node are no leaps. */
static void check_field(const image *img, const char *name) {
    double least = INFINITY;
    for (int i = 0; i < img->head.parts; i++) {
        double x, y;
        char at[64];
        image_attr_text(&img->head.part[i], KERNEL_NODE_ATTR, at, sizeof at);
        if (sscanf(at, "%lf %lf", &x, &y) != 2) continue; /* everywhere */
        x = (x - 0.5) * 16, y = (y - 0.5) * 9;
        const double far = hypot(x, y);
        const node_look n = look_at(img, i, far > 0 ? x / far : 0, far > 0 ? y / far : 0);
        if (strcmp(name, "prime-open") == 0 && !(n.off >= 0.1 * far && n.off <= 0.5 * far))
            wrong("%s: part %d, at %s, points %.2f outwards", name, i, at, n.off);
        if (strcmp(name, "sunstar-field") == 0 && far == 0) least = n.beyond;
    }
    for (int i = 0; i < img->head.parts && least < INFINITY; i++)
        if (img->head.part[i].display.x1 < 300 && look_at(img, i, 0, 0).beyond > least * 1.0001)
            wrong("%s: part %d has longer rays than the middle", name, i);
}

/* Shipped fields: the taps of all nodes at half the size are those of testdata/shipped.txt. */
TEST(fields) {
    char golden[8192] = "", line[256], hex[HASH_TEXT], name[64];
    glob_t all;
    int found = 0;
    FILE *f = fopen("testdata/shipped.txt", "r");
    assert_true(f && fread(golden, 1, sizeof golden - 1, f) > 0);
    fclose(f);
    assert_int_equal(glob("kernels/*.json", 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        const char *file = strrchr(all.gl_pathv[i], '/') + 1;
        OWN(field_recipe) r = {0};
        if (!field_recipe_is(&r, all.gl_pathv[i], NULL)) continue;
        found++;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
        OWN(image) *img = make_field(all.gl_pathv[i], 0.5);
        hash_state h;
        hash_begin(&h);
        for (int p = 0; p < img->head.parts; p++)
            for (int c = 0; c < img->head.part[p].channels; c++)
                hash_add(&h, img->plane[p][c],
                         (size_t)image_width(&img->head.part[p]) *
                             image_height(&img->head.part[p]) * sizeof(float));
        hash_text(hash_end(&h), hex);
        snprintf(line, sizeof line, "%s %s %d nodes\n", name, hex, img->head.parts);
        if (strstr(golden, line)) continue;
        wrong("testdata/shipped.txt has not this line:\n%s", line);
        OWN(image) *whole = make_field(all.gl_pathv[i], 1);
        check_field(whole, name);
    }
    assert_int_equal(found, 2);
    assert_int_equal(faults_found, 0);
    globfree(&all);
}

RUN_TESTS(NULL, NULL)
