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
    bloom_settings s = glare_settings("cpu");
    OWN(image) *img = glare_image("B:float G:float R:float", 70, 50);
    for (int b = 0; b < BORDERS; b++) {
        s.border[0] = s.border[1] = (plan_border)b;
        OWN(image) *first = bloomed(img, &k, &s, make_threads());
        for (int n = 1; n <= 7; n += 2) {
            OPEN(par) *some = MADE(par_open(n, &e));
            OWN(image) *second = bloomed(img, &read, &s, some);
            check_same_pixels(first, second);
        }
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

/* Beyond the outer columns and rows the weights are constant. Where the outer kernels on both sides
 * are alike, each border that shows the plate shows it as flat as it is, and at a line of nodes a
 * pixel is off by no more than what the weights change by within the reach of the kernels. */
TEST(a_flat_plate_stays_flat_at_every_border_that_shows_it) {
    enum { W = 120, H = 90, REACH = 4 };
    grid g = {.nx = 3, .ny = 3, .x = {0.2, 0.5, 0.7}, .y = {0.2, 0.4, 0.8}, .channels = 1};
    for (uint32_t n = 0; n < 9; n++) {
        const uint32_t middle = n == 4, side = middle ? 9 : 5;
        g.node[n] = glare_image("Y:float", side, side);
        for (uint32_t i = 0; i < side * side; i++)
            glare_put(g.node[n], 0, i, i == side * side / 2 ? 5 : 1);
    }
    kernel_source k = source_of(&g);
    bloom_settings s = glare_settings("cpu");
    s.tolerance = 1e-5;
    OWN(image) *img = black(W, H);
    for (size_t i = 0; i < W * H; i++) glare_put(img, 0, i, 3);
    for (int b = 0; b < BORDERS; b++) {
        if (b == BORDER_ZERO) continue;
        s.border[0] = s.border[1] = (plan_border)b;
        OWN(image) *got = bloomed(img, &k, &s, make_threads());
        for (uint32_t i = 0; i < W * H; i++) {
            double near = 0;
            for (uint32_t n = 0; n < 3; n++) {
                if (fabs(i % W + 0.5 - g.x[n] * W) <= REACH) near = 2 * REACH / (0.2 * W);
                if (fabs(i / W + 0.5 - g.y[n] * H) <= REACH) near += 2 * REACH / (0.2 * H);
            }
            CHECK_LE(fabs((double)glare_get(got, 0, i) - 3), 3 * (near + 1e-5));
        }
    }
    kernel_source_free(&k);
    free_grid(&g);
}

/* Adds to `to` how much the light of a pixel may change in each place around it where its star goes
 * on by a pixel: what the weights change by, times the kernels. */
static void allow(double *to, const grid *g, const psf *node, const double from[2],
                  const double next[2], uint32_t side) {
    for (uint32_t n = 0; n < g->nx * g->ny; n++) {
        const psf *k = &node[n];
        const double by =
            fabs(hat(g->x, g->nx, n % g->nx, next[0]) * hat(g->y, g->ny, n / g->nx, next[1]) -
                 hat(g->x, g->nx, n % g->nx, from[0]) * hat(g->y, g->ny, n / g->nx, from[1]));
        for (uint32_t i = 0; i < k->w * k->h; i++)
            to[(i / k->w + side / 2 - k->cy) * side + i % k->w + side / 2 - k->cx] +=
                by * k->scale[0] * (double)k->tap[i];
    }
}

/* A star that moves by a pixel takes its light along, but for what the weights change by, also
 * across a line of nodes: along both axes, from edge to edge. */
TEST(a_star_that_moves_meets_no_seam) {
    enum { W = 120, H = 60, SIDE_OF = 31, STAR = 1000 };
    grid g = uneven(); /* the lines of nodes are at x = 0, 36, 120 and y = 6, 54 */
    kernel_source k = source_of(&g);
    bloom_settings s = glare_settings("cpu");
    psf node[6];
    for (uint32_t n = 0; n < 6; n++) node[n] = node_psf(&g, n, s.kernel);
    for (int down = 0; down < 2; down++) {
        OWN(image) *before = NULL;
        for (int64_t at = 0; at < (down ? H : W); at++) {
            const int64_t x = down ? 70 : at, y = down ? at : 30;
            OWN(image) *img = black(W, H);
            double most[SIDE_OF * SIDE_OF] = {0};
            allow(most, &g, node,
                  (double[]){((double)x - !down + 0.5) / W, ((double)y - down + 0.5) / H},
                  (double[]){((double)x + 0.5) / W, ((double)y + 0.5) / H}, SIDE_OF);
            glare_put(img, 0, (size_t)(y * W + x), STAR);
            image *got = bloomed(img, &k, &s, make_threads());
            for (int64_t i = 0; before && i < SIDE_OF * SIDE_OF; i++) {
                const int64_t px = x + i % SIDE_OF - SIDE_OF / 2,
                              py = y + i / SIDE_OF - SIDE_OF / 2;
                if (px < 1 || py < 1 || px >= W || py >= H) continue;
                const double is = (double)glare_get(got, 0, (size_t)(py * W + px)),
                             was = (double)glare_get(before, 0,
                                                     (size_t)((py - down) * W + px - !down));
                CHECK_LE(fabs(is - was), STAR * most[i] + s.tolerance * (is + was + 0.1));
            }
            image_free(&before);
            before = got;
        }
    }
    for (uint32_t n = 0; n < 6; n++) psf_free(&node[n]);
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
