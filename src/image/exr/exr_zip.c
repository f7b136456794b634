/* How the encoder works.
 *
 * Each half of a chunk is cut into blocks of at most 64 KiB, and each block has its own Huffman
 * codes: the low bytes of halfs are nearly noise, the high ones nearly constant, and one code for
 * both costs 6 % of the file. They share a block only where both are flat.
 *
 * A repetition is found by looking its first bytes up in a table of the last place where bytes of
 * the same hash stood. A reference to it costs some 12 to 25 bits, so as many bytes are looked up
 * as cost that much when they are literals: 16 bytes where a literal takes up to 2 bits, 4 where it
 * takes 8. What is found is weighed against the literals that it replaces. Where little is gained,
 * places are skipped, the more the longer it lasts: grain costs hardly more than its Huffman codes.
 *
 * Floats. One half of the chunk holds the bytes 0 and 2 of each float in turns, the other half the
 * bytes 1 and 3. Byte 3, with sign and exponent, rarely changes. Then the difference that leads to
 * it and the one that leads away from it are opposite numbers: bytes come in pairs of which the
 * second follows from the first. Deflate has no code for that. But two such pairs are one of 65536
 * possibilities, and the window has 16384 pairs, so that one in four occurs in it already.
 * Therefore noise is searched for 4 bytes, at even places.
 *
 * docs/performance.md has speed and size beside OpenEXR's library, and docs/notebook.md has what
 * else was tried. */
#include "image/exr/exr_zip.h"

#include "base/mem.h"
#include "base/number.h"

#include <libdeflate.h>
#include <string.h>

/* --- the shuffle -------------------------------------------------------------------------- */

/* These loops see every byte of every ZIP file twice, so they use the 16-byte registers that every
 * x86-64 has, with the same results as the plain loops below. */
#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128i v16;

static v16 load(const uint8_t *p) {
    return _mm_loadu_si128((const v16 *)p);
}
static void store(uint8_t *p, v16 v) {
    _mm_storeu_si128((v16 *)p, v);
}
#endif

