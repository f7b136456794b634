/* test_field_cases.c - what kernels that vary over the frame must do at places that are named:
 * bloom/field.h. */
#include "unit/fields.h"

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
    OPEN(device_pool) *devices = MADE(device_pool_open(make_threads(), NULL, 0, &e));
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

RUN_TESTS(NULL, NULL)
