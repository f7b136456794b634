#include "image/exr/exr_chunk.h"

#include "base/mem.h"

typedef struct {
    uint32_t lines;
    bool split;     /* takes the bytes as exr_split leaves them */
    unsigned loses; /* the samples that it may change: HALFS, FLOATS, and where they must be */
    /* Decodes s->packed to exactly shape->raw bytes in s->raw. NULL: stored as they are. */
    exr_codec *decode;
    /* Encodes s->raw to s->packed, which has room for bound(shape->raw) bytes. */
    exr_codec *encode;
    size_t (*bound)(size_t raw);
} codec;

static size_t bound_same(size_t raw) {
    return raw;
}

static bool zip_decode(exr_scratch *s, const exr_shape *shape, err *e) {
    return exr_inflate(s, s->packed, s->bytes, s->raw, shape->raw, e);
}

static bool zip_encode(exr_scratch *s, const exr_shape *shape, err *e) {
    if (!exr_zip_holds(s->zip, shape->raw)) {
        mem_free(s->zip);
        if (!(s->zip = exr_zip_new(shape->raw, e))) return false;
    }
    s->bytes = exr_zip_pack(s->zip, s->raw, shape->raw, s->packed);
    return true;
}

/* Unpacks runs: n >= 0 and a byte that stands n + 1 times, n < 0 and -n bytes as they are. */
static bool rle_decode(exr_scratch *s, const exr_shape *shape, err *e) {
    const uint8_t *packed = s->packed, *end = packed + s->bytes;
    uint8_t *out = s->raw, *out_end = out + shape->raw;
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
        return err_set(e, ERR_DATA, "the run lengths give %zu bytes, not %zu",
                       (size_t)(out - s->raw), shape->raw);
    return true;
}

enum { RLE_RUN = 3, RLE_LONGEST = 127 };

static size_t rle_bound(size_t raw) {
    return raw + raw / RLE_LONGEST + 2;
}

static bool rle_encode(exr_scratch *s, const exr_shape *shape, err *e) {
    const uint8_t *raw = s->raw;
    uint8_t *out = s->packed,
            *literals = NULL; /* the count of the literals that are being added to */
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
    s->bytes = (size_t)(out - s->packed);
    return true;
}

#if !WITH_OPENEXR
bool exr_ilm_decode(exr_scratch *s, const exr_shape *shape, err *e) {
    return err_set(e, ERR_DATA, "%s compression needs OpenEXR, which this program is built without",
                   compression_name(shape->part->packing));
}

bool exr_ilm_encode(exr_scratch *s, const exr_shape *shape, err *e) {
    return exr_ilm_decode(s, shape, e);
}

void exr_ilm_without_memory(void (*fn)(void)) {}
#endif

static exr_codec *decode_by = exr_ilm_decode, *encode_by = exr_ilm_encode;

void exr_chunk_ilm_by(exr_codec *decode, exr_codec *encode) {
    decode_by = decode;
    encode_by = encode;
}

/* For a chunk the library reserves all lines, and for a tile whole blocks of 4 x 4, also where the
 * image has fewer; what it counts these bytes in has 31 bits. */
static bool fits_library(const exr_shape *s, err *e) {
    const image_part *p = s->part;
    uint64_t pixel = s->raw / s->w / s->h, w = p->tile_w ? ceil_div_u32(s->w, 4) * 4 : s->w,
             h = p->tile_w ? ceil_div_u32(s->h, 4) * 4 : exr_chunk_lines(p);
    return w * h * pixel <= INT32_MAX ||
           err_set(e, ERR_DATA,
                   "OpenEXR's library would need %llu bytes for it, and can have %d; "
                   "--compression zip does without",
                   (unsigned long long)(w * h * pixel), INT32_MAX);
}

static bool ilm_decode(exr_scratch *s, const exr_shape *shape, err *e) {
    return fits_library(shape, e) && decode_by(s, shape, e);
}
static bool ilm_encode(exr_scratch *s, const exr_shape *shape, err *e) {
    return fits_library(shape, e) && encode_by(s, shape, e);
}

/* LIGHT: in channels alone that DWA takes for light. */
enum {
    HALFS = 1 << PIXEL_HALF,
    FLOATS = 1 << PIXEL_FLOAT,
    LIGHT = 8,
    DWA = HALFS | FLOATS | LIGHT
};

