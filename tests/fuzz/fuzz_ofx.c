/* fuzz_ofx.c - any bytes as the calls of an OpenFX host: controls with any numbers, clips of any
 * kind and place, windows, proxies, stops, purges, actions out of order. All calls must return, and
 * give back the images that they took. The address sanitizer watches the pictures, behind whose
 * last pixels nothing lies.
 *
 * `make fuzz` builds it with libFuzzer, with the plug-in inside. */
#include "fuzz/bytes.h"
#include "ofx/rig.h"

#include <math.h>
#include <stdlib.h>

static double any_double(bytes *b) {
    double v;
    if (byte(b) % 4) return (int8_t)byte(b) / 16.0;
    fill(b, &v, sizeof v);
    return v;
}

static ofx_rect_i any_rect(bytes *b) {
    const int x = (int8_t)byte(b), y = (int8_t)byte(b);
    return (ofx_rect_i){x, y, x + 1 + byte(b) % 24, y + 1 + byte(b) % 24};
}

static pic *any_picture(bytes *b) {
    static const int CHANNELS[] = {1, 3, 4};
    const uint8_t how = byte(b);
    if (how % 16 == 15) return NULL;
    pic *p = pic_new(any_rect(b), CHANNELS[how % 3], (pic_type)(1 + how / 3 % 4), how / 16 % 4,
                     how & 128);
    for (size_t i = 0; i < p->bytes; i++) p->block[i] = (char)(i < 64 ? byte(b) : i * 37 % 61);
    p->bare = how & 64;
    return p;
}

/* Makes Size such that the kernel is small, or so large that the plug-in refuses it. What lies
 * between takes seconds under the sanitizer. */
static void keep_small(struct ofx_effect *x) {
    enum { REFUSED = 40, MOST = 50 };
    static const double SMALL = 1;
    const struct ofx_clip *c = &x->clip[RIG_OUTPUT];
    const bool odd = !(c->scale > 1e-3 && c->scale < 1e3); /* counts as 1 */
    double *size = rig_param(x, "size")->v, scale = odd ? 1 : c->scale;
    if (c->aspect > 0.02 && c->aspect < 1) scale /= c->aspect;
    if (isnan(*size)) *size = 1;
    const double by = fmin(fmax(*size, 1.0 / MOST), MOST) * scale;
    if (by > SMALL && by < REFUSED) *size = scale < SMALL * MOST ? SMALL / scale : MOST;
}

static void set_controls(struct ofx_effect *x, bytes *b) {
    static const char *const WORD[] = {"", "testdata/kernel.exr", "none.exr", "/", "\377"};
    for (int i = 0; i < x->params.count; i++) {
        struct ofx_param *p = &x->params.param[i];
        const bool whole = strcmp(p->type, OFX_TYPE_DOUBLE) && strcmp(p->type, OFX_TYPE_RGB);
        if (byte(b) % 3) continue;
        for (int k = 0; k < 3; k++) p->v[k] = whole ? (int8_t)byte(b) : any_double(b);
        p->text = WORD[byte(b) % 5];
    }
    rig_set_kernel(x, rig_param(x, "kernelFile")->text);
    rig_param(x, "size")->slope = 0;
    keep_small(x);
}

static void act(rig *r, struct ofx_effect *x, bytes *b) {
    static const char *const ACTION[] = {OFX_REGION_OF_DEFINITION,
                                         OFX_REGIONS_OF_INTEREST,
                                         OFX_CLIP_PREFERENCES,
                                         OFX_IS_IDENTITY,
                                         OFX_BEGIN_SEQUENCE,
                                         OFX_END_SEQUENCE,
                                         OFX_PURGE,
                                         OFX_CHANGED,
                                         OFX_DESCRIBE,
                                         OFX_LOAD,
                                         "Nonsense"};
    const uint8_t how = byte(b);
    const ofx_rect_i window = any_rect(b);
    rig_set in = {.count = 0}, out = {.count = 0};
    if (how < 160) {
        x->asked = 0;
        x->stop_at = how % 8 == 7 ? 1 + byte(b) % 8 : 0;
        if (x->clip[RIG_OUTPUT].picture) rig_render(r, x, any_double(b), how % 3 ? &window : NULL);
    } else {
        for (int i = 0; i < 4 && how % 2; i++) rig_put(&in, OFX_REGION_ASKED, i, any_double(b));
        rig_call(r, ACTION[how % (sizeof ACTION / sizeof *ACTION)], x, &in, &out);
    }
    if (x->open_images) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const char *const CACHE[] = {"FFTBLOOM_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    static rig *r;
    for (int i = 0; i < 3 && !r; i++) unsetenv(CACHE[i]); /* an input takes the same time again */
    bytes b = {data, data + n};
    pic *clip[RIG_CLIPS];
    if (!r && !(r = rig_open(NULL, 0))) abort();
    struct ofx_effect *x = rig_effect(r, byte(&b) % 2 ? OFX_GENERAL : OFX_FILTER);
    if (!x) abort();
    for (int i = 0; i < RIG_CLIPS; i++) rig_connect(x, i, clip[i] = any_picture(&b));
    rig_scale(x, any_double(&b), any_double(&b));
    for (int i = 0; i < 4 && b.at < b.end; i++) {
        set_controls(x, &b);
        act(r, x, &b);
    }
    rig_effect_close(r, &x);
    for (int i = 0; i < RIG_CLIPS; i++) pic_close(&clip[i]);
    return 0;
}
