/* lanes.h - Fourier transforms of many lines at once, one line in each lane of a SIMD register.
 *
 * Every operation does the same to all lanes, so that a wider processor changes nothing but how
 * many lines go through at once. There is no fused multiply-add, the order of operations follows
 * from the length alone, and twiddles are made by base/steady.h: the same bytes on every processor.
 *
 * A level transforms up to about a hundred numbers in the first-level cache, in stages of a radix
 * each (Stockham's algorithm, decimation in time: nothing is sorted, and a stage multiplies by its
 * twiddles as it loads). Two levels make a long transform of n = a b numbers, which lie in the
 * second-level cache as a matrix of a rows:
 *
 *                j2 ->                  columns: transforms of a          rows: transforms of b
 *          0    1    2  ..  b-1             for each j2                 of x exp(-2 pi i j2 k1 / n)
 *        +----+----+----+----+            |    |    |    |               - - - - - - - - - - - ->
 *    j1  | b  |b+1 |b+2 |    |    ==>     |    |    |    |      ==>   k1 - - - - - - - - - - - ->
 *        |2b  |2b+1|    |    |            |    |    |    |               - - - - - - - - - - - ->
 *        +----+----+----+----+            v    v    v    v                        k2 ->
 *    number j = b j1 + j2                   k1 by j2                   frequency k = k1 + a k2
 *
 * That is two ways through the second-level cache for any length. It works in place, and the
 * frequencies stay where the rows leave them; `place` says where each one is. The way back has rows
 * before columns. It means conjugate twiddles, but conj(w) z = swap(w swap(z)), where `swap`
 * exchanges real and imaginary parts: so one set of functions does both, and the way back starts
 * and ends with parts exchanged. Rows are a little more than b numbers apart, so that a column does
 * not fall into one set of the cache. docs/inside/math.md, "The error of a transform", bounds the
 * error.
 */
#pragma once

#include "base/err.h"

enum { LANES_STAGES = 28, LANES_RADIX = 12, LANES_FORMS = 3 };

/* The stages of a level. Stage s joins transforms of l numbers, the product of the radices before
 * it, to such of l r; its twiddles are exp(-2 pi i u t / (l r)), [u < l][1 <= t < r]. */
typedef struct {
    uint32_t n, stages; /* at least two stages, of which the first may have the radix 1 */
    uint32_t radix[LANES_STAGES];
    size_t twiddle[LANES_STAGES]; /* where those of a stage begin */
    void *twiddles;
} lanes_level;

/* A long transform. Const once made, so that threads share it. */
typedef struct {
    uint32_t n, a, b, pitch; /* from row to row */
    lanes_level column, row;
    uint32_t *seat;        /* of number j: j1 pitch + j2 */
    uint32_t *place;       /* of frequency k, 0 <= k <= n: k1 pitch + k2 */
    uint32_t *down;        /* of the numbers of a column: j1 pitch */
    uint32_t *along;       /* of those of a row, and of any level: 0, 1, 2, .. */
    void *turns, *turns_t; /* exp(-2 pi i j2 k1 / n): [k1][j2], and [j2][k1] */
} lanes;

/* Make the tables of a level, and of a long transform, in float or double. Lengths are 2^a 3^b 5^c
 * 7^d; others are refused. */
bool lanes_level_make(lanes_level *f, uint32_t n, bool float64, err *e);
void lanes_level_free(lanes_level *f);
lanes *lanes_new(uint32_t n, bool float64, err *e);
void lanes_free(lanes **f);

/* Returns the time that a number of a long transform takes, relatively; 0: refused. */
uint32_t lanes_price(uint32_t n);

/* One transform of a level, of as many lines as the code has lanes. A number is LANES real parts
 * and as many imaginary ones. Numbers come from from[at[i]] and go to to[k * step], those from
 * `count` on excepted. */
typedef struct {
    const lanes_level *level;
    const void *from;
    const uint32_t *at;
    const void *turns; /* not NULL: number i is multiplied by turns[i], the same for all lanes, */
    const void *by;    /* or by[i], another for each lane, and then its parts are exchanged */
    void *to;
    size_t step;
    uint32_t count;
    void *scratch[2]; /* level->n numbers each; the second for three stages and more */
} lanes_line;

typedef struct {
    uint32_t lanes;
    void (*line)(const lanes_line *l);
} lanes_code;

/* Returns the form of the code that suits this processor: 0 on any, 1 with AVX2, 2 with AVX-512.
 * The variable FFTBLOOM_LANES, "any", "avx2" or "avx512", chooses a lesser one, for tests. */
int lanes_form(void);
/* Returns the code of a form. Of floats it has 4, 8 and 16 lanes; of doubles 4, 4 and 8. */
const lanes_code *lanes_code_of(int form, bool float64);

/* The code of math/lanes_form.c, which is compiled for each form. */
extern const lanes_code LANES_ANY_FLOAT32, LANES_ANY_FLOAT64;
extern const lanes_code LANES_AVX2_FLOAT32, LANES_AVX2_FLOAT64;
extern const lanes_code LANES_AVX512_FLOAT32, LANES_AVX512_FLOAT64;
