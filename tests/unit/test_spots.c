/* test_spots.c - pasted pixels and the kernel's core against the definition: what is taken out and
 * pasted, and what the core adds, must be what the direct sum says, under all borders. And the
 * sketch's bound on light outside the image against that light. */
#include "bloom/promise/core.h"
#include "bloom/promise/sketch.h"
#include "bloom/promise/spots.h"

#include "math/reference.h"
#include "unit/check.h"
#include "unit/kernels.h"
#include "unit/make_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 41, H = 29, PITCH = W + STENCIL_MORE };

static kernel_tail tail_of(const psf *k, plan_border bx, plan_border by, double sharpen) {
    plan_request ask = {.size = {W, H},
                        .reach_lo = {k->cx, k->cy},
                        .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                        .border = {bx, by},
                        .channels = 1,
                        .spectra = 1};
    double full[PSF_CHANNELS] = {k->scale[0] * k->sum[0]};
    kernel_tail s;
    err e = {0};
    CHECK_OK(tail_make(&s, &(tail_request){k, full, sharpen, false, &ask}, &e), e);
    return s;
}

static void fill(float *v, uint64_t seed) {
    for (int i = 0; i < W * H; i++) {
        v[i] = (float)(make_random(&seed) >> 40) * 0x1p-24f;
        if (make_random(&seed) % 40 == 0) v[i] *= 1000;
    }
    v[0] = 900, v[W - 1] = 800, v[W * H - 1] = 700; /* corners: borders show them most */
}

/* `tap`: packed. */
static reference reference_of(const kernel_tail *tail, const float *tap, const float *in) {
    return (reference){.in = in,
                       .w = W,
                       .h = H,
                       .border = {tail->axis[0].border, tail->axis[1].border},
                       .tap = tap,
                       .kernel_w = tail->kw,
                       .kernel_h = tail->kh,
                       .cx = tail->cx,
                       .cy = tail->cy,
                       .scale = tail->scale[0]};
}

static float *packed(const kernel_tail *tail) {
    float *tap = malloc((size_t)tail->kw * tail->kh * sizeof *tap);
    for (uint32_t y = 0; y < tail->kh; y++)
        memcpy(tap + (size_t)y * tail->kw, tail->tap + y * tail->pitch, tail->kw * sizeof *tap);
    return tap;
}

/* The rows of `got` against the direct sum of `in` with these taps. Adding doubles one after the
 * other rounds each term, of either sign, by half an ulp of the sum of all magnitudes. */
static void check_plane(const double *got, const double *magnitude, const kernel_tail *tail,
                        const float *tap, const float *in) {
    static double want[W * H], most[W * H];
    static float size[W * H];
    reference r = reference_of(tail, tap, in);
    float *sizes = malloc((size_t)tail->kw * tail->kh * sizeof *sizes);
    reference_plane(&r, want);
    for (uint32_t i = 0; i < tail->kw * tail->kh; i++) sizes[i] = fabsf(tap[i]);
    for (int i = 0; i < W * H; i++) size[i] = fabsf(in[i]);
    r.tap = sizes, r.in = size;
    reference_plane(&r, most);
    double unit = 0x1p-53 * (4 + (double)tail->kw * tail->kh);
    for (int i = 0; i < W * H; i++) {
        CHECK_LE(fabs(got[i] - want[i]), unit * most[i]);
        CHECK_LE(fabs(magnitude[i] - most[i]), unit * most[i]);
    }
    free(sizes);
}

/* The same of terms of one sign that were added up in floats. */
static void check_floats(const float *got, double rounding, const kernel_tail *tail,
                         const float *tap, const float *in) {
    static double want[W * H];
    reference r = reference_of(tail, tap, in);
    reference_plane(&r, want);
    for (int i = 0; i < W * H; i++)
        CHECK_LE(fabs((double)got[i] - want[i]), (rounding + 1e-12) * want[i] + 1e-40);
}

static void each_border(void (*test)(const psf *k, const kernel_tail *tail)) {
    static const uint32_t SIZE[][4] = {{9, 7, 4, 3}, {12, 5, 0, 4}, {60, 33, 30, 16}, {1, 3, 0, 1}};
    for (int i = 0; i < 4; i++)
        for (int b = 0; b < BORDERS * BORDERS; b++) {
            psf k = kernel_make(POWER_LAW, SIZE[i][0], SIZE[i][1], 1, SIZE[i][2], SIZE[i][3]);
            kernel_tail s =
                tail_of(&k, (plan_border)(b / BORDERS), (plan_border)(b % BORDERS), 0.25);
            test(&k, &s);
            tail_free(&s);
            psf_free(&k);
        }
}

