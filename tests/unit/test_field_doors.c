/* test_field_doors.c - a field of kernels is the same through every door: the parts of an EXR file,
 * JSON that names files, and JSON with mirrors. Its grid is uneven and not square, and its kernels
 * are unlike each other and their mirror images: kernel/make/field_recipe.h, kernel_field.h. */
#include "kernel/kernel_field.h"
#include "kernel/make/kernel_recipe.h"
#include "kernel/make/kernel_word.h"
#include "unit/glare.h"

enum { NX = 3, NY = 2 };
static const double AT_X[NX] = {-0.1, 0.3, 0.5}, AT_Y[NY] = {0.2, 0.45};

/* The taps of the node at a column and row: every one is another number. */
static float tap(uint32_t node, uint32_t x, uint32_t y) {
    return (float)(1 + node + 10 * x + 1000 * y);
}
static uint32_t width(uint32_t node) {
    return 4 + node; /* even and odd */
}
static uint32_t height(uint32_t node) {
    return 5 + node / 2;
}

/* Writes the nodes' files, beside the JSON. */
static void write_nodes(void) {
    for (uint32_t n = 0; n < NX * NY; n++) {
        char name[32];
        OWN(image) *img = glare_image("Y:float", width(n), height(n));
        img->head.part[0].aspect = 1;
        for (uint32_t i = 0; i < width(n) * height(n); i++)
            glare_put(img, 0, i, tap(n, i % width(n), i / width(n)));
        snprintf(name, sizeof name, "node%u.exr", n);
        CHECK_OK(image_save(make_path(name), img, make_threads(), &e));
    }
}

static bool load(kernel_source *k, const char *json) {
    const kernel_places in = {.shipped = NULL};
    kernel_word word;
    *k = (kernel_source){.path = NULL};
    return kernel_word_find(&word, make_text("f.json", json), &in, &e) &&
           (assert_true(word.field), true) &&
           kernel_word_load(k, &word, &(kernel_making){.scale = 1}, &in, make_threads(), &e);
}

/* Checks the kernel at a place of the grid: node n, mirrored along these axes. By distances from
 * the middle, which stays where it is. */
static void check_node(const kernel_source *k, uint32_t column, uint32_t row, uint32_t n, bool x,
                       bool y) {
    const kernel_source *is = &k->field->node[row * k->field->grid.nodes[PLAN_X] + column];
    double sum = 0, all = 0;
    for (uint32_t v = 0; v < height(n); v++)
        for (uint32_t u = 0; u < width(n); u++) {
            const int64_t dx = (int64_t)u - width(n) / 2, dy = (int64_t)v - height(n) / 2,
                          px = is->w / 2 + (x ? -dx : dx), py = is->h / 2 + (y ? -dy : dy);
            assert_true(px >= 0 && py >= 0 && px < is->w && py < is->h);
            assert_true(is->plane[0][py * is->w + px] == tap(n, u, v));
            sum += (double)tap(n, u, v);
        }
    for (uint32_t i = 0; i < is->w * is->h; i++) all += (double)is->plane[0][i];
    assert_true(all == sum);
    assert_int_equal(is->w, x ? width(n) | 1 : width(n));
    assert_int_equal(is->h, y ? height(n) | 1 : height(n));
}

#define NODES                                                    \
    "\"nodes\": [[\"node0.exr\", \"node1.exr\", \"node2.exr\"]," \
    " [\"node3.exr\", \"node4.exr\", \"node5.exr\"]]"

