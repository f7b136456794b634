/* join.h - the last pass: everything that makes a pixel comes together, and is measured.
 *
 *   spread(in)   what of a pixel is spread: all of it, or its excess over a threshold
 *   glare        what the transform made
 *   out          in - spread(in) + centre * spread(in) + glare
 *
 * Glare of light is light: where image and kernel have nothing below zero, glare below zero is
 * rounding noise, which is cut off and counted. The pass makes floats and statistics, which decide
 * whether the result can be kept; it does not decide that itself, and does not know the image's own
 * types of pixels (bloom/store.h). Where the engine hands out rows as it makes them, the pass costs
 * no way through memory. */
#ifndef BLOOM_JOIN_H
#define BLOOM_JOIN_H

#include "base/par.h"
#include "bloom/promise/accuracy.h"
#include "bloom/promise/ledger.h"
#include "image/image.h"

/* The part of a pixel that is spread: what a mask lets through, and of that the light above a
 * threshold. It begins softly between threshold - knee and threshold + knee; beyond that it is all
 * light above the threshold. It is never more than the pixel has, not even where the knee is the
 * wider one. What is not spread stays where it is. */
typedef struct {
    double threshold, knee; /* threshold 0: everything that the mask lets through */
    const float *mask;      /* of each pixel of a plane, 0 to 1; NULL: there is none */
} join_spread;
/* Returns whether all light is spread. */
static inline bool join_spreads_all(const join_spread *x) {
    return !(x->threshold > 0) && !x->mask;
}
/* Returns what is spread of pixel `at` with the value v. */
double join_spread_of(const join_spread *x, size_t at, double v);
/* Does so for n pixels from pixel `at` on, and rounds to floats. */
void join_spread_row(const join_spread *x, size_t at, float *to, const float *from, size_t n);

typedef struct {
    const kernel_tail *tail;
    const void *source[PSF_CHANNELS]; /* the image's planes, as they came */
    const pixel_type *type;
    join_spread spread;
    void *const *made; /* by the engine, with no centre tap; double if `wide` */
    bool wide;
    const ledger_kernel *ledger;
    float *const *in;          /* what the engine was given; of doubles: NULL */
    bool same[PSF_CHANNELS];   /* that is the image as it came, as floats */
    float *const *out;         /* may be `made` when that is float */
    uint16_t *const *half;     /* not NULL: the result goes there, as halfs that are all finite, and
                                  not to `out` */
    float *const *glare;       /* NULL: not wanted */
    double *const *doubles;    /* likewise, also of each: receive the result as it is in doubles */
    const bool *nonnegative;   /* of each: neither what is spread nor the kernel is below zero */
    tail_kept kept;            /* pixels that are measured; there is no result for the others */
    double dark[PSF_CHANNELS]; /* accuracy_dark */
    int exponent[PSF_CHANNELS]; /* the engine was given the image times 2 to that */
} join_job;

typedef struct {
    accuracy_measured measured;
    double sum, spilled;                 /* of out; net, over the border */
    uint64_t negative;                   /* pixels whose glare was cut off, */
    double negative_sum, negative_worst; /* their sum and the lowest, both below zero */
    uint64_t over;                       /* |out| > 65504 */
    double over_sum;                     /* by how much, signed */
    float largest;                       /* |out| */
    uint32_t dark_row, bright_row;       /* with the darkest, and with the transform's peak */
} join_stats;

/* The pass is opened, given every row of every plane once, by any worker in any order, and closed.
 * join_row fits an engine's sink; `made` is the engine's row, or NULL where it is in
 * j->made. join_close fills st, which has one place per channel and does not depend on the number
 * of threads. */
typedef struct join join;
join *join_open(const join_job *j, par *threads, err *e);
void join_row(void *f, uint32_t channel, uint32_t y, int worker, const void *made);
void join_close(join **f, join_stats *st);

/* Does the whole pass, from j->made. */
bool join_all(join_stats *st, const join_job *j, par *threads, err *e);

#endif
