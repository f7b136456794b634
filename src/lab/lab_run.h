/* lab_run.h - runs one transform of the lab at one size: checks it against a transform in double,
 * and times it. And the one way in which everything here is timed. */
#ifndef LAB_LAB_RUN_H
#define LAB_LAB_RUN_H

#include "base/par.h"
#include "device/device_measure.h"
#include "lab/lab_gpu.h"

/* --- rounds ---------------------------------------------------------------------------------- */

enum { LAB_SERIES = 8 };

/* Fills value[] with the seconds of some things, each the mean of `count` repetitions. */
typedef bool lab_round(void *of, uint32_t count, double *value, err *e);

typedef struct {
    uint32_t rounds; /* at most */
    uint32_t count;  /* repetitions of a round; 0: as many as fill some milliseconds, and no more
                      * rounds than fit into some seconds */
    double warm_up;  /* s of rounds that do not count: a GPU's clock takes that long */
    uint32_t series; /* things that a round times */
} lab_pace;

/* Fills the spread of each series, and the number of rounds that there was time for. */
bool lab_rounds(measure_spread *to, uint32_t *rounds, const lab_pace *p, lab_round *round, void *of,
                err *e);

/* --- a transform ----------------------------------------------------------------------------- */

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

/* The difference of n x n numbers from what they should be, relative to the root mean square of
 * that. */
typedef struct {
    double worst, rms;
} lab_error;

/* Compares numbers with pairs of doubles. place[k] is where frequency k is on each axis; NULL:
 * natural order. */
lab_error lab_compare(const lab_complex *got, const double *want, uint32_t n,
                      const uint32_t *place);

typedef struct {
    lab_account account;
    lab_error error[LAB_WAYS];
    uint32_t rounds;
    measure_spread seconds[LAB_WAYS];
    double copy; /* seconds in which plain copies of such an image move account.bytes */
} lab_result;

typedef struct {
    const lab_transform *t;
    const lab_truth *truth;
    const lab_gpu *gpu; /* for a program */
    uint32_t rounds;    /* at most; 0: it is only checked */
    double warm_up;
} lab_request;

/* Runs it; a result that is wrong is no failure: the errors say so. */
bool lab_run(lab_result *to, const lab_request *r, err *e);

#endif
