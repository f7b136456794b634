/* The transpose of a bloom. A bloom is A = (1 - a) I + a R K E: the border continues the image (E),
 * the kernel spreads it (K), and the frame is cut out again (R). So the transpose puts zeros around
 * an image (R'), correlates with the kernel (K'), and adds what lies outside to the pixels that the
 * border has taken it from (E'). Zero and wrapped borders need no frame: there the transpose of K
 * has the same border. */
#include "base/number.h"
#include "lib/lib.h"
#include "math/border.h"

#include <string.h>

/* --- the bloom of the transpose --------------------------------------------------------------- */

static bool continues(plan_border b) {
    return b == BORDER_MIRROR || b == BORDER_CLAMP;
}

/* Finds how far the kernel reaches, and opens the bloom. */
static bool open_adjoint(fb_session *s, err *e) {
    fb_context *c = s->kernel->context;
    bloom_settings set = lib_settings(c, &s->set);
    const kernel_use use = bloom_kernel_use(&set);
    const kernel_need need = {.channels = 1, .w = PSF_SIDE, .h = PSF_SIDE, .height = PSF_SIDE};
    psf k = {0};
    if (!kernel_source_psf(&k, &s->kernel->source, &use, &need, NULL, e)) return false;
    const uint32_t low[] = {k.w - 1 - k.cx, k.h - 1 - k.cy}, high[] = {k.cx, k.cy};
    psf_free(&k);
    for (int a = 0; a < PLAN_AXES; a++) {
        bool frame = continues(set.border[a]);
        s->axis[a] = (border_axis){set.border[a], 0, frame ? low[a] : 0, frame ? high[a] : 0};
        if (frame) set.border[a] = BORDER_ZERO;
    }
    set.kernel.correlate = !set.kernel.correlate;
    set.verify = 0;
    return (s->adjoint = bloom_open_with(&set, &s->kernel->source, c->devices, e)) != NULL;
}

static bool ready(fb_session *s, err *e) {
    pthread_mutex_lock(&s->lock);
    bool ok = s->adjoint || open_adjoint(s, e);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* --- folding ---------------------------------------------------------------------------------- */

typedef struct {
    const image *from; /* with the frame */
    image *to;
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
        const float *from = (const float *)f->from->plane[0][c] + at;
        for (uint32_t k = 0; k < wide; k++) {
            int64_t to = plan_place(x->border, x->extent, (int64_t)k - x->before);
            if (to >= 0) sum[to] += (double)from[k];
        }
    }
    float *out = (float *)f->to->plane[0][c] + (size_t)row * x->extent;
    for (uint32_t k = 0; k < x->extent; k++) out[k] = (float)sum[k];
    return true;
}

static bool fold_image(fold *f, par *threads, err *e) {
    const size_t workers = (size_t)par_workers(threads), w = f->axis[PLAN_X].extent;
    f->places = border_most(&f->axis[PLAN_Y]);
    f->sum = mem_raw(workers * w, sizeof *f->sum, "rows", e);
    f->place = mem_raw(workers * f->places, sizeof *f->place, "rows", e);
    bool ok = f->sum && f->place &&
              par_for(threads,
                      (size_t)f->axis[PLAN_Y].extent * (size_t)f->to->head.part[0].channels,
                      fold_row, f, e);
    mem_free(f->sum);
    mem_free(f->place);
    return ok;
}

/* --- the call --------------------------------------------------------------------------------- */

/* Puts the image into the middle of a larger one. */
static bool put_into_frame(image *to, lib_job *j, const border_axis *axis, err *e) {
    const size_t wide = image_width(&to->head.part[0]), w = axis[PLAN_X].extent;
    image *img = image_new_unset(&j->head, NULL, e);
    bool ok = img && lib_job_rows(j, img, false, e);
    for (int c = 0; ok && c < to->head.part[0].channels; c++)
        for (uint32_t y = 0; y < axis[PLAN_Y].extent; y++)
            memcpy((float *)to->plane[0][c] + (y + axis[PLAN_Y].before) * wide +
                       axis[PLAN_X].before,
                   (const float *)img->plane[0][c] + y * w, w * sizeof(float));
    image_free(&img);
    return ok;
}

static image *new_frame(const lib_job *j, const border_axis *axis, err *e) {
    image_header head;
    if (!image_header_copy(&head, &j->head, e)) return NULL;
    image_box *box = &head.part[0].data;
    const uint32_t w = axis[PLAN_X].before + axis[PLAN_X].extent + axis[PLAN_X].after;
    const uint32_t h = axis[PLAN_Y].before + axis[PLAN_Y].extent + axis[PLAN_Y].after;
    bool ok = (w <= IMAGE_SIDE && h <= IMAGE_SIDE) ||
              err_set(e, ERR_DATA,
                      "with the reach of the kernel around it, the image has %u x %u pixels; the "
                      "maximum is %d a side",
                      w, h, IMAGE_SIDE);
    *box = (image_box){0, 0, (int32_t)w - 1, (int32_t)h - 1};
    head.part[0].display = *box;
    image *img = ok ? image_new(&head, e) : NULL;
    image_header_free(&head);
    return img;
}

bool lib_adjoint(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    if (s->set.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "threshold is %g: what is not linear has no transpose; set it to 0",
                       s->set.threshold);
    if (!ready(s, e)) return false;
    fold f = {.axis = {s->axis[PLAN_X], s->axis[PLAN_Y]}};
    f.axis[PLAN_X].extent = j->is->width;
    f.axis[PLAN_Y].extent = j->is->height;
    image *from = new_frame(j, f.axis, e);
    bool ok = from && put_into_frame(from, j, f.axis, e) && bloom_image(s->adjoint, from, r, e);
    f.from = from;
    ok = ok && (f.to = image_new_unset(&j->head, NULL, e)) && fold_image(&f, j->threads, e) &&
         lib_job_rows(j, f.to, true, e);
    image_free(&from);
    image_free(&f.to);
    return ok;
}
