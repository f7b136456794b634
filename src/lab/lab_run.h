/* lab_run.h - runs one transform of the lab at one size: checks it against a transform in double,
 * and times it. And the one way in which everything here is timed. */
#ifndef LAB_LAB_RUN_H
#define LAB_LAB_RUN_H

#include "base/par.h"
#include "lab/lab_gpu.h"
#include "lab/lab_table.h"

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
bool lab_rounds(measure_spread *const to[], double *rounds, const lab_pace *p, lab_round *round,
                void *of, err *e);

/* --- a transform ----------------------------------------------------------------------------- */

/* Noise of n x n and its spectrum, pairs of doubles: value[way] is what a transform of that way
 * makes of the other one. All transforms of a size are held to it. */
typedef struct {
    uint32_t n;
    double *value[LAB_WAYS];
} lab_truth;

/* Makes it from a zeroed one; the caller frees it after a failure, too. */
bool lab_truth_make(lab_truth *t, uint32_t n, par *threads, err *e);
void lab_truth_free(lab_truth *t);

/* Transforms n x n complex doubles in place, forward. */
bool lab_transform_double(double *image, uint32_t n, par *threads, err *e);

/* Enters the errors of n x n numbers that should be these pairs of doubles. place[k] is where
 * frequency k is on each axis; NULL: natural order. */
void lab_compare(lab_part *to, const lab_complex *got, const double *want, uint32_t n,
                 const uint32_t *place);

typedef struct {
    const lab_transform *t;
    const lab_truth *truth;
    const lab_gpu *gpu; /* for a program */
    uint32_t rounds;    /* at most; 0: it is only checked */
    double warm_up;
} lab_request;

/* Runs it and fills a row, all but its size and its device; a result that is wrong is no failure:
 * the errors say so. */
bool lab_run(lab_row *to, const lab_request *r, err *e);

#endif
