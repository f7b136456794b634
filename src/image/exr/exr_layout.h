/* exr_layout.h - how a part of an EXR file is cut into chunks. Pure arithmetic.
 *
 * A part of scan lines is cut into blocks of as many lines as its compression takes together; a
 * tiled part into tiles, those at the right and lower edge smaller. Only level 0 is read and
 * written here; the smaller levels of a mip-mapped file count in the length of its table. */
#ifndef IMAGE_EXR_LAYOUT_H
#define IMAGE_EXR_LAYOUT_H

#include "image/image.h"

/* What the `tiles` attribute says about the smaller levels. */
typedef enum { LEVELS_ONE, LEVELS_MIPMAP, LEVELS_RIPMAP } exr_levels;

typedef struct {
    uint32_t w, h;         /* of the data window */
    uint32_t cols, lines;  /* of a chunk that no edge cuts: a tile, or full width x some lines */
    uint32_t across, down; /* chunks of level 0 */
    uint64_t table;        /* chunks of all levels */
    size_t pixel;          /* bytes of one sample of every channel */
    size_t raw;            /* bytes of the largest chunk, unpacked */
} exr_layout;

/* Where in the data window a chunk lies. */
typedef struct {
    uint32_t x, y, w, h;
} exr_block;

/* The windows, channels, compression and tile size of `p` are checked by the caller against its
 * limits; here only that sizes fit the machine. `round_up` is the rounding mode of the levels. */
bool exr_layout_make(exr_layout *l, const image_part *p, exr_levels levels, bool round_up, err *e);

/* Chunk `index` of level 0: top to bottom, and from the left within a row of tiles. */
exr_block exr_layout_block(const exr_layout *l, uint64_t index);
static inline uint64_t exr_layout_chunks(const exr_layout *l) {
    return (uint64_t)l->across * l->down;
}

/* The index of the n-th chunk in the order in which the part's chunks are stored. */
uint64_t exr_layout_stored(const exr_layout *l, line_order order, uint64_t n);

#endif