void exr_split(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n) {
    size_t i = 0;
#if defined(__SSE2__)
    const v16 low = _mm_set1_epi16(0xff);
    for (; i + 16 <= n; i += 16) {
        v16 a = load(from + 2 * i), b = load(from + 2 * i + 16);
        store(even + i, _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
        store(odd + i, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
    }
#endif
    for (; i < n; i++) {
        even[i] = from[2 * i];
        odd[i] = from[2 * i + 1];
    }
}

void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n) {
    size_t i = 0;
#if defined(__SSE2__)
    for (; i + 16 <= n; i += 16) {
        v16 a = load(even + i), b = load(odd + i);
        store(to + 2 * i, _mm_unpacklo_epi8(a, b));
        store(to + 2 * i + 16, _mm_unpackhi_epi8(a, b));
    }
#endif
    for (; i < n; i++) {
        to[2 * i] = even[i];
        to[2 * i + 1] = odd[i];
    }
}

/* Goes from the end to the start, so that what is subtracted is still there. */
void exr_delta(uint8_t *b, size_t n) {
#if defined(__SSE2__)
    const v16 offset = _mm_set1_epi8((char)128);
    for (; n >= 17; n -= 16) {
        v16 here = load(b + n - 16), before = load(b + n - 17);
        store(b + n - 16, _mm_add_epi8(_mm_sub_epi8(here, before), offset));
    }
#endif
    for (; n > 1; n--) b[n - 1] = (uint8_t)(b[n - 1] - b[n - 2] + 128);
}

/* Makes running sums within a register by doubling the reach, then adds the sum of all before. */
void exr_undelta(uint8_t *b, size_t n) {
    size_t i = 0;
#if defined(__SSE2__)
    const v16 offset = _mm_set1_epi8((char)128);
    /* The first byte has no offset: it is added here to be taken away again. */
    v16 carry = offset;
    for (; i + 16 <= n; i += 16) {
        v16 v = _mm_add_epi8(load(b + i), offset);
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        store(b + i, _mm_add_epi8(v, carry));
        /* The last byte in every place; off the chain from carry to carry, which is one add. */
        v16 last = _mm_unpackhi_epi8(v, v);
        last = _mm_shufflehi_epi16(last, 0xff);
        carry = _mm_add_epi8(carry, _mm_unpackhi_epi64(last, last));
    }
#endif
    for (i = i ? i : 1; i < n; i++) b[i] = (uint8_t)(b[i - 1] + b[i] - 128);
}

/* --- state -------------------------------------------------------------------------------- */

enum {
    BLOCK = 65535, /* bytes; the most that a stored block may hold */
    WINDOW = 32768,
    LONGEST_MATCH = 258,
    FARTHEST_BACK = LONGEST_MATCH - 8, /* from the place that was looked up to a match's start */
    LOOKUP_BITS = 14,
    SLACK = 64, /* before the end of a block no match starts here, so that loads stay inside */
    END_OF_BLOCK = 256,
    LENGTH_CODES = 286, /* literals, end of block, lengths */
    DISTANCE_CODES = 30,
    CODE_LENGTH_CODES = 19,
    LONGEST_CODE = 14, /* four literals, and 7 bits that wait, fit 64 */
};

/* Literals, and then a match; the last of a block has none (length 0). */
typedef struct {
    uint32_t literals;
    uint16_t length, distance; /* the distance less 1 */
} step;

typedef struct {
    uint16_t code[LENGTH_CODES]; /* the first bit lowest */
    uint8_t length[LENGTH_CODES];
} huffman;

struct exr_zip {
    const uint8_t *bytes; /* of the chunk; the block is [from, to) */
    size_t from, to;
    uint16_t last[1 << LOOKUP_BITS]; /* place of the last bytes of a hash, modulo 65536 */
    uint8_t cost[256];               /* of literals, estimated, in 1/16 bit */
    step step[BLOCK / 4 + 2];
    size_t steps;
    uint8_t literal[BLOCK + SLACK]; /* those of all steps, to be counted */
    uint32_t symbols[LENGTH_CODES], distances[DISTANCE_CODES]; /* how often each occurs */
};

exr_zip *exr_zip_new(err *e) {
    return mem_raw(1, sizeof(exr_zip), "a ZIP encoder", e);
}

static inline uint64_t load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline unsigned log2_floor(uint32_t v) {
    return 31 - (unsigned)__builtin_clz(v);
}

/* --- symbols of lengths and distances (RFC 1951, 3.2.5) ----------------------------------- */

typedef struct {
    unsigned symbol, extra; /* the low `extra` bits of the value follow */
} value_code;

static inline value_code length_code(unsigned length) {
    unsigned v = length - 3;
    if (v < 8) return (value_code){257 + v, 0};
    if (length == LONGEST_MATCH) return (value_code){285, 0};
    unsigned k = log2_floor(v);
    return (value_code){257 + 4 * (k - 1) + (v >> (k - 2) & 3), k - 2};
}

static inline value_code distance_code(unsigned less_1) {
    if (less_1 < 4) return (value_code){less_1, 0};
    unsigned k = log2_floor(less_1);
    return (value_code){2 * k + (less_1 >> (k - 1) & 1), k - 1};
}

/* --- matches ------------------------------------------------------------------------------ */

/* Counts bytes in four tables in turns, since equal bytes would wait for each other's count. */
static void count_bytes(uint32_t to[256], const uint8_t *b, size_t n, size_t stride) {
    uint32_t part[4][256] = {{0}};
    size_t i = 0;
    for (; i + 3 * stride < n; i += 4 * stride)
        for (size_t k = 0; k < 4; k++) part[k][b[i + k * stride]]++;
    for (; i < n; i += stride) part[0][b[i]]++;
    for (int c = 0; c < 256; c++) to[c] = part[0][c] + part[1][c] + part[2][c] + part[3][c];
}

/* Returns 16 log2(v) for v > 0, rounded; in integers, so that it is the same everywhere. */
static unsigned log2_16(uint32_t v) {
    static const uint8_t FRACTION[16] = {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 14, 15};
    unsigned k = log2_floor(v);
    return 16 * k + FRACTION[((uint64_t)v << 4 >> k) & 15];
}

/* Fills the costs of literals from a sample of the block and returns their mean. */
static unsigned estimate_costs(exr_zip *z) {
    enum { STRIDE = 13, LEAST = 16, MOST = 200 };
    uint32_t count[256];
    size_t n = z->to - z->from, samples = (n - 1) / STRIDE + 1;
    uint64_t sum = 0;
    count_bytes(count, z->bytes + z->from, n, STRIDE);
    for (int c = 0; c < 256; c++) {
        unsigned bits = count[c] ? log2_16((uint32_t)samples) - log2_16(count[c]) : MOST;
        z->cost[c] = (uint8_t)(bits < LEAST ? LEAST : bits > MOST ? MOST : bits);
        sum += (uint64_t)count[c] * z->cost[c];
    }
    return (unsigned)(sum / samples);
}

/* Returns the entry of the lookup table for the `gram` bytes at p. */
static inline uint16_t *look_up(exr_zip *z, const uint8_t *p, unsigned gram) {
    uint64_t v = load64(p);
    if (gram < 8) v <<= 64 - 8 * gram;
    if (gram > 8) {
        uint64_t more = load64(p + gram - 8);
        v += more << 29 | more >> 35;
    }
    return &z->last[v * 0x9fb21c651e98df25u >> (64 - LOOKUP_BITS)];
}

/* Returns where the match of the bytes at `at` with those `distance` before ends; the first 8
 * bytes are known to be equal. */
static inline size_t match_end(const exr_zip *z, size_t at, size_t distance) {
    const uint8_t *b = z->bytes;
    size_t m = at + 8;
    while (m + 8 <= z->to && m < at + LONGEST_MATCH) {
        uint64_t differ = load64(b + m) ^ load64(b + m - distance);
        if (differ) return m + ((unsigned)__builtin_ctzll(differ) >> 3);
        m += 8;
    }
    return m;
}

/* Returns the bits that a reference saves, 0 for none, judging by the match's first 8 literals. */
static inline unsigned bits_saved(const exr_zip *z, size_t start, unsigned length,
                                  size_t distance) {
    enum { REFERENCE = 8 /* bits of a length and a distance, without the extra bits */ };
    unsigned eight = 0, price = REFERENCE + log2_floor((uint32_t)distance);
    for (size_t i = 0; i < 8; i++) eight += z->cost[z->bytes[start + i]];
    unsigned literals = eight * length / (8 * 16);
    return literals > price ? literals - price : 0;
}

/* Adds the literals from `anchor` to `start` and a match there. */
static inline void add_step(exr_zip *z, uint8_t **literal, size_t anchor, step s) {
    for (size_t i = 0; i < s.literals; i += 32) memcpy(*literal + i, z->bytes + anchor + i, 32);
    *literal += s.literals;
    z->symbols[length_code(s.length).symbol]++;
    z->distances[distance_code(s.distance).symbol]++;
    z->step[z->steps++] = s;
}

/* Finds the steps of a block, looking up `gram` bytes at each place; of noise at even places; of
 * 16 bytes at every other place, from where a match is found as well. After 2^patience misses one
 * more place is skipped each time; each bit saved takes 8 misses back. All but z are constants
 * where this is inlined. */
static inline __attribute__((always_inline)) void find_steps(exr_zip *z, const unsigned gram,
                                                             const bool noise,
                                                             const unsigned patience) {
    const uint8_t *b = z->bytes;
    const size_t pace = noise || gram == 16 ? 2 : 1, end = z->to > SLACK ? z->to - SLACK : 0;
    size_t anchor = z->from, p = noise ? (anchor + 1) & ~(size_t)1 : anchor;
    uint8_t *literal = z->literal;
    unsigned misses = 0;
    z->steps = 0;
    while (p < end) {
        uint16_t *last = look_up(z, b + p, gram);
        size_t distance = (uint16_t)(p - *last);
        *last = (uint16_t)p;
        uint64_t differ = load64(b + p) ^ load64(b + p - distance);
        if (((gram < 8 ? differ << (64 - 8 * gram) : differ) != 0) | (distance - 1 >= WINDOW - 1)) {
            p += pace * (1 + (misses++ >> patience));
            continue;
        }
        size_t start = p, m = p + 8;
        if (differ) {
            m = p + ((unsigned)__builtin_ctzll(differ) >> 3);
        } else {
            m = match_end(z, p, distance);
            /* Not so far back that the longest match would end before p: all that the table has
             * lies before the place that is looked up next. */
            size_t least = max_size(max_size(anchor, distance), p - min_size(p, FARTHEST_BACK));
            while (start > least && b[start - 1] == b[start - 1 - distance]) start--;
            if (m > start + LONGEST_MATCH) m = start + LONGEST_MATCH;
        }
        unsigned length = (unsigned)(m - start);
        unsigned saved = noise ? UINT32_MAX / 8 : bits_saved(z, start, length, distance);
        if (!saved) {
            p += pace * (1 + (misses++ >> patience));
            continue;
        }
        misses -= min_u32(8 * saved, misses);
        add_step(z, &literal, anchor,
                 (step){(uint32_t)(start - anchor), (uint16_t)length, (uint16_t)(distance - 1)});
        /* The places within are remembered, too: of noise the next pair, else one in 5, so that
         * any column comes up in some line, and all of the last 16. */
        size_t i = noise ? p + 2 : p + 1, stop = min_size(noise ? p + 3 : m, end);
        for (; !noise && i + 16 < stop; i += 5) *look_up(z, b + i, gram) = (uint16_t)i;
        for (; i < stop; i++) *look_up(z, b + i, gram) = (uint16_t)i;
        anchor = m;
        p = noise ? (m + 1) & ~(size_t)1 : m;
    }
    memcpy(literal, b + anchor, z->to - anchor);
    literal += z->to - anchor;
    z->step[z->steps++] = (step){(uint32_t)(z->to - anchor), 0, 0};
    count_bytes(z->symbols, z->literal, (size_t)(literal - z->literal), 1);
}

static void find_matches(exr_zip *z) {
    memset(z->symbols, 0, sizeof z->symbols);
    memset(z->distances, 0, sizeof z->distances);
    z->symbols[END_OF_BLOCK] = 1;
    unsigned mean = estimate_costs(z); /* of a literal, in 1/16 bit */
    if (mean >= 116)
        find_steps(z, 4, true, 6);
    else if (mean >= 69 && z->to - z->from < 16384) /* references are short, and so cheap */
        find_steps(z, 4, false, 7);
    else if (mean >= 69)
        find_steps(z, 5, false, 7);
    else if (mean >= 35)
        find_steps(z, 8, false, 7);
    else
        find_steps(z, 16, false, 7);
}

/* --- Huffman codes ------------------------------------------------------------------------ */

/* Sorts keys of 9 bits of symbol below 16 bits of count by the count, 8 bits at a time. */
static void sort_keys(uint32_t *key, int n, uint32_t largest) {
    uint32_t other[LENGTH_CODES];
    for (unsigned shift = 9; largest >> (shift - 9); shift += 8) {
        uint32_t place[256] = {0}, at = 0;
        for (int i = 0; i < n; i++) place[key[i] >> shift & 255]++;
        for (int d = 0; d < 256; d++) {
            uint32_t count = place[d];
            place[d] = at;
            at += count;
        }
        for (int i = 0; i < n; i++) other[place[key[i] >> shift & 255]++] = key[i];
        memcpy(key, other, (size_t)n * sizeof *key);
    }
}

/* Counts the leaves at each depth of the Huffman tree of n >= 2 sorted weights. The nodes of the
 * tree are made in order of weight, so that two queues replace a heap. */
static void count_depths(const uint32_t *key, int n, uint32_t at_depth[], unsigned deepest) {
    uint32_t weight[LENGTH_CODES], parent[2 * LENGTH_CODES], depth[2 * LENGTH_CODES];
    int leaf = 0, node = 0;
    for (int made = 0; made < n - 1; made++) {
        weight[made] = 0;
        for (int k = 0; k < 2; k++) {
            bool take_leaf = leaf < n && (node >= made || key[leaf] >> 9 <= weight[node]);
            weight[made] += take_leaf ? key[leaf] >> 9 : weight[node];
            parent[take_leaf ? leaf++ : n + node++] = (uint32_t)(n + made);
        }
    }
    depth[2 * n - 2] = 0;
    for (int i = 2 * n - 3; i >= 0; i--) {
        depth[i] = depth[parent[i]] + 1;
        if (i < n) at_depth[min_u32(depth[i], deepest)]++;
    }
}

/* Makes the best code of at most `deepest` bits (nearly: depths that are cut off push others
 * down) for n symbols that occur count[] times. */
static void make_code(huffman *h, const uint32_t *count, int n, unsigned deepest) {
    static const uint32_t SWAP[] = {[1] = 0x5555, [2] = 0x3333, [4] = 0x0f0f, [8] = 0x00ff};
    uint32_t key[LENGTH_CODES], at_depth[LONGEST_CODE + 1] = {0}, next[LONGEST_CODE + 1];
    uint32_t largest = 0;
    int used = 0;
    memset(h->length, 0, sizeof h->length);
    for (int i = 0; i < n; i++) {
        if (count[i]) key[used++] = count[i] << 9 | (uint32_t)i;
        largest = max_u32(largest, count[i]);
    }
    if (used == 0) return;
    sort_keys(key, used, largest);
    if (used == 1)
        at_depth[1] = 1;
    else
        count_depths(key, used, at_depth, deepest);
    uint32_t room = 0;
    for (unsigned d = 1; d <= deepest; d++) room += at_depth[d] << (deepest - d);
    for (; room > 1u << deepest; room--) {
        unsigned d = deepest - 1;
        while (!at_depth[d]) d--;
        at_depth[d]--;
        at_depth[d + 1] += 2;
        at_depth[deepest]--;
    }
    uint32_t code = 0;
    for (unsigned d = deepest, i = 0; d > 0; d--)
        for (uint32_t k = 0; k < at_depth[d]; k++) h->length[key[i++] & 511] = (uint8_t)d;
    for (unsigned d = 1; d <= deepest; d++) {
        next[d] = code;
        code = (code + at_depth[d]) << 1;
    }
    for (int i = 0; i < n; i++) {
        if (!h->length[i]) continue;
        uint32_t c = next[h->length[i]]++ << (16 - h->length[i]);
        for (unsigned k = 1; k < 16; k *= 2) /* turns the 16 bits round */
            c = (c >> k & SWAP[k]) | (c & SWAP[k]) << k;
        h->code[i] = (uint16_t)c;
    }
}

/* --- bits --------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *at;
    uint64_t bits; /* the lowest `count` are not written yet */
    unsigned count;
} bit_writer;

