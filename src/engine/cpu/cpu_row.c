#include "engine/cpu/cpu_row.h"

#include "base/half.h"
#include "base/vector.h"

#include <float.h>

/* Sums have one order on every processor, that of the vectors: each number goes to the sum of its
 * lane, also where there are no vectors, and at a row's end. */

/* Sums of as many floats as this, sixteen at a time, go to a double: few enough that their rounding
 * is far below what the ledger allows where all are of one sign. */
enum { SPAN = 128, AT_ONCE = 16 };

/* How many numbers ahead the engine's result is fetched, also beyond the end of the row: the rows
 * that a device has copied to the host follow each other, and are not in the cache. */
enum { AHEAD = 768 };

typedef struct {
    vec4d norm, sum;
    float top, bottom, largest, least; /* top, bottom: of what the transform made */
} ordinary;

VECTOR_INLINE void add_span(ordinary *o, const vec8f norm[2], const vec8f sum[2]) {
    vec8f both = norm[0] + norm[1], light = sum[0] + sum[1];
    VECTOR_ADD_UP(o->norm, both);
    VECTOR_ADD_UP(o->sum, light);
}

static void make_one_by_one(const row *r, ordinary *o, uint32_t i) {
    float centre = (float)r->centre;
    uint32_t whole = r->n / AT_ONCE * AT_ONCE;
    while (i < r->n) {
        uint32_t end = i < whole ? min_u32(i + SPAN, whole) : r->n;
        vec8f norm[2] = {{0}, {0}}, sum[2] = {{0}, {0}};
        for (; i < end; i++) {
            float e = r->floats ? r->floats[i] : (float)r->doubles[i];
            float in = r->half_out ? half_to_float(r->half_in[i]) : r->in[i];
            float out = r->floats ? centre * in + e
                                  : (float)(r->centre * (double)in + r->doubles[i]);
            norm[i / 8 % 2][i % 8] += e * e;
            sum[i / 8 % 2][i % 8] += out;
            o->top = fmaxf(o->top, e);
            o->bottom = fminf(o->bottom, e);
            o->largest = fmaxf(o->largest, out);
            o->least = fminf(o->least, out);
            if (r->half_out)
                r->half_out[i] = half_from_float(out);
            else
                r->out[i] = out;
        }
        add_span(o, norm, sum);
    }
}

#define FLOATS8(lo, hi)                                         \
    __builtin_shufflevector(__builtin_convertvector(lo, vec4f), \
                            __builtin_convertvector(hi, vec4f), 0, 1, 2, 3, 4, 5, 6, 7)

/* Fills `e` with what the transform made, as floats, and `out` with pixels, rounded once. */
VECTOR_INLINE VECTOR_WIDE void make_eight(vec8f *e, vec8f *out, const row *r, uint32_t i,
                                          const vec8f *in, bool wide) {
    if (!wide) {
        *e = *(const vec8f_any *)(r->floats + i);
        *out = (float)r->centre * *in + *e;
        return;
    }
    vec4d lo = *(const vec4d_any *)(r->doubles + i), hi = *(const vec4d_any *)(r->doubles + i + 4);
    *e = FLOATS8(lo, hi);
    lo += r->centre * VECTOR_DOUBLES(*in, 0);
    hi += r->centre * VECTOR_DOUBLES(*in, 4);
    *out = FLOATS8(lo, hi);
}

/* Makes the first `whole` pixels. Two sums each, since one addition waits for the one before.
 * `halfs`: from r->half_in to r->half_out, without a way through memory in between. `wide`: of
 * r->doubles. */
