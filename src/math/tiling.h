/* tiling.h - chooses the tiles in which an image is bloomed that is too large for the memory.
 *
 * A tile is bloomed as a small image of its own, with margins that hold what the kernel brings into
 * the pixels that are kept. Along an axis that is cut, the tile's transform is exactly as long as
 * the tile: what wraps around falls into the margins (overlap-save). Along an axis that is not cut,
 * the tile is the image, with the image's borders. All tiles have one size, so one plan and one
 * spectrum serve them all. A tiling follows from the request alone. */
#pragma once

#include "math/plan.h"

typedef struct {
    uint32_t size[PLAN_AXES];  /* of the whole image */
    bool cut[PLAN_AXES];       /* along this axis there are several tiles */
    uint32_t tile[PLAN_AXES];  /* pixels of a tile, margins included */
    uint32_t kept[PLAN_AXES];  /* of these, pixels whose result counts; fewer in the last tile */
    uint32_t count[PLAN_AXES]; /* tiles along the axis */
    uint32_t before[PLAN_AXES], after[PLAN_AXES]; /* the margins: 0 where nothing is cut */
    uint32_t channels;                            /* of a tile; 0: there are no tiles */
    uint32_t length[PLAN_AXES]; /* of the transforms; where nothing is cut, about */
    uint64_t bytes;             /* taken at the most, as far as it is foreseen */
    double price;               /* of all tiles, in steps of a transform */
    /* Of a field: how many times the points of a transform all windows of a tile have on average;
     * and the engines that are kept from tile to tile, beside the one at work. */
    double windows;
    uint32_t idle;
} tiling;

typedef struct {
    plan_request ask; /* of the whole image, with the limits of a device: lines that it does not
                       * hold are left out; zeros: it holds any. Frames do not count */
    uint64_t memory;  /* that the tiles may take */
    uint64_t limit;   /* of the run, for the message */
    double most;      /* pixels of a tile; 0: any number */
    uint32_t rows;    /* rows of the result are written in multiples of this */
    uint32_t planes;  /* channels that are bloomed, of all layers */
    /* Returns the bytes that blooming in such tiles takes. */
    uint64_t (*bytes)(void *ctx, const tiling *t);
    /* Returns whether a device can do the plan of a tile. NULL: one can. */
    bool (*fits)(void *ctx, const tiling *t, const plan_request *tile);
    void *ctx;
} tiling_request;

/* Finds the cheapest tiling that takes no more than the memory, and that fits a device. ERR_MEMORY
 * if there is none, with the memory that the smallest takes; ERR_LINES if the device holds no line
 * long enough for the kernel. */
bool tiling_choose(tiling *t, const tiling_request *r, err *e);

plan_request tiling_ask(const tiling *t, const plan_request *whole);