static inline void put(bit_writer *w, uint64_t v, unsigned bits) {
    w->bits |= v << w->count;
    w->count += bits;
}

/* Writes the whole bytes; up to 7 bits stay, so that 57 more fit. */
static inline void flush(bit_writer *w) {
    memcpy(w->at, &w->bits, 8);
    w->at += w->count >> 3;
    w->bits >>= w->count & ~7u;
    w->count &= 7;
}

static void to_byte(bit_writer *w) {
    w->count = (w->count + 7) & ~7u;
    flush(w);
}

/* --- blocks ------------------------------------------------------------------------------- */

/* The lengths of both codes as a list of lengths and repetitions, which has a code of its own. */
typedef struct {
    int symbols, distances, items;
    uint8_t item[LENGTH_CODES + DISTANCE_CODES], extra[LENGTH_CODES + DISTANCE_CODES];
    huffman code;
} code_list;

static const uint8_t ITEM_EXTRA[CODE_LENGTH_CODES] = {[16] = 2, [17] = 3, [18] = 7};

static void list_codes(code_list *l, const huffman *symbols, const huffman *distances) {
    uint8_t all[LENGTH_CODES + DISTANCE_CODES];
    uint32_t count[CODE_LENGTH_CODES] = {0};
    *l = (code_list){.symbols = LENGTH_CODES, .distances = DISTANCE_CODES};
    while (!symbols->length[l->symbols - 1]) l->symbols--; /* the end of the block is there */
    while (l->distances > 1 && !distances->length[l->distances - 1]) l->distances--;
    memcpy(all, symbols->length, (size_t)l->symbols);
    memcpy(all + l->symbols, distances->length, (size_t)l->distances);
    for (int i = 0, n = l->symbols + l->distances, run; i < n; i += run) {
        for (run = 1; i + run < n && all[i + run] == all[i] && run < 138;) run++;
        int item = all[i], base = 0;
        if (item == 0 && run >= 3) {
            item = run < 11 ? 17 : 18;
            base = run < 11 ? 3 : 11;
        } else if (item && i && all[i - 1] == item && run >= 3) {
            item = 16;
            base = 3;
            if (run > 6) run = 6;
        } else {
            run = 1;
        }
        l->item[l->items] = (uint8_t)item;
        l->extra[l->items++] = (uint8_t)(base ? run - base : 0);
        count[item]++;
    }
    make_code(&l->code, count, CODE_LENGTH_CODES, 7);
}