VECTOR_INLINE VECTOR_WIDE void make_vectors(const row *r, ordinary *o, uint32_t whole, bool halfs,
                                            bool wide) {
    const float *in = r->in;
    float *to = r->out;
    const char *made = wide ? (const char *)r->doubles : (const char *)r->floats;
    size_t number = wide ? sizeof(double) : sizeof(float);
    size_t bytes = halfs ? sizeof(uint16_t) : sizeof(float);
    const char *next_in = (halfs ? (const char *)r->half_in : (const char *)in) + 2 * r->n * bytes;
    const char *next_to = (halfs ? (const char *)r->half_out : (const char *)to) + 2 * r->n * bytes;
    vec8f zero = {0}, high = zero, low = zero + FLT_MAX, largest = zero, least = zero + FLT_MAX;
    for (uint32_t i = 0; i < whole;) {
        uint32_t end = min_u32(i + SPAN, whole);
        vec8f norm[2] = {zero, zero}, sum[2] = {zero, zero};
        for (; i < end; i += 16) {
            __builtin_prefetch(next_in + i * bytes);
            __builtin_prefetch(next_to + i * bytes, 1);
            __builtin_prefetch(made + (i + AHEAD) * number);
            if (wide) __builtin_prefetch(made + (i + AHEAD + 8) * number);
            vec8f in_a, in_b, a, b, out_a, out_b;
            if (halfs) {
                vector_of_halfs(&in_a, r->half_in + i);
                vector_of_halfs(&in_b, r->half_in + i + 8);
            } else {
                in_a = *(const vec8f_any *)(in + i);
                in_b = *(const vec8f_any *)(in + i + 8);
            }
            make_eight(&a, &out_a, r, i, &in_a, wide);
            make_eight(&b, &out_b, r, i + 8, &in_b, wide);
            norm[0] += a * a;
            norm[1] += b * b;
            high = VECTOR_MAX8(VECTOR_MAX8(a, b), high);
            if (halfs) {
                vector_to_halfs(r->half_out + i, &out_a);
                vector_to_halfs(r->half_out + i + 8, &out_b);
            } else {
                *(vec8f_any *)(to + i) = out_a;
                *(vec8f_any *)(to + i + 8) = out_b;
            }
            sum[0] += out_a;
            sum[1] += out_b;
            low = VECTOR_MIN8(VECTOR_MIN8(a, b), low);
            largest = VECTOR_MAX8(VECTOR_MAX8(out_a, out_b), largest);
            least = VECTOR_MIN8(VECTOR_MIN8(out_a, out_b), least);
        }
        add_span(o, norm, sum);
    }
    for (int k = 0; k < 8; k++) {
        o->top = fmaxf(o->top, high[k]);
        o->bottom = fminf(o->bottom, low[k]);
        o->largest = fmaxf(o->largest, largest[k]);
        o->least = fminf(o->least, least[k]);
    }
}
#define MAKE_VECTORS(halfs, wide)                                                       \
    VECTOR_WIDE static void make_##halfs##wide(const row *r, ordinary *o, uint32_t n) { \
        make_vectors(r, o, n, halfs, wide);                                             \
    }
MAKE_VECTORS(0, 0)
MAKE_VECTORS(0, 1)
MAKE_VECTORS(1, 0)
MAKE_VECTORS(1, 1)

bool row_make_ordinary(const row *r, row_totals *t) {
    static void (*const MAKE[2][2])(const row *, ordinary *, uint32_t) = {{make_00, make_01},
                                                                          {make_10, make_11}};
    ordinary o = {.bottom = FLT_MAX, .least = FLT_MAX};
    uint32_t whole = vector_wide() ? r->n / AT_ONCE * AT_ONCE : 0;
    if (whole) MAKE[r->half_out != NULL][!r->floats](r, &o, whole);
    make_one_by_one(r, &o, whole);
    *t = (row_totals){.norm = (o.norm[0] + o.norm[1]) + (o.norm[2] + o.norm[3]),
                      .sum = (o.sum[0] + o.sum[1]) + (o.sum[2] + o.sum[3]),
                      .peak = (double)o.top,
                      .largest = o.largest,
                      .least = o.least};
    if (r->half_out && !(o.largest <= HALF_MAX)) return false;
    return o.bottom >= 0 && o.least >= 0 && o.top > 1e-15F && o.top < 1e15F && o.largest < 1e36F;
}

/* --- rows of both signs --- */

#define SIZE8(v) (vec8f)((vec8i)(v)&INT32_MAX)

