#include "image/exr/exr_chunk.h"

#include "base/mem.h"
#include "image/exr/exr_ilm.h"
#include "image/exr/exr_split.h"
#include "image/exr/exr_tiny.h"

#include <libdeflate.h>
#include <string.h>

/* --- codecs ------------------------------------------------------------------------------- */

typedef struct {
    uint32_t lines;
    bool split; /* takes the even bytes and then the odd ones, and may change them */
    /* Exactly shape->raw bytes into `raw`. NULL: stored as they are. */
    bool (*decode)(exr_scratch *s, const exr_shape *shape, const uint8_t *packed, size_t bytes,
                   uint8_t *raw, err *e);
    /* Into `packed`, which has room for bound(raw) bytes. */
    bool (*encode)(exr_scratch *s, const exr_shape *shape, uint8_t *raw, uint8_t *packed,
                   size_t *bytes, err *e);
    size_t (*bound)(size_t raw);
} codec;

static size_t bound_same(size_t raw) {
    return raw;
}

static bool zip_decode(exr_scratch *s, const exr_shape *shape, const uint8_t *packed, size_t bytes,
                       uint8_t *raw, err *e) {
    if (!s->inflate && !(s->inflate = libdeflate_alloc_decompressor()))
        return err_set(e, ERR_RETRY, "out of memory: inflate");
    if (libdeflate_zlib_decompress(s->inflate, packed, bytes, raw, shape->raw, NULL) !=
        LIBDEFLATE_SUCCESS)
        return err_set(e, ERR_DATA, "the deflated data is damaged");
    exr_undelta(raw, shape->raw);
    return true;
}

/* The fastest levels of libdeflate whose files are no larger than those of zlib's level 4, which
 * OpenEXR uses; for samples of two bytes and of four on average. 3840 x 2160 R G B of smooth noise
 * with grain, one thread of an EPYC, CPU ms and MB:
 *
 *              zlib 4        level 1      2            4            5
 *      half    1120  22.20   362  21.83   542  21.98   602  21.86   718  21.92
 *      float   3500  93.14   933  93.74   1266 93.14+  1334 93.14+  1382 93.13
 *
 * Level 1 is larger by up to 5 % on photographs. */
static const int DEFLATE_LEVEL[2] = {2, 5};

static bool zip_encode(exr_scratch *s, const exr_shape *shape, uint8_t *raw, uint8_t *packed,
                       size_t *bytes, err *e) {
    int wide = shape->raw >= (size_t)3 * shape->w * shape->h * (size_t)shape->part->channels;
    struct libdeflate_compressor **deflate = &s->deflate[wide];
    if (!*deflate && !(*deflate = libdeflate_alloc_compressor(DEFLATE_LEVEL[wide])))
        return err_set(e, ERR_RETRY, "out of memory: deflate");
    exr_delta(raw, shape->raw);
    size_t n = libdeflate_zlib_compress(*deflate, raw, shape->raw, packed, shape->raw);
    *bytes = n ? n : shape->raw; /* 0: it does not fit */
    return true;
}

/* A count n >= 0 is followed by one byte that stands n + 1 times, n < 0 by -n bytes as they are. */
static bool rle_decode(exr_scratch *s, const exr_shape *shape, const uint8_t *packed, size_t bytes,
                       uint8_t *raw, err *e) {
    (void)s;
    const uint8_t *end = packed + bytes;
    uint8_t *out = raw, *out_end = raw + shape->raw;
    while (packed < end) {
        int count = (int8_t)*packed++;
        size_t n = (size_t)(count < 0 ? -count : count + 1), in = count < 0 ? n : 1;
        if ((size_t)(out_end - out) < n || (size_t)(end - packed) < in)
            return err_set(e, ERR_DATA, "the run lengths are damaged");
        if (count < 0)
            memcpy(out, packed, n);
        else
            memset(out, *packed, n);
        packed += in;
        out += n;
    }
    if (out != out_end)
        return err_set(e, ERR_DATA, "the run lengths give %zu bytes, not %zu", (size_t)(out - raw),
                       shape->raw);
    exr_undelta(raw, shape->raw);
    return true;
}

enum { RLE_RUN = 3, RLE_LONGEST = 127 };

