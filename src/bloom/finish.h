/* finish.h - the last pass: everything that makes a pixel comes together, and is looked at.
 *
 *   spread(in)   what of a pixel is spread: all of it, or its excess over a threshold
 *   glare        what the transform made, and what was done in space
 *   out          in - spread(in) + centre * spread(in) + glare
 *
 * Glare of light is light: where image and kernel have nothing below zero, rounding noise that does
 * is cut off, and counted. One pass to floats and statistics, which decide whether the result can
 * be kept; a second one to the image's own types. Where the engine hands out rows as it makes them,
 * the first pass costs no way through memory. */
#ifndef BLOOM_FINISH_H
#define BLOOM_FINISH_H

#include "base/par.h"
#include "bloom/promise/accuracy.h"
#include "bloom/promise/bright.h"
#include "bloom/promise/core.h"
#include "bloom/promise/ledger.h"
#include "image/image.h"

/* Softly above threshold - knee, by all that exceeds the threshold beyond threshold + knee. */
typedef struct {
    double threshold, knee; /* threshold 0: everything is spread */
} finish_excess;
double finish_excess_of(const finish_excess *x, double v);
void finish_excess_row(const finish_excess *x, float *to, const float *from, size_t n);

typedef struct {
    const spread *s;
    const void *source[PSF_CHANNELS]; /* the image's planes, as they came */
    const pixel_type *type;
    finish_excess excess;
    void *const *made; /* by the engine, with no centre tap; double if `wide` */
    bool wide;
    const bright_list *bright; /* of each channel */
    const kernel_core *core;
    const ledger_kernel *ledger;
    float *const *in;        /* what the engine was given; of doubles: NULL */
    bool same[PSF_CHANNELS]; /* that is the image as it came, as floats */
    float *const *out;       /* may be `made` when that is float */
    float *const *glare;     /* NULL: not wanted */
    const bool *light;       /* of each: what is spread is not below zero, nor is the kernel */
    const bool *signs;       /* of each: the image or the kernel is, somewhere: terms may cancel */
    double dark[PSF_CHANNELS];  /* accuracy_dark */
    double rounding;            /* accuracy_rounding: of sums in space */
    int exponent[PSF_CHANNELS]; /* the engine was given the image times 2 to that */
} finish_job;

enum { FINISH_HALF = 65504 };

typedef struct {
    accuracy_measured measured;
    double sum, spilled;                 /* of out; net, over the border */
    uint64_t negative;                   /* pixels whose glare was cut off, */
    double negative_sum, negative_worst; /* their sum and the lowest, both below zero */
    uint64_t over;                       /* |out| > 65504 */
    double over_sum;                     /* by how much, signed */
    float largest;                       /* |out| */
} finish_stats;

/* The pass: opened, given every row of every plane once, by any worker in any order, and closed.
 * finish_row fits an engine's sink; `made` is the engine's row of floats, or NULL where it is in
 * j->made. st: one per channel; the same whatever the number of threads. */
typedef struct finish finish;
finish *finish_open(const finish_job *j, par *threads, err *e);
void finish_row(void *f, uint32_t channel, uint32_t y, int worker, const float *made);
void finish_close(finish **f, finish_stats *st);

/* All of it, from j->made. */
bool finish_join(finish_stats *st, const finish_job *j, par *threads, err *e);

/* n floats into a plane of `t`; half values beyond 65504 become that. */
void finish_store(void *plane, pixel_type t, size_t first, float *from, size_t n);

#endif
