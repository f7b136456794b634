#include "base/half.h"
#include "base/vector.h"
#include "lib/lib.h"

#include <float.h>

/* --- where planes are ------------------------------------------------------------------------- */

static size_t sample_bytes(int32_t type) {
    static const size_t BYTES[] = {
        [FB_HALF] = 2, [FB_FLOAT] = 4, [FB_DOUBLE] = 8, [FB_BYTE] = 1, [FB_SHORT] = 2};
    return type >= FB_HALF && type <= FB_SHORT ? BYTES[type] : 0;
}

/* The bytes from `low` up to `high` hold all samples, counted from the plane's data. Returns false
 * where that fits no memory. */
static bool find_span(const fb_plane *p, uint32_t w, uint32_t h, int64_t *low, int64_t *high) {
    int64_t x, y;
    if (__builtin_mul_overflow((int64_t)p->pixel_stride, (int64_t)w - 1, &x) ||
        __builtin_mul_overflow((int64_t)p->row_stride, (int64_t)h - 1, &y))
        return false;
    *low = *high = 0;
    return !__builtin_add_overflow(min_i64(x, 0), min_i64(y, 0), low) &&
           !__builtin_add_overflow(max_i64(x, 0), max_i64(y, 0), high) &&
           !__builtin_add_overflow(*high, (int64_t)sample_bytes(p->type), high) &&
           *low > -(INT64_MAX / 4) && *high < INT64_MAX / 4;
}

/* Returns whether the samples of a plane lie apart: those of a row, and then the rows, or the other
 * way around. Other orders are taken for a mistake. */
static bool lies_apart(const fb_plane *p, uint32_t w, uint32_t h) {
    const int64_t size = (int64_t)sample_bytes(p->type), x = llabs((long long)p->pixel_stride),
                  y = llabs((long long)p->row_stride);
    bool rows = (w == 1 || x >= size) && (h == 1 || y >= x * (w - 1) + size);
    bool columns = (h == 1 || y >= size) && (w == 1 || x >= y * (h - 1) + size);
    return rows || columns;
}

/* Returns whether planes of the same strides lie between each other, as channels of pixels do: all
 * samples of one have the same place in cells that follow each other without a break, or in the
 * first cells of each row. */
static bool interleave(const fb_plane *a, const fb_plane *b, uint32_t w, uint32_t h) {
    if (a->pixel_stride != b->pixel_stride || a->row_stride != b->row_stride) return false;
    const int64_t x = llabs((long long)a->pixel_stride), y = llabs((long long)a->row_stride);
    const bool rows = x < y && x;
    const int64_t cell = rows ? x : y, line = rows ? y : x, cells = rows ? w : h;
    if (!cell || !line) return false;
    const fb_plane *first = (uintptr_t)a->data < (uintptr_t)b->data ? a : b;
    const fb_plane *second = first == a ? b : a;
    const int64_t d = (int64_t)((uintptr_t)second->data - (uintptr_t)first->data) % line;
    const int64_t used = cell * (cells - 1) + (int64_t)sample_bytes(first->type);
    if (d >= used && d + used <= line) return true; /* lines between each other */
    if (line % cell != 0 && (d >= cell || cell * cells > line)) return false;
    return d % cell >= (int64_t)sample_bytes(first->type) &&
           d % cell + (int64_t)sample_bytes(second->type) <= cell;
}

static bool share_memory(const fb_plane *a, const fb_plane *b, uint32_t w, uint32_t h) {
    int64_t la, ha, lb, hb;
    if (!find_span(a, w, h, &la, &ha) || !find_span(b, w, h, &lb, &hb)) return true;
    int64_t at = (int64_t)(uintptr_t)a->data, bt = (int64_t)(uintptr_t)b->data;
    return at + la < bt + hb && bt + lb < at + ha && !interleave(a, b, w, h);
}

bool lib_planes_touch(const fb_plane *a, uint32_t m, const fb_plane *b, uint32_t n, uint32_t w,
                      uint32_t h) {
    for (uint32_t i = 0; i < m * n; i++)
        if (share_memory(&a[i / n], &b[i % n], w, h)) return true;
    return false;
}

void lib_planes_span(uintptr_t *low, uintptr_t *high, const fb_plane *p, uint32_t w, uint32_t h,
                     uint32_t channels) {
    *low = UINTPTR_MAX, *high = 0;
    for (uint32_t c = 0; c < channels; c++) {
        int64_t from, to;
        if (!find_span(&p[c], w, h, &from, &to)) continue;
        const uintptr_t at = (uintptr_t)p[c].data;
        *low = min_size(*low, at + (uintptr_t)from);
        *high = max_size(*high, at + (uintptr_t)to);
    }
}