TEST(json_puts_each_kernel_at_its_place) {
    kernel_source k;
    write_nodes();
    CHECK_OK(load(&k, "{\"version\": 1, \"about\": \"six\", \"field\": {\"x\": [-0.1, 0.3, 0.5], "
                      "\"y\": [0.2, 0.45], " NODES "}}"));
    assert_int_equal(k.field->grid.nodes[PLAN_X], NX);
    assert_int_equal(k.field->grid.nodes[PLAN_Y], NY);
    for (uint32_t i = 0; i < NX; i++) assert_true(k.field->grid.at[PLAN_X][i] == AT_X[i]);
    for (uint32_t i = 0; i < NY; i++) assert_true(k.field->grid.at[PLAN_Y][i] == AT_Y[i]);
    for (uint32_t n = 0; n < NX * NY; n++) check_node(&k, n % NX, n / NX, n, false, false);
    kernel_source_free(&k);
}

TEST(mirrors_make_the_other_half_and_keep_the_middles) {
    kernel_source k;
    write_nodes();
    CHECK_OK(load(&k, "{\"field\": {\"x\": [-0.1, 0.3, 0.5], \"y\": [0.2, 0.45], \"mirror\": "
                      "\"xy\", " NODES "}}"));
    assert_int_equal(k.field->grid.nodes[PLAN_X], 5); /* a column at 0.5 is its own mirror image */
    assert_int_equal(k.field->grid.nodes[PLAN_Y], 4);
    CHECK_LE(fabs(k.field->grid.at[PLAN_X][4] - 1.1), 1e-15);
    CHECK_LE(fabs(k.field->grid.at[PLAN_Y][3] - 0.8), 1e-15);
    for (uint32_t row = 0; row < 4; row++)
        for (uint32_t column = 0; column < 5; column++) {
            const bool x = column >= NX, y = row >= NY;
            const uint32_t i = x ? 4 - column : column, j = y ? 3 - row : row;
            check_node(&k, column, row, j * NX + i, x, y);
        }
    kernel_source_free(&k);
}

/* Each node of a recipe that varies is that recipe with its parameters. */
TEST(a_recipe_varies_with_the_node) {
    static const char RECIPE[] = "\"taps\": \"9x7\", \"fade\": 1, \"layers\": [{\"model\": "
                                 "\"aperture\", \"share\": 3}, {\"model\": "
                                 "\"gaussian\"}]";
    static const char *const SIGMA[NX * NY] = {"1.5", "0.7", "2", "1", "3", "0.5"},
                                        *const TOWARD[NX * NY] = {"0",  "90", "30",
                                                                  "60", "45", "90"};
    kernel_source k, one;
    char json[1000];
    snprintf(
        json, sizeof json,
        "{%s, \"field\": {\"x\": [-0.1, 0.3, 0.5], \"y\": [0.2, 0.45], \"mirror\": \"x\", "
        "\"vary\": "
        "{\"sigma\": [[1.5, 0.7, 2], [1, 3, 0.5]], \"coma\": [[1, 2, 3], [4, 5, 6]], \"toward\": "
        "[[0, 90, 30], [60, 45, 90]]}}}",
        RECIPE);
    CHECK_OK(load(&k, json));
    assert_int_equal(k.field->grid.nodes[PLAN_X], 5);
    for (uint32_t n = 0; n < NX * NY; n++) {
        OWN(kernel_recipe) r = {0};
        char set[64], whole[400];
        snprintf(set, sizeof set, "sigma=%s,coma=%u,toward=%s", SIGMA[n], n + 1, TOWARD[n]);
        snprintf(whole, sizeof whole, "{%s}", RECIPE);
        CHECK_OK(kernel_recipe_text(&r, whole, &e));
        CHECK_OK(kernel_recipe_set(&r, set, &e));
        OWN(image) *img = MADE(kernel_recipe_make(&r, make_threads(), &e));
        CHECK_OK(kernel_source_image(&one, "one", img, &e));
        const kernel_source *node = &k.field->node[n / NX * 5 + n % NX],
                            *mirror = &k.field->node[n / NX * 5 + 4 - n % NX];
        assert_memory_equal(node->plane[0], one.plane[0], 9 * 7 * sizeof(float));
        for (uint32_t i = 0; n % NX < 2 && i < 9 * 7; i++)
            assert_true(mirror->plane[0][i / 9 * 9 + 8 - i % 9] == one.plane[0][i]);
        kernel_source_free(&one);
    }
    kernel_source_free(&k);
}