static void paste(const psf *k, const kernel_tail *tail) {
    static float plane[W * H], bright[W * H];
    static double got[W * H], size[W * H];
    (void)k;
    fill(plane, 3);
    for (int i = 0; i < W * H; i += 3) plane[i] *= -1;
    uint32_t below = scan_bin(1);
    size_t count = 0;
    for (int i = 0; i < W * H; i++) {
        bright[i] = scan_bin(plane[i]) >= below ? plane[i] : 0;
        count += bright[i] != 0;
    }
    spot_list l;
    err e = {0};
    CHECK_OK(spots_take(&l, &(spots_request){tail, 0, plane, below, NULL, 0}, make_threads(), &e),
             e);
    assert_int_equal(l.pixels, count);
    assert_true(l.count >= count);
    for (int i = 0; i < W * H; i++) assert_true(scan_bin(plane[i]) < below);
    memset(got, 0, sizeof got);
    memset(size, 0, sizeof size);
    for (uint32_t y = 0; y < H; y++) spots_row(&l, &(tail_row){0, y, got + y * W, size + y * W});
    float *tap = packed(tail);
    check_plane(got, size, tail, tap, bright);
    for (size_t i = 0; i < l.runs; i++)
        for (int q = 0; q < SPOT_RUN; q++) l.run[i].v[q] = fabsf(l.run[i].v[q]);
    for (int i = 0; i < W * H; i++) bright[i] = fabsf(bright[i]);
    for (uint32_t rows = 1; rows <= STENCIL_ROWS; rows++) {
        float *sums = calloc((size_t)H * PITCH, sizeof *sums),
              *room = malloc(spots_room(tail) * sizeof *room);
        for (uint32_t y = 0; y < H; y += rows)
            spots_floats(&l,
                         &(space_rows){0, y, H - y < rows ? H - y : rows, sums + y * PITCH, PITCH},
                         room);
        for (uint32_t y = 0; y < H; y++) memcpy(plane + y * W, sums + y * PITCH, W * sizeof *sums);
        check_floats(plane, spots_rounding(tail, (double)l.count), tail, tap, bright);
        free(sums);
        free(room);
    }
    free(tap);
    spots_free(&l);
}

static void pasted_pixels_are_their_convolution(void **state) {
    (void)state;
    each_border(paste);
}

static void add_core(const psf *k, const kernel_tail *tail) {
    static const uint32_t RADIUS[] = {0, 1, 2, 5, CORE_RADIUS};
    static float plane[W * H];
    static float positive[W * H], rounded[W * H];
    static double got[W * H], size[W * H];
    fill(plane, 5);
    for (int i = 0; i < W * H; i += 3) plane[i] *= -1;
    for (size_t i = 0; i < sizeof RADIUS / sizeof RADIUS[0]; i++) {
        kernel_core c;
        err e = {0};
        CHECK_OK(core_make(&c, tail, RADIUS[i], &e), e);
        double *scratch = mem_raw(core_scratch(&c) + 1, sizeof *scratch, "scratch", &e);
        memset(scratch, 0xff, core_scratch(&c) * sizeof *scratch);
        memset(got, 0, sizeof got);
        memset(size, 0, sizeof size);
        core_input in = {plane, 1, scratch};
        for (uint32_t y = 0; y < H; y++)
            core_row(&c, &(tail_row){0, y, got + y * W, size + y * W}, &in);
        /* The core's own taps: all, less what core_cut leaves. */
        psf rest;
        CHECK_OK(psf_copy(&rest, k, &e), e);
        core_cut(&rest, RADIUS[i]);
        float *only = packed(tail);
        for (uint32_t q = 0; q < tail->kw * tail->kh; q++) {
            bool centre = q == tail->cy * tail->kw + tail->cx;
            assert_true(!centre || rest.tap[q] == k->tap[q]);
            only[q] = centre ? 0 : k->tap[q] - rest.tap[q];
        }
        check_plane(got, size, tail, only, plane);
        for (int q = 0; q < W * H; q++) positive[q] = fabsf(plane[q]);
        for (uint32_t rows = 1; i && rows <= STENCIL_ROWS; rows++) {
            float *sums = calloc((size_t)H * PITCH, sizeof *sums);
            for (uint32_t y = 0; y < H; y += rows)
                core_floats(
                    &c, &(space_rows){0, y, H - y < rows ? H - y : rows, sums + y * PITCH, PITCH},
                    positive);
            for (uint32_t y = 0; y < H; y++)
                memcpy(rounded + y * W, sums + y * PITCH, W * sizeof *sums);
            check_floats(rounded, core_rounding(RADIUS[i]), tail, only, positive);
            free(sums);
        }
        noise_tail sums;
        tail_sums(&sums, tail, 0, &RADIUS[i], 1);
        double sum = 0;
        for (uint32_t q = 0; q < tail->kw * tail->kh; q++)
            sum += q == tail->cy * tail->kw + tail->cx ? 0 : (double)rest.tap[q];
        CHECK_LE(fabs(sums.sum - tail->scale[0] * sum), 1e-9);
        free(only);
        psf_free(&rest);
        mem_free(scratch);
        core_free(&c);
    }
}

static void core_is_its_convolution(void **state) {
    (void)state;
    each_border(add_core);
}

/* The light that leaves the image, on circles of the shortest and of longer lengths: no place has
 * more of it than the sketch's bound, and the bound is not far from it. */
