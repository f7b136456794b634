/* The transposes of a bloom: by the image, and by the kernel (bloom/gradient.h).
 *
 * By the image: A bloom is A = (1 - a) I + a R K E: the border continues the image (E),
 * the kernel spreads it (K), and the frame is cut out again (R). So the transpose puts zeros around
 * an image (R'), correlates with the kernel (K'), and adds what lies outside to the pixels that the
 * border has taken it from (E'). Zero and wrapped borders need no frame: there the transpose of K
 * has the same border. A mask M gives (I - M) + A M, so the transpose mixes by it at the end. */
#include "base/clock.h"
#include "base/number.h"
#include "bloom/gradient.h"
#include "lib/lib.h"
#include "math/border.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- folding ---------------------------------------------------------------------------------- */

typedef struct {
    const lib_pair *from, *to; /* with the frame, and without */
    border_axis axis[PLAN_AXES];
    const float *mask; /* NULL: none */
    double *sum;       /* of each worker, a row */
    int64_t *place;    /* of each worker, where a row is shown */
    size_t places;
} fold;

/* Adds all places of a row to it. */
static bool fold_row(void *ctx, size_t index, int worker, err *e) {
    const fold *f = ctx;
    (void)e;
    const border_axis *x = &f->axis[PLAN_X], *y = &f->axis[PLAN_Y];
    const int c = (int)(index / y->extent);
    const uint32_t row = (uint32_t)(index % y->extent), wide = x->before + x->extent + x->after;
    double *sum = f->sum + (size_t)worker * x->extent;
    int64_t *place = f->place + (size_t)worker * f->places;
    uint32_t n = border_places(y, row, place);
    memset(sum, 0, x->extent * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        size_t at = (size_t)(place[i] + y->before) * wide;
        const float *from = (const float *)f->from->img->plane[0][c] + at;
        const double *doubles = f->from->doubles[c] ? f->from->doubles[c] + at : NULL;
        for (uint32_t k = 0; k < wide; k++) {
            int64_t to = plan_place(x->border, x->extent, (int64_t)k - x->before);
            if (to >= 0) sum[to] += doubles ? doubles[k] : (double)from[k];
        }
    }
    const size_t at = (size_t)row * x->extent;
    float *out = (float *)f->to->img->plane[0][c] + at;
    for (uint32_t k = 0; f->mask && k < x->extent; k++) {
        const double part = (double)f->mask[at + k];
        sum[k] = part * sum[k] + (1 - part) * (double)out[k];
    }
    for (uint32_t k = 0; k < x->extent; k++) out[k] = (float)sum[k];
    if (f->to->doubles[c]) memcpy(f->to->doubles[c] + at, sum, x->extent * sizeof *sum);
    return true;
}

static bool fold_image(fold *f, par *threads, err *e) {
    const size_t workers = (size_t)par_workers(threads), w = f->axis[PLAN_X].extent;
    f->places = border_most(&f->axis[PLAN_Y]);
    f->sum = mem_raw(workers * w, sizeof *f->sum, "rows", e);
    f->place = mem_raw(workers * f->places, sizeof *f->place, "rows", e);
    bool ok = f->sum && f->place &&
              par_for(threads,
                      (size_t)f->axis[PLAN_Y].extent * (size_t)f->to->img->head.part[0].channels,
                      fold_row, f, e);
    mem_free(f->sum);
    mem_free(f->place);
    return ok;
}

/* --- the call --------------------------------------------------------------------------------- */

/* Puts an image into the middle of a larger one. */
static void put_into_frame(image *to, const image *from, const border_axis *axis) {
    if (!from) return;
    const size_t wide = image_width(&to->head.part[0]), w = axis[PLAN_X].extent;
    for (int c = 0; c < to->head.part[0].channels; c++)
        for (uint32_t y = 0; y < axis[PLAN_Y].extent; y++)
            memcpy((float *)to->plane[0][c] + (y + axis[PLAN_Y].before) * wide +
                       axis[PLAN_X].before,
                   (const float *)from->plane[0][c] + y * w, w * sizeof(float));
}

static bool make_frame(lib_pair *to, const lib_job *j, const border_axis *axis, err *e) {
    image_header head;
    if (!image_header_copy(&head, &j->head, e)) return false;
    const uint32_t w = axis[PLAN_X].before + axis[PLAN_X].extent + axis[PLAN_X].after;
    const uint32_t h = axis[PLAN_Y].before + axis[PLAN_Y].extent + axis[PLAN_Y].after;
    bool ok = (w <= IMAGE_SIDE && h <= IMAGE_SIDE) ||
              err_set(e, ERR_DATA,
                      "with the reach of the kernel around it, the image has %u x %u pixels; the "
                      "maximum is %d a side",
                      w, h, IMAGE_SIDE);
    head.part[0].data = head.part[0].display = (image_box){0, 0, (int32_t)w - 1, (int32_t)h - 1};
    ok = ok && lib_pair_make(to, j, &head, true, e);
    image_header_free(&head);
    return ok;
}

