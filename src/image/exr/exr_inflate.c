#include "image/exr/exr_inflate.h"

#include "base/mem.h"
#include "base/number.h"

#include <libdeflate.h>
#include <string.h>

#if defined(__x86_64__)
#include <tmmintrin.h>

/* --- tables ------------------------------------------------------------------------------- */

/* A table is looked up by the next bits of the stream. An entry holds
 *
 *   bits 0 to 5    how many bits it takes, with the extra bits that follow the code
 *   bits 8 to 11   how many of these are the code
 *   bits 12 to 15  what it is: the kinds below; none of them for a length or a distance
 *   bits 16 to 31  a literal byte; the least length or distance; where a second table is
 *
 * Codes that are longer than the index are found in second tables, by the bits that follow. In a
 * complete code at least two symbols share such a table. */
enum {
    LITERAL = 1 << 15,
    END = 1 << 12,
    LONGER = 1 << 13,

    LONGEST = 15, /* bits of a code */
    SYMBOLS = 288,
    DISTANCES = 32,
    LENGTHS = 19, /* symbols of the code that lengths of codes have */

    SYMBOL_BITS = 11,
    DISTANCE_BITS = 9,
    LENGTH_BITS = 7,
    SYMBOL_TABLE = (1 << SYMBOL_BITS) + SYMBOLS / 2 * (1 << (LONGEST - SYMBOL_BITS)),
    DISTANCE_TABLE = (1 << DISTANCE_BITS) + DISTANCES / 2 * (1 << (LONGEST - DISTANCE_BITS)),
};

/* A stream on its way. The first four change all the time. */
typedef struct {
    const uint8_t *in;
    uint8_t *out;
    uint64_t bits;  /* the next ones of the stream, the first lowest */
    uint64_t count; /* how many they are, modulo 64; what is above means nothing */
} place;

typedef struct {
    place at;
    const uint8_t *in_end;
    uint8_t *out_start, *out_end;
    bool coded; /* within a block that has codes, which the tables hold */
    bool final; /* within or behind the last block */
    bool damaged;
    bool fixed; /* the tables hold deflate's fixed codes */
    uint32_t symbol[SYMBOL_TABLE], distance[DISTANCE_TABLE];
} lane;

typedef struct {
    lane lane[2];
    uint32_t symbol[SYMBOLS], distance[DISTANCES], length[LENGTHS]; /* entries without a code */
} lanes;

/* Symbols that deflate does not have are taken for the last that it has, as libdeflate does. */
static void make_entries(lanes *z) {
    for (uint32_t i = 0; i < 256; i++) z->symbol[i] = LITERAL | i << 16;
    z->symbol[256] = END;
    for (uint32_t i = 257; i < SYMBOLS; i++) {
        uint32_t k = i - 257, extra = k < 8 ? 0 : k / 4 - 1;
        uint32_t least = 3 + (k < 8 ? k : (4 + k % 4) << extra);
        z->symbol[i] = k < 28 ? extra | least << 16 : 258 << 16;
    }
    for (uint32_t i = 0; i < DISTANCES; i++) {
        uint32_t k = min_u32(i, 29), extra = k < 4 ? 0 : k / 2 - 1;
        z->distance[i] = extra | (1 + (k < 4 ? k : (2 + k % 2) << extra)) << 16;
    }
    for (uint32_t i = 0; i < LENGTHS; i++) z->length[i] = i << 16;
}

static uint32_t entry_of(uint32_t symbol, unsigned bits) {
    return symbol + (bits | bits << 8);
}

/* Returns the lowest n bits in reverse order. */
static uint32_t turned(uint32_t v, unsigned n) {
    v = (v >> 1 & 0x5555) | (v & 0x5555) << 1;
    v = (v >> 2 & 0x3333) | (v & 0x3333) << 2;
    v = (v >> 4 & 0x0f0f) | (v & 0x0f0f) << 4;
    v = (v >> 8 & 0x00ff) | (v & 0x00ff) << 8;
    return v >> (16 - n);
}