typedef struct {
    vec4d norm, sum, cut;
    float top, lowest, largest, least; /* sizes, but for `lowest`, which is of the glare */
    uint32_t negative;
} both_signs;

static void sign_one_by_one(const row *r, both_signs *o, uint32_t i) {
    uint32_t whole = r->n / AT_ONCE * AT_ONCE;
    while (i < r->n) {
        uint32_t end = i < whole ? min_u32(i + SPAN, whole) : r->n;
        vec8f norm[2] = {{0}, {0}}, sum[2] = {{0}, {0}}, cut[2] = {{0}, {0}};
        for (; i < end; i++) {
            double g = r->floats ? (double)r->floats[i] : r->doubles[i];
            float e = (float)g, in = r->half_out ? half_to_float(r->half_in[i]) : r->in[i];
            if (r->nonnegative && e < 0) {
                o->negative++;
                o->lowest = fminf(o->lowest, e);
                cut[i / 8 % 2][i % 8] += e;
            }
            if (r->nonnegative && g < 0) g = 0;
            float out = (float)(r->centre * (double)in + g), size = fabsf(out);
            norm[i / 8 % 2][i % 8] += e * e;
            sum[i / 8 % 2][i % 8] += out;
            o->top = fmaxf(o->top, fabsf(e));
            o->largest = fmaxf(o->largest, size);
            o->least = fminf(o->least, size);
            if (r->half_out)
                r->half_out[i] = half_from_float(out);
            else
                r->out[i] = out;
        }
        vec8f norms = norm[0] + norm[1], light = sum[0] + sum[1], off = cut[0] + cut[1];
        VECTOR_ADD_UP(o->norm, norms);
        VECTOR_ADD_UP(o->sum, light);
        VECTOR_ADD_UP(o->cut, off);
    }
}

/* Fills `e` with what the transform made, as floats, and `out` with pixels: products and sums are
 * doubles, which nothing but registers holds. */
VECTOR_INLINE VECTOR_WIDE void sign_eight(vec8f *e, vec8f *out, const row *r, uint32_t i,
                                          const vec8f *in, bool wide, bool cut) {
    vec4d lo, hi, zero = {0};
    if (wide) {
        lo = *(const vec4d_any *)(r->doubles + i), hi = *(const vec4d_any *)(r->doubles + i + 4);
        *e = FLOATS8(lo, hi);
    } else {
        *e = *(const vec8f_any *)(r->floats + i);
        lo = VECTOR_DOUBLES(*e, 0), hi = VECTOR_DOUBLES(*e, 4);
    }
    if (cut) lo = VECTOR_MAX4(zero, lo), hi = VECTOR_MAX4(zero, hi);
    lo += r->centre * VECTOR_DOUBLES(*in, 0);
    hi += r->centre * VECTOR_DOUBLES(*in, 4);
    *out = FLOATS8(lo, hi);
}

