#include "base/log.h"
#include "kernel/psf_core.h"
#include "lib/lib.h"

void fb_settings_init(fb_settings *settings, uint32_t size) {
    const fb_settings preset = {.size = size, .amount = 1, .tolerance = 1e-3, .kernel_scale = 1};
    if (!settings) return;
    memset(settings, 0, size);
    memcpy(settings, &preset, size < sizeof preset ? size : sizeof preset);
}

static bool check_number(const char *name, double v, double low, double high, err *e) {
    return (v >= low && v <= high) ||
           err_set(e, ERR_CONFIG, "%s is %g; it can be %g to %g", name, v, low, high);
}

static bool check_word(const char *name, int32_t v, int32_t last, err *e) {
    return (v >= 0 && v <= last) ||
           err_set(e, ERR_CONFIG, "%s is %d; it can be 0 to %d", name, v, last);
}

static bool check(const fb_settings *s, err *e) {
    return check_number("amount", s->amount, 0, 1, e) &&
           check_number("tolerance", s->tolerance, 1e-12, 1, e) &&
           check_number("threshold", s->threshold, 0, 3.4e38, e) &&
           check_number("knee", s->knee, 0, 3.4e38, e) &&
           check_number("kernel_scale", s->kernel_scale, 1e-3, 1000, e) &&
           check_number("kernel_turn", s->kernel_turn, -3600, 3600, e) &&
           check_number("center_x", s->center_x, 0, PSF_SIDE, e) &&
           check_number("center_y", s->center_y, 0, PSF_SIDE, e) &&
           check_number("tint", s->tint[0], 0, 1000, e) &&
           check_number("tint", s->tint[1], 0, 1000, e) &&
           check_number("tint", s->tint[2], 0, 1000, e) &&
           (isnan(s->core) || check_number("core", s->core, 0, PSF_CORE_MOST, e)) &&
           check_word("kernel_center", s->kernel_center, FB_CENTER_AT, e) &&
           check_word("normalize", s->normalize, FB_NORMALIZE_NONE, e) &&
           check_word("correlate", s->correlate, 1, e) &&
           check_word("padding_x", s->padding_x, FB_PADDING_WRAP, e) &&
           check_word("padding_y", s->padding_y, FB_PADDING_WRAP, e) &&
           check_word("precision", s->precision, FB_PRECISION_FLOAT64, e) &&
           check_word("nan", s->nan, FB_NAN_INTERPOLATE, e) &&
           check_word("half_overflow", s->half_overflow, FB_OVERFLOW_ERROR, e) &&
           check_word("alpha", s->alpha, FB_ALPHA_CONVOLVE, e) &&
           check_word("emit", s->emit, FB_EMIT_SOURCE, e);
}

bloom_settings lib_settings(const fb_context *c, const fb_settings *s) {
    static const plan_border BORDER[] = {BORDER_MIRROR, BORDER_ZERO, BORDER_CLAMP, BORDER_WRAP};
    static const psf_normalize NORMALIZE[] = {PSF_LUMINANCE, PSF_PER_CHANNEL, PSF_SUM, PSF_NONE};
    static const psf_center CENTER[] = {PSF_MIDDLE, PSF_PEAK, PSF_CENTROID, PSF_CORNER, PSF_AT};
    static const plan_precision PRECISION[] = {PRECISION_AUTO, PRECISION_FLOAT32,
                                               PRECISION_FLOAT64};
    static const bloom_nan BAD[] = {NAN_ERROR, NAN_ZERO, NAN_INTERPOLATE};
    bloom_settings b = c->base;
    b.border[PLAN_X] = BORDER[s->padding_x];
    b.border[PLAN_Y] = BORDER[s->padding_y];
    b.precision = PRECISION[s->precision];
    b.kernel = (psf_options){.normalize = NORMALIZE[s->normalize],
                             .center = CENTER[s->kernel_center],
                             .at = {s->center_x, s->center_y},
                             .correlate = s->correlate,
                             .size = s->kernel_scale,
                             .turn = s->kernel_turn};
    b.sharpen = bloom_complement(s->amount);
    b.tolerance = s->tolerance;
    b.verify = s->verify;
    b.threshold = s->threshold;
    memcpy(b.tint, s->tint, sizeof b.tint);
    b.core = s->core;
    b.knee = s->knee;
    b.nan = BAD[s->nan];
    b.half_overflow = s->half_overflow == FB_OVERFLOW_ERROR ? OVERFLOW_ERROR : OVERFLOW_CLAMP;
    b.alpha = s->alpha == FB_ALPHA_CONVOLVE ? ALPHA_CONVOLVE : ALPHA_KEEP;
    return b;
}

