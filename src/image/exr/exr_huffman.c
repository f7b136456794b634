#include "image/exr/exr_chunk.h"

#include "base/mem.h"

enum {
    HEAD = 20,           /* bytes: first and last symbol, length of the table, bits, unused */
    SYMBOLS = 65537,     /* 16 bits, and the one that says "once more" */
    LONGEST = 58,        /* bits of a code */
    FAST_BITS = 12,      /* codes up to here are looked up */
    ZERO_RUN_SHORT = 59, /* in the table of lengths: 2, 3, 4, 5 symbols without a code */
    ZERO_RUN_LONG = 63,  /* 6 and more, the number in 8 bits */
};

typedef struct {
    const uint8_t *bytes;
    uint64_t at, end; /* bits */
} bits;

typedef struct {
    bits in;
    uint32_t symbol[SYMBOLS]; /* by length, then by symbol: the order of their codes */
    uint8_t length[SYMBOLS];
    uint32_t fast[1 << FAST_BITS]; /* symbol << 8 | length; 0: none so short */
    uint32_t count[LONGEST + 1];   /* codes of each length */
    uint32_t first[LONGEST + 1];   /* index in `symbol` of the first of them */
    uint64_t start[LONGEST + 1];   /* its code */
    uint64_t bound[LONGEST + 1];   /* its code, moved up against the top of 64 bits */
    uint32_t repeat;               /* the symbol for "once more" */
} decoder;

/* Returns the next 64 bits, the first of them at the top. */
static inline uint64_t peek(const bits *b) {
    const uint8_t *p = b->bytes + (b->at >> 3);
    unsigned shift = b->at & 7;
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v) << shift | p[8] >> (8 - shift);
}

static uint32_t take(bits *b, unsigned n) {
    uint32_t v = (uint32_t)(peek(b) >> (64 - n));
    b->at += n;
    return v;
}

static bool read_lengths(decoder *d, uint32_t first, uint32_t last, err *e) {
    bits *b = &d->in;
    for (uint32_t s = first; s <= last;) {
        if (b->at >= b->end) return err_set(e, ERR_DATA, "the table of Huffman codes is cut off");
        uint32_t length = take(b, 6), zeros = 0;
        if (length == ZERO_RUN_LONG)
            zeros = take(b, 8) + ZERO_RUN_LONG - ZERO_RUN_SHORT + 2;
        else if (length >= ZERO_RUN_SHORT)
            zeros = length - ZERO_RUN_SHORT + 2;
        if (zeros > last + 1 - s)
            return err_set(e, ERR_DATA, "the table of Huffman codes goes beyond its last symbol");
        if (!zeros) d->length[s] = (uint8_t)length;
        s += zeros ? zeros : 1;
    }
    b->at = (b->at + 7) & ~(uint64_t)7; /* the table ends with a whole byte */
    return true;
}

/* Assigns the codes: those of length n start where half of those of length n + 1 end. */
static bool assign_codes(decoder *d, uint32_t first, uint32_t last, err *e) {
    for (uint32_t s = first; s <= last; s++) d->count[d->length[s]]++;
    d->count[0] = 0;
    uint64_t code = 0;
    for (int n = LONGEST; n > 0; n--) {
        d->start[n] = code;
        d->bound[n] = code << (64 - n);
        code += d->count[n];
        if (code > (uint64_t)1 << n)
            return err_set(e, ERR_DATA, "more Huffman codes of %d bits than there can be", n);
        code >>= 1;
    }
    uint32_t index[LONGEST + 1], at = 0;
    for (int n = 1; n <= LONGEST; n++) {
        d->first[n] = index[n] = at;
        at += d->count[n];
    }
    for (uint32_t s = first; s <= last; s++)
        if (d->length[s]) d->symbol[index[d->length[s]]++] = s;
    return true;
}

