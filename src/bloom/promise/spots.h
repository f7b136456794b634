/* spots.h - the brightest pixels, taken out before the transform and pasted in space.
 *
 * The error of a transform is relative to the brightest pixel of the frame, wherever it stands. So
 * the few pixels that decide the error are taken out. The kernel is pasted for each of them, at
 * every place where the border shows it, and sums are in double, because pastes of both signs may
 * cancel. Which pixels are taken is not decided here (bloom/promise/accuracy.h). */
#ifndef BLOOM_SPOTS_H
#define BLOOM_SPOTS_H

#include "base/par.h"
#include "bloom/promise/tail.h"

typedef struct {
    uint32_t band; /* of columns: several spots of a band are pasted at once */
    int32_t x, y;
    float v;
} spot;

/* The spots of a row that lie in a cell of SPOT_RUN columns, scaled: v[k] stands in column
 * x + SPOT_RUN - 1 - k, since a kernel is read forwards where the image is read backwards. */
enum { SPOT_RUN = 8 };
typedef struct {
    int32_t x, y;        /* x: the cell's first column */
    uint32_t first, end; /* others than v[first] to before v[end] are 0 */
    float v[SPOT_RUN];
} spot_run;

/* Zeros are a list without spots. */
typedef struct {
    const kernel_tail *tail;
    spot *spot;   /* by bands, and in each by rows */
    size_t count; /* of spots: pixels, and what borders show of them */
    size_t pixels;
    size_t *band; /* the first spot of each band that has some; [bands] is `count` */
    size_t bands;
    spot_run *run; /* by cells, and in each by rows */
    size_t runs;
} spot_list;

typedef struct {
    const kernel_tail *tail;
    uint32_t channel;
    float *plane;
    uint32_t below; /* the histogram bin from which on pixels are taken */
    /* Sums of the plane's blocks, of this side, where no pixel is below zero: a block of less light
     * than such a pixel has none. NULL: all are looked at. */
    const double *block_sum;
    uint32_t block;
} spots_request;

/* Takes the pixels of bin `below` and higher out of the plane, where they become 0. Fills *l, to be
 * freed with spots_free. */
bool spots_take(spot_list *l, const spots_request *r, par *threads, err *e);
void spots_free(spot_list *l);

/* Adds what the spots make of a row, without their own centre taps. */
void spots_row(const spot_list *l, const tail_row *r);

/* Does the same with some rows, in floats: each sum of terms of one sign is off by at most
 * spots_rounding of itself. `room` is for spots_room floats. */
void spots_floats(const spot_list *l, const space_rows *r, float *room);
size_t spots_room(const kernel_tail *tail);
double spots_rounding(const kernel_tail *tail, double spots);

/* Returns the number of multiplications of all rows, at most. */
double spots_work(const kernel_tail *tail, double spots);

#endif
