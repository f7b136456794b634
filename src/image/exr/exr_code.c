#include "image/exr/exr_code.h"

enum {
    CODE_LENGTH_CODES = 19,
    PARTS = 16, /* of a bit: as exactly are lengths known before they are rounded */
    MOST = 16,  /* more than any length */
};

/* The symbols that occur, and their lengths before they are rounded: in 1/16 bit and with 15 added,
 * so that key / PARTS is the length rounded up, and key % PARTS is large where little was added. */
typedef struct {
    uint16_t symbol[LENGTH_CODES];
    uint8_t key[LENGTH_CODES];
    int n;
} wanted;

static void want_lengths(wanted *w, const uint32_t *count, int n, unsigned deepest) {
    uint32_t total = 0;
    int used = 0;
    for (int i = 0; i < n; i++) {
        total += count[i];
        w->symbol[used] = (uint16_t)i;
        used += count[i] != 0;
    }
    w->n = used;
    int32_t cost = float_bits(total), most = (int32_t)(deepest * PARTS + PARTS - 1);
    for (int i = 0; i < used; i++) { /* a float's exponent starts at bit 23, 1/16 of it at 19 */
        int32_t key = ((cost - float_bits(count[w->symbol[i]])) >> 19) + PARTS - 1;
        w->key[i] = (uint8_t)(key < PARTS ? PARTS : key > most ? most : key);
    }
}

/* How lengths change from those that are rounded up: the first symbols of a length. */
typedef struct {
    int16_t less[PARTS][MOST]; /* by key % PARTS and key / PARTS: how many get one bit less */
    int32_t more[MOST];        /* by length: how many then get one bit more, also repeatedly */
    int32_t less_again[MOST];  /* by length: how many then get one bit less, also repeatedly */
    int32_t at[MOST + 1];      /* how many have each length in the end */
} changes;

/* Takes a bit from as many symbols of a part as there is room for, the short ones first. Returns
 * what this takes of the room. */
static int32_t take_part(int16_t less[MOST], int32_t room, unsigned deepest) {
    int32_t need = 0;
    for (unsigned d = 2; d <= deepest; d++) {
        int32_t fit = (room - need) >> (deepest - d);
        less[d] = (int16_t)(less[d] < fit ? less[d] : fit);
        need += less[d] << (deepest - d);
    }
    return need;
}

/* Where lengths were cut off, the sum can be too large: the longest of the others get longer. */
static int32_t make_room(changes *c, const int16_t weight[MOST], int32_t room, unsigned deepest) {
    while (room < 0) {
        unsigned d = deepest - 1;
        while (!c->at[d]) d--;
        c->at[d]--;
        c->at[d + 1]++;
        c->more[d]++;
        room += weight[d + 1];
    }
    return room;
}

/* Counts keys in two tables in turns, since equal ones would wait for each other's count. */
static void count_keys(int16_t to[PARTS][MOST], const wanted *w) {
    int16_t other[PARTS][MOST] = {{0}};
    int i = 0;
    for (; i + 2 <= w->n; i += 2) {
        to[w->key[i] % PARTS][w->key[i] / PARTS]++;
        other[w->key[i + 1] % PARTS][w->key[i + 1] / PARTS]++;
    }
    if (i < w->n) to[w->key[i] % PARTS][w->key[i] / PARTS]++;
    for (int part = 0; part < PARTS; part++)
        for (int d = 0; d < MOST; d++) to[part][d] = (int16_t)(to[part][d] + other[part][d]);
}

static void plan_changes(changes *c, const wanted *w, unsigned deepest) {
    memset(c, 0, sizeof *c);
    int16_t weight[MOST] = {0}; /* what each length takes of Kraft's sum, which is 2^deepest */
    int16_t less[MOST] = {0};   /* of all parts */
    int32_t room = 1 << deepest;
    for (unsigned d = 1; d <= deepest; d++) weight[d] = (int16_t)(1 << (deepest - d));
    count_keys(c->less, w);
    for (int part = 0; part < PARTS; part++)
        for (int d = 0; d < MOST; d++) c->at[d] += c->less[part][d];
    for (int d = 0; d < MOST; d++) room -= c->at[d] * weight[d];
    for (int part = 0; part < PARTS; part++) {
        int32_t need = 0;
        c->less[part][1] = 0;
        for (int d = 0; d < MOST; d++) need += c->less[part][d] * weight[d];
        if (need > room && room > 0) {
            need = take_part(c->less[part], room, deepest);
        } else if (need > room) {
            need = 0;
            memset(c->less[part], 0, sizeof c->less[part]);
        }
        room -= need;
        for (int d = 0; d < MOST; d++) less[d] = (int16_t)(less[d] + c->less[part][d]);
    }
    for (int d = 1; d < MOST; d++) {
        c->at[d] -= less[d];
        c->at[d - 1] += less[d];
    }
    room = make_room(c, weight, room, deepest);
    for (unsigned d = deepest; d > 1; d--) {
        int32_t n = room >> (deepest - d);
        c->less_again[d] = n = n < c->at[d] ? n : c->at[d];
        c->at[d] -= n;
        c->at[d - 1] += n;
        room -= n * weight[d];
    }
}

