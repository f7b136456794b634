/* The transpose of a bloom. A bloom is A = (1 - a) I + a R K E: the border continues the image (E),
 * the kernel spreads it (K), and the frame is cut out again (R). So the transpose puts zeros around
 * an image (R'), correlates with the kernel (K'), and adds what lies outside to the pixels that the
 * border has taken it from (E'). Zero and wrapped borders need no frame: there the transpose of K
 * has the same border. */
#include "base/number.h"
#include "lib/lib.h"
#include "math/border.h"

#include <string.h>

/* --- folding ---------------------------------------------------------------------------------- */

typedef struct {
    const lib_pair *from, *to; /* with the frame, and without */
    border_axis axis[PLAN_AXES];
    double *sum;    /* of each worker, a row */
    int64_t *place; /* of each worker, where a row is shown */
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

bool lib_adjoint(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    if (s->set.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "threshold is %g: what is not linear has no transpose; set it to 0",
                       s->set.threshold);
    const bloom *b = lib_bloom(s, true, j->wide, e);
    if (!b) return false;
    lib_pair own = {0}, framed = {0};
    fold f = {.from = &framed, .to = &own, .axis = {s->axis[PLAN_X], s->axis[PLAN_Y]}};
    f.axis[PLAN_X].extent = j->is->width;
    f.axis[PLAN_Y].extent = j->is->height;
    bool ok = lib_pair_make(&own, j, &j->head, false, e) && lib_pair_read(&own, j, e) &&
              make_frame(&framed, j, f.axis, e);
    if (ok) {
        put_into_frame(framed.img, own.img, f.axis);
        put_into_frame(framed.rest, own.rest, f.axis);
    }
    ok = ok && lib_pair_bloom(&framed, b, r, e) && fold_image(&f, j->threads, e) &&
         lib_pair_write(&own, j, e);
    lib_pair_free(&framed);
    lib_pair_free(&own);
    return ok;
}