bool lib_planes_check(const fb_plane *p, uint32_t w, uint32_t h, uint32_t channels, bool out,
                      const char *what, err *e) {
    if (!p) return err_set(e, ERR_USAGE, "%s is NULL", what);
    for (uint32_t c = 0; c < channels; c++) {
        int64_t low, high;
        if (!p[c].data) return err_set(e, ERR_USAGE, "%s: data of plane %u is NULL", what, c);
        if (!sample_bytes(p[c].type))
            return err_set(e, ERR_USAGE, "%s: plane %u has the type %d; it can be 1 to 5", what, c,
                           p[c].type);
        if (p[c].reserved)
            return err_set(e, ERR_USAGE, "%s: `reserved` of plane %u is not 0", what, c);
        if (!find_span(&p[c], w, h, &low, &high))
            return err_set(e, ERR_USAGE,
                           "%s: with strides of %lld and %lld bytes, plane %u of %u x %u pixels "
                           "fits no memory",
                           what, (long long)p[c].pixel_stride, (long long)p[c].row_stride, c, w, h);
        if (out && !lies_apart(&p[c], w, h))
            return err_set(e, ERR_USAGE,
                           "%s: with strides of %lld and %lld bytes, pixels of plane %u lie over "
                           "each other",
                           what, (long long)p[c].pixel_stride, (long long)p[c].row_stride, c);
        for (uint32_t other = 0; out && other < c; other++)
            if (share_memory(&p[c], &p[other], w, h))
                return err_set(e, ERR_USAGE, "%s: planes %u and %u lie over each other", what,
                               other, c);
    }
    return true;
}

/* --- samples ---------------------------------------------------------------------------------- */

static void copy_samples(char *to, ptrdiff_t step, const char *from, ptrdiff_t from_step,
                         uint32_t n, size_t bytes) {
    if (step == (ptrdiff_t)bytes && from_step == step)
        memcpy(to, from, n * bytes);
    else if (bytes == 2)
        for (uint32_t i = 0; i < n; i++, to += step, from += from_step) memcpy(to, from, 2);
    else if (bytes == 4)
        for (uint32_t i = 0; i < n; i++, to += step, from += from_step) memcpy(to, from, 4);
    else
        for (uint32_t i = 0; i < n; i++, to += step, from += from_step) memcpy(to, from, 8);
}

#define BYTE_MOST  255.0
#define SHORT_MOST 65535.0

static double sample(const char *from, int32_t type) {
    uint16_t half;
    float v;
    double wide;
    if (type == FB_BYTE) return *(const uint8_t *)from / BYTE_MOST;
    if (type == FB_SHORT) return (memcpy(&half, from, sizeof half), half) / SHORT_MOST;
    if (type == FB_HALF) return (double)half_to_float((memcpy(&half, from, sizeof half), half));
    if (type == FB_FLOAT) return (double)(memcpy(&v, from, sizeof v), v);
    return memcpy(&wide, from, sizeof wide), wide;
}

/* Returns false for a finite number that a half or a float cannot hold; it is cut. */
static bool put_sample(char *to, int32_t type, double v) {
    const double most = type == FB_HALF ? (double)HALF_MAX : (double)FLT_MAX;
    bool beyond = type != FB_DOUBLE && isfinite(v) && fabs(v) > most;
    float near = (float)(beyond ? copysign(most, v) : v);
    if (type == FB_HALF)
        memcpy(to, &(uint16_t){half_from_float(near)}, sizeof(uint16_t));
    else if (type == FB_FLOAT)
        memcpy(to, &near, sizeof near);
    else
        memcpy(to, &v, sizeof v);
    return !beyond;
}

/* Writes a code. The noise is just below half a step, since floats have rounded v: codes that were
 * not changed stay. Returns false for a number that is cut. */
static bool put_code(char *to, int32_t type, double v, uint64_t *noise) {
    const double most = type == FB_BYTE ? BYTE_MOST : SHORT_MOST, near = v > 0 ? fmin(v, 1) : 0;
    const double step = 0.99 * (ldexp((double)(random_next(noise) >> 11), -53) - 0.5);
    const uint16_t code = (uint16_t)clamp_float((float)rint(near * most + step), 0, (float)most);
    if (type == FB_BYTE)
        *(uint8_t *)to = (uint8_t)code;
    else
        memcpy(to, &code, sizeof code);
    return v >= 0 && v <= 1;
}

typedef struct {
    char *at;
    ptrdiff_t step;
    int32_t type;
} samples;

/* Returns how many numbers, times `scale`, did not fit. noise: where that of the row begins. */
static uint64_t convert(samples to, samples from, uint32_t n, double scale, uint64_t noise) {
    uint64_t over = 0;
    for (uint32_t i = 0; i < n; i++, to.at += to.step, from.at += from.step) {
        const double v = scale * sample(from.at, from.type);
        over += !(to.type >= FB_BYTE ? put_code(to.at, to.type, v, &noise)
                                     : put_sample(to.at, to.type, v));
    }
    return over;
}

typedef float vec4f_any __attribute__((vector_size(16), aligned(4), may_alias));

/* Brings numbers, times `scale`, which are near 1, into floats; and what these lose into `rest`,
 * which may be NULL: of infinity and NaN nothing. */