static const codec CODEC[COMPRESSIONS] = {
    [COMPRESSION_NONE] = {1, false, 0, NULL, NULL, bound_same},
    [COMPRESSION_RLE] = {1, true, 0, rle_decode, rle_encode, rle_bound},
    [COMPRESSION_ZIPS] = {1, true, 0, zip_decode, zip_encode, exr_zip_bound},
    [COMPRESSION_ZIP] = {16, true, 0, zip_decode, zip_encode, exr_zip_bound},
    [COMPRESSION_PIZ] = {32, false, 0, exr_piz_decode, exr_piz_encode, exr_piz_bound},
    [COMPRESSION_PXR24] = {16, false, FLOATS, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_B44] = {32, false, HALFS, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_B44A] = {32, false, HALFS, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_DWAA] = {32, false, DWA, ilm_decode, ilm_encode, bound_same},
    [COMPRESSION_DWAB] = {256, false, DWA, ilm_decode, ilm_encode, bound_same},
};

bool exr_chunk_known(compression c) {
    return WITH_OPENEXR || CODEC[c].encode != ilm_encode;
}

/* DWA goes by the word behind the last dot of a name. */
static bool is_light(const char *name) {
    static const char *const WORD[] = {"R", "G", "B", "Y", "BY", "RY"};
    const char *dot = strrchr(name, '.');
    bool found = false;
    for (size_t i = 0; i < COUNT(WORD); i++) found |= strcmp(dot ? dot + 1 : name, WORD[i]) == 0;
    return found;
}

bool exr_chunk_loses(const image_part *p, int channel) {
    const image_channel *c = &p->channel[channel];
    const unsigned loses = exr_chunk_known(p->packing) ? CODEC[p->packing].loses : 0;
    return loses & 1u << c->type && (!(loses & LIGHT) || is_light(c->name));
}

uint32_t exr_chunk_lines(const image_part *p) {
    return p->tile_w ? p->tile_h : CODEC[p->packing].lines;
}

static uint32_t level_length(uint32_t length, int level, bool round_up) {
    uint64_t n = ((uint64_t)length + (round_up ? ((uint64_t)1 << level) - 1 : 0)) >> level;
    return n ? (uint32_t)n : 1;
}

/* Returns how many levels halve a length until it is one: floor(log2(n)) + 1, or with ceil. */
static int level_count(uint32_t length, bool round_up) {
    int levels = 1;
    while (((uint64_t)1 << levels) <= length) levels++;
    bool power_of_two = ((uint64_t)1 << (levels - 1)) == length;
    return levels + (round_up && !power_of_two);
}

/* Levels of a ripmap are all pairs of a width and a height, those of a mipmap halve both. */
static uint64_t all_levels(const exr_layout *l, exr_levels levels, bool up) {
    const int wide = level_count(l->w, up), high = level_count(l->h, up);
    uint64_t pairs = 0, columns = 0, rows = 0;
    for (int i = 0; i < max_int(wide, high); i++) {
        uint64_t across = ceil_div_u32(level_length(l->w, i, up), l->cols),
                 down = ceil_div_u32(level_length(l->h, i, up), l->lines);
        pairs += across * down;
        columns += i < wide ? across : 0, rows += i < high ? down : 0;
    }
    if (levels == LEVELS_ONE) return exr_layout_chunks(l);
    return levels == LEVELS_MIPMAP ? pairs : columns * rows;
}

bool exr_layout_make(exr_layout *out, const image_part *p, exr_levels levels, bool round_up,
                     err *e) {
    exr_layout l = {.w = image_width(p), .h = image_height(p)};
    l.cols = p->tile_w ? p->tile_w : l.w;
    l.lines = exr_chunk_lines(p);
    l.across = ceil_div_u32(l.w, l.cols);
    l.down = ceil_div_u32(l.h, l.lines);
    l.table = all_levels(&l, levels, round_up);
    for (int c = 0; c < p->channels; c++) l.pixel += pixel_bytes(p->channel[c].type);
    size_t pixels = (size_t)min_u32(l.cols, l.w) * min_u32(l.lines, l.h);
    /* Chunks state their size in 31 bits. */
    if (!mem_mul(pixels, l.pixel, &l.raw) || l.raw > INT32_MAX)
        return err_set(e, ERR_DATA, "a chunk of %zu pixels of %zu bytes is more than %d bytes",
                       pixels, l.pixel, INT32_MAX);
    *out = l;
    return true;
}