static void light_outside_is_bounded(void **state) {
    (void)state;
    static const uint32_t SIZE[][4] = {{9, 7, 4, 3}, {12, 5, 0, 4}, {60, 33, 30, 16}, {1, 3, 0, 1}};
    static float plane[W * H];
    for (int i = 0; i < 4 * 12; i++) {
        psf k = kernel_make(i / 8 ? STAR : POWER_LAW, SIZE[i % 4][0], SIZE[i % 4][1], 1,
                            SIZE[i % 4][2], SIZE[i % 4][3]);
        kernel_tail t = tail_of(&k, BORDER_ZERO, BORDER_ZERO, 0.25);
        uint32_t across = W + (uint32_t)fmax(t.cx, t.kw - 1 - t.cx) + 5 * (i / 4 % 2),
                 down = H + (uint32_t)fmax(t.cy, t.kh - 1 - t.cy) + 3 * (i / 4 % 2);
        double *circle = calloc((size_t)across * down, sizeof *circle), most = 0, inside = 0;
        fill(plane, 7 + (uint64_t)i);
        if (i >= 16) { /* pixels at opposite sides: their light meets on the circle */
            uint64_t at = (uint64_t)i;
            memset(plane, 0, sizeof plane);
            if (i < 24) plane[9 * W] = plane[9 * W + W - 2] = 1;
            for (int n = i < 24 ? 0 : 8; n > 0; n--) {
                uint32_t x = (uint32_t)(make_random(&at) % W), y = (uint32_t)(make_random(&at) % H),
                         off = (uint32_t)(make_random(&at) % 8);
                if (n % 2)
                    x = n % 4 == 1 ? off : W - 1 - off;
                else
                    y = n % 4 ? off : H - 1 - off;
                plane[y * W + x] = 1;
            }
            for (uint32_t q = 0; q < t.kh * t.kw; q++) t.tap[q / t.kw * t.pitch + q % t.kw] = 1;
        }
        for (uint32_t p = 0; p < W * H; p++)
            for (uint32_t q = 0; q < t.kw * t.kh; q++) {
                uint32_t x = (across + p % W + q % t.kw - t.cx) % across,
                         y = (down + p / W + q / t.kw - t.cy) % down;
                circle[y * across + x] += t.scale[0] * (double)plane[p] *
                                          (double)t.tap[q / t.kw * t.pitch + q % t.kw];
            }
        for (uint32_t p = 0; p < across * down; p++)
            if (p % across >= W || p / across >= H)
                most = fmax(most, circle[p]);
            else
                inside = fmax(inside, circle[p]);
        const void *planes[1] = {plane};
        pixel_type type = PIXEL_FLOAT;
        sketch_kernel grid;
        scan found;
        sketch drawn;
        err e = {0};
        CHECK_OK(sketch_kernel_open(&grid, &t, &e), e);
        for (uint32_t c = 0; c < t.kernels; c++) CHECK_OK(sketch_kernel_fill(&grid, c, &e), e);
        scan_request ask = {.w = W,
                            .h = H,
                            .channels = 1,
                            .plane = planes,
                            .type = &type,
                            .block = grid.block / (i % 2 ? grid.cells : 1)};
        CHECK_OK(scan_make(&found, &ask, make_threads(), &e), e);
        CHECK_OK(sketch_make(&drawn, &(sketch_request){&grid, &found, 0, i % 2, {0}}, &e), e);
        CHECK_LE(most, drawn.most[0].outside * (1 + 1e-12));
        CHECK_LE(inside, fmax(drawn.most[0].inside, drawn.most[0].outside) * (1 + 1e-12));
        if (most > 0) CHECK_LE(drawn.most[0].outside, 20 * most);
        scan_free(&found);
        sketch_kernel_free(&grid);
        free(circle);
        tail_free(&t);
        psf_free(&k);
    }
}

static void centre_and_sum_hold_the_sharpening(void **state) {
    (void)state;
    psf k = kernel_make(STAR, 15, 15, 1, 7, 7);
    kernel_tail s = tail_of(&k, BORDER_ZERO, BORDER_ZERO, 0.25);
    CHECK_LE(fabs(s.sum[0] - 1), 1e-6);
    double centre = 0.75 * k.scale[0] * (double)k.tap[7 * 15 + 7] + 0.25;
    CHECK_LE(fabs(s.centre[0] - centre), 1e-12);
    noise_tail sums;
    tail_sums(&sums, &s, 0, CORE_RADII, 1);
    CHECK_LE(fabs(s.centre[0] + sums.sum - 1), 1e-6);
    assert_true(tail_is_nonnegative(&s, 0));
    s.tap[3] = -1e-6f;
    assert_false(tail_is_nonnegative(&s, 0));
    tail_free(&s);
    psf_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pasted_pixels_are_their_convolution),
        cmocka_unit_test(core_is_its_convolution),
        cmocka_unit_test(light_outside_is_bounded),
        cmocka_unit_test(centre_and_sum_hold_the_sharpening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
