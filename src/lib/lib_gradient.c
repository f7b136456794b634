/* The gradient of a bloom by the taps of its kernel.
 *
 * With y for what comes back, and x for the light that is spread, the gradient of <y, bloom(x)> by
 * tap q of the scaled kernel is amount times the sum over all pixels p of y(p) * x(p - (q -
 * centre)): the correlation of the two, at as many shifts as there are taps. The engine makes it:
 * the image, as its border continues it, is spread by y as if y were the kernel, on a circle as
 * long as both need. A tint multiplies what each channel gives to all taps but the middle one, and
 * all taps of a core count as the middle one. What normalisation does to the taps follows by the
 * chain rule, once for all images. docs/inside/math.md, "The gradient by the kernel", has the
 * formulas. */
#include "base/clock.h"
#include "kernel/psf_core.h"
#include "lib/lib.h"
#include "math/lengths.h"

typedef struct {
    bloom_settings s; /* of the bloom */
    fb_session *of;
    psf kernel;         /* the source's taps, turned and moved as the bloom has them */
    size_t taps;        /* of a plane */
    double *plane[3];   /* of each channel of the kernel: the gradient, in that order */
    double error[3];    /* no number of a plane is farther off */
    bloom_report *last; /* of the last correlation: its device */
} gradient;

typedef struct {
    const fb_image *pixels;
    double *x[LIB_CHANNELS], *y[LIB_CHANNELS]; /* packed; x: what is spread */
} operands;

/* Begins with zeros. Refuses kernels whose taps are not those of the source: spectra, and kernels
 * that are scaled or have a centre between taps. */
static bool begin(gradient *g, err *e) {
    const kernel_source *k = &g->of->kernel->source;
    const kernel_use use = bloom_kernel_use(&g->s);
    const kernel_need need = {
        .channels = k->channels, .w = PSF_SIDE, .h = PSF_SIDE, .height = PSF_SIDE};
    if (k->is_spectrum)
        return err_set(e, ERR_USAGE, "kernel '%s' is a spectrum, and has no taps to learn",
                       k->path);
    if (!kernel_source_taps(k, e)) return false;
    if (!kernel_source_psf(&g->kernel, k, &use, &need, NULL, e)) return false;
    if (fmod(g->s.kernel.turn, 360) != 0)
        return err_set(e, ERR_CONFIG,
                       "kernel_turn is %g: the gradient is that of taps which are used as they "
                       "are; turn the kernel first",
                       g->s.kernel.turn);
    if (g->s.kernel.size != 1 || g->kernel.w != k->w || g->kernel.h != k->h)
        return err_set(e, ERR_CONFIG,
                       "kernel_scale is %g, or kernel_center lies between taps: the gradient is "
                       "that of taps which are used as they are",
                       g->s.kernel.size);
    g->taps = (size_t)g->kernel.w * g->kernel.h;
    bool ok = (g->last = mem_new(1, sizeof *g->last, "a report", e)) != NULL;
    for (uint32_t c = 0; ok && c < k->channels; c++)
        ok = (g->plane[c] = mem_new(g->taps, sizeof(double), "a gradient", e)) != NULL;
    return ok;
}

/* --- one correlation -------------------------------------------------------------------------- */

/* Makes floats of a plane, divided by 2 to the power of `by`, as its border continues it, and of
 * what these have lost; zeros fill the rest of w x h pixels. */
static bool make_pair(lib_pair *to, const double *from, const border_axis axis[PLAN_AXES],
                      const uint32_t size[PLAN_AXES], int by, err *e) {
    const border_axis *x = &axis[PLAN_X], *y = &axis[PLAN_Y];
    const double scale = ldexp(1, -by);
    bool lost = false;
    if (!(to->img = image_plain(size[PLAN_X], size[PLAN_Y], 1, PIXEL_FLOAT, e)) ||
        !(to->rest = image_plain(size[PLAN_X], size[PLAN_Y], 1, PIXEL_FLOAT, e)))
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
    OWN_MEM double *total = mem_raw((size_t)w * h, sizeof *total, "doubles", e);
    double most = 0;
    const bool ok = total && lib_run(b, img, (bloom_rows){.doubles = &total}, true, g->last, e);
    for (size_t i = 0; ok && i < g->taps; i++) {
        const double v = total[i / g->kernel.w * w + i % g->kernel.w];
        to[i] += v;
        most = fmax(most, fabs(v));
    }
    const accuracy *m = &g->last->sum.promise.method;
    *error += m->error[0] + accuracy_relative(m) * most;
    return ok;
}

/* Makes `to` of shift i the sum over p of y(p) * x(p + i - after). */
static bool correlate(double *to, double *error, const gradient *g, const lib_pair *frame,
                      const lib_pair *y, err *e) {
    OWN(kernel_source) k = {0};
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
    OPEN(bloom) *b = NULL;
    return kernel_source_image(&k, "gradient", y->img, e) &&
           (!y->rest || kernel_source_refine(&k, y->rest, e)) &&
           (b = bloom_open_on(&s, NULL, &k, g->of->kernel->context->devices, e)) &&
           add_spread(to, error, g, b, frame->img, e) &&
           (!frame->rest || add_spread(to, error, g, b, frame->rest, e));
}

