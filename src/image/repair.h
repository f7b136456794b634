/* repair.h - replaces bad pixels (NaN and infinities) of one plane. It does not know what the plane
 * means; whether bad pixels are an error is decided elsewhere. */
#ifndef IMAGE_REPAIR_H
#define IMAGE_REPAIR_H

#include "base/par.h"
#include "image/image.h"

typedef struct {
    void *plane; /* w * h samples, packed */
    pixel_type type;
    uint32_t w, h;
    bool interpolate;     /* false: zeros */
    uint32_t first, rows; /* the rows that are repaired, with what all of them show; 0 rows: all */
} repair_request;

/* Replaces the bad pixels of a half or float plane: by zero, or by the mean of the finite pixels
 * on the smallest square ring around each that has any. A pixel that was bad never counts. Sets
 * *added to the sum of the new values, which is the same on any number of threads. */
bool repair_plane(double *added, const repair_request *r, par *threads, err *e);
/* Does the same, and tells how far away neighbours were looked for; UINT32_MAX: there are none. */
bool repair_rows(uint32_t *far, double *added, const repair_request *r, par *threads, err *e);

#endif