/* Makes the first of 16 bits the lowest. */
static void turn_round(uint16_t *code, int n) {
    for (int i = 0; i < n; i++) {
        uint16_t v = code[i];
        v = (uint16_t)((v >> 1 & 0x5555) | (v & 0x5555) << 1);
        v = (uint16_t)((v >> 2 & 0x3333) | (v & 0x3333) << 2);
        v = (uint16_t)((v >> 4 & 0x0f0f) | (v & 0x0f0f) << 4);
        code[i] = (uint16_t)(v >> 8 | v << 8);
    }
}

void exr_code_make(exr_code *code, const uint32_t *count, int n, unsigned deepest) {
    wanted w;
    changes c;
    uint16_t next[MOST]; /* with the first bit highest of 16 */
    want_lengths(&w, count, n, deepest);
    plan_changes(&c, &w, deepest);
    uint32_t first = 0;
    for (unsigned d = 1; d <= deepest; d++) {
        next[d] = (uint16_t)first;
        first += (uint32_t)c.at[d] << (16 - d);
    }
    memset(code->length, 0, (size_t)n);
    for (int i = 0; i < w.n; i++) {
        unsigned d = w.key[i] / PARTS;
        int16_t *less = &c.less[w.key[i] % PARTS][d];
        int16_t one = *less > 0;
        *less = (int16_t)(*less - one);
        d -= (unsigned)one;
        for (; c.more[d]; d++) c.more[d]--;
        for (; c.less_again[d]; d--) c.less_again[d]--;
        code->length[w.symbol[i]] = (uint8_t)d;
        code->code[w.symbol[i]] = next[d];
        next[d] = (uint16_t)(next[d] + (1u << (16 - d)));
    }
    turn_round(code->code, n);
}

enum { LENGTHS = LENGTH_CODES + DISTANCE_CODES, WORDS = LENGTHS / 64 + 1 };

typedef struct {
    uint8_t item[LENGTHS + 8], extra[LENGTHS + 8];
    uint32_t count[CODE_LENGTH_CODES];
} length_list;

/* Adds the same length up to 4 times as items from n on, without a branch for the number, which is
 * as good as random. Returns the number of items. */
static inline int add_few(length_list *l, int n, unsigned length, int run) {
    memset(l->item + n, (int)length, 4);
    memset(l->extra + n, 0, 4);
    l->count[length] += (uint32_t)run;
    return n + run;
}

/* Adds the same length many times: 16 repeats the last length 3 to 6 times, 17 and 18 are 3 to 10
 * and 11 to 138 zeros. */
static int add_many(length_list *l, int n, unsigned length, int run) {
    if (length) {
        n = add_few(l, n, length, 1);
        run--;
    }
    for (int some; run >= 3; run -= some) {
        int most = length ? 6 : 138;
        some = run < most ? run : most;
        unsigned item = length ? 16 : some < 11 ? 17 : 18;
        l->item[n] = (uint8_t)item;
        l->extra[n++] = (uint8_t)(item == 18 ? some - 11 : some - 3);
        l->count[item]++;
    }
    return add_few(l, n, length, run);
}

/* Fills *l from n lengths, which end with another one and zeros, and returns the number of items.
 * Runs are found by bits that say where the next length is another one. */
