/* How the encoder works.
 *
 * Each half of a chunk has its own codes (exr_code.h): the low bytes of halfs are nearly noise, the
 * high ones nearly constant, and one code for both costs 6 % of the file. They share codes only
 * where both are flat. Large halves are cut into blocks, each with codes of its own.
 *
 * A repetition is found by looking its first bytes up in a table of the last place where bytes of
 * the same hash stood. A reference to it costs some 12 to 25 bits, so as many bytes are looked up
 * as cost that much when they are literals, by a sample of the half: 16 bytes where a literal takes
 * up to 2 bits, 4 or 5 where it takes more than 4; one or two fewer in small blocks, where
 * distances are short. Where little is found, places are skipped, the more the longer it lasts:
 * grain costs hardly more than its codes. The first byte of a run goes as a literal and the rest as
 * a reference to it, unless a longer repetition begins there.
 *
 * Time goes where the processor guesses wrong which way a branch goes, some 20 cycles each time,
 * and lengths of matches cannot be guessed. Therefore a match is compared, remembered and written
 * with as few branches that depend on its length as possible.
 *
 * Floats. One half of the chunk holds the bytes 0 and 2 of each float in turns, the other half the
 * bytes 1 and 3. Byte 3, with sign and exponent, rarely changes. Then the difference that leads to
 * it and the one that leads away from it are opposite numbers: bytes come in pairs of which the
 * second follows from the first. Deflate has no code for that. But two such pairs are one of 65536
 * possibilities, and the window has 16384 pairs, so that one in four occurs in it already.
 * Therefore pairs, and noise, are searched for 4 bytes, at even places.
 *
 * Often repeated. Other pairs repeat more: those of depth in floats, whose lines are found beside
 * colours in halfs, and those of floats that hold halfs. In these byte 0 is always zero, so that
 * pairs of the first half begin at odd places. A match of four bytes that begins at an even place
 * would hold three values instead of two, which makes a file nearly a fifth larger. Byte 1
 * has eight values, so that four pairs in a row occur again sooner than in the window, and the
 * longest repetition that can be found is worth much more than any. So here repetitions are looked
 * up by 12, 6 and 4 bytes, in tables of their own, and all their places are remembered. The same
 * serves low bytes of rendered halfs, without noise, of which more than half repeats.
 *
 * docs/performance.md has speed and size beside OpenEXR's library, and docs/inside/notebook.md has
 * what else was tried. */
#include "image/exr/exr_chunk.h"

#include "base/mem.h"
#include "image/exr/exr_code.h"

#include <libdeflate.h>

/* --- state -------------------------------------------------------------------------------- */

static const unsigned GRAM[] = {12, 6, 4}; /* bytes that are looked up where much repeats */
enum {
    GRAMS = COUNT(GRAM),
    BLOCK = 3 << 16, /* bytes, at most: some lines of a chunk, which are alike */
    STORED = 65535,  /* the most that a stored block may hold */
    WINDOW = 32768,
    LONGEST_MATCH = 258,
    RUN = 8, /* matches with a shorter distance repeat a byte or a few */
    LOOKUP_BITS = 14,
    OFTEN_BITS = 15,
    SLACK = 64, /* before the end of a block no match starts here, so that loads stay inside */
};

/* Literals, and then a match; the last of a block has none (length 0). */
typedef struct {
    uint32_t literals;
    uint16_t length, distance; /* the distance less 1 */
} step;

/* The bytes [from, to) of a chunk as steps, which have codes in common. */
typedef struct {
    size_t from, to;
    uint32_t symbols[LENGTH_CODES], distances[DISTANCE_CODES]; /* how often each occurs */
} block;

struct exr_zip {
    bool bmi2;                              /* the processor has these instructions */
    const uint8_t *bytes;                   /* of the chunk */
    uint16_t last[1 << LOOKUP_BITS];        /* place of the last bytes of a hash, modulo 65536 */
    uint16_t often[GRAMS][1 << OFTEN_BITS]; /* the same of each length of find_often */
    unsigned often_shift; /* from a hash to a place in these; 0: not begun in this chunk */
    size_t most;          /* bytes of a block, for which there is room */
    uint8_t *literal;     /* those of a block, to be counted; behind its steps */
    step step[];
};

