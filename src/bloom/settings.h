/* settings.h - everything that decides the result of a bloom. */
#pragma once

#include "colour/space.h"
#include "image/image.h"
#include "kernel/kernel_source.h"
#include "kernel/spectrum.h"
#include "math/plan.h"

typedef enum { ALPHA_KEEP, ALPHA_CONVOLVE } bloom_alpha;
typedef enum { WINDOW_KEEP, WINDOW_GROW, WINDOW_DISPLAY } bloom_window;
typedef enum { NAN_ERROR, NAN_ZERO, NAN_INTERPOLATE } bloom_nan;
/* GLARE: all light that left its pixel. ADDITIVE: the result minus the image. SOURCE: the light
 * that spreads, after mask and threshold. */
typedef enum { EMIT_GLARE, EMIT_ADDITIVE, EMIT_SOURCE } bloom_emit;
typedef enum { OVERFLOW_CLAMP, OVERFLOW_FLOAT, OVERFLOW_ERROR } bloom_overflow;

typedef enum { BLOOM_APPLY, BLOOM_DEGLARE } bloom_work;

/* Everything that decides the result. Zeros are the defaults, except where bloom_defaults sets
 * another value. Strings belong to the caller and must outlive the bloom. */
typedef struct {
    plan_border border[PLAN_AXES];
    plan_axis_order order;
    plan_precision precision;
    spectrum_mode spectrum;
    psf_options kernel;   /* normalize, center, correlate, size */
    bool kernel_relative; /* kernel.size counts image heights, not pixels */
    double pixel_aspect;  /* of the image, for the kernel's shape; NaN: as it says itself. 0: off */
    double sharpen;       /* 0 .. 1 */
    double core;          /* as kernel_use has it */
    bloom_work solve;     /* not 0: the result is the image whose bloom is the one that came */
    bool clamp;           /* of that: pixels below zero become zero */
    double clip;       /* of that: from here on a pixel of the plate has lost light; NaN: from its
                          largest value on, if several pixels have it. 0: nowhere */
    const char *black; /* of that: "X,Y,W,H", a region that was black, from which the amount
                          follows; NULL: there is none */
    bool magnitudes;   /* of the kernel's taps beside the middle one alone */
    double tint[3];    /* what the glare of R, G and B is multiplied with; zeros: 1 */
    double tolerance;  /* 1e-3 */
    uint32_t verify;   /* number of pixels to recompute directly; 0: none */
    const char *layers, *exclude;
    bloom_alpha alpha;
    bloom_window window;
    bloom_nan nan;
    bool half; /* store bloomed float channels as half */
    bloom_overflow half_overflow;
    colour_space stored;    /* of the file that the result goes to, for `verify`; its curve is NULL:
                               pixels are stored as they are */
    double threshold, knee; /* threshold 0: off */
    const char *mask;       /* a channel: where light may spread from; NULL: everywhere */
    bool mask_file;         /* it is a file, unless the image has such a channel: bloom_rows.mask */
    const char *per_layer;  /* settings of single layers (layer_light.h); NULL: none */
    const char *emit_layer; /* NULL: off */
    bloom_emit emit;
    const char *device;    /* "auto", "cpu", "gpu", "software", an index, uuid or part of a name */
    const char *cache_dir; /* NULL: the default place */
    uint64_t cache_size;   /* bytes of kernel spectra to keep there; 0: neither keep nor read any */
    uint64_t mem_limit, vram_limit;
    uint32_t slots;  /* frames in flight */
    uint32_t images; /* number of images to bloom, if it is known; 0 stands for 1. Decides the
                        device */
} bloom_settings;

void bloom_defaults(bloom_settings *s);

/* Returns 1 - x in 15 digits, so that 0.7 of the bloom and 0.3 of sharpening are the same. */
double bloom_complement(double x);

/* Returns the type in which a channel of light is stored. wide: as image_channel has it. */
static inline pixel_type bloom_stored(const bloom_settings *s, bool wide, pixel_type came) {
    if (wide) return PIXEL_FLOAT;
    return s->half && came == PIXEL_FLOAT ? PIXEL_HALF : came;
}
/* Returns whether it is stored in halfs, whatever its values. */
static inline bool bloom_stores_halfs(const bloom_settings *s, bool wide, pixel_type came) {
    return bloom_stored(s, wide, came) == PIXEL_HALF && s->half_overflow != OVERFLOW_FLOAT;
}

/* Returns whether the glare is wanted in a layer of its own. */
static inline bool bloom_emits(const bloom_settings *s) {
    return s->emit_layer && *s->emit_layer;
}

/* Fills in the tint of each of an image's channels: of R, G and B their own, of luminance that of a
 * white light, by the weights of R, G and B in it, and of alpha 1. Zeros: there is none. */
void bloom_tint(double to[PSF_CHANNELS], const bloom_settings *s, uint32_t channels,
                const double luminance[3]);

/* Returns how these settings use the kernel. */
kernel_use bloom_kernel_use(const bloom_settings *s);