/* The symbols of a code, short codes first; `count` says how many have each length. */
typedef struct {
    uint16_t symbol[SYMBOLS];
    uint32_t count[LONGEST + 1], used;
    uint32_t space; /* that is taken of 2^15 */
} sorted;

static void sort_symbols(sorted *s, const uint8_t *length, uint32_t n) {
    uint32_t next[LONGEST + 1];
    memset(s->count, 0, sizeof s->count);
    for (uint32_t i = 0; i < n; i++) s->count[length[i]]++;
    s->count[0] = s->used = s->space = 0;
    for (int d = 1; d <= LONGEST; d++) {
        next[d] = s->used;
        s->used += s->count[d];
        s->space += s->count[d] << (LONGEST - d);
    }
    for (uint32_t i = 0; i < n; i++)
        if (length[i]) s->symbol[next[length[i]]++] = (uint16_t)i;
}

/* Fills the second tables with the codes that are longer than `bits`, the first of which is
 * `code`. Codes that share a table follow each other. */
static void fill_longer(uint32_t *table, unsigned bits, const sorted *s, uint32_t code,
                        const uint32_t *symbol) {
    const uint32_t more = 1u << (LONGEST - bits);
    uint32_t next = 1u << bits, before = UINT32_MAX;
    const uint16_t *of = s->symbol + s->used;
    for (unsigned d = bits + 1; d <= LONGEST; d++) of -= s->count[d];
    for (unsigned d = bits + 1; d <= LONGEST; d++) {
        code <<= 1;
        for (uint32_t i = 0; i < s->count[d]; i++, code++) {
            uint32_t at = turned(code, d), first = at & ((1u << bits) - 1);
            if (first != before) {
                table[first] = LONGER | next << 16;
                next += more;
            }
            before = first;
            for (uint32_t k = at >> bits; k < more; k += 1u << (d - bits))
                table[next - more + k] = entry_of(symbol[*of], d);
            of++;
        }
    }
}

/* Fills the table of a code whose n symbols have codes of these lengths. Returns false if these
 * are too many. Nor may they be too few; only a code may be missing, or alone, with one bit, whose
 * value does not matter then. */
static bool make_table(uint32_t *table, unsigned bits, const uint8_t *length, uint32_t n,
                       const uint32_t *symbol) {
    sorted s;
    sort_symbols(&s, length, n);
    if (s.space < 1u << LONGEST && s.used <= 1 && s.used == s.count[1]) {
        for (size_t i = 0; i < (size_t)1 << bits; i++)
            table[i] = entry_of(symbol[s.used ? s.symbol[0] : 0], 1);
        return true;
    }
    if (s.space != 1u << LONGEST) return false;
    uint32_t code = 0;
    const uint16_t *of = s.symbol;
    for (unsigned d = 1; d <= bits; d++) { /* the table of the first d bits */
        if (d > 1) memcpy(table + (1u << (d - 1)), table, sizeof *table << (d - 1));
        code <<= 1;
        for (uint32_t i = 0; i < s.count[d]; i++)
            table[turned(code++, d)] = entry_of(symbol[*of++], d);
    }
    if (code < 1u << bits) fill_longer(table, bits, &s, code, symbol);
    return true;
}

/* --- codes -------------------------------------------------------------------------------- */

/* These must be inlined, so that places stay in registers. */
#define INLINE static inline __attribute__((always_inline))
#define MODERN __attribute__((target("bmi2,ssse3")))

INLINE uint64_t load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Fills up to 56 bits or more. */
INLINE void refill(place *p) {
    p->bits |= load64(p->in) << (p->count & 63);
    p->in += 7 - (p->count >> 3 & 7);
    p->count |= 56;
}

INLINE void take(place *p, uint32_t entry) {
    p->bits >>= entry & 63;
    p->count -= entry;
}