/* Changes settings to those of the transpose, and finds how far the kernel reaches where its image
 * has a frame (lib_adjoint.c). */
static bool transpose_settings(bloom_settings *b, fb_session *s, err *e) {
    const kernel_use use = bloom_kernel_use(b);
    const kernel_need need = {.channels = 1, .w = PSF_SIDE, .h = PSF_SIDE, .height = PSF_SIDE};
    psf k = {0};
    if (s->kernel->source.field && !kernel_source_taps(&s->kernel->source, e)) return false;
    if (!kernel_source_psf(&k, &s->kernel->source, &use, &need, NULL, e)) return false;
    const uint32_t low[] = {k.w - 1 - k.cx, k.h - 1 - k.cy}, high[] = {k.cx, k.cy};
    psf_free(&k);
    for (int a = 0; a < PLAN_AXES; a++) {
        bool frame = b->border[a] == BORDER_MIRROR || b->border[a] == BORDER_CLAMP;
        s->axis[a] = (border_axis){b->border[a], 0, frame ? low[a] : 0, frame ? high[a] : 0};
        if (frame) b->border[a] = BORDER_ZERO;
    }
    b->kernel.correlate = !b->kernel.correlate;
    b->verify = 0;
    return true;
}

const bloom *lib_bloom(fb_session *s, int way, err *e) {
    const fb_context *c = s->kernel->context;
    bloom **at = &s->blooms[way];
    pthread_mutex_lock(&s->lock);
    if (!*at) {
        bloom_settings b = lib_settings(c, &s->set);
        b.solve = way & LIB_SOLVES;
        if (way & LIB_WIDE) b.precision = PRECISION_FLOAT64;
        if (way & LIB_MASKED) b.mask = LIB_MASK;
        /* A GPU rounds to floats what of a pixel is spread. */
        if (way & LIB_WIDE && !(way & LIB_SOLVES) && (b.mask || b.threshold > 0))
            b.device = engine_class_name(ENGINE_CPU);
        if (way & LIB_EMITS)
            b.emit_layer = LIB_EMIT, b.emit = (bloom_emit)(s->set.emit - FB_EMIT_GLARE);
        if (!(way & LIB_TRANSPOSE) || transpose_settings(&b, s, e))
            *at = bloom_open_on(&b, NULL, &s->kernel->source, c->devices, e);
    }
    const bloom *b = *at;
    pthread_mutex_unlock(&s->lock);
    return b;
}

void lib_session_give(fb_session *s) {
    if (!s || atomic_fetch_sub(&s->users, 1) != 1) return;
    fb_kernel *k = s->kernel;
    for (int i = 0; i < LIB_WAYS; i++) bloom_close(&s->blooms[i]);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
    lib_kernel_give(k);
}

int32_t fb_session_open(fb_session **to, fb_kernel *kernel, const fb_settings *settings,
                        fb_error *error) {
    lib_call l;
    fb_settings set;
    if (to) *to = NULL;
    if (!lib_enter(&l, to && kernel ? kernel->context : NULL, "fb_session_open", error))
        return lib_leave(&l);
    fb_settings_init(&set, sizeof set);
    bool ok =
        (!settings || lib_struct(&set, sizeof set, sizeof set, settings, "fb_settings", &l.e)) &&
        check(&set, &l.e);
    fb_session *s = ok ? mem_new(1, sizeof *s, "session", &l.e) : NULL;
    if (s) {
        atomic_fetch_add(&kernel->users, 1);
        s->users = 1;
        s->kernel = kernel, s->set = set, s->told.warns = true;
        pthread_mutex_init(&s->lock, NULL);
        const bloom *b = lib_bloom(s, 0, &l.e);
        if (b && *bloom_kernel_faults(b)->words)
            log_say_once(LOG_WARN, "kernel '%s': %s; its check says what to do",
                         kernel->source.path, bloom_kernel_faults(b)->words);
        if (b)
            *to = s;
        else
            lib_session_give(s);
    }
    return lib_leave(&l);
}

void fb_session_close(fb_session *session) {
    lib_session_give(session);
}