exr_zip *exr_zip_new(size_t most, err *e) {
    most = min_size(most, BLOCK);
    size_t steps = (most / 4 + 2) * sizeof(step);
    exr_zip *z = mem_raw(1, sizeof *z + steps + most + SLACK, "a ZIP encoder", e);
    if (!z) return NULL;
    z->most = most;
    z->literal = (uint8_t *)z->step + steps;
#if defined(__x86_64__)
    z->bmi2 = __builtin_cpu_supports("bmi2");
#else
    z->bmi2 = false;
#endif
    return z;
}

bool exr_zip_holds(const exr_zip *z, size_t n) {
    return z && min_size(n, BLOCK) <= z->most;
}

void exr_zip_plain(exr_zip *z) {
    z->bmi2 = false;
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

/* Without a branch: lengths come in no order that a processor could foresee. */
static inline value_code length_code(unsigned length) {
#define X4(s)  s, s, s, s
#define X8(s)  X4(s), X4(s)
#define X16(s) X8(s), X8(s)
#define X32(s) X16(s), X16(s)
    static const uint8_t SYMBOL[LONGEST_MATCH - 2] = {
        0,       1,       2,      3,      4,       5,       6,       7,       8,       8,
        9,       9,       10,     10,     11,      11,      X4(12),  X4(13),  X4(14),  X4(15),
        X8(16),  X8(17),  X8(18), X8(19), X16(20), X16(21), X16(22), X16(23), X32(24), X32(25),
        X32(26), X16(27), X8(27), X4(27), 27,      27,      27,      28};
    static const uint8_t EXTRA[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    unsigned s = SYMBOL[length - 3];
    return (value_code){257 + s, EXTRA[s]};
}

static inline value_code distance_code(unsigned less_1) {
    if (less_1 < 2) return (value_code){less_1, 0};
    unsigned k = log2_floor(less_1);
    return (value_code){2 * k + (less_1 >> (k - 1) & 1), k - 1};
}

/* Counts bytes in four tables in turns, since equal bytes would wait for each other's count. */
static void count_bytes(uint32_t to[256], const uint8_t *b, size_t n) {
    uint16_t part[4][256] = {{0}};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v = load64(b + i);
        for (int k = 0; k < 8; k++) part[k & 3][v >> 8 * k & 255]++;
    }
    for (; i < n; i++) part[0][b[i]]++;
    for (int c = 0; c < 256; c++)
        to[c] = (uint32_t)part[0][c] + part[1][c] + part[2][c] + part[3][c];
}

static inline uint64_t hash_of(const uint8_t *p, unsigned gram) {
    uint64_t v = load64(p);
    if (gram < 8) v <<= 64 - 8 * gram;
    if (gram > 8) {
        uint64_t more = load64(p + gram - 8);
        v += more << 29 | more >> 35;
    }
    return v * 0x9fb21c651e98df25u;
}

/* Returns the entry of the lookup table for the `gram` bytes at p. */
static inline uint16_t *look_up(exr_zip *z, const uint8_t *p, unsigned gram) {
    return &z->last[hash_of(p, gram) >> (64 - LOOKUP_BITS)];
}

static inline void remember(exr_zip *z, size_t at, unsigned gram) {
    *look_up(z, z->bytes + at, gram) = (uint16_t)at;
}

/* Returns where the match of the bytes at `at` with those `distance` before ends; the first 8
 * bytes are known to be equal, and SLACK bytes follow. Most end within the first 40. */
static inline size_t match_end(const uint8_t *b, size_t at, size_t distance, size_t to) {
    size_t m = at + 8;
    uint32_t equal = equal16(b + m, b + m - distance) | equal16(b + m + 16, b + m + 16 - distance)
                                                            << 16;
    if (~equal) return m + (unsigned)__builtin_ctz(~equal);
    for (m += 32; m + 16 <= to && m < at + LONGEST_MATCH; m += 16) {
        equal = equal16(b + m, b + m - distance);
        if (equal != 0xffff) return m + (unsigned)__builtin_ctz(~equal);
    }
    return m;
}

/* Returns where the match starts: not before `anchor`, and not so far back that the longest match
 * would end before `at`. */
static inline size_t match_start(const uint8_t *b, size_t at, size_t distance, size_t anchor) {
    size_t least = max_size(anchor, at - min_size(at, LONGEST_MATCH - 8)), start = at;
    while (start >= distance + 8 && start > least) {
        uint64_t differ = load64(b + start - 8) ^ load64(b + start - 8 - distance);
        size_t equal = differ ? (unsigned)__builtin_clzll(differ) >> 3 : 8;
        start -= min_size(equal, start - least);
        if (equal < 8) break;
    }
    return start;
}

/* A repetition: bytes [start, end) are those `distance` before. */
typedef struct {
    size_t start, end, distance;
} match;

static inline match extend(const uint8_t *b, size_t at, size_t distance, size_t anchor, size_t to) {
    size_t end = match_end(b, at, distance, to), start = match_start(b, at, distance, anchor);
    return (match){start, min_size(end, start + LONGEST_MATCH), distance};
}

/* Remembers places of the match [p, m): the first ones and the last ones without a branch for their
 * number, one in 5 between, so that any column comes up in some line. Places within a run are all
 * alike; only the last ones are remembered. */
static inline void remember_match(exr_zip *z, size_t p, size_t m, size_t distance, unsigned gram) {
    enum { EVERY = 5, TAIL = 8, LAST = 24 };
    remember(z, min_size(p + EVERY, m - 1), gram);
    remember(z, min_size(p + 2 * EVERY, m - 1), gram);
    size_t i = p + 3 * EVERY;
    if (distance < RUN && i + LAST < m) i = m - LAST;
    for (; i + TAIL < m; i += EVERY) remember(z, i, gram);
    for (i = m < TAIL ? m : TAIL; i > 0; i--) remember(z, m - i, gram);
}

/* Where a search is: the bytes before `anchor` are in steps already. */
typedef struct {
    step *step;
    uint8_t *literal;
    size_t anchor;
    size_t at, stop; /* places that are looked up next; a match may go beyond `stop` */
} finding;

static inline void add_step(finding *f, block *k, const uint8_t *bytes, match m) {
    const uint8_t *from = bytes + f->anchor;
    step s = {(uint32_t)(m.start - f->anchor), (uint16_t)(m.end - m.start),
              (uint16_t)(m.distance - 1)};
    memcpy(f->literal, from, 32);
    for (size_t i = 32; i < s.literals; i += 32) memcpy(f->literal + i, from + i, 32);
    f->literal += s.literals;
    f->anchor += s.literals + s.length;
    k->symbols[length_code(s.length).symbol]++;
    k->distances[distance_code(s.distance).symbol]++;
    *f->step++ = s;
}

static size_t search_end(const block *k, const finding *f) {
    return min_size(f->stop, k->to > SLACK ? k->to - SLACK : 0);
}

/* Finds steps up to f->stop, looking up `gram` bytes at each place; of pairs at even places; of
 * 16 bytes at every other place, from where a match is found as well. After 2^patience misses one
 * more place is skipped each time; each byte of a match takes 16 misses back. The last three are
 * constants where this is inlined. */
static inline __attribute__((always_inline)) void find_steps(exr_zip *z, block *k, finding *out,
                                                             const unsigned gram, const bool pairs,
                                                             const unsigned patience) {
    const uint8_t *b = z->bytes;
    const size_t pace = pairs || gram == 16 ? 2 : 1, end = search_end(k, out);
    finding f = *out; /* a copy that stays in registers */
    size_t p = pairs ? (f.at + 1) & ~(size_t)1 : f.at;
    unsigned misses = 0;
    while (p < end) {
        uint16_t *last = look_up(z, b + p, gram);
        size_t distance = (uint16_t)(p - *last);
        *last = (uint16_t)p;
        uint64_t differ = load64(b + p) ^ load64(b + p - distance);
        if (((gram < 8 ? differ << (64 - 8 * gram) : differ) != 0) | (distance - 1 >= WINDOW - 1)) {
            p += pace * (1 + (misses++ >> patience));
            continue;
        }
        match m = {p, p + ((unsigned)__builtin_ctzll(differ | 1ull << 63) >> 3), distance};
        if (gram >= 8 || !differ) m = extend(b, p, distance, f.anchor, k->to);
        if (gram >= 8 && distance > 1 && load64(b + p) == load64(b + p + 1)) {
            match run = extend(b, p + 1, 1, f.anchor, k->to);
            if (run.end >= m.end) m = run;
        }
        misses -= min_u32((pairs ? 32 : 16) * (unsigned)(m.end - m.start), misses);
        add_step(&f, k, b, m);
        size_t stop = min_size(m.end, end);
        if (!pairs) remember_match(z, p, stop, m.distance, gram);
        for (size_t i = p + 2; pairs && i < stop; i += distance < RUN ? 64 : 4)
            remember(z, i, gram);
        p = pairs ? (m.end + 1) & ~(size_t)1 : m.end;
    }
    f.at = p;
    *out = f;
}

/* Forgets what other chunks had. Small ones take small tables, which are forgotten sooner. */
static void begin_often(exr_zip *z, size_t bytes) {
    unsigned bits = min_u32(log2_floor((uint32_t)bytes | 256), OFTEN_BITS);
    z->often_shift = 64 - bits;
    for (int i = 0; i < GRAMS; i++) memset(z->often[i], 0, sizeof z->often[i][0] << bits);
}

static inline uint16_t *often_at(exr_zip *z, const uint8_t *p, int i, unsigned gram) {
    return &z->often[i][hash_of(p, gram) >> z->often_shift];
}

/* Does what find_steps does where much repeats, as the head of this file says: looks up grams of
 * three lengths, the longest first, at every place (pace 1) or those of pairs (2). In a run of
 * pairs two bytes repeat. `pace` is a constant where this is inlined. */
static inline __attribute__((always_inline)) void find_often(exr_zip *z, block *k, finding *out,
                                                             const size_t pace, const size_t odd) {
    enum { PATIENCE = 7, LAST = 24 };
    const uint8_t *b = z->bytes;
    const size_t end = search_end(k, out);
    finding f = *out;
    size_t p = f.at + ((f.at ^ odd) & (pace - 1));
    unsigned misses = 0;
    if (!z->often_shift) begin_often(z, k->to - k->from);
    while (p < end) {
        size_t distance = 0;
        uint64_t differ = 0;
        for (int i = GRAMS - 1; i >= 0; i--) { /* a longer one takes the place of a shorter one */
            uint16_t *last = often_at(z, b + p, i, GRAM[i]);
            size_t d = (uint16_t)(p - *last);
            *last = (uint16_t)p;
            uint64_t x = load64(b + p) ^ load64(b + p - d);
            if (((GRAM[i] < 8 ? x << (64 - 8 * GRAM[i]) : x) != 0) | (d - 1 >= WINDOW - 1))
                continue;
            distance = d;
            differ = x;
        }
        if (!distance) {
            p += pace * (1 + (misses++ >> PATIENCE));
            continue;
        }
        match m = {p, p + ((unsigned)__builtin_ctzll(differ | 1ull << 63) >> 3), distance};
        if (!differ) m = extend(b, p, distance, f.anchor, k->to);
        if (distance != pace && load64(b + p) == load64(b + p + pace)) {
            match run = extend(b, p + pace, pace, f.anchor, k->to);
            if (run.end >= m.end) m = run;
        }
        misses -= min_u32((unsigned)(16 * pace * (m.end - m.start)), misses);
        add_step(&f, k, b, m);
        size_t stop = min_size(m.end, end), q = p + pace;
        if (m.distance < RUN && q + LAST < stop) q = stop - LAST + ((stop ^ p) & (pace - 1));
        for (; q < stop; q += pace)
            for (int i = 0; i < GRAMS; i++) *often_at(z, b + q, i, GRAM[i]) = (uint16_t)q;
        p = m.end + ((m.end ^ odd) & (pace - 1));
    }
    f.at = p;
    *out = f;
}

static void find_pairs(exr_zip *z, block *k, finding *f, size_t odd) {
    find_often(z, k, f, 2, odd);
}

enum { STRETCH = 512 }; /* bytes that are depth or not */

/* Flat areas are left to the others. */
static bool is_depth(const uint8_t *b) {
    enum { EACH = STRETCH / 8 };
    unsigned pairs = 0, same = 0;
    for (size_t i = 0; i < STRETCH; i += EACH) {
        pairs += (uint8_t)(b[i] + b[i + 1]) == 0 && (uint8_t)(b[i] - 120) > 16;
        same += i > 0 && b[i] == b[i - EACH];
    }
    return pairs >= 6 && same < 5;
}

/* Sets f->stop to where depth begins or ends after f->at. Returns which of the two. */
static bool to_stretch(finding *f, const uint8_t *b, size_t to) {
    size_t at = f->at / STRETCH * STRETCH;
    bool depth = at + STRETCH <= to && is_depth(b + at);
    do at += STRETCH;
    while (at + STRETCH <= to && is_depth(b + at) == depth);
    f->stop = at + STRETCH <= to ? at : to;
    return depth;
}

static bool is_small(const block *k) {
    return k->to - k->from < 16384;
}

/* Finds steps up to f->stop by what the sample says. */
static void find_others(exr_zip *z, block *k, finding *f, exr_sample s) {
    bool small = is_small(k); /* references are short, and so cheap */
    if (s.pairs)
        find_steps(z, k, f, 4, true, 6);
    else if (s.bits >= 65 && small)
        find_steps(z, k, f, 4, false, 7);
    else if (s.bits >= 65)
        find_steps(z, k, f, 5, false, 7);
    else if (s.bits >= 35 && small)
        find_steps(z, k, f, 6, false, 6);
    else if (s.bits >= 35)
        find_steps(z, k, f, 8, false, 6);
    else
        find_steps(z, k, f, 16, false, 6);
}

/* Finds steps in the first bytes of a half that may be low bytes of rendered halfs. Returns whether
 * more than 11 of 20 of them repeat. */
static bool is_rendered(exr_zip *z, block *k, finding *f, exr_sample s) {
    enum { FIRST = 8192, LEAST = 50, MOST = 88 /* in 1/16 bit: below is flat, beyond is noise */ };
    if (!s.low || is_small(k) || s.pairs || s.bits < LEAST || s.bits > MOST) return false;
    f->stop = k->from + FIRST;
    find_others(z, k, f, s);
    f->stop = k->to;
    return (size_t)(f->literal - z->literal) * 20 < (f->at - k->from) * 9;
}

static void find_matches(exr_zip *z, block *k, exr_sample s) {
    finding f = {z->step, z->literal, k->from, k->from, k->to};
    memset(k->distances, 0, sizeof k->distances);
    memset(k->symbols, 0, sizeof k->symbols);
    bool mixed = s.depth && !s.pairs && !is_small(k);
    if (s.halfs)
        find_pairs(z, k, &f, s.low);
    else if (is_rendered(z, k, &f, s))
        find_often(z, k, &f, 1, 0);
    for (; f.at < k->to; f.at = max_size(f.at, f.stop)) {
        if (mixed && to_stretch(&f, z->bytes, k->to))
            find_pairs(z, k, &f, 0);
        else
            find_others(z, k, &f, s);
    }
    size_t rest = k->to - f.anchor;
    memcpy(f.literal, z->bytes + f.anchor, rest);
    *f.step++ = (step){(uint32_t)rest, 0, 0};
    k->symbols[END_OF_BLOCK] = 1;
    count_bytes(k->symbols, z->literal, (size_t)(f.literal - z->literal) + rest);
}

/* --- blocks ------------------------------------------------------------------------------- */

typedef struct {
    exr_code symbols, distances;
} code_pair;

/* Has codes and lengths in the width of the registers that they are added to. */
typedef struct {
    uint64_t code[LENGTH_CODES];
    uint32_t length[LENGTH_CODES];
} wide_code;

static inline __attribute__((always_inline)) void put_steps_by(bit_writer *to, const exr_zip *z,
                                                               const block *k,
                                                               const code_pair *by) {
    wide_code s;
    for (int i = 0; i < LENGTH_CODES; i++) {
        s.code[i] = by->symbols.code[i];
        s.length[i] = by->symbols.length[i];
    }
    bit_writer w = *to; /* a copy that stays in registers */
    const uint8_t *b = z->bytes + k->from;
    for (const step *at = z->step;; at++) {
        uint32_t n = at->literals;
        for (; n >= 4; n -= 4, b += 4) {
            for (int i = 0; i < 4; i++) put(&w, s.code[b[i]], s.length[b[i]]);
            flush(&w);
        }
        for (; n > 0; n--, b++) put(&w, s.code[*b], s.length[*b]);
        flush(&w);
        if (!at->length) break;
        value_code l = length_code(at->length), d = distance_code(at->distance);
        put(&w, s.code[l.symbol], s.length[l.symbol]);
        put(&w, (at->length - 3u) & ((1u << l.extra) - 1), l.extra);
        put(&w, by->distances.code[d.symbol], by->distances.length[d.symbol]);
        put(&w, at->distance & ((1u << d.extra) - 1), d.extra);
        flush(&w);
        b += at->length;
    }
    put(&w, s.code[END_OF_BLOCK], s.length[END_OF_BLOCK]);
    flush(&w);
    *to = w;
}

static void put_steps_plain(bit_writer *to, const exr_zip *z, const block *k, const code_pair *by) {
    put_steps_by(to, z, k, by);
}

/* The shifts of BMI2 take a third of the time of the plain ones. */
#if defined(__x86_64__)
__attribute__((target("bmi2"))) static void put_steps_bmi2(bit_writer *to, const exr_zip *z,
                                                           const block *k, const code_pair *by) {
    put_steps_by(to, z, k, by);
}
#endif

static size_t packed_bits(const block *k, const code_pair *by) {
    size_t bits = 0;
    for (unsigned i = 0; i < LENGTH_CODES; i++) bits += k->symbols[i] * by->symbols.length[i];
    for (unsigned i = 265; i < LENGTH_CODES - 1; i++) bits += k->symbols[i] * ((i - 261) / 4);
    for (unsigned i = 0; i < DISTANCE_CODES; i++) {
        unsigned extra = i >= 4 ? (i - 2) / 2 : 0;
        bits += k->distances[i] * (by->distances.length[i] + extra);
    }
    return bits;
}

/* Adds the block, packed or stored: a stored one has 5 bytes more, the codes some 64. */
static void put_block(const exr_zip *z, bit_writer *w, const block *k, bool final) {
    size_t n = k->to - k->from;
    code_pair by;
    exr_code_make(&by.symbols, k->symbols, LENGTH_CODES, LONGEST_CODE);
    exr_code_make(&by.distances, k->distances, DISTANCE_CODES, LONGEST_CODE);
    if (packed_bits(k, &by) + 8 * 64 < 8 * (n + 5)) {
        put(w, (final ? 1 : 0) | 2 << 1, 3);
        exr_code_put(w, &by.symbols, &by.distances);
#if defined(__x86_64__)
        if (z->bmi2) {
            put_steps_bmi2(w, z, k, &by);
            return;
        }
#endif
        put_steps_plain(w, z, k, &by);
        return;
    }
    for (size_t at = k->from; at < k->to; at += n) {
        n = min_size(k->to - at, STORED);
        put(w, final && at + n == k->to ? 1 : 0, 3);
        to_byte(w);
        put(w, n | (~n & 0xffff) << 16, 32);
        flush(w);
        memcpy(w->at, z->bytes + at, n);
        w->at += n;
    }
}

/* Allows 400 bytes for each block: lists of codes have some 350; flush writes 8 bytes at once. */
size_t exr_zip_bound(size_t n) {
    return n + (n / BLOCK + 2) * 400 + 64;
}

static void pack_range(exr_zip *z, bit_writer *w, size_t from, size_t to, exr_sample s,
                       bool final) {
    size_t blocks = (to - from - 1) / BLOCK + 1, each = (to - from - 1) / blocks + 1;
    for (block k; from < to; from = k.to) {
        k.from = from;
        k.to = min_size(from + each, to);
        find_matches(z, &k, s);
        put_block(z, w, &k, final && k.to == to);
    }
}

size_t exr_zip_pack(exr_zip *z, const uint8_t *bytes, size_t n, uint8_t *out) {
    bit_writer w = {.at = out};
    put(&w, 0x0178, 16); /* deflate, a window of 32 KiB, the fastest of four levels */
    flush(&w);
    memset(z->last, 0, sizeof z->last);
    z->often_shift = 0;
    z->bytes = bytes;
    exr_sample even = exr_sample_take(bytes, n / 2),
               odd = exr_sample_take(bytes + n / 2, n - n / 2);
    even.low = true;
    odd.halfs = even.halfs;
    size_t flat = 24 + 100000 / n; /* codes of their own are not worth their list below */
    if (n == 1 || (even.bits < flat && odd.bits < flat)) {
        pack_range(z, &w, 0, n, even, true);
    } else {
        pack_range(z, &w, 0, n / 2, even, false);
        pack_range(z, &w, n / 2, n, odd, true);
    }
    to_byte(&w);
    uint32_t sum = __builtin_bswap32(libdeflate_adler32(1, bytes, n));
    memcpy(w.at, &sum, sizeof sum);
    return (size_t)(w.at - out) + sizeof sum;
}