static size_t rle_bound(size_t raw) {
    return raw + raw / RLE_LONGEST + 2;
}

static bool rle_encode(exr_scratch *s, const exr_shape *shape, uint8_t *raw, uint8_t *packed,
                       size_t *bytes, err *e) {
    (void)s, (void)e;
    exr_delta(raw, shape->raw);
    uint8_t *out = packed, *literals = NULL; /* the count of the literals that are being added to */
    for (size_t at = 0, n; at < shape->raw; at += n) {
        for (n = 1; at + n < shape->raw && n <= RLE_LONGEST && raw[at + n] == raw[at];) n++;
        if (n >= RLE_RUN) {
            *out++ = (uint8_t)(n - 1);
            *out++ = raw[at];
            literals = NULL;
            continue;
        }
        n = 1;
        if (!literals || *literals == (uint8_t)-RLE_LONGEST) {
            literals = out++;
            *literals = 0;
        }
        --*literals;
        *out++ = raw[at];
    }
    *bytes = (size_t)(out - packed);
    return true;
}

static bool piz_decode(exr_scratch *s, const exr_shape *shape, const uint8_t *packed, size_t bytes,
                       uint8_t *raw, err *e) {
    (void)s;
    return exr_piz_decode(shape, packed, bytes, raw, e);
}

static bool piz_encode(exr_scratch *s, const exr_shape *shape, uint8_t *raw, uint8_t *packed,
                       size_t *bytes, err *e) {
    (void)s;
    return exr_piz_encode(shape, raw, packed, bytes, e);
}

#if WITH_OPENEXR
static bool ilm_decode(exr_scratch *s, const exr_shape *shape, const uint8_t *packed, size_t bytes,
                       uint8_t *raw, err *e) {
    (void)s;
    return exr_ilm_decode(shape, packed, bytes, raw, e);
}

static bool ilm_encode(exr_scratch *s, const exr_shape *shape, uint8_t *raw, uint8_t *packed,
                       size_t *bytes, err *e) {
    (void)s;
    return exr_ilm_encode(shape, raw, packed, bytes, e);
}
#else
static bool ilm_decode(exr_scratch *s, const exr_shape *shape, const uint8_t *packed, size_t bytes,
                       uint8_t *raw, err *e) {
    (void)s, (void)packed, (void)bytes, (void)raw;
    return err_set(e, ERR_DATA, "%s compression needs OpenEXR, which this program is built without",
                   compression_name(shape->part->packing));
}

static bool ilm_encode(exr_scratch *s, const exr_shape *shape, uint8_t *raw, uint8_t *packed,
                       size_t *bytes, err *e) {
    return ilm_decode(s, shape, packed, *bytes, raw, e);
}
#endif

static const codec CODEC[COMPRESSIONS] = {
    [COMPRESSION_NONE] = {1, false, NULL, NULL, bound_same},
    [COMPRESSION_RLE] = {1, true, rle_decode, rle_encode, rle_bound},
    [COMPRESSION_ZIPS] = {1, true, zip_decode, zip_encode, bound_same},
    [COMPRESSION_ZIP] = {16, true, zip_decode, zip_encode, bound_same},
    [COMPRESSION_PIZ] = {32, false, piz_decode, piz_encode, exr_piz_bound},
    [COMPRESSION_PXR24] = {16, false, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_B44] = {32, false, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_B44A] = {32, false, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_DWAA] = {32, false, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_DWAB] = {256, false, ilm_decode, ilm_encode, bound_same},
};

uint32_t exr_chunk_lines(compression c) {
    return CODEC[c].lines;
}

bool exr_chunk_known(compression c) {
    return WITH_OPENEXR || CODEC[c].decode != ilm_decode;
}

/* --- scratch memory ----------------------------------------------------------------------- */

static bool grow(uint8_t **buffer, size_t *room, size_t bytes, err *e) {
    if (bytes <= *room) return true;
    mem_free(*buffer);
    *room = 0;
    *buffer = mem_raw(bytes, 1, "a chunk", e);
    if (*buffer) *room = bytes;
    return *buffer != NULL;
}

bool exr_scratch_packed(exr_scratch *s, size_t bytes, err *e) {
    return grow(&s->packed, &s->packed_room, bytes, e);
}