exr_block exr_layout_block(const exr_layout *l, uint64_t index) {
    exr_block b = {.x = (uint32_t)(index % l->across) * l->cols,
                   .y = (uint32_t)(index / l->across) * l->lines};
    b.w = min_u32(l->cols, l->w - b.x);
    b.h = min_u32(l->lines, l->h - b.y);
    return b;
}

uint64_t exr_layout_stored(const exr_layout *l, line_order order, uint64_t n) {
    if (order != LINES_DECREASING) return n;
    uint64_t row = n / l->across, col = n % l->across;
    return (l->down - 1 - row) * l->across + col;
}

/* The bytes of a chunk, and what the next of them are differences from. */
typedef struct {
    uint8_t *bytes;
    size_t half; /* of them, which are those at even places */
    exr_last last;
} run;

/* Takes a line of a channel: where its samples are in the plane, or NULL, and at which byte of the
 * chunk's run. */
typedef void segment_fn(uint8_t *plane, run *r, size_t at, size_t bytes);

/* Calls for each line of each channel, also where the band has no samples for it. */
static void each_segment(const exr_chunk *c, run *r, segment_fn *fn) {
    const image_part *p = c->part;
    const exr_band *band = c->band;
    const exr_block b = c->at;
    size_t at = 0;
    for (uint32_t y = b.y; y < b.y + b.h; y++) {
        bool within = y >= band->row && y - band->row < band->rows;
        size_t first = within ? (size_t)(y - band->row) * band->width + b.x : 0;
        for (int i = 0; i < p->channels; i++) {
            size_t size = pixel_bytes(p->channel[i].type), bytes = b.w * size;
            bool wanted = within && band->plane[i];
            fn(wanted ? (uint8_t *)band->plane[i] + first * size : NULL, r, at, bytes);
            at += bytes;
        }
    }
}

static void scatter(uint8_t *plane, run *r, size_t at, size_t bytes) {
    if (plane) memcpy(plane, r->bytes + at, bytes);
}

static void gather(uint8_t *plane, run *r, size_t at, size_t bytes) {
    memcpy(r->bytes + at, plane, bytes);
}

/* Samples have two or four bytes, so each segment starts at an even byte of the run. */
static void scatter_split(uint8_t *plane, run *r, size_t at, size_t bytes) {
    const uint8_t *even = r->bytes + at / 2;
    exr_join(plane, even, even + r->half, bytes / 2, &r->last);
}

static void gather_split(uint8_t *plane, run *r, size_t at, size_t bytes) {
    uint8_t *even = r->bytes + at / 2;
    exr_split(even, even + r->half, plane, bytes / 2, &r->last);
}

static exr_shape shape_of(const exr_chunk *c) {
    return (exr_shape){c->part, c->at.w, c->at.h, (size_t)c->at.w * c->at.h * c->layout->pixel};
}

bool exr_chunk_decode(exr_scratch *s, const exr_chunk *c, err *e) {
    const codec *by = &CODEC[c->part->packing];
    exr_shape shape = shape_of(c);
    if (s->bytes == shape.raw) { /* a chunk that did not get smaller is stored as it is */
        each_segment(c, &(run){.bytes = s->packed}, scatter);
        return true;
    }
    if (!by->decode || s->bytes > shape.raw)
        return err_set(e, ERR_DATA, "the chunk has %zu bytes, its pixels need %zu", s->bytes,
                       shape.raw);
    if (!exr_grow(&s->raw, &s->raw_room, shape.raw, e) || !by->decode(s, &shape, e)) return false;
    run r = {.bytes = s->raw, .half = shape.raw / 2};
    if (by->split) r.last = exr_join_start(r.bytes, r.half);
    each_segment(c, &r, by->split ? scatter_split : scatter);
    return true;
}

bool exr_chunk_encode(exr_scratch *s, const exr_chunk *c, err *e) {
    const codec *by = &CODEC[c->part->packing];
    exr_shape shape = shape_of(c);
    if (!exr_scratch_packed(s, by->bound(shape.raw), e)) return false;
    if (by->encode) {
        if (!exr_grow(&s->raw, &s->raw_room, shape.raw, e)) return false;
        run r = {s->raw, shape.raw / 2, EXR_SPLIT_START};
        each_segment(c, &r, by->split ? gather_split : gather);
        if (by->split) exr_split_end(r.bytes, r.half, r.last);
        if (!by->encode(s, &shape, e)) return false;
        if (s->bytes < shape.raw) return true;
    }
    each_segment(c, &(run){.bytes = s->packed}, gather);
    s->bytes = shape.raw;
    return true;
}
