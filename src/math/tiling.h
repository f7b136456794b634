/* tiling.h - chooses the tiles in which an image is bloomed that is too large for the memory.
 *
 * A tile is bloomed as a small image of its own. It has pixels that are kept, and margins that
 * hold what the kernel brings into these. Along an axis that is cut, the tile's transform
 * is exactly as long as the tile: what wraps around it falls into the margins (overlap-save). Along
 * an axis that is not cut, the tile is the image, with the image's borders. All tiles have one
 * size, so one plan and one spectrum serve them all. Where there is nothing to cut, the one tile is
 * the image.
 *
 * Where the kernel is too large for any tile that fits, it is cut, too: into pieces, whose results
 * add up. Each piece has tiles of its own, as far from the pixels that are kept as the piece is
 * from the kernel's centre. Channels may be bloomed one after the other, each with its own channel
 * of the kernel.
 *
 * Rows of the image come from a file and go to one: those that a row of tiles reads, and those that
 * it makes, are in memory. Where channels or layers are bloomed one after the other, the rows may
 * be read again for each of them. That leaves room for larger tiles, and costs what reading costs.
 * Like a plan, a tiling is pure arithmetic: no files, no device. */
#ifndef MATH_TILING_H
#define MATH_TILING_H

#include "math/plan.h"

typedef struct {
    plan_request ask;      /* of the whole image; limits and frames do not count */
    uint64_t memory;       /* bytes that may be taken, all in all */
    uint64_t limit;        /* of the whole program; for messages only */
    uint64_t fixed;        /* bytes that are taken besides, whatever the tiles */
    uint64_t kernel;       /* bytes of the kernel's taps, all channels */
    uint32_t rows;         /* rows of the result are written in multiples of this */
    uint32_t pixel_in;     /* bytes of a pixel of the rows that are read: all channels */
    uint32_t sample_in;    /* of these, the largest sample */
    uint32_t pixel_out;    /* bytes of a pixel of the result, likewise */
    uint32_t planes;       /* channels that are bloomed, of all layers */
    uint32_t sample_bytes; /* of the largest sample that is bloomed */
    double unpack;         /* price of unpacking a pixel of the file, whatever is wanted of it */
} tiling_request;

typedef struct {
    uint32_t size[PLAN_AXES];   /* of the whole image */
    bool cut[PLAN_AXES];        /* along this axis there are several tiles */
    uint32_t tile[PLAN_AXES];   /* pixels of a tile, margins included */
    uint32_t kept[PLAN_AXES];   /* of these, pixels whose result counts; fewer in the last tile */
    uint32_t count[PLAN_AXES];  /* tiles along the axis */
    uint32_t taps[PLAN_AXES];   /* of the kernel, */
    uint32_t lo[PLAN_AXES];     /* and those of them before its centre */
    uint32_t piece[PLAN_AXES];  /* taps of a piece of the kernel; fewer in the last one */
    uint32_t pieces[PLAN_AXES]; /* along the axis; more than one only where the axis is cut */
    uint32_t channels;          /* bloomed at a time */
    bool apart;                 /* a transform sees only a part of the kernel: a piece, a channel */
    bool again;                 /* only the rows of these channels are held, and all are read again
                                 * for the next */
    uint64_t bytes;             /* taken at the most, as far as it is foreseen */
    double price;               /* of all tiles, in steps of device_speed.h */
} tiling;

/* Says whether a device can do the plan of a tile. */
typedef bool tiling_fits(void *ctx, const tiling *t, const plan_request *tile);

/* Finds the cheapest tiling that takes no more than the memory, and whose tiles `fits` accepts
 * (NULL: it accepts all). ERR_MEMORY if there is none, with the memory that the smallest takes. */
bool tiling_choose(tiling *t, const tiling_request *r, tiling_fits *fits, void *ctx, err *e);

/* Returns the request for the plan of a tile. */
plan_request tiling_ask(const tiling *t, const plan_request *whole);

/* Returns the pieces of the kernel. */
static inline uint32_t tiling_pieces(const tiling *t) {
    return t->pieces[PLAN_X] * t->pieces[PLAN_Y];
}

#endif