static int list_lengths(length_list *l, const uint8_t length[64 * WORDS + 16], int n) {
    int start = 0, items = 0;
    memset(l->count, 0, sizeof l->count);
    for (int w = 0; w < WORDS; w++) {
        uint64_t ends = 0;
        for (int k = 0; k < 4; k++) {
            const uint8_t *at = length + 64 * w + 16 * k;
            ends |= (uint64_t)(equal16(at, at + 1) ^ 0xffff) << 16 * k;
        }
        for (; ends && start < n; ends &= ends - 1) {
            unsigned same = length[start];
            int run = 64 * w + __builtin_ctzll(ends) + 1 - start;
            items = run < (same ? 4 : 3) ? add_few(l, items, same, run)
                                         : add_many(l, items, same, run);
            start += run;
        }
    }
    return items;
}

void exr_code_put(bit_writer *to, const exr_code *symbols, const exr_code *distances) {
    static const uint8_t ORDER[CODE_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
    static const uint8_t EXTRA[CODE_LENGTH_CODES] = {[16] = 2, [17] = 3, [18] = 7};
    uint8_t packed[64 * WORDS + 16] = {0};
    length_list l;
    exr_code code;
    bit_writer w = *to;
    int s = LENGTH_CODES, d = DISTANCE_CODES, n = CODE_LENGTH_CODES;
    while (!symbols->length[s - 1]) s--; /* the end of the block is there */
    while (d > 1 && !distances->length[d - 1]) d--;
    memcpy(packed, symbols->length, (size_t)s);
    memcpy(packed + s, distances->length, (size_t)d);
    packed[s + d] = 255; /* ends the last run */
    int items = list_lengths(&l, packed, s + d);
    exr_code_make(&code, l.count, CODE_LENGTH_CODES, 7);
    while (n > 4 && !code.length[ORDER[n - 1]]) n--;
    put(&w, (uint64_t)(s - 257), 5);
    put(&w, (uint64_t)(d - 1), 5);
    put(&w, (uint64_t)(n - 4), 4);
    for (int i = 0; i < n; i++) {
        flush(&w);
        put(&w, code.length[ORDER[i]], 3);
    }
    for (int i = 0; i < items; i++) {
        if (i % 4 == 0) flush(&w); /* four have up to 56 bits */
        put(&w, code.code[l.item[i]], code.length[l.item[i]]);
        put(&w, l.extra[i], EXTRA[l.item[i]]);
    }
    flush(&w);
    *to = w;
}

/* Returns whether two bytes are opposite numbers when 128 is taken for zero. Those near zero are
 * not counted: flat areas have them, too. */
static bool is_far(const uint8_t *pair) {
    return (uint8_t)(pair[0] - 120) > 16;
}
static bool is_opposite(const uint8_t *pair) {
    return is_far(pair) && (uint8_t)(pair[0] + pair[1]) == 0;
}

/* Takes one byte in 13 of a small half, and some 250 of a large one. A pair that repeats the one
 * before is not counted: flat areas have them, too. Byte 0 of floats that hold halfs is zero, so
 * that the difference to byte 2 and the one from it are opposite. */
exr_sample exr_sample_take(const uint8_t *b, size_t n) {
    enum { STRIDE = 13, SAMPLES = 250, LEAST = 128 /* a code has a bit or more; in 1/128 */ };
    uint16_t seen[256] = {0};
    size_t stride = (n / SAMPLES < STRIDE ? STRIDE : n / SAMPLES) | 1;
    uint32_t taken = 0, pairs = 0, changing = 0, far = 0, opposite = 0;
    int32_t sum = 0;
    uint8_t before = 0;
    for (size_t i = 0; i + 1 < n; i += stride, taken++) {
        const uint8_t *pair = b + (i & ~(size_t)1), *next = b + (i | 1);
        seen[b[i]]++;
        pairs += is_opposite(pair) && pair[0] != before;
        before = pair[0];
        if (i + 4 >= n || memcmp(next, next + 2, 2) == 0) continue;
        changing++;
        far += is_far(next);
        opposite += is_opposite(next);
    }
    if (!taken) return (exr_sample){.bits = 8 * 16};
    for (size_t i = 0; i + 1 < n; i += stride) {
        int32_t bits = (float_bits(taken) - float_bits(seen[b[i]])) >> 16;
        sum += bits < LEAST ? LEAST : bits;
    }
    exr_sample s = {.bits = (unsigned)sum / taken / 8, .depth = pairs * 12 > taken};
    s.pairs = s.bits >= 112 || (s.bits >= 64 && pairs * 8 > taken * 3);
    s.halfs = changing * 32 >= taken && far * 2 >= changing && opposite * 16 >= far * 15;
    return s;
}
