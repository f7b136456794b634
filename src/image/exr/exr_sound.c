/* Whether a packed chunk gives each sample of its channels. OpenEXR's library does not look: where
 * a stream is short, or a DWA head states less than the channels need, it hands on old memory. */
#include "image/exr/exr_chunk.h"

#include <ctype.h>

/* What a DWA chunk starts with. Four streams follow: of other samples, AC, DC, and runs. */
typedef struct {
    uint64_t version, other_raw, other, ac, dc, runs, runs_inflated, runs_raw, ac_values, dc_values,
        ac_way;
} dwa_head;

enum { OTHER, LOSSY, RUNS, WAYS }; /* of a channel: deflated, by the DCT, or runs deflated */
enum { AC_HUFFMAN, AC_DEFLATE };

/* A rule: a suffix of names, its end, a byte, a type of samples. Of the byte, the low bit says that
 * small letters fit large ones, the next but one gives the way in two bits, and the upper half is
 * zero or the place in a colour, from 1 on. */
#define FLOATS(suffix, how) suffix "\0" how "\1" suffix "\0" how "\2"
static const char BEFORE_RULES[] = /* for versions 0 and 1 */
    FLOATS("r", "\x15") FLOATS("red", "\x15") FLOATS("g", "\x25") FLOATS("grn", "\x25")
        FLOATS("green", "\x25") FLOATS("b", "\x35") FLOATS("blu", "\x35") FLOATS("blue", "\x35")
            FLOATS("y", "\x05") FLOATS("by", "\x05") FLOATS("ry", "\x05")
                FLOATS("a", "\x09") "a\0\x09\0";

/* What the channels of a chunk need: bytes of other samples and of those in runs, and channels. */
typedef struct {
    size_t other, runs, lossy;
} dwa_needs;

static bool damaged(const char *what, err *e) {
    return err_set(e, ERR_DATA, "%s", what);
}

/* Returns whether a rule's suffix is that of a name: the whole of it, or what follows its last dot.
 * The library makes the letters of the name small, not those of the rule. */
static bool fits(const char *suffix, const char *name, bool any_case) {
    const char *dot = strrchr(name, '.');
    for (name = dot ? dot + 1 : name;; name++, suffix++) {
        char c = any_case ? (char)tolower((unsigned char)*name) : *name;
        if (c != *suffix) return false;
        if (!c) return true;
    }
}

/* Finds the way of a channel: that of the last rule that fits it. */
static bool dwa_way(const image_channel *c, const char *rules, size_t bytes, int *way, err *e) {
    enum { SUFFIX = 254, MOST_PLACE = 3 };
    int place = 0;
    *way = OTHER;
    for (const char *at = rules, *end = rules + bytes; at < end;) {
        const char *stop = memchr(at, 0, min_size((size_t)(end - at), SUFFIX + 1));
        if (!stop || end - stop < 3) return damaged("the rules of its channels are cut off", e);
        uint8_t how = (uint8_t)stop[1], type = (uint8_t)stop[2];
        if ((how >> 2 & 3) >= WAYS || how >> 4 > MOST_PLACE || type > PIXEL_FLOAT)
            return damaged("a rule of its channels is wrong", e);
        if (type == c->type && fits(at, c->name, how & 1)) {
            if (how >> 4 && place && place != how >> 4)
                return damaged("its rules give a channel two places in a colour", e);
            if (how >> 4) place = how >> 4;
            *way = how >> 2 & 3;
        }
        at = stop + 3;
    }
    if ((*way == LOSSY && c->type == PIXEL_UINT) || (place && *way != LOSSY))
        return damaged("its rules pack a channel in a way that its type does not have", e);
    return true;
}

static bool dwa_count(const exr_shape *shape, const char *rules, size_t bytes, dwa_needs *n,
                      err *e) {
    for (int i = 0; i < shape->part->channels; i++) {
        const image_channel *c = &shape->part->channel[i];
        size_t raw = (size_t)shape->w * shape->h * pixel_bytes(c->type);
        int way;
        if (!dwa_way(c, rules, bytes, &way, e)) return false;
        n->other += way == OTHER ? raw : 0;
        n->runs += way == RUNS ? raw : 0;
        n->lossy += way == LOSSY;
    }
    return true;
}

/* Runs: n >= 0 and a byte that stands n + 1 times, n < 0 and -n bytes as they are. */
static bool runs_give(const uint8_t *at, size_t bytes, size_t raw) {
    for (const uint8_t *end = at + bytes; at < end;) {
        int count = (int8_t)*at++;
        size_t n = (size_t)(count < 0 ? -count : count + 1), in = count < 0 ? n : 1;
        if (n > raw || in > (size_t)(end - at)) return false;
        raw -= n, at += in;
    }
    return raw == 0;
}

/* Each block has 63 values, of which runs of zeros and those up to the end are one. */
static bool ac_gives(const uint16_t *ac, size_t n, size_t blocks) {
    enum { END = 0xff00, VALUES = 63 };
    size_t i = 0;
    for (; blocks; blocks--)
        for (unsigned got = 0; got < VALUES; i++) {
            if (i == n) return false;
            got += ac[i] == END ? VALUES : ac[i] > END ? ac[i] & 0xff : 1u;
        }
    return true;
}

/* Inflates a stream, which is not there where it has nothing to give. */
static bool inflate(exr_scratch *s, const uint8_t *from, size_t bytes, uint8_t *to, size_t raw,
                    err *e) {
    return (!bytes && !raw) || (raw ? exr_inflate(s, from, bytes, to, raw, e)
                                    : damaged("it has a stream for no channel", e));
}

