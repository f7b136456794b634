/* repair.h - finds what takes the places of bad pixels of a plane: the mean of the finite pixels on
 * the smallest square ring around each that has any. NaN is bad; infinity stays, and is no
 * neighbour. The plane need not be in memory: some of its rows are looked at, with as many around
 * them as are needed. */
#pragma once

#include "base/par.h"
#include "image/image.h"

typedef struct {
    uint32_t w, h, some; /* some: the rows that are looked at together */
    image_box has;       /* what of the plane has pixels: nothing beyond is a neighbour */
    pixel_type type;     /* new values are rounded to this */
    bool (*read)(void *ctx, float *to, uint32_t row, uint32_t rows, err *e);
    void *ctx;
} repair_plane;

typedef struct {
    struct repair_pixel {
        uint32_t x, y;
        float v;
    } * pixel; /* by rows */
    size_t count;
    double added; /* the sum of the new values */
} repairs;

/* Finds the repairs of a plane. The caller frees them, also after a failure. */
bool repairs_find(repairs *to, const repair_plane *p, par *threads, err *e);
void repairs_free(repairs *r);
/* Puts them into some rows of a plane of this type and width. */
void repairs_put(const repairs *r, void *plane, pixel_type type, uint32_t w, uint32_t row,
                 uint32_t rows);
