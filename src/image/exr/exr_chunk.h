/* exr_chunk.h - how a part of an EXR file is cut into chunks (blocks of lines, or tiles); and one
 * chunk, from bytes to samples and back. Only level 0 is read and written; the smaller levels of a
 * mip-mapped file count in the length of its table.
 *
 * One table of codecs: NONE and RLE are done here, ZIPS and ZIP are packed by exr_zip and unpacked
 * by libdeflate, PIZ is done by tinyexr's functions, PXR24, B44, B44A, DWAA and DWAB by OpenEXR
 * where the program is built with it, in a process of its own (exr_child). Each takes the chunk as
 * one run of bytes, line by line, within a line channel by channel.
 *
 * A codec trusts nothing in the bytes: damage is an error, or samples of no meaning. */
#pragma once

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

/* Fills *l for a part whose windows, channels, compression and tile size the caller has checked;
 * sizes must fit the machine. `round_up` is the rounding mode of the levels. */
bool exr_layout_make(exr_layout *l, const image_part *p, exr_levels levels, bool round_up, err *e);

/* Returns where chunk `index` of level 0 lies: rows of tiles from the top, each from the left. */
exr_block exr_layout_block(const exr_layout *l, uint64_t index);
static inline uint64_t exr_layout_chunks(const exr_layout *l) {
    return (uint64_t)l->across * l->down;
}

/* Returns the index of the n-th chunk in the order in which the part's chunks are stored. */
uint64_t exr_layout_stored(const exr_layout *l, line_order order, uint64_t n);

/* Returns false for the five that need OpenEXR in a program that is built without. */
bool exr_chunk_known(compression c);
/* Returns whether the part's codec may change samples of a channel: by codec, type and name. */
bool exr_chunk_loses(const image_part *p, int channel);
/* Returns the lines of a chunk of this part, which the last one of an image may not have. */
uint32_t exr_chunk_lines(const image_part *p);

/* What a codec must know of the chunk. */
typedef struct {
    const image_part *part; /* channels, compression, whether tiled */
    uint32_t w, h;
    size_t raw; /* bytes, unpacked */
} exr_shape;

/* What one thread works with: buffers that grow as needed, the states of ZIP, and a process for
 * OpenEXR. Starts as zeros; belongs to one thread at a time. */
typedef struct {
    uint8_t *packed, *raw, *look; /* the last for exr_sound */
    size_t packed_room, raw_room, look_room;
    size_t bytes; /* of the chunk in `packed` */
    struct exr_zip *zip;
    struct libdeflate_decompressor *inflate;
    int child;                     /* the line to one of exr_child's; 0: there is none */
    size_t child_room, child_done; /* bytes of the largest chunk that it takes, and of all so far */
} exr_scratch;

/* Decodes s->packed to shape->raw bytes in s->raw, or encodes s->raw to s->packed. */
typedef bool exr_codec(exr_scratch *s, const exr_shape *shape, err *e);
/* Those of libraries, whose exceptions do not leave their files: PIZ by tinyexr's functions, and
 * PXR24, B44, B44A, DWAA and DWAB by OpenEXR's. To encode, s->packed must have room for
 * exr_piz_bound(raw) bytes, far more than PIZ leaves, or for `raw`. */
exr_codec exr_piz_decode, exr_piz_encode, exr_ilm_decode, exr_ilm_encode;
size_t exr_piz_bound(size_t raw);
/* Sets who decodes and encodes in place of OpenEXR's library. Call it before any thread starts. */
void exr_chunk_ilm_by(exr_codec *decode, exr_codec *encode);
/* Sets what this process does where the library gets no memory, after which it may wait for ever or
 * break down: fn must not return. A host of ours sets none. */
void exr_ilm_without_memory(void (*fn)(void));
/* Looks whether the chunk in s->packed, of one of the five, gives every sample of its channels. The
 * library is handed no other. */
exr_codec exr_sound;

/* Makes a buffer at least so large; what it held is lost. */
bool exr_grow(uint8_t **buffer, size_t *room, size_t bytes, err *e);
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
} exr_chunk;

/* Decodes the chunk in s->packed to those of its rows that lie in the band. */
bool exr_chunk_decode(exr_scratch *s, const exr_chunk *c, err *e);
/* Encodes the chunk, all rows of which the band has, to s->packed. */
bool exr_chunk_encode(exr_scratch *s, const exr_chunk *c, err *e);

/* Splits off the process that makes the children, and lets them decode and encode from now on. Call
 * it once, while there is one thread. The library does not: it works in the host's process. */
void exr_child_start(void);

/* Decodes the Huffman codes of PIZ, `bytes` bytes with a header and a table of lengths, to exactly
 * n values; may read EXR_HUFFMAN_SLACK bytes behind them, whatever they hold. */
enum { EXR_HUFFMAN_SLACK = 16 };
bool exr_huffman_decode(const uint8_t *packed, size_t bytes, uint16_t *out, size_t n, err *e);
/* Inflates a zlib stream to exactly `raw` bytes. */
bool exr_inflate(exr_scratch *s, const uint8_t *from, size_t bytes, uint8_t *to, size_t raw,
                 err *e);

/* What ZIP, ZIPS and RLE do to the bytes of a chunk before they are packed: those at even places
 * come before those at odd ones, and each byte is replaced by its difference from the one before,
 * plus 128. The bytes come and go in pieces. The next differences are taken from the last byte at
 * an even place, and at an odd one: */
typedef struct {
    uint8_t even, odd;
} exr_last;

/* Splits n pairs. The first ones of a chunk start from EXR_SPLIT_START. */
static const exr_last EXR_SPLIT_START = {128, 0};
void exr_split(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n, exr_last *last);
/* Ends a chunk: the first odd byte comes after the last even one. */
void exr_split_end(uint8_t *chunk, size_t half, exr_last last);

/* Returns what the first pairs of a chunk start from. */
exr_last exr_join_start(const uint8_t *chunk, size_t half);
/* Joins n pairs; without `to` they only count for what follows. */
void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n, exr_last *last);

/* ZIP: an encoder of deflate for what exr_split makes of a chunk. The same bytes give the same
 * stream on every machine. One thread packs with it. Free with mem_free. */
typedef struct exr_zip exr_zip;
/* Makes one for chunks of up to `most` bytes: small ones take little memory. */
exr_zip *exr_zip_new(size_t most, err *e);
/* Returns whether it can pack chunks of n bytes; NULL cannot. */
bool exr_zip_holds(const exr_zip *z, size_t n);
/* Makes it do without instructions that not every processor has, for tests. */
void exr_zip_plain(exr_zip *z);
/* Returns the room that packing n bytes may need. */
size_t exr_zip_bound(size_t n);
/* Packs n > 0 split bytes as a zlib stream and returns its length, which may be beyond n. */
size_t exr_zip_pack(exr_zip *z, const uint8_t *bytes, size_t n, uint8_t *out);
