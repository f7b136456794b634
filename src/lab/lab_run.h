/* lab_run.h - runs one transform of the lab at one size: checks it against a transform in double,
 * and times it. */
#ifndef LAB_LAB_RUN_H
#define LAB_LAB_RUN_H

#include "base/par.h"
#include "device/device_measure.h"
#include "lab/lab_gpu.h"

/* Noise of n x n, and its spectrum in double: what all transforms of a size are held to. */
typedef struct {
    uint32_t n;
    lab_complex *image;
    double *spectrum; /* n * n pairs */
} lab_truth;

/* Makes it from a zeroed one; the caller frees it after a failure, too. */
bool lab_truth_make(lab_truth *t, uint32_t n, par *threads, err *e);
void lab_truth_free(lab_truth *t);

/* Transforms n x n complex doubles in place, forward. */
bool lab_transform_double(double *image, uint32_t n, par *threads, err *e);

typedef struct {
    lab_account account;
    /* Of the difference from the truth, relative to the root mean square of the truth. */
    double worst[LAB_WAYS], rms[LAB_WAYS];
    uint32_t rounds; /* as many as there was time for */
    measure_spread seconds[LAB_WAYS];
    double copy; /* seconds in which plain copies of such an image move account.bytes */
} lab_result;

/* Sets the errors of one way: of `got`, which a transform has made of the truth's image, or of its
 * spectrum. place[k] is where frequency k is on each axis; NULL: natural order. */
void lab_compare(lab_result *to, int way, const lab_complex *got, const lab_truth *t,
                 const uint32_t *place);

typedef struct {
    const lab_transform *t;
    const lab_truth *truth;
    const lab_gpu *gpu; /* for a program */
    uint32_t rounds;    /* at most; 0: it is only checked */
    double warm_up;     /* s of transforms before the first round: a GPU's clock takes that long */
} lab_request;

/* Runs it; a result that is wrong is no failure: the errors say so. */
bool lab_run(lab_result *to, const lab_request *r, err *e);

#endif
