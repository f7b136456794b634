/* verify.h - recomputes pixels of a finished image by the definition.
 *
 * Half of the pixels are taken by chance (always the same ones), and half where errors are
 * likeliest: the darkest pixels all over the image, the neighbours of the brightest, their ghosts
 * half a transform away, and the borders. Each pixel is summed directly in double by
 * math/reference.h, from the image as it came and the kernel's own taps. The sum is compared with
 * the pixel in the image; the rounding of the pixel's type is allowed on top of the tolerance.
 * Verify knows nothing of how the result was made. */
#ifndef BLOOM_VERIFY_H
#define BLOOM_VERIFY_H

#include "base/par.h"
#include "bloom/join.h"
#include "kernel/psf.h"

typedef struct {
    const psf *kernel;
    double sharpen;
    plan_border border[PLAN_AXES];
    uint32_t w, h, channels;
    tail_kept kept;         /* the pixels to choose from */
    const float *const *in; /* as it came */
    join_excess excess;
    const void *const *got; /* the result, of these types */
    const pixel_type *type;
    double tolerance;
    const double *dark; /* per channel: below this, errors are relative to it */
    uint32_t length[2]; /* of the transforms, x and y: where ghosts are */
    uint32_t count;     /* pixels to check, by chance; as many again where it is hardest */
} verify_job;

typedef struct {
    uint32_t channel, x, y;
    double got, want, error; /* error: relative to the larger of |want| and dark */
} verify_pixel;

typedef struct {
    uint64_t pixels, broken; /* looked at; off by more than the tolerance */
    verify_pixel worst;      /* the largest error */
} verify_result;

/* Compares p->got, stored as that type, with p->want: limits this to what the type holds, fills
 * p->error, and returns whether it is more than the tolerance and the type's rounding. */
bool verify_is_broken(verify_pixel *p, pixel_type t, double dark, double tolerance);

/* Compares j->count pixels by chance and as many hard ones. */
bool verify_run(verify_result *r, const verify_job *j, par *threads, err *e);

#endif