static const uint8_t LIST_ORDER[CODE_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                      11, 4,  12, 3, 13, 2, 14, 1, 15};

static void put_list(bit_writer *w, const code_list *l) {
    int n = CODE_LENGTH_CODES;
    while (!l->code.length[LIST_ORDER[n - 1]]) n--;
    if (n < 4) n = 4;
    put(w, (uint64_t)(l->symbols - 257), 5);
    put(w, (uint64_t)(l->distances - 1), 5);
    put(w, (uint64_t)(n - 4), 4);
    for (int i = 0; i < n; i++) {
        flush(w);
        put(w, l->code.length[LIST_ORDER[i]], 3);
    }
    for (int i = 0; i < l->items; i++) {
        flush(w);
        put(w, l->code.code[l->item[i]], l->code.length[l->item[i]]);
        put(w, l->extra[i], ITEM_EXTRA[l->item[i]]);
    }
    flush(w);
}

static void put_steps(const exr_zip *z, bit_writer *to, const huffman *symbols,
                      const huffman *distances) {
    uint32_t code[LENGTH_CODES]; /* with the length in the low 4 bits */
    for (int i = 0; i < LENGTH_CODES; i++)
        code[i] = (uint32_t)symbols->code[i] << 4 | symbols->length[i];
    bit_writer w = *to; /* a copy that stays in registers */
    const uint8_t *b = z->bytes + z->from;
    for (const step *s = z->step; s < z->step + z->steps; s++) {
        uint32_t n = s->literals;
        for (; n >= 4; n -= 4, b += 4) {
            for (int i = 0; i < 4; i++) put(&w, code[b[i]] >> 4, code[b[i]] & 15);
            flush(&w);
        }
        for (; n > 0; n--, b++) put(&w, code[*b] >> 4, code[*b] & 15);
        flush(&w);
        if (!s->length) break;
        value_code l = length_code(s->length), d = distance_code(s->distance);
        put(&w, code[l.symbol] >> 4, code[l.symbol] & 15);
        put(&w, (s->length - 3u) & ((1u << l.extra) - 1), l.extra);
        put(&w, distances->code[d.symbol], distances->length[d.symbol]);
        put(&w, s->distance & ((1u << d.extra) - 1), d.extra);
        flush(&w);
        b += s->length;
    }
    put(&w, code[END_OF_BLOCK] >> 4, code[END_OF_BLOCK] & 15);
    flush(&w);
    *to = w;
}