bool lib_transpose(lib_pair *own, lib_job *j, fb_session *s, const float *mask, bloom_report *r,
                   err *e) {
    if (s->set.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "threshold is %g: what is not linear has no transpose; set it to 0",
                       s->set.threshold);
    if (j->space.curve && j->space.curve != CURVE_LINEAR)
        return err_set(e, ERR_USAGE, "space is '%s': a curve has no transpose; decode the image",
                       j->is->space);
    const bloom *b = lib_bloom(s, j->way & ~LIB_SOLVES, e);
    if (!b) return false;
    lib_pair framed = {0};
    fold f = {.from = &framed, .to = own, .axis = {s->axis[PLAN_X], s->axis[PLAN_Y]}, .mask = mask};
    f.axis[PLAN_X].extent = j->is->width;
    f.axis[PLAN_Y].extent = j->is->height;
    bool ok = make_frame(&framed, j, f.axis, e);
    framed.far |= own->far;
    if (ok) {
        put_into_frame(framed.img, own->img, f.axis);
        put_into_frame(framed.rest, own->rest, f.axis);
    }
    ok = ok && lib_pair_bloom(&framed, b, r, e) && fold_image(&f, j->threads, e);
    lib_pair_free(&framed);
    return ok;
}

bool lib_adjoint(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    lib_pair own = {0};
    float *mask = NULL;
    const bool ok = lib_pair_make(&own, j, &j->head, false, e) && lib_pair_read(&own, j, e) &&
                    lib_read_mask(&mask, j, e) && lib_transpose(&own, j, s, mask, r, e) &&
                    lib_pair_write(&own, j, e);
    mem_free(mask);
    lib_pair_free(&own);
    return ok;
}

/* --- by the kernel ---------------------------------------------------------------------------- */

/* Refuses pixels that are not finite, or makes them zeros. */
static bool check_finite(double *v, size_t n, const char *what, int32_t nan, err *e) {
    for (size_t i = 0; i < n; i++) {
        if (isfinite(v[i])) continue;
        if (nan != FB_NAN_ZERO)
            return err_set(e, ERR_BAD_PIXELS,
                           "pixel %zu of a plane of `%s` is %g: a gradient needs finite ones, or "
                           "nan to be zero",
                           i, what, v[i]);
        v[i] = 0;
    }
    return true;
}

/* Adds what an image of the batch gives. */
static bool add_image(gradient *g, fb_session *s, const fb_image *from, err *e) {
    fb_image is;
    if (!lib_image(&is, from, false, e)) return false;
    const lib_job j = {.is = &is, .threads = s->kernel->context->threads};
    const size_t n = (size_t)is.width * is.height;
    double *plane[2 * LIB_CHANNELS] = {NULL};
    float *mask = NULL;
    gradient_image to = {is.width, is.height, is.channels, {NULL}, {NULL}};
    bool ok = lib_read_mask(&mask, &j, e);
    const join_spread spread = {s->set.threshold, s->set.knee, mask};
    for (uint32_t i = 0; ok && i < 2 * is.channels; i++) {
        const bool y = i >= is.channels;
        const uint32_t c = y ? i - is.channels : i;
        double *v = plane[i] = mem_raw(n, sizeof(double), "a plane", e);
        ok = v && lib_read_plane(v, FB_DOUBLE, &j, &(y ? is.out : is.in)[c], 0, is.height, e) &&
             check_finite(v, n, y ? "out" : "in", y ? FB_NAN_ERROR : s->set.nan, e);
        for (size_t k = 0; ok && !y && !join_spreads_all(&spread) && k < n; k++)
            v[k] = join_parts_of(&spread, k, v[k]).spread;
        *(y ? &to.y[c] : &to.x[c]) = v;
    }
    ok = ok && gradient_add(g, &to, e);
    for (int i = 0; i < 2 * LIB_CHANNELS; i++) mem_free(plane[i]);
    mem_free(mask);
    return ok;
}

static bool write_gradient(const gradient *g, const fb_plane *to, par *threads, err *e) {
    bool ok =
        lib_planes_check(to, g->kernel.w, g->kernel.h, g->kernel.channels, true, "gradient", e);
    lib_rows r = {.plane = to,
                  .index = (uint32_t[]){0, 1, 2},
                  .own = (void *const *)g->plane,
                  .type = (int32_t[]){FB_DOUBLE, FB_DOUBLE, FB_DOUBLE},
                  .w = g->kernel.w,
                  .rows = g->kernel.h,
                  .channels = g->kernel.channels,
                  .out = true};
    return ok && lib_rows_copy(&r, threads, e);
}

int32_t fb_kernel_adjoint(fb_session *session, const fb_image *images, size_t count,
                          const fb_plane *to, fb_report *report, fb_error *error) {
    lib_call l;
    gradient g = {.last = NULL};
    double most = 0, off = 0;
    const double start = clock_now();
    fb_context *c = session && (images || !count) ? session->kernel->context : NULL;
    if (!lib_enter(&l, c, "fb_kernel_adjoint", error)) return lib_leave(&l);
    atomic_fetch_add(&session->users, 1);
    const bloom_settings s = lib_settings(c, &session->set);
    bool ok = gradient_begin(&g, &s, &session->kernel->source, c->devices, &l.e);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_image(&g, session, (const fb_image *)((const char *)images + i * images->size),
                       &l.e) ||
             err_in(&l.e, "image %zu", i);
    ok = ok && gradient_end(&g, &most, &off, &l.e) && write_gradient(&g, to, c->threads, &l.e);
    if (ok && report) {
        *report = (fb_report){.size = report->size,
                              .kept = off <= s.tolerance * most,
                              .error = off,
                              .allowed = s.tolerance * most,
                              .seconds = clock_now() - start,
                              .attempts = 1,
                              .precision = FB_PRECISION_FLOAT64};
        snprintf(report->device, sizeof report->device, "%.127s", g.last->sum.device.name);
    }
    gradient_free(&g);
    lib_session_give(session);
    return lib_leave(&l);
}
