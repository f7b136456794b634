#include "bloom/gradient.h"

#include "base/host.h"
#include "base/log.h"
#include "bloom/promise/accuracy.h"
#include "kernel/psf_core.h"
#include "math/border.h"
#include "math/lengths.h"

#include <math.h>
#include <string.h>

static size_t taps_of(const gradient *g) {
    return (size_t)g->kernel.w * g->kernel.h;
}

bool gradient_begin(gradient *g, const bloom_settings *s, const kernel_source *k,
                    device_pool *devices, err *e) {
    *g = (gradient){.s = *s, .devices = devices};
    const kernel_use use = bloom_kernel_use(s);
    const kernel_need need = {
        .channels = k->channels, .w = PSF_SIDE, .h = PSF_SIDE, .height = PSF_SIDE};
    if (k->is_spectrum)
        return err_set(e, ERR_USAGE, "kernel '%s' is a spectrum, and has no taps to learn",
                       k->path);
    if (!kernel_source_psf(&g->kernel, k, &use, &need, NULL, e)) return false;
    if (fmod(s->kernel.turn, 360) != 0)
        return err_set(e, ERR_CONFIG,
                       "kernel_turn is %g: the gradient is that of taps which are used as they "
                       "are; turn the kernel first",
                       s->kernel.turn);
    if (s->kernel.size != 1 || g->kernel.w != k->w || g->kernel.h != k->h)
        return err_set(e, ERR_CONFIG,
                       "kernel_scale is %g, or kernel_center lies between taps: the gradient is "
                       "that of taps which are used as they are",
                       s->kernel.size);
    g->last = mem_new(1, sizeof *g->last, "a report", e);
    bool ok = g->last;
    for (uint32_t c = 0; ok && c < k->channels; c++)
        ok = (g->plane[c] = mem_new(taps_of(g), sizeof(double), "a gradient", e));
    return ok;
}

void gradient_free(gradient *g) {
    psf_free(&g->kernel);
    mem_free(g->last);
    for (int c = 0; c < 3; c++) mem_free(g->plane[c]);
    *g = (gradient){0};
}

/* --- one correlation -------------------------------------------------------------------------- */

/* A plane of doubles as two of floats, the second of what the first have lost. */
typedef struct {
    image *img, *rest; /* rest: NULL where nothing is lost */
} halves;

static void free_halves(halves *p) {
    image_free(&p->img);
    image_free(&p->rest);
}

/* Takes a plane, divided by 2 to the power of `by`, as its border continues it; zeros fill the rest
 * of w x h pixels. */
static bool make_halves(halves *to, const double *from, const border_axis axis[PLAN_AXES],
                        const uint32_t size[PLAN_AXES], int by, err *e) {
    const border_axis *x = &axis[PLAN_X], *y = &axis[PLAN_Y];
    const double scale = ldexp(1, -by);
    bool lost = false;
    *to = (halves){image_plain(size[PLAN_X], size[PLAN_Y], 1, PIXEL_FLOAT, e), NULL};
    if (!to->img || !(to->rest = image_plain(size[PLAN_X], size[PLAN_Y], 1, PIXEL_FLOAT, e)))
        return false;
    for (uint32_t j = 0; j < y->before + y->extent + y->after; j++) {
        const int64_t row = plan_place(y->border, y->extent, (int64_t)j - y->before);
        float *v = (float *)to->img->plane[0][0] + (size_t)j * size[PLAN_X];
        float *rest = (float *)to->rest->plane[0][0] + (size_t)j * size[PLAN_X];
        for (uint32_t i = 0; row >= 0 && i < x->before + x->extent + x->after; i++) {
            const int64_t at = plan_place(x->border, x->extent, (int64_t)i - x->before);
            const double own = at < 0 ? 0 : scale * from[(size_t)row * x->extent + (size_t)at];
            v[i] = (float)own;
            rest[i] = (float)(own - (double)v[i]);
            lost |= rest[i] != 0;
        }
    }
    if (!lost) image_free(&to->rest);
    return true;
}