static size_t packed_bits(const exr_zip *z, const huffman *symbols, const huffman *distances) {
    size_t bits = 0;
    for (unsigned i = 0; i < LENGTH_CODES; i++) {
        unsigned extra = i >= 265 && i < 285 ? (i - 261) / 4 : 0;
        bits += (size_t)z->symbols[i] * (symbols->length[i] + extra);
    }
    for (unsigned i = 0; i < DISTANCE_CODES; i++) {
        unsigned extra = i >= 4 ? (i - 2) / 2 : 0;
        bits += (size_t)z->distances[i] * (distances->length[i] + extra);
    }
    return bits;
}

/* Adds the block, packed or stored: a stored one has 5 bytes more, and the list of codes some 64.
 */
static void put_block(const exr_zip *z, bit_writer *w, bool final) {
    size_t n = z->to - z->from;
    huffman symbols, distances;
    make_code(&symbols, z->symbols, LENGTH_CODES, LONGEST_CODE);
    make_code(&distances, z->distances, DISTANCE_CODES, LONGEST_CODE);
    if (packed_bits(z, &symbols, &distances) + 8 * 64 < 8 * (n + 5)) {
        code_list list;
        list_codes(&list, &symbols, &distances);
        put(w, (final ? 1 : 0) | 2 << 1, 3);
        put_list(w, &list);
        put_steps(z, w, &symbols, &distances);
        return;
    }
    put(w, final ? 1 : 0, 3);
    to_byte(w);
    put(w, n | (~n & 0xffff) << 16, 32);
    flush(w);
    memcpy(w->at, z->bytes + z->from, n);
    w->at += n;
}

