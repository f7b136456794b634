/* bright.h - the brightest pixels, taken out before the transform and pasted in space.
 *
 * The error of a transform is relative to the brightest pixel of the frame, wherever it stands. So
 * the few that set it are taken out, and the kernel is pasted for each, at every place where the
 * border shows it. Sums are in double: pastes of both signs may cancel. */
#ifndef BLOOM_BRIGHT_H
#define BLOOM_BRIGHT_H

#include "base/par.h"
#include "bloom/promise/spread.h"

typedef struct {
    uint32_t band; /* of columns: pasting takes several spots of a band at once */
    int32_t x, y;
    float v;
} bright_spot;

typedef struct {
    bright_spot *spot; /* by bands, and in each by rows */
    size_t count;      /* of spots: pixels, and what borders show of them */
    size_t pixels;
    size_t *band; /* the first spot of each band that has some; [bands] is `count` */
    size_t bands;
} bright_list;

/* Takes the pixels of histogram bin `below` and higher out of the plane: they become 0. */
bool bright_take(bright_list *l, float *plane, const spread *s, uint32_t below, par *threads,
                 err *e);
void bright_free(bright_list *l);

/* Adds what the spots make of row y, their own centre taps not included, to `to`, and to
 * `magnitude`, unless that is NULL, what these terms come to without their signs. */
void bright_row(const bright_list *l, const spread *s, uint32_t channel, uint32_t y, double *to,
                double *magnitude, double *scratch);
size_t bright_scratch(const spread *s);

/* Multiplications of all rows, at most. */
double bright_work(const spread *s, double spots);

#endif