static double most_of(const double *v, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Fills `to` with what channel `c` of an image gives; *error: by how much that may be off. */
static bool add_channel(double *to, double *error, const gradient *g, const operands *o, uint32_t c,
                        err *e) {
    const uint32_t extent[PLAN_AXES] = {[PLAN_X] = o->pixels->width, [PLAN_Y] = o->pixels->height},
                   taps[PLAN_AXES] = {[PLAN_X] = g->kernel.w, [PLAN_Y] = g->kernel.h},
                   middle[PLAN_AXES] = {[PLAN_X] = g->kernel.cx, [PLAN_Y] = g->kernel.cy};
    const size_t n = (size_t)o->pixels->width * o->pixels->height;
    const double x = most_of(o->x[c], n), y = most_of(o->y[c], n);
    border_axis around[PLAN_AXES], plain[PLAN_AXES];
    uint32_t size[PLAN_AXES];
    OWN(lib_pair) frame = {0};
    OWN(lib_pair) kernel = {0};
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
    bool ok = make_pair(&frame, o->x[c], around, size, by_x, e) &&
              make_pair(&kernel, o->y[c], plain, extent, by_y, e) &&
              correlate(to, error, g, &frame, &kernel, e);
    for (size_t i = 0; i < g->taps; i++) to[i] = ldexp(to[i], by_x + by_y);
    *error = ldexp(*error, by_x + by_y);
    return ok;
}

/* Reads a plane into doubles. Refuses pixels that are not finite, or makes them zeros. */
static double *read_plane(const lib_job *j, const fb_plane *from, const char *what, int32_t nan,
                          err *e) {
    const size_t n = (size_t)j->pixels->width * j->pixels->height;
    double *v = mem_raw(n, sizeof *v, "a plane", e);
    bool ok = v && lib_read_plane(v, FB_DOUBLE, j, from, 0, j->pixels->height, e);
    for (size_t i = 0; ok && i < n; i++) {
        if (isfinite(v[i])) continue;
        if (nan != FB_NAN_ZERO)
            ok = err_set(e, ERR_BAD_PIXELS,
                         "pixel %zu of a plane of `%s` is %g: a gradient needs finite ones, or nan "
                         "to be zero",
                         i, what, v[i]);
        v[i] = 0;
    }
    if (!ok) mem_free(v), v = NULL;
    return v;
}

/* Returns how much of channel k of the kernel spreads channel c of an image. */
static double share_of(const gradient *g, uint32_t channels, uint32_t c, uint32_t k) {
    if (c == 3 && g->s.alpha == ALPHA_KEEP) return 0;
    if (g->kernel.channels == 1) return 1;
    return channels == 1 || c == 3 ? g->kernel.made.luminance[k] : c == k;
}

/* Adds what an image gives by what its channels give. */
static bool add_channels(gradient *g, const operands *o, err *e) {
    const size_t n = g->taps;
    OWN_MEM double *own = mem_raw(n, sizeof *own, "a gradient", e);
    double error = 0, tint[PSF_CHANNELS], luminance[3];
    image_luminance(&(image_part){0}, luminance); /* of an image without chromaticities */
    bloom_tint(tint, &g->s, o->pixels->channels, luminance);
    const size_t middle = n - 1 - ((size_t)g->kernel.cy * g->kernel.w + g->kernel.cx);
    bool ok = own;
    for (uint32_t c = 0; ok && c < o->pixels->channels; c++) {
        double used = 0;
        for (uint32_t k = 0; k < g->kernel.channels; k++)
            used += share_of(g, o->pixels->channels, c, k);
        if (!(used > 0)) continue;
        memset(own, 0, n * sizeof *own);
        ok = add_channel(own, &error, g, o, c, e);
        if (tint[0] != 0 || tint[1] != 0 || tint[2] != 0) {
            for (size_t i = 0; i < n; i++) own[i] *= i == middle ? 1 : tint[c];
            error *= fmax(1, tint[c]);
        }
        for (size_t i = 0; g->kernel.core > 0 && i < n; i++) /* all of it stays in its pixel */
            if (psf_core_has(&g->kernel, i, g->kernel.core)) own[n - 1 - i] = own[middle];
        for (uint32_t k = 0; ok && k < g->kernel.channels; k++) {
            const double share = share_of(g, o->pixels->channels, c, k);
            for (size_t i = 0; i < n; i++) g->plane[k][i] += share * own[n - 1 - i];
            g->error[k] += share * error;
        }
    }
    return ok;
}

static bool add_image(gradient *g, const fb_image *from, err *e) {
    fb_image pixels;
    if (!lib_image(&pixels, from, false, e)) return false;
    const lib_job j = {.pixels = &pixels, .threads = g->of->kernel->context->threads};
    const fb_settings *set = &g->of->set;
    operands o = {.pixels = &pixels};
    OWN_MEM float *mask = NULL;
    bool ok = lib_read_mask(&mask, &j, e);
    const join_spread spread = {set->threshold, set->knee, mask};
    for (uint32_t c = 0; ok && c < pixels.channels; c++) {
        ok = (o.x[c] = read_plane(&j, &pixels.in[c], "in", set->nan, e)) != NULL;
        for (size_t i = 0;
             ok && !join_spreads_all(&spread) && i < (size_t)pixels.width * pixels.height; i++)
            o.x[c][i] = join_parts_of(&spread, i, o.x[c][i]).spread;
    }
    for (uint32_t c = 0; ok && c < pixels.channels; c++)
        ok = (o.y[c] = read_plane(&j, &pixels.out[c], "out", FB_NAN_ERROR, e)) != NULL;
    ok = ok && add_channels(g, &o, e);
    for (int c = 0; c < LIB_CHANNELS; c++) mem_free(o.x[c]), mem_free(o.y[c]);
    return ok;
}

/* Returns the place of the source's tap i in the psf. */
static size_t place_of(const gradient *g, size_t i) {
    const size_t w = g->kernel.w, h = g->kernel.h;
    size_t x = i % w, y = i / w;
    if (g->s.kernel.center == PSF_CORNER) x = (x + w / 2) % w, y = (y + h / 2) % h;
    return g->s.kernel.correlate ? w * h - 1 - (y * w + x) : y * w + x;
}

/* Follows the normalisation, and brings the planes into the order of the source's taps. Fills in
 * their largest magnitude, and the largest error. */
static bool end(gradient *g, double *most, double *error, err *e) {
    const psf *k = &g->kernel;
    const size_t n = g->taps;
    const psf_normalize how = k->made.normalize;
    OWN_MEM double *order = mem_raw(n, sizeof *order, "a gradient", e);
    double along[3] = {0}, off[3] = {0}, whole = 0, all_off = 0;
    if (!order) return false;
    for (uint32_t c = 0; c < k->channels; c++) {
        for (size_t i = 0; i < n; i++) {
            const double tap = k->scale[c] * psf_tap(k, c * n + i);
            along[c] += g->plane[c][i] * tap;
            off[c] += g->error[c] * fabs(tap);
        }
        whole += along[c], all_off += off[c];
    }
    for (uint32_t c = 0; c < k->channels; c++) {
        const bool each = how == PSF_PER_CHANNEL;
        const double weight = how == PSF_NONE                            ? 0
                              : each                                     ? 1
                              : how == PSF_LUMINANCE && k->channels == 3 ? k->made.luminance[c]
                                                                         : 1.0 / k->channels;
        const double scale = (1 - g->s.sharpen) * k->scale[c],
                     less = weight * (each ? along[c] : whole);
        for (size_t i = 0; i < n; i++) order[i] = scale * (g->plane[c][place_of(g, i)] - less);
        memcpy(g->plane[c], order, n * sizeof *order);
        g->error[c] = scale * (g->error[c] + weight * (each ? off[c] : all_off));
        *error = fmax(*error, g->error[c]);
        *most = fmax(*most, most_of(order, n));
    }
    return true;
}

static bool write_gradient(const gradient *g, const fb_plane *to, err *e) {
    const psf *k = &g->kernel;
    lib_rows r = {.plane = to,
                  .own = (void *const *)g->plane,
                  .type = (int32_t[]){FB_DOUBLE, FB_DOUBLE, FB_DOUBLE},
                  .w = k->w,
                  .rows = k->h,
                  .channels = k->channels,
                  .out = true};
    return lib_planes_check(to, k->w, k->h, k->channels, true, "gradient", e) &&
           lib_rows_copy(&r, g->of->kernel->context->threads, e);
}

int32_t fb_kernel_adjoint(fb_session *session, const fb_image *images, size_t count,
                          const fb_plane *to, fb_report *report, fb_error *error) {
    lib_call l;
    double most = 0, off = 0;
    const double start = clock_now();
    fb_context *c = session && (images || !count) ? session->kernel->context : NULL;
    if (!lib_enter(&l, c, "fb_kernel_adjoint", error)) return lib_leave(&l);
    atomic_fetch_add(&session->users, 1);
    gradient g = {.s = lib_settings(c, &session->set), .of = session};
    bool ok = begin(&g, &l.e);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_image(&g, (const fb_image *)((const char *)images + i * images->size), &l.e) ||
             err_in(&l.e, "image %zu", i);
    ok = ok && end(&g, &most, &off, &l.e) && write_gradient(&g, to, &l.e);
    if (ok && report) {
        *report = (fb_report){.size = report->size,
                              .kept = off <= g.s.tolerance * most,
                              .error = off,
                              .allowed = g.s.tolerance * most,
                              .seconds = clock_now() - start,
                              .attempts = 1,
                              .precision = FB_PRECISION_FLOAT64};
        snprintf(report->device, sizeof report->device, "%.127s", g.last->sum.device.name);
    }
    psf_free(&g.kernel);
    mem_free(g.last);
    for (int k = 0; k < 3; k++) mem_free(g.plane[k]);
    lib_session_give(session);
    return lib_leave(&l);
}