/* Unpacks the four streams one after the other to s->look, and looks at what they give. */
static bool dwa_streams(exr_scratch *s, const dwa_head *h, const dwa_needs *n, const uint8_t *at,
                        size_t blocks, err *e) {
    uint8_t *const room = s->look;
    if (!inflate(s, at, h->other, room, n->other, e)) return false;
    at += h->other;
    const bool huffman = h->ac_way == AC_HUFFMAN && n->lossy;
    if (!(huffman ? exr_huffman_decode(at, h->ac, (uint16_t *)(void *)room, h->ac_values, e)
                  : inflate(s, at, h->ac, room, 2 * h->ac_values, e)))
        return false;
    if (!ac_gives((const uint16_t *)(const void *)room, h->ac_values, blocks))
        return damaged("its AC values end before its last block", e);
    at += h->ac;
    if (!inflate(s, at, h->dc, room, 2 * h->dc_values, e)) return false;
    at += h->dc;
    if (!inflate(s, at, h->runs, room, h->runs_inflated, e)) return false;
    return runs_give(room, h->runs_inflated, n->runs) || damaged("its run lengths are damaged", e);
}

static bool dwa_sound(exr_scratch *s, const exr_shape *shape, err *e) {
    enum { VERSIONS = 3, AC = 63 };
    dwa_head h;
    dwa_needs n = {0};
    uint16_t rules = 0; /* bytes, with their own number */
    size_t left = s->bytes;
    if (left < sizeof h) return damaged("its DWA head is cut off", e);
    memcpy(&h, s->packed, sizeof h);
    left -= sizeof h;
    if (h.version >= VERSIONS || h.ac_way > AC_DEFLATE)
        return damaged("its DWA head is of an unknown kind", e);
    if (h.version == VERSIONS - 1) {
        if (left >= sizeof rules) memcpy(&rules, s->packed + sizeof h, sizeof rules);
        if (rules < sizeof rules || rules > left)
            return damaged("the rules of its channels are cut off", e);
        left -= rules;
    }
    const char *first = (const char *)s->packed + sizeof h + sizeof rules;
    if (!dwa_count(shape, rules ? first : BEFORE_RULES,
                   rules ? rules - sizeof rules : sizeof BEFORE_RULES - 1, &n, e))
        return false;
    const uint64_t stream[] = {h.other, h.ac, h.dc, h.runs};
    for (size_t i = 0; i < sizeof stream / sizeof *stream; left -= stream[i++])
        if (stream[i] > left) return damaged("its streams are cut off", e);
    const size_t blocks = (size_t)ceil_div_u32(shape->w, 8) * ceil_div_u32(shape->h, 8) * n.lossy;
    if (h.other_raw != n.other || h.runs_raw != n.runs || h.dc_values != blocks ||
        h.ac_values > AC * blocks || h.runs_inflated > 2 * n.runs)
        return err_set(
            e, ERR_DATA,
            "its DWA head states %llu, %llu and %llu samples and runs of %llu bytes, its "
            "channels need %zu, %zu and at most %zu, and %zu bytes",
            (unsigned long long)h.other_raw, (unsigned long long)h.dc_values,
            (unsigned long long)h.ac_values, (unsigned long long)h.runs_raw, n.other, blocks,
            AC * blocks, n.runs);
    size_t most = max_size(max_size(n.other, 2 * blocks),
                           max_size(2 * (size_t)h.ac_values, (size_t)h.runs_inflated));
    return exr_grow(&s->look, &s->look_room, most, e) &&
           dwa_streams(s, &h, &n, s->packed + sizeof h + rules, blocks, e);
}

/* Of floats, PXR24 keeps three bytes. */
static bool pxr24_sound(exr_scratch *s, const exr_shape *shape, err *e) {
    size_t pixel = 0;
    for (int i = 0; i < shape->part->channels; i++) {
        pixel_type t = shape->part->channel[i].type;
        pixel += t == PIXEL_FLOAT ? 3 : pixel_bytes(t);
    }
    size_t raw = (size_t)shape->w * shape->h * pixel;
    return exr_grow(&s->look, &s->look_room, raw, e) &&
           exr_inflate(s, s->packed, s->bytes, s->look, raw, e);
}

/* Blocks of 4 x 4 halfs have 3 bytes where they are flat, else 14; other samples are as they are.
 */
static bool b44_sound(exr_scratch *s, const exr_shape *shape, err *e) {
    enum { SHIFT = 2, FLAT = 13 << 2, FLAT_BYTES = 3, BYTES = 14 };
    size_t left = s->bytes;
    for (int i = 0; i < shape->part->channels; i++) {
        pixel_type t = shape->part->channel[i].type;
        size_t blocks = (size_t)ceil_div_u32(shape->w, 4) * ceil_div_u32(shape->h, 4),
               raw = (size_t)shape->w * shape->h * pixel_bytes(t);
        for (size_t n; t == PIXEL_HALF && blocks; blocks--, left -= n) {
            const uint8_t *at = s->packed + s->bytes - left;
            n = left >= FLAT_BYTES && at[SHIFT] >= FLAT ? FLAT_BYTES : BYTES;
            if (n > left) return damaged("its blocks are cut off", e);
        }
        if (t == PIXEL_HALF) continue;
        if (raw > left) return damaged("its samples are cut off", e);
        left -= raw;
    }
    return left == 0 || err_set(e, ERR_DATA, "%zu bytes follow its last block", left);
}

bool exr_sound(exr_scratch *s, const exr_shape *shape, err *e) {
    switch (shape->part->packing) {
    case COMPRESSION_PXR24: return pxr24_sound(s, shape, e);
    case COMPRESSION_B44:
    case COMPRESSION_B44A: return b44_sound(s, shape, e);
    default: return dwa_sound(s, shape, e);
    }
}
