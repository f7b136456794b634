/* tiled.h - one part of an image that is too large for the memory, bloomed tile by tile.
 *
 * The part is read twice, in rows. The first time it is measured: the median, which decides how
 * dark a pixel must be before nothing is promised for it, bad pixels, and the ledger's sums. The
 * second time, rows of tiles (math/tiling.h) go through group_bloom, each tile as an image of its
 * own, and the rows of the result are handed on. In memory are the rows that one row of tiles reads
 * and makes, and one tile. If pixels are to be verified, the part is read a third time. */
#ifndef BLOOM_TILED_H
#define BLOOM_TILED_H

#include "bloom/session.h"
#include "math/tiling.h"

/* Bytes that are left to libraries, and to them and Vulkan drivers, where there is room. */
enum { TILED_LIBRARIES = 32 << 20, TILED_DRIVERS = 160 << 20 };

typedef struct {
    const bloom_settings *s;
    par *threads;
    session *session; /* of whole images */
    const image_header *head;
    int part;
    uint32_t height; /* of the part as it came: kernels may be sized by it */
    const bloom_rows *rows;
    const tiling *cut; /* the tiles, for tests; NULL: those that fit are chosen */
} tiled_job;

/* Chooses the tiles of a part with colour. */
bool tiled_choose(tiling *t, const tiled_job *j, err *e);

/* Blooms the part and enters it into the report. A part without colour stays as it is. */
bool tiled_bloom(const tiled_job *j, bloom_report *r, err *e);

/* Changes the header of a part to that of its result: types of pixels, and added channels. */
bool tiled_header(image_part *p, const bloom_settings *s, err *e);

#endif
