/* exr_chunk.h - one chunk of an EXR file: bytes to samples and back.
 *
 * One table of codecs: NONE and RLE are done here, ZIPS and ZIP are packed by exr_zip and unpacked
 * by libdeflate, PIZ is done by tinyexr's functions, PXR24, B44, B44A, DWAA and DWAB by OpenEXR
 * where the program is built with it. Each takes the chunk as one run of bytes, line by line,
 * within a line channel by channel; ZIP and RLE take the even bytes of that run and then the odd
 * ones, which are gathered from and scattered to the planes without a pass of their own.
 *
 * A codec trusts nothing in the bytes: damage is an error, or samples of no meaning. */
#ifndef IMAGE_EXR_CHUNK_H
#define IMAGE_EXR_CHUNK_H

#include "image/exr/exr_layout.h"

/* Scan lines that a compression takes together. */
uint32_t exr_chunk_lines(compression c);
/* False for the five that need OpenEXR in a program that is built without. */
bool exr_chunk_known(compression c);

/* What a codec must know of the chunk. */
typedef struct {
    const image_part *part; /* channels, compression, whether tiled */
    uint32_t w, h;
    size_t raw; /* bytes, unpacked */
} exr_shape;

/* What one thread works with: buffers that grow as needed, and the states of ZIP. Starts as zeros;
 * belongs to one thread at a time. */
typedef struct {
    uint8_t *packed, *raw, *other;
    size_t packed_room, raw_room, other_room;
    struct exr_zip *zip;
    struct libdeflate_compressor *deflate; /* of parts that are to be small */
    struct libdeflate_decompressor *inflate;
} exr_scratch;

/* Makes s->packed at least so large. The functions below see to s->raw. */
bool exr_scratch_packed(exr_scratch *s, size_t bytes, err *e);
void exr_scratch_free(exr_scratch *s);

/* A band of rows of all channels: plane[c] points to row `row` of the data window, a row has
 * `width` samples. Channels without a plane are skipped when reading. */
typedef struct {
    void *const *plane;
    uint32_t row, rows, width;
} exr_band;

/* A chunk of a part, and the band that its samples go to or come from. */
typedef struct {
    const image_part *part;
    const exr_layout *layout;
    const exr_band *band;
    exr_block at;
    size_t bytes; /* packed, in the scratch memory of the thread */
} exr_chunk;

/* Decodes c->bytes bytes in s->packed to those rows of the chunk that lie in the band. */
bool exr_chunk_decode(exr_scratch *s, const exr_chunk *c, err *e);
/* Encodes the chunk, all rows of which the band has, to s->packed, and sets c->bytes. */
bool exr_chunk_encode(exr_scratch *s, exr_chunk *c, err *e);

#endif