/* Returns whether bytes are so much alike that codes of their own are not worth their list. */
static bool is_flat(exr_zip *z, size_t from, size_t to) {
    z->from = from;
    z->to = to;
    return from < to && estimate_costs(z) < 24;
}

/* Allows 400 bytes for each block: lists of codes have some 350; flush writes 8 bytes at once. */
size_t exr_zip_bound(size_t n) {
    return n + (n / BLOCK + 2) * 400 + 64;
}

size_t exr_zip_pack(exr_zip *z, const uint8_t *bytes, size_t n, uint8_t *out) {
    bit_writer w = {.at = out};
    put(&w, 0x0178, 16); /* deflate, a window of 32 KiB, the fastest of four levels */
    flush(&w);
    memset(z->last, 0, sizeof z->last);
    z->bytes = bytes;
    size_t half = is_flat(z, 0, n / 2) && is_flat(z, n / 2, n) ? n : n / 2;
    for (z->from = 0; z->from < n; z->from = z->to) {
        size_t left = (z->from < half ? half : n) - z->from, blocks = (left - 1) / BLOCK + 1;
        z->to = z->from + (left - 1) / blocks + 1;
        find_matches(z);
        put_block(z, &w, z->to == n);
    }
    to_byte(&w);
    uint32_t sum = __builtin_bswap32(libdeflate_adler32(1, bytes, n));
    memcpy(w.at, &sum, sizeof sum);
    return (size_t)(w.at - out) + sizeof sum;
}
