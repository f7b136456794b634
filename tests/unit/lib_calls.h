/* lib_calls.h - contexts, kernels, sessions and images for tests of the C library. */
#ifndef UNIT_LIB_CALLS_H
#define UNIT_LIB_CALLS_H

#include "lib/fftbloom.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { W = 61, H = 47, TAPS = 21 };

static uint64_t seed = 1;

static inline double number(void) {
    return make_chance(&seed);
}

static inline fb_context *open_context(void) {
    fb_context *c;
    fb_error e;
    const fb_context_options o = {.size = sizeof o, .device = "cpu", .threads = 2};
    if (fb_context_open(&c, &o, &e)) fail_msg("%s", e.text);
    return c;
}

/* An image whose planes these are. */
static inline fb_image image_of(const fb_plane *in, const fb_plane *out, uint32_t w, uint32_t h,
                                uint32_t channels) {
    return (fb_image){.size = sizeof(fb_image),
                      .width = w,
                      .height = h,
                      .channels = channels,
                      .in = in,
                      .out = out};
}

/* Returns planes of packed pixels that lie side by side. */
static inline void interleaved(fb_plane *to, void *data, int32_t type, uint32_t w,
                               uint32_t channels) {
    size_t bytes = type == FB_HALF ? 2 : type == FB_FLOAT ? 4 : 8;
    for (uint32_t c = 0; c < channels; c++)
        to[c] = (fb_plane){.data = (char *)data + c * bytes,
                           .pixel_stride = (ptrdiff_t)(channels * bytes),
                           .row_stride = (ptrdiff_t)(w * channels * bytes),
                           .type = type};
}

/* A kernel with no symmetry, whose centre is not its middle. */
static inline fb_kernel *open_kernel(fb_context *c, uint32_t w, uint32_t h, uint32_t channels) {
    fb_kernel *k;
    fb_error e;
    OWN_HEAP float *tap = malloc(sizeof *tap * w * h * channels);
    fb_plane plane[3];
    for (uint32_t i = 0; i < w * h * channels; i++) tap[i] = (float)number();
    for (uint32_t i = 0; i < channels; i++)
        tap[(h / 2 * w + w / 2) * channels + i] = (float)(w * h);
    interleaved(plane, tap, FB_FLOAT, w, channels);
    if (fb_kernel_copy(&k, c, w, h, channels, plane, &e)) fail_msg("%s", e.text);
    return k;
}

static inline fb_session *open_session(fb_kernel *k, const fb_settings *set) {
    fb_session *s;
    fb_error e;
    if (fb_session_open(&s, k, set, &e)) fail_msg("%s", e.text);
    return s;
}

/* A context with one kernel and one session: OPEN(calls) o = open_calls(...); */
typedef struct {
    fb_context *c;
    fb_kernel *k;
    fb_session *s;
} calls;

static inline calls open_calls(uint32_t w, uint32_t h, uint32_t channels, const fb_settings *set) {
    calls o = {.c = open_context()};
    o.k = open_kernel(o.c, w, h, channels);
    o.s = open_session(o.k, set);
    return o;
}

static inline void calls_close(calls *o) {
    fb_session_close(o->s);
    fb_kernel_close(o->k);
    fb_context_close(o->c);
}

/* A call of the library that must work. */
#define LIB_OK(call)                                 \
    do {                                             \
        if (call) fail_msg("%s: %s", #call, e.text); \
    } while (0)

typedef int32_t a_call(fb_session *s, const fb_image *is, fb_report *r, fb_error *e);
static inline void call_floats(a_call *call, fb_session *s, float *out, const float *in, uint32_t w,
                               uint32_t h, uint32_t channels) {
    fb_plane a[4], b[4];
    fb_error e;
    float *copy = malloc(sizeof *copy * w * h * channels);
    memcpy(copy, in, sizeof *copy * w * h * channels);
    interleaved(a, copy, FB_FLOAT, w, channels);
    interleaved(b, out, FB_FLOAT, w, channels);
    const fb_image is = image_of(a, b, w, h, channels);
    LIB_OK(call(s, &is, NULL, &e));
    assert_memory_equal(copy, in, sizeof *copy * w * h * channels); /* it is only read */
    free(copy);
}
static inline void bloom_floats(fb_session *s, float *out, const float *in, uint32_t w, uint32_t h,
                                uint32_t channels) {
    call_floats(fb_bloom, s, out, in, w, h, channels);
}

#endif
