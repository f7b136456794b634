/* convention.h - what other tools take a kernel's picture to mean, and pictures of one convention
 * made into those of another.
 *
 * Tools differ in which tap is the centre of a side of n taps, and in whether the kernel is turned
 * by 180 degrees (they correlate). Nothing here changes a tap's value: taps move, and zeros come
 * beside them where a centre moves or a size grows. Only an asked-for size that is too small loses
 * taps, and these are counted. docs/kernels.md has the table and how each row was found. */
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
    const char *help;
} convention;

/* In the order of the words of --from and --to. */
extern const convention CONVENTIONS[];
extern const int CONVENTION_COUNT;

/* The tap that is the centre of a side of n taps. */
uint32_t convention_tap(convention_center c, uint32_t n);

typedef struct {
    const convention *from, *to;
    uint32_t size[2];  /* of the input, x and y */
    int32_t window[2]; /* where its data window begins */
    bool centered;     /* the input's centre is `at`, whatever `from` says */
    uint32_t at[2];
    uint32_t wanted[2]; /* of the output; 0: the smallest that holds every tap */
} convention_request;

typedef struct {
    uint32_t size[2];
    uint32_t center[2]; /* of the output, by its convention */
    bool turned;
    int64_t offset[2]; /* output tap = input tap (turned or not) + offset, before wrapping */
} convention_move;

/* What a request comes to. ERR_CONFIG: a centre outside the kernel. */
bool convention_plan(convention_move *m, const convention_request *r, err *e);

/* One plane. `to` has room for m->size; *lost receives the sum of |tap| that found no place. */
void convention_apply(float *to, const float *from, const convention_request *r,
                      const convention_move *m, double *lost);

#endif