/* Makes the first `whole` pixels. cut: glare below zero is cut off. */
VECTOR_INLINE VECTOR_WIDE void sign_vectors(const row *r, both_signs *o, uint32_t whole, bool halfs,
                                            bool wide, bool cut) {
    vec8f zero = {0}, top = zero, largest = zero, lowest = zero;
    vec8f least = zero + FLT_MAX;
    vec8i count = {0};
    for (uint32_t i = 0; i < whole;) {
        uint32_t end = min_u32(i + SPAN, whole);
        vec8f norm[2] = {zero, zero}, sum[2] = {zero, zero}, off[2] = {zero, zero};
        for (; i < end; i += AT_ONCE) {
            _Pragma("GCC unroll 2") for (uint32_t k = 0; k < 2; k++) {
                const uint32_t at = i + 8 * k;
                vec8f in, e, out, size;
                if (halfs)
                    vector_of_halfs(&in, r->half_in + at);
                else
                    in = *(const vec8f_any *)(r->in + at);
                sign_eight(&e, &out, r, at, &in, wide, cut);
                if (halfs)
                    vector_to_halfs(r->half_out + at, &out);
                else
                    *(vec8f_any *)(r->out + at) = out;
                if (cut) {
                    vec8i below = e < zero;
                    count -= below;
                    off[k] += (vec8f)((vec8i)e & below);
                    lowest = VECTOR_MIN8(e, lowest);
                }
                norm[k] += e * e;
                sum[k] += out;
                size = SIZE8(e);
                top = VECTOR_MAX8(size, top);
                size = SIZE8(out);
                largest = VECTOR_MAX8(size, largest);
                least = VECTOR_MIN8(size, least);
            }
        }
        norm[0] += norm[1], sum[0] += sum[1], off[0] += off[1];
        VECTOR_ADD_UP(o->norm, norm[0]);
        VECTOR_ADD_UP(o->sum, sum[0]);
        if (cut) VECTOR_ADD_UP(o->cut, off[0]);
    }
    for (int k = 0; k < 8; k++) {
        o->top = fmaxf(o->top, top[k]);
        o->lowest = fminf(o->lowest, lowest[k]);
        o->largest = fmaxf(o->largest, largest[k]);
        o->least = fminf(o->least, least[k]);
        o->negative += (uint32_t)count[k];
    }
}
#define SIGN_VECTORS(halfs, wide, cut)                                                         \
    VECTOR_WIDE static void sign_##halfs##wide##cut(const row *r, both_signs *o, uint32_t n) { \
        sign_vectors(r, o, n, halfs, wide, cut);                                               \
    }
SIGN_VECTORS(0, 0, 0)
SIGN_VECTORS(0, 0, 1)
SIGN_VECTORS(0, 1, 0)
SIGN_VECTORS(0, 1, 1)
SIGN_VECTORS(1, 0, 0)
SIGN_VECTORS(1, 0, 1)
SIGN_VECTORS(1, 1, 0)
SIGN_VECTORS(1, 1, 1)

bool row_make_signs(const row *r, row_totals *t) {
    static void (*const MAKE[2][2][2])(const row *, both_signs *, uint32_t) = {
        {{sign_000, sign_001}, {sign_010, sign_011}}, {{sign_100, sign_101}, {sign_110, sign_111}}};
    both_signs o = {.least = FLT_MAX};
    uint32_t whole = vector_wide() ? r->n / AT_ONCE * AT_ONCE : 0;
    if (whole) MAKE[r->half_out != NULL][!r->floats][r->nonnegative](r, &o, whole);
    sign_one_by_one(r, &o, whole);
    *t = (row_totals){.norm = (o.norm[0] + o.norm[1]) + (o.norm[2] + o.norm[3]),
                      .sum = (o.sum[0] + o.sum[1]) + (o.sum[2] + o.sum[3]),
                      .negative = o.negative,
                      .negative_sum = (o.cut[0] + o.cut[1]) + (o.cut[2] + o.cut[3]),
                      .lowest = (double)o.lowest,
                      .peak = (double)o.top,
                      .largest = o.largest,
                      .least = o.least};
    if (r->half_out && !(o.largest <= HALF_MAX)) return false;
    return o.top > 1e-15F && o.top < 1e15F && o.largest < 1e36F;
}

/* --- any rows, in doubles --------------------------------------------------------------------- */

enum { FOUR = 4 };
#define SIZE4(v) (vec4d)((vec4l)(v)&INT64_MAX)