void exr_scratch_free(exr_scratch *s) {
    mem_free(s->packed);
    mem_free(s->raw);
    for (int i = 0; i < 2; i++)
        if (s->deflate[i]) libdeflate_free_compressor(s->deflate[i]);
    if (s->inflate) libdeflate_free_decompressor(s->inflate);
    *s = (exr_scratch){0};
}

/* --- between planes and the bytes of a chunk ---------------------------------------------- */

/* Calls for every line of the chunk that lies in the band, and every channel that has a plane:
 * where its samples are in the plane and at which byte of the chunk's run. */
typedef void segment_fn(uint8_t *plane, uint8_t *raw, size_t at, size_t bytes, size_t half);

static void each_segment(const image_part *p, const exr_layout *l, exr_block b,
                         const exr_band *band, uint8_t *raw, segment_fn *fn) {
    size_t half = (size_t)b.w * b.h * l->pixel / 2;
    for (uint32_t line = 0; line < b.h; line++) {
        uint32_t y = b.y + line;
        if (y < band->row || y - band->row >= band->rows) continue;
        size_t at = (size_t)line * b.w * l->pixel;
        size_t first = (size_t)(y - band->row) * band->width + b.x;
        for (int c = 0; c < p->channels; c++) {
            size_t size = pixel_bytes(p->channel[c].type), bytes = b.w * size;
            if (band->plane[c]) fn((uint8_t *)band->plane[c] + first * size, raw, at, bytes, half);
            at += bytes;
        }
    }
}

static void scatter(uint8_t *plane, uint8_t *raw, size_t at, size_t bytes, size_t half) {
    (void)half;
    memcpy(plane, raw + at, bytes);
}

static void gather(uint8_t *plane, uint8_t *raw, size_t at, size_t bytes, size_t half) {
    (void)half;
    memcpy(raw + at, plane, bytes);
}

/* Samples have two or four bytes, so each segment starts at an even byte of the run. */
static void scatter_split(uint8_t *plane, uint8_t *raw, size_t at, size_t bytes, size_t half) {
    exr_join(plane, raw + at / 2, raw + half + at / 2, bytes / 2);
}

static void gather_split(uint8_t *plane, uint8_t *raw, size_t at, size_t bytes, size_t half) {
    exr_split(raw + at / 2, raw + half + at / 2, plane, bytes / 2);
}

bool exr_chunk_decode(exr_scratch *s, const image_part *p, const exr_layout *l, exr_block at,
                      size_t bytes, const exr_band *to, err *e) {
    const codec *c = &CODEC[p->packing];
    exr_shape shape = {p, at.w, at.h, (size_t)at.w * at.h * l->pixel};
    if (bytes == shape.raw) { /* what did not get smaller is stored as it is */
        each_segment(p, l, at, to, s->packed, scatter);
        return true;
    }
    if (!c->decode || bytes > shape.raw)
        return err_set(e, ERR_DATA, "the chunk has %zu bytes, its pixels need %zu", bytes,
                       shape.raw);
    if (!grow(&s->raw, &s->raw_room, shape.raw, e) ||
        !c->decode(s, &shape, s->packed, bytes, s->raw, e))
        return false;
    each_segment(p, l, at, to, s->raw, c->split ? scatter_split : scatter);
    return true;
}

bool exr_chunk_encode(exr_scratch *s, const image_part *p, const exr_layout *l, exr_block at,
                      const exr_band *from, size_t *bytes, err *e) {
    const codec *c = &CODEC[p->packing];
    exr_shape shape = {p, at.w, at.h, (size_t)at.w * at.h * l->pixel};
    if (!exr_scratch_packed(s, c->bound(shape.raw), e)) return false;
    if (c->encode) {
        if (!grow(&s->raw, &s->raw_room, shape.raw, e)) return false;
        each_segment(p, l, at, from, s->raw, c->split ? gather_split : gather);
        if (!c->encode(s, &shape, s->raw, s->packed, bytes, e)) return false;
        if (*bytes < shape.raw) return true;
    }
    each_segment(p, l, at, from, s->packed, gather);
    *bytes = shape.raw;
    return true;
}