TEST(a_common_kernel_stands_behind_the_others) {
    kernel_source k;
    write_nodes();
    CHECK_OK(load(
        &k, "{\"field\": {\"x\": [-0.1, 0.3, 0.5], \"y\": [0.2, 0.45], " NODES
            ", \"mirror\": \"y\", \"common\": {\"kernel\": \"node4.exr\", \"share\": 0.25}}}"));
    assert_int_equal(field_nodes(&k.field->grid), 13);
    assert_true(k.field->grid.common == 0.25);
    assert_int_equal(k.field->node[12].w, width(4));
    assert_true(k.field->node[12].plane[0][1] == tap(4, 1, 0));
    kernel_source_free(&k);
}

/* The common kernel may be a recipe of its own size, which no value of the field changes. */
TEST(a_common_recipe_stands_in_the_field) {
    static const char RECIPE[] = "{\"taps\": \"11x9\", \"fade\": 0.5, \"layers\": [{\"model\": "
                                 "\"gaussian\", \"share\": 2}, {\"model\": \"moffat\"}]}";
    kernel_source k, one;
    char json[1000];
    snprintf(json, sizeof json,
             "{\"taps\": \"9x7\", \"model\": \"gaussian\", \"field\": {\"x\": [0, 1], \"y\": [0], "
             "\"vary\": {\"sigma\": [[1, 2]]}, \"common\": {\"kernel\": %s, \"share\": 0.25}}}",
             RECIPE);
    CHECK_OK(load(&k, json));
    OWN(kernel_recipe) r = {0};
    CHECK_OK(kernel_recipe_text(&r, RECIPE, &e));
    OWN(image) *img = MADE(kernel_recipe_make(&r, make_threads(), &e));
    CHECK_OK(kernel_source_image(&one, "one", img, &e));
    assert_true(k.field->grid.common == 0.25);
    assert_int_equal(k.field->node[2].w, 11);
    assert_int_equal(k.field->node[2].h, 9);
    assert_memory_equal(k.field->node[2].plane[0], one.plane[0], 11 * 9 * sizeof(float));
    kernel_source_free(&one);
    kernel_source_free(&k);
}

