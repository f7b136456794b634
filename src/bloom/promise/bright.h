/* bright.h - the brightest pixels, taken out before the transform and pasted in space.
 *
 * The error of a transform is relative to the brightest pixel of the frame, wherever it stands. So
 * the few that set it are taken out, and the kernel is pasted for each, at every place where the
 * border shows it. */
#ifndef BLOOM_BRIGHT_H
#define BLOOM_BRIGHT_H

#include "base/par.h"
#include "bloom/promise/spread.h"

typedef struct {
    int32_t x, y;
    float v;
} bright_spot;

typedef struct {
    bright_spot *spot; /* by rows */
    size_t count;      /* of spots: pixels, and what borders show of them */
    size_t pixels;
} bright_list;

/* Takes the pixels of histogram bin `below` and higher out of the plane: they become 0. */
bool bright_take(bright_list *l, float *plane, const spread *s, uint32_t below, par *threads,
                 err *e);
void bright_free(bright_list *l);

/* Adds what the spots make of row y, their own centre taps not included. */
void bright_row(const bright_list *l, const spread *s, uint32_t channel, uint32_t y, float *to);

/* Multiplications of all rows, at most. */
double bright_work(const spread *s, double spots);

#endif