INLINE uint32_t look_up(const place *p, const uint32_t *table, unsigned bits) {
    return table[p->bits & ((1u << bits) - 1)];
}

INLINE uint32_t look_further(const place *p, const uint32_t *table, unsigned bits, uint32_t entry) {
    return table[(entry >> 16) + (p->bits >> bits & ((1u << (LONGEST - bits)) - 1))];
}

/* Takes an entry and returns its value with the extra bits. */
INLINE size_t take_value(place *p, uint32_t entry) {
    uint64_t bits = p->bits & ~(~0ull << (entry & 63));
    take(p, entry);
    return (entry >> 16) + (bits >> (entry >> 8 & 15));
}

INLINE void take_literal(place *p, uint32_t entry) {
    *p->out++ = (uint8_t)(entry >> 16);
    take(p, entry);
}

/* Copies 16 bytes at a time, and writes up to 32 bytes beyond the end. The processor cannot guess
 * which distances are short, so these go the same way: 16 bytes are filled with the last ones by
 * turns, and after that whole rounds of them are as good as a long distance. */
MODERN INLINE void copy_match(uint8_t *to, size_t distance, size_t length) {
    static const uint8_t ROUNDS[17] = {0, 16, 16, 15, 16, 15, 12, 14, 16,
                                       9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t TURNS[17][16] = {
        {0},
        {0},
        {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
        {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0},
        {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
        {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0},
        {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3},
        {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1},
        {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 1, 2},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    };
    const uint8_t *from = to - distance, *end = to + length;
    size_t k = min_size(distance, 16), round = ROUNDS[k];
    __m128i last = _mm_loadu_si128((const __m128i *)from);
    __m128i turns = _mm_loadu_si128((const __m128i *)TURNS[k]);
    _mm_storeu_si128((__m128i *)to, _mm_shuffle_epi8(last, turns));
    from = distance < 16 ? to : from + 16;
    to += round;
    do {
        memcpy(to, from, 16);
        to += round;
        from += round;
    } while (to < end);
}

/* Takes up to four literals, and then what follows if it is something else. Returns false at the
 * end of the block, or where it is damaged. */
MODERN INLINE bool go_on(place *p, lane *l) {
    uint32_t entry = look_up(p, l->symbol, SYMBOL_BITS);
    refill(p);
    if (entry & LITERAL) {
        for (int i = 0; i < 3; i++) {
            take_literal(p, entry);
            entry = look_up(p, l->symbol, SYMBOL_BITS);
            if (!(entry & LITERAL)) break;
        }
        if (entry & LITERAL) {
            take_literal(p, entry);
            return true;
        }
        refill(p);
    }
    if (entry & LONGER) {
        entry = look_further(p, l->symbol, SYMBOL_BITS, entry);
        if (entry & LITERAL) {
            take_literal(p, entry);
            return true;
        }
    }
    if (entry & END) {
        take(p, entry);
        l->coded = false;
        return false;
    }
    size_t length = take_value(p, entry);
    entry = look_up(p, l->distance, DISTANCE_BITS);
    if (entry & LONGER) entry = look_further(p, l->distance, DISTANCE_BITS, entry);
    size_t distance = take_value(p, entry);
    if (distance > (size_t)(p->out - l->out_start)) {
        l->damaged = true;
        return false;
    }
    copy_match(p->out, distance, length);
    p->out += length;
    return true;
}

/* Returns whether there is room to go on. The place in the stream may be 7 bytes ahead of the next
 * bit, and another byte or two at its end. */
INLINE bool has_room(const place *p, lane *l) {
    bool room = p->out <= l->out_end && p->in <= l->in_end + 8;
    if (!room) l->damaged = true;
    return room;
}

/* Goes on with the blocks of two streams until one of them ends. */
MODERN static void go_on_both(lane *a, lane *b) {
    place pa = a->at, pb = b->at; /* copies that stay in registers */
    while (has_room(&pa, a) && has_room(&pb, b) && go_on(&pa, a) && go_on(&pb, b)) continue;
    a->at = pa;
    b->at = pb;
}

MODERN static void go_on_alone(lane *l) {
    place p = l->at;
    while (has_room(&p, l) && go_on(&p, l)) continue;
    l->at = p;
}

/* --- blocks ------------------------------------------------------------------------------- */

INLINE uint32_t take_bits(place *p, unsigned n) {
    uint32_t v = (uint32_t)(p->bits & ((1u << n) - 1));
    take(p, n);
    return v;
}

static bool stored_block(lane *l) {
    place *p = &l->at;
    const uint8_t *from = p->in - (p->count >> 3 & 7); /* what is left of a byte is skipped */
    if (from > l->in_end || l->in_end - from < 4) return false;
    size_t n = from[0] | (size_t)from[1] << 8, not_n = from[2] | (size_t)from[3] << 8;
    from += 4;
    if ((n ^ not_n) != 0xffff || (size_t)(l->in_end - from) < n ||
        (size_t)(l->out_end - p->out) < n)
        return false;
    memcpy(p->out, from, n);
    *p = (place){from + n, p->out + n, 0, 0};
    return true;
}

static bool make_tables(const lanes *z, lane *l, const uint8_t *length, uint32_t symbols,
                        uint32_t distances) {
    return make_table(l->symbol, SYMBOL_BITS, length, symbols, z->symbol) &&
           make_table(l->distance, DISTANCE_BITS, length + symbols, distances, z->distance);
}

/* Many small streams have nothing but this kind of block, so tables stay. */
static bool fixed_block(const lanes *z, lane *l) {
    if (l->fixed) return true;
    uint8_t length[SYMBOLS + DISTANCES];
    memset(length, 8, 144);
    memset(length + 144, 9, 256 - 144);
    memset(length + 256, 7, 280 - 256);
    memset(length + 280, 8, SYMBOLS - 280);
    memset(length + SYMBOLS, 5, DISTANCES);
    return l->fixed = make_tables(z, l, length, SYMBOLS, DISTANCES);
}

/* Reads the lengths of codes: 16 repeats the last one, 17 and 18 are zeros (RFC 1951, 3.2.7). */
static bool read_lengths(lane *l, const uint32_t *table, uint8_t *length, uint32_t n) {
    place *p = &l->at;
    for (uint32_t i = 0, times; i < n; i += times) {
        if (!has_room(p, l)) return false;
        refill(p);
        uint32_t entry = look_up(p, table, LENGTH_BITS), value = entry >> 16;
        take(p, entry);
        times = 1;
        if (value == 16 && i == 0) return false;
        if (value == 16) times = 3 + take_bits(p, 2);
        if (value == 17) times = 3 + take_bits(p, 3);
        if (value == 18) times = 11 + take_bits(p, 7);
        if (times > n - i) return false;
        memset(length + i, value < 16 ? (int)value : value == 16 ? length[i - 1] : 0, times);
    }
    return true;
}

static bool dynamic_block(const lanes *z, lane *l) {
    static const uint8_t ORDER[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    place *p = &l->at;
    uint8_t of_lengths[LENGTHS] = {0}, length[SYMBOLS + DISTANCES];
    uint32_t table[1 << LENGTH_BITS];
    uint32_t symbols = 257 + take_bits(p, 5), distances = 1 + take_bits(p, 5);
    uint32_t n = 4 + take_bits(p, 4);
    l->fixed = false;
    for (uint32_t i = 0; i < n; i++) {
        refill(p);
        of_lengths[ORDER[i]] = (uint8_t)take_bits(p, 3);
    }
    return make_table(table, LENGTH_BITS, of_lengths, LENGTHS, z->length) &&
           read_lengths(l, table, length, symbols + distances) &&
           make_tables(z, l, length, symbols, distances);
}

/* Returns whether there are codes to go on with, after the heads of further blocks if need be. */
static bool next_codes(const lanes *z, lane *l) {
    while (!l->damaged && !l->coded && !l->final) {
        if (!has_room(&l->at, l)) return false;
        refill(&l->at);
        l->final = take_bits(&l->at, 1);
        uint32_t kind = take_bits(&l->at, 2);
        l->coded = kind != 0;
        l->damaged = !(kind == 0   ? stored_block(l)
                       : kind == 1 ? fixed_block(z, l)
                                   : kind == 2 && dynamic_block(z, l));
    }
    return l->coded && !l->damaged;
}

/* --- streams ------------------------------------------------------------------------------ */

enum { HEAD = 2, SUM = 4 }; /* bytes around deflate in a zlib stream */

static void start(lane *l, const exr_stream *s) {
    const uint8_t *b = s->packed;
    l->damaged = s->bytes < HEAD + SUM || (b[0] << 8 | b[1]) % 31 != 0 || (b[0] & 15) != 8 ||
                 b[0] >> 4 > 7 || b[1] & 32;
    l->at = (place){b + HEAD, s->out, 0, 0};
    l->in_end = b + s->bytes - SUM;
    l->out_start = s->out;
    l->out_end = s->out + s->n;
    l->coded = l->final = false;
}

/* Returns whether the stream ended where it should, with the right sum. */
static bool ended_well(const lane *l, const exr_stream *s) {
    const uint8_t *end = l->at.in - (l->at.count >> 3 & 7);
    if (l->damaged || l->at.out != l->out_end || end > l->in_end) return false;
    uint32_t sum;
    memcpy(&sum, end, sizeof sum);
    return __builtin_bswap32(sum) == libdeflate_adler32(1, s->out, s->n);
}

static void unpack(lanes *z, exr_stream *stream, int streams) {
    lane *a = &z->lane[0], *b = &z->lane[1];
    start(a, &stream[0]);
    start(b, &stream[streams - 1]);
    for (;;) {
        bool more = next_codes(z, a), more_too = streams > 1 && next_codes(z, b);
        if (!more && !more_too) break;
        if (more && more_too)
            go_on_both(a, b);
        else
            go_on_alone(more ? a : b);
    }
    for (int i = 0; i < streams; i++) stream[i].ok = ended_well(&z->lane[i], &stream[i]);
}

#endif

/* --- either way --------------------------------------------------------------------------- */

struct exr_inflater {
    struct libdeflate_decompressor *plain;
    bool modern; /* the processor can do what the lanes need */
#if defined(__x86_64__)
    lanes lanes;
#endif
};

exr_inflater *exr_inflater_new(err *e) {
    exr_inflater *z = mem_raw(1, sizeof *z, "a ZIP decoder", e);
    if (!z) return NULL;
    z->plain = libdeflate_alloc_decompressor();
    z->modern = false;
#if defined(__x86_64__)
    z->modern = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("ssse3");
    make_entries(&z->lanes);
    z->lanes.lane[0].fixed = z->lanes.lane[1].fixed = false;
#endif
    if (z->plain) return z;
    mem_free(z);
    err_set(e, ERR_MEMORY, "out of memory: inflate");
    return NULL;
}

void exr_inflater_free(exr_inflater *z) {
    if (!z) return;
    libdeflate_free_decompressor(z->plain);
    mem_free(z);
}

void exr_inflater_plain(exr_inflater *z) {
    z->modern = false;
}

void exr_inflate(exr_inflater *z, exr_stream *stream, int streams) {
#if defined(__x86_64__)
    if (z->modern) {
        unpack(&z->lanes, stream, streams);
        return;
    }
#endif
    for (exr_stream *s = stream; s < stream + streams; s++)
        s->ok = libdeflate_zlib_decompress(z->plain, s->packed, s->bytes, s->out, s->n, NULL) ==
                LIBDEFLATE_SUCCESS;
}