/* Adds what a bloom makes of the first taps of an image. */
static bool add_spread(double *to, double *error, const gradient *g, const bloom *b, image *img,
                       err *e) {
    const uint32_t w = image_width(&img->head.part[0]), h = image_height(&img->head.part[0]);
    double *all = mem_raw((size_t)w * h, sizeof *all, "doubles", e), most = 0;
    rows_image rows;
    bool ok = all && rows_image_open(&rows, img, e);
    if (!ok) return mem_free(all), false;
    ok = bloom_run(b, &(bloom_rows){rows.in, rows.out, .doubles = &all}, g->last, e);
    rows_image_close(&rows);
    for (uint32_t y = 0; ok && y < g->kernel.h; y++)
        for (uint32_t x = 0; x < g->kernel.w; x++) {
            const double v = all[(size_t)y * w + x];
            to[(size_t)y * g->kernel.w + x] += v;
            most = fmax(most, fabs(v));
        }
    const accuracy *m = &g->last->sum.promise.method;
    *error += m->error[0] + accuracy_relative(m) * most;
    mem_free(all);
    return ok;
}

/* Makes `to` of shift i the sum over p of y(p) * x(p + i - after). */
static bool correlate(double *to, double *error, const gradient *g, const halves *frame,
                      const halves *y, err *e) {
    kernel_source k = {0};
    bloom_settings s = g->s;
    s.border[PLAN_X] = s.border[PLAN_Y] = BORDER_WRAP;
    s.kernel = (psf_options){
        .normalize = PSF_NONE, .center = PSF_AT, .correlate = true, .size = 1, .wide = 1};
    s.precision = PRECISION_FLOAT64;
    s.tolerance = 1;
    s.sharpen = s.core = s.threshold = s.knee = 0;
    memset(s.tint, 0, sizeof s.tint);
    s.mask = s.emit_layer = NULL;
    s.verify = 0, s.cache_size = 0;
    bloom *b = NULL;
    bool ok = kernel_source_image(&k, "gradient", y->img, e) &&
              (!y->rest || kernel_source_refine(&k, y->rest, e)) &&
              (b = bloom_open_on(&s, NULL, &k, g->devices, e)) &&
              add_spread(to, error, g, b, frame->img, e) &&
              (!frame->rest || add_spread(to, error, g, b, frame->rest, e));
    bloom_close(&b);
    kernel_source_free(&k);
    return ok;
}