VECTOR_INLINE void split(float *to, float *rest, samples from, uint32_t n, double scale) {
    const bool packed = from.type == FB_DOUBLE && from.step == sizeof(double);
    uint32_t i = 0;
    for (const double *at = (const double *)(void *)from.at; packed && i + 4 <= n; i += 4) {
        const vec4d v = *(const vec4d_any *)(at + i) * scale;
        const vec4f near = __builtin_convertvector(v, vec4f);
        const vec4d lost = v - VECTOR_DOUBLES(near, 0);
        *(vec4f_any *)(to + i) = near;
        if (!rest) continue;
        *(vec4f_any *)(rest + i) =
            __builtin_convertvector((vec4d)((lost == lost) & (vec4l)lost), vec4f);
    }
    for (; i < n; i++) {
        const double v = scale * sample(from.at + (ptrdiff_t)i * from.step, from.type);
        const double lost = v - (double)(to[i] = (float)v);
        if (rest) rest[i] = lost == lost ? (float)lost : 0;
    }
}
VECTOR_WIDE static void split_wide(float *to, float *rest, samples from, uint32_t n, double scale) {
    split(to, rest, from, n, scale);
}
static void split_plain(float *to, float *rest, samples from, uint32_t n, double scale) {
    split(to, rest, from, n, scale);
}

enum { STRIP = 16 };

static bool copy_strip(void *ctx, size_t index, int worker, err *e) {
    lib_rows *r = ctx;
    uint32_t y = (uint32_t)index * STRIP, end = min_u32(y + STRIP, r->rows);
    for (; y < end; y++)
        for (uint32_t c = 0; c < r->channels; c++) {
            const fb_plane *p = &r->plane[r->index ? r->index[c] : c];
            if (!r->own[c]) continue;
            const size_t bytes = sample_bytes(r->type[c]);
            const samples own = {(char *)r->own[c] + (size_t)y * r->w * bytes, (ptrdiff_t)bytes,
                                 r->type[c]},
                          theirs = {(char *)p->data + (ptrdiff_t)(r->row + y) * p->row_stride,
                                    p->pixel_stride, p->type},
                          to = r->out ? theirs : own, from = r->out ? own : theirs;
            const int by = r->exponent ? r->exponent[c] : 0;
            if (own.at == theirs.at) continue; /* made where it belongs */
            if (own.type == theirs.type && !by && !r->rest)
                copy_samples(to.at, to.step, from.at, from.step, r->w, bytes);
            else if (r->rest || (from.type == FB_DOUBLE && own.type == FB_FLOAT && r->exponent))
                (vector_wide() ? split_wide : split_plain)(
                    (float *)(void *)own.at, r->rest ? r->rest[c] + (size_t)y * r->w : NULL, from,
                    r->w, ldexp(1, -by));
            else
                atomic_fetch_add(&r->over, convert(to, from, r->w, ldexp(1, r->out ? by : -by),
                                                   (uint64_t)(r->row + y) << 32 | c << 8));
        }
    return true;
}

typedef struct {
    double *most;
    const fb_plane *plane;
    uint32_t w, h;
} measuring;

/* Returns the largest finite magnitude of a row of doubles, and of `most`. */
VECTOR_INLINE double measure(double most, samples row, uint32_t n) {
    const bool packed = row.step == sizeof(double);
    vec4d total = {most, most, most, most};
    uint32_t i = 0;
    for (const double *at = (const double *)(void *)row.at; packed && i + 4 <= n; i += 4) {
        const vec4d v = (vec4d)((vec4l) * (const vec4d_any *)(at + i) & INT64_MAX);
        total = VECTOR_PICK4((v > total) & (v <= DBL_MAX), v, total);
    }
    for (; i < n; i++) {
        const double v = fabs(sample(row.at + (ptrdiff_t)i * row.step, FB_DOUBLE));
        if (v > total[0] && isfinite(v)) total[0] = v;
    }
    return fmax(fmax(total[0], total[1]), fmax(total[2], total[3]));
}

VECTOR_WIDE static double measure_wide(double most, samples row, uint32_t n) {
    return measure(most, row, n);
}
static double measure_plain(double most, samples row, uint32_t n) {
    return measure(most, row, n);
}

static bool measure_plane(void *ctx, size_t index, int worker, err *e) {
    const measuring *m = ctx;
    const fb_plane *p = &m->plane[index];
    double most = 0;
    for (uint32_t y = 0; p->type == FB_DOUBLE && y < m->h; y++) {
        const samples row = {(char *)p->data + (ptrdiff_t)y * p->row_stride, p->pixel_stride,
                             FB_DOUBLE};
        most = (vector_wide() ? measure_wide : measure_plain)(most, row, m->w);
    }
    m->most[index] = most;
    return true;
}

bool lib_planes_most(double most[], const fb_plane *p, uint32_t w, uint32_t h, uint32_t channels,
                     par *threads, err *e) {
    return par_for(threads, channels, measure_plane, &(measuring){most, p, w, h}, e);
}

bool lib_rows_copy(lib_rows *r, par *threads, err *e) {
    return par_for(threads, ceil_div_u32(r->rows, STRIP), copy_strip, r, e);
}