TEST(what_json_cannot_mean_is_refused_with_its_place) {
    static const struct {
        const char *json, *words;
    } BAD[] = {
        {"{\"field\": {\"x\": [0, 1], \"y\": [0.2, 0.45], " NODES "}}", "array of 2 kernels"},
        {"{\"field\": {\"x\": [0, 0.3, 1], \"y\": [0], " NODES "}}", "array of 1 rows"},
        {"{\"field\": {\"x\": [0, 0, 1], \"y\": [0, 1], " NODES "}}", "must be numbers that incr"},
        {"{\"field\": {\"x\": [0, 0.4, 1], \"y\": [0, 1], \"mirror\": \"x\", " NODES "}}",
         "both sides of the mirror"},
        {"{\"field\": {\"x\": [0, 0.4, 1], \"y\": [0, 1], \"mirror\": \"z\", " NODES "}}",
         "mirror must be"},
        {"{\"field\": {\"x\": [0, 0.4, 1], \"y\": [0, 1], \"nods\": 1, " NODES "}}",
         "unknown key \"nods\""},
        {"{\"field\": {\"x\": [0, 0.4, 1], \"y\": [0, 1], \"common\": \"node0.exr\", " NODES "}}",
         "common must be"},
        {"{\"field\": {\"x\": [0], \"y\": [0], \"nodes\": [[\"node0.exr\"]], \"common\": "
         "{\"share\": "
         "0.1, \"kernel\": {\"model\": \"veil\"}}}}",
         "the node 'common'"},
        {"{\"version\": 2, \"field\": {}}", "version 1"},
        {"{\"field\": {\"x\": [0], \"y\": [0], \"nodes\": [[\"f.json\"]]}}", "as a node"},
        {"{\"field\": {\"x\": [0], \"y\": [0], \"nodes\": [[\"f.json:0.5 + node0.exr\"]]}}",
         "as a node"},
        {"{\"field\": {\"x\": [0], \"y\": [0], \"nodes\": [[\"field.exr\"]]}}", "is a field of 6"},
        {"{\"field\": {\"x\": [0], \"y\": [0], \"nodes\": [[\"gone.exr\"]]}}", "gone.exr"},
        {"{\"field\": {\"x\": [0], \"y\": [0], \"nodes\": [[7]]}}", "must be a kernel"},
        {"{\"field\": {\"x\": [0], \"y\": [0]}}", "has \"nodes\", or \"vary\""},
        {"{\"model\": \"disc\", \"field\": {\"x\": [0], \"y\": [0], \"vary\": {}}}",
         "at least one"},
        {"{\"model\": \"disc\", \"field\": {\"x\": [0], \"y\": [0, 1], \"vary\": {\"radius\": "
         "[[1]]}}}",
         "\"radius\" must be an array of 2 rows"},
        {"{\"model\": \"disc\", \"field\": {\"x\": [0], \"y\": [0], \"vary\": {\"radius\": "
         "[[[]]]}}}",
         "must be a number or a string"},
        {"{\"model\": \"disc\", \"field\": {\"x\": [0], \"y\": [0], \"vary\": {\"blades\": "
         "[[5]]}}}",
         "the node 'blades=5': model disc has no parameter"},
        {"{\"tapps\": 3, \"model\": \"disc\", \"field\": {\"x\": [0], \"y\": [0], \"vary\": "
         "{\"radius\": "
         "[[5]]}}}",
         "tapps"},
    };
    const kernel_places in = {.shipped = NULL};
    kernel_word word;
    kernel_source k;
    write_nodes();
    CHECK_OK(kernel_word_find(&word,
                              make_text("six.json", "{\"field\": {\"x\": [0, 0.3, 1], \"y\": [0, "
                                                    "1], " NODES "}}"),
                              &in, &e));
    char path[KERNEL_PATH];
    snprintf(path, sizeof path, "%s", make_path("field.exr"));
    CHECK_OK(kernel_word_keep(path, &word, &(kernel_making){.scale = 1}, &in, make_threads(), &e));
    for (size_t i = 0; i < COUNT(BAD); i++) {
        const bool ok = load(&k, BAD[i].json);
        if (ok || !strstr(e.msg, BAD[i].words)) print_message("%s\n  %s\n", BAD[i].json, e.msg);
        assert_false(ok);
        assert_non_null(strstr(e.msg, BAD[i].words));
        e = (err){0};
    }
}

TEST(a_file_of_json_is_kept_by_the_content_of_all_its_files) {
    const kernel_places in = {.cache = make_folder("cache")};
    const kernel_making how = {.scale = 1};
    char first[KERNEL_PATH], second[KERNEL_PATH];
    kernel_word word;
    bool there;
    write_nodes();
    CHECK_OK(kernel_word_find(
        &word, make_text("f.json", "{\"field\": {\"x\": [0, 0.3, 1], \"y\": [0, 1], " NODES "}}"),
        &in, &e));
    CHECK_OK(kernel_word_kept(first, &word, &how, &in, &there, &e));
    CHECK_OK(kernel_word_kept(second, &word, &how, &in, &there, &e));
    assert_string_equal(first, second);
    OWN(image) *other = glare_image("Y:float", 3, 3);
    CHECK_OK(image_save(make_path("node5.exr"), other, make_threads(), &e));
    CHECK_OK(kernel_word_kept(second, &word, &how, &in, &there, &e));
    assert_string_not_equal(first, second);
}

int main(void) {
    return check_run(NULL, NULL);
}