static double most_of(const double *v, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Fills `to` with what channel `c` of an image gives; *error: by how much that may be off. */
static bool add_channel(double *to, double *error, const gradient *g, const gradient_image *is,
                        uint32_t c, err *e) {
    const uint32_t extent[PLAN_AXES] = {[PLAN_X] = is->w, [PLAN_Y] = is->h},
                   taps[PLAN_AXES] = {[PLAN_X] = g->kernel.w, [PLAN_Y] = g->kernel.h},
                   middle[PLAN_AXES] = {[PLAN_X] = g->kernel.cx, [PLAN_Y] = g->kernel.cy};
    const size_t n = (size_t)is->w * is->h;
    const double x = most_of(is->x[c], n), y = most_of(is->y[c], n);
    border_axis around[PLAN_AXES], plain[PLAN_AXES];
    uint32_t size[PLAN_AXES];
    halves frame = {0}, kernel = {0};
    *error = 0;
    if (!(x > 0 && y > 0)) return true;
    for (int a = 0; a < PLAN_AXES; a++) {
        plain[a] = (border_axis){BORDER_ZERO, extent[a], 0, 0};
        around[a] = (border_axis){g->s.border[a], extent[a], taps[a] - 1 - middle[a], middle[a]};
        size[a] = length_next(extent[a] + taps[a] - 1, 2);
        if (size[a] == 0 || size[a] > IMAGE_SIDE)
            return err_set(e, ERR_DATA,
                           "with the reach of the kernel around it, the image is %u pixels wide or "
                           "high; the maximum is %d",
                           extent[a] + taps[a] - 1, IMAGE_SIDE);
    }
    const int by_x = ilogb(x), by_y = ilogb(y);
    bool ok = make_halves(&frame, is->x[c], around, size, by_x, e) &&
              make_halves(&kernel, is->y[c], plain, extent, by_y, e) &&
              correlate(to, error, g, &frame, &kernel, e);
    for (size_t i = 0; i < taps_of(g); i++) to[i] = ldexp(to[i], by_x + by_y);
    *error = ldexp(*error, by_x + by_y);
    free_halves(&frame);
    free_halves(&kernel);
    return ok;
}

/* Returns how much of channel k of the kernel spreads channel c of an image. */
static double share_of(const gradient *g, const gradient_image *is, uint32_t c, uint32_t k) {
    if (c == 3 && g->s.alpha == ALPHA_KEEP) return 0;
    if (g->kernel.channels == 1) return 1;
    return is->channels == 1 || c == 3 ? g->kernel.made.luminance[k] : c == k;
}

bool gradient_add(gradient *g, const gradient_image *is, err *e) {
    const size_t n = taps_of(g);
    double *own = mem_raw(n, sizeof *own, "a gradient", e), error = 0;
    double tint[PSF_CHANNELS], luminance[3];
    image_luminance(&(image_part){0}, luminance); /* of an image without chromaticities */
    bloom_tint(tint, &g->s, is->channels, luminance);
    const size_t middle = n - 1 - ((size_t)g->kernel.cy * g->kernel.w + g->kernel.cx);
    const int level = host_here()->level;
    host_here()->level = LOG_ERROR; /* numbers would not be those of the image */
    bool ok = own;
    for (uint32_t c = 0; ok && c < is->channels; c++) {
        double used = 0;
        for (uint32_t k = 0; k < g->kernel.channels; k++) used += share_of(g, is, c, k);
        if (!(used > 0)) continue;
        memset(own, 0, n * sizeof *own);
        ok = add_channel(own, &error, g, is, c, e);
        if (tint[0] != 0 || tint[1] != 0 || tint[2] != 0) {
            for (size_t i = 0; i < n; i++) own[i] *= i == middle ? 1 : tint[c];
            error *= fmax(1, tint[c]);
        }
        for (size_t i = 0; g->kernel.core > 0 && i < n; i++) /* all of it stays in its pixel */
            if (psf_core_has(&g->kernel, i, g->kernel.core)) own[n - 1 - i] = own[middle];
        for (uint32_t k = 0; ok && k < g->kernel.channels; k++) {
            const double share = share_of(g, is, c, k);
            for (size_t i = 0; i < n; i++) g->plane[k][i] += share * own[n - 1 - i];
            g->error[k] += share * error;
        }
    }
    host_here()->level = level;
    mem_free(own);
    return ok;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Returns the place of the source's tap i in the psf. */
static size_t place_of(const gradient *g, size_t i) {
    const size_t w = g->kernel.w, h = g->kernel.h;
    size_t x = i % w, y = i / w;
    if (g->s.kernel.center == PSF_CORNER) x = (x + w / 2) % w, y = (y + h / 2) % h;
    return g->s.kernel.correlate ? w * h - 1 - (y * w + x) : y * w + x;
}

bool gradient_end(gradient *g, double *most, double *error, err *e) {
    const psf *k = &g->kernel;
    const size_t n = taps_of(g);
    const psf_normalize how = k->made.normalize;
    double *order = mem_raw(n, sizeof *order, "a gradient", e);
    double along[3] = {0}, off[3] = {0}, all = 0, all_off = 0;
    if (!order) return false;
    *most = *error = 0;
    for (uint32_t c = 0; c < k->channels; c++) {
        for (size_t i = 0; i < n; i++) {
            const double tap = k->scale[c] * psf_tap(k, c * n + i);
            along[c] += g->plane[c][i] * tap;
            off[c] += g->error[c] * fabs(tap);
        }
        all += along[c], all_off += off[c];
    }
    for (uint32_t c = 0; c < k->channels; c++) {
        const double weight = how == PSF_NONE                            ? 0
                              : how == PSF_PER_CHANNEL                   ? 1
                              : how == PSF_LUMINANCE && k->channels == 3 ? k->made.luminance[c]
                                                                         : 1.0 / k->channels;
        const double less = weight * (how == PSF_PER_CHANNEL ? along[c] : all);
        const double less_off = weight * (how == PSF_PER_CHANNEL ? off[c] : all_off);
        const double scale = (1 - g->s.sharpen) * k->scale[c];
        for (size_t i = 0; i < n; i++) order[i] = scale * (g->plane[c][place_of(g, i)] - less);
        memcpy(g->plane[c], order, n * sizeof *order);
        g->error[c] = scale * (g->error[c] + less_off);
        *error = fmax(*error, g->error[c]);
        *most = fmax(*most, most_of(order, n));
    }
    mem_free(order);
    return true;
}