static void fill_fast(decoder *d) {
    for (unsigned n = 1; n <= FAST_BITS; n++)
        for (uint32_t i = 0; i < d->count[n]; i++) {
            size_t from = (size_t)(d->start[n] + i) << (FAST_BITS - n);
            for (size_t k = 0; k < (size_t)1 << (FAST_BITS - n); k++)
                d->fast[from + k] = d->symbol[d->first[n] + i] << 8 | n;
        }
}

/* Finds a code longer than the fast table: its length is the first whose bound it reaches. */
static uint32_t long_code(const decoder *d, uint64_t window, unsigned *length) {
    for (unsigned n = FAST_BITS + 1; n <= LONGEST; n++) {
        if (!d->count[n] || window < d->bound[n]) continue;
        uint64_t i = (window >> (64 - n)) - d->start[n];
        if (i >= d->count[n]) break;
        *length = n;
        return d->symbol[d->first[n] + i];
    }
    *length = 0;
    return 0;
}

/* Reads the short codes that one window surely holds; the caller checks the end. */
static size_t read_short_codes(const decoder *d, bits *b, uint16_t *out, size_t n) {
    uint64_t window = peek(b);
    size_t i = 0;
    for (unsigned used = 0; used <= 64 - FAST_BITS && i < n; i++) {
        uint32_t entry = d->fast[window >> (64 - FAST_BITS)];
        unsigned length = entry & 0xff;
        if (!length || entry >> 8 == d->repeat) break;
        out[i] = (uint16_t)(entry >> 8);
        window <<= length;
        used += length;
        b->at += length;
    }
    return i;
}

/* Reads a code: a value, or the last one again. Returns how many it gave, or 0 for damage. */
static size_t read_code(const decoder *d, bits *b, uint16_t *out, size_t i, size_t n) {
    uint64_t window = peek(b);
    uint32_t entry = d->fast[window >> (64 - FAST_BITS)], symbol = entry >> 8;
    unsigned length = entry & 0xff;
    if (!length) symbol = long_code(d, window, &length);
    b->at += length;
    if (!length || b->at > b->end) return 0;
    if (symbol != d->repeat) {
        out[i] = (uint16_t)symbol;
        return 1;
    }
    size_t times = take(b, 8);
    if (i == 0 || times > n - i) return 0;
    for (size_t k = 0; k < times; k++) out[i + k] = out[i - 1];
    return times;
}

static bool decode(decoder *d, size_t bytes, uint16_t *out, size_t n, err *e) {
    uint32_t head[HEAD / 4];
    bits *b = &d->in;
    if (bytes < HEAD) return err_set(e, ERR_DATA, "the Huffman header is cut off");
    memcpy(head, b->bytes, sizeof head);
    uint32_t first = head[0], last = head[1], code_bits = head[3];
    if (last >= SYMBOLS || first > last)
        return err_set(e, ERR_DATA, "Huffman codes of symbols %u to %u", first, last);
    d->repeat = last;
    if (!read_lengths(d, first, last, e) || !assign_codes(d, first, last, e)) return false;
    if (b->at > b->end || code_bits > b->end - b->at)
        return err_set(e, ERR_DATA, "the Huffman codes are cut off");
    b->end = b->at + code_bits;
    fill_fast(d);
    for (size_t i = 0; i < n;) {
        size_t more = read_short_codes(d, b, out + i, n - i);
        if (!more) more = read_code(d, b, out, i, n);
        if (!more || b->at > b->end)
            return err_set(e, ERR_DATA, "the Huffman codes are damaged at value %zu of %zu", i, n);
        i += more;
    }
    return true;
}

bool exr_huffman_decode(const uint8_t *packed, size_t bytes, uint16_t *out, size_t n, err *e) {
    OWN_MEM decoder *d = mem_new(1, sizeof *d, "a Huffman decoder", e);
    if (!d) return false;
    d->in = (bits){packed, 8 * HEAD, 8 * (uint64_t)bytes};
    return decode(d, bytes, out, n, e);
}
