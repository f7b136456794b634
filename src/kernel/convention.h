/* convention.h - changes the picture of a kernel from the convention of one tool to that of
 * another.
 *
 * Tools differ in which tap is the centre of a side of n taps, and in whether they convolve or
 * correlate (turn the kernel by 180 degrees). A change moves taps and adds zeros beside them, but
 * does not change their values. Only a requested size that is too small loses taps, and these are
 * counted. docs/kernels.md has the table and says how each row was found. */
#ifndef KERNEL_CONVENTION_H
#define KERNEL_CONVENTION_H

#include "base/err.h"

#include <stdint.h>

typedef enum {
    CENTER_HALF,        /* floor(n / 2) */
    CENTER_BEFORE_HALF, /* floor((n - 1) / 2) */
    CENTER_WINDOW,      /* floor(n / 2), and the data window begins at minus that */
    CENTER_WRAPPED      /* tap 0; what lies left of it is at the far end, as transforms have it */
} convention_center;

typedef struct {
    const char *name;
    convention_center center;
    bool turned; /* the tool correlates */
} convention;

/* All conventions, in the order of the words of --from and --to. */
extern const convention CONVENTIONS[];
extern const int CONVENTION_COUNT;

typedef struct {
    const convention *from, *to;
    uint32_t size[2];  /* of the input, x and y */
    int32_t window[2]; /* where its data window begins */
    bool centered;     /* the input's centre is `at`, not the one of its convention */
    uint32_t at[2];
    uint32_t wanted[2]; /* size of the output; 0: the smallest that holds every tap */
} convention_request;

typedef struct {
    uint32_t size[2];
    uint32_t center[2]; /* of the output, by its convention */
    bool turned;
    int64_t offset[2]; /* output tap = input tap (turned or not) + offset, before wrapping */
} convention_move;

/* Finds how taps must move. Fails with ERR_CONFIG when the centre is outside the kernel. */
bool convention_plan(convention_move *m, const convention_request *r, err *e);

/* Moves the taps of one plane. `to` has room for m->size; *lost receives the sum of |tap| over the
 * taps that found no place. */
void convention_apply(float *to, const float *from, const convention_request *r,
                      const convention_move *m, double *lost);

#endif