VECTOR_WIDE static void finish_fours(const row *r, row_totals *t, vec4d *sum, vec4d *cut,
                                     uint32_t whole) {
    const double *own = r->own;
    double *glare = r->glare;
    vec4d zero = {0}, largest = zero, lowest = zero;
    vec4d least = zero + FLT_MAX;
    vec4l count = {0}, may_cut = r->nonnegative ? ~(vec4l){0} : (vec4l){0};
    for (uint32_t i = 0; i < whole; i += FOUR) {
        vec4d g = *(const vec4d_any *)(glare + i);
        lowest = VECTOR_MIN4(g, lowest);
        vec4l off = (g < zero) & may_cut;
        count -= off;
        *cut += (vec4d)((vec4l)g & off);
        g = (vec4d)((vec4l)g & ~off);
        *(vec4d_any *)(glare + i) = g;
        vec4f out = __builtin_convertvector(*(const vec4d_any *)(own + i) + g, vec4f);
        *(vec4f_any *)(r->out + i) = out;
        vec4d v = __builtin_convertvector(out, vec4d), size = SIZE4(v);
        *sum += v;
        largest = VECTOR_MAX4(size, largest);
        least = VECTOR_MIN4(size, least);
    }
    for (int k = 0; k < FOUR; k++) {
        t->lowest = fmin(t->lowest, lowest[k]);
        t->largest = fmaxf(t->largest, (float)largest[k]);
        t->least = fminf(t->least, (float)least[k]);
        t->negative += (uint32_t)count[k];
    }
}

void row_finish(const row *r, row_totals *t) {
    uint32_t i = vector_wide() ? r->n / FOUR * FOUR : 0;
    vec4d sum = {0}, cut = {0};
    if (i) finish_fours(r, t, &sum, &cut, i);
    for (; i < r->n; i++) {
        double g = r->glare[i];
        t->lowest = fmin(t->lowest, g);
        if (r->nonnegative && g < 0) {
            t->negative++;
            cut[i % FOUR] += g;
            r->glare[i] = g = 0;
        }
        float out = (float)(r->own[i] + g), size = fabsf(out);
        r->out[i] = out;
        sum[i % FOUR] += (double)out;
        t->largest = fmaxf(t->largest, size);
        t->least = fminf(t->least, size);
    }
    t->sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    t->negative_sum += (cut[0] + cut[1]) + (cut[2] + cut[3]);
}

VECTOR_WIDE static void begin_fours(const row *r, vec4d *norm, vec4d *peak, uint32_t whole) {
    const float *in = r->in, *floats = r->floats;
    const double *doubles = r->doubles;
    double *own = r->own, *glare = r->glare;
    vec4d e;
    for (uint32_t i = 0; i < whole; i += FOUR) {
        if (floats)
            e = VECTOR_DOUBLES(floats + i, 0);
        else
            e = *(const vec4d_any *)(doubles + i);
        *(vec4d_any *)(glare + i) = e;
        *(vec4d_any *)(own + i) = r->centre * VECTOR_DOUBLES(in + i, 0);
        *norm += e * e;
        *peak = VECTOR_MAX4(SIZE4(e), *peak);
    }
}

void row_begin(const row *r, row_totals *t) {
    uint32_t i = vector_wide() ? r->n / FOUR * FOUR : 0;
    vec4d norm = {0}, peak = {0};
    if (i) begin_fours(r, &norm, &peak, i);
    for (; i < r->n; i++) {
        double g = r->floats ? (double)r->floats[i] : r->doubles[i];
        r->glare[i] = g;
        r->own[i] = r->centre * (double)r->in[i];
        norm[i % FOUR] += g * g;
        peak[i % FOUR] = fmax(peak[i % FOUR], fabs(g));
    }
    *t = (row_totals){.norm = (norm[0] + norm[1]) + (norm[2] + norm[3]),
                      .peak = fmax(fmax(peak[0], peak[1]), fmax(peak[2], peak[3])),
                      .least = FLT_MAX};
}

/* --- windows --------------------------------------------------------------------------------- */

row row_kept(const row *r, const join_box *kept) {
    row k = *r;
    k.n = kept->w;
    k.out += kept->x;
    if (k.in) k.in += kept->x;
    if (k.floats) k.floats += kept->x;
    if (k.doubles) k.doubles += kept->x;
    k.own += kept->x;
    k.glare += kept->x;
    return k;
}

void row_add_margins(const row *r, row_totals *t, const join_box *kept) {
    for (uint32_t i = 0; i < r->n; i++) {
        if (i == kept->x) i += kept->w;
        if (i >= r->n) break;
        double g = r->floats ? (double)r->floats[i] : r->doubles[i];
        t->norm += g * g;
        t->peak = fmax(t->peak, fabs(g));
    }
}
