#include "bloom/sketch.h"

#include "base/mem.h"
#include "math/vector.h"

#include <math.h>

/* As fine as a kernel of a few blocks needs it, and no finer than a million products allow: less
 * than a millisecond. */
enum { FINEST = 8 };
static const double WORK = 1e6;

static uint32_t blocks(uint32_t n, uint32_t side) {
    return (n + side - 1) / side;
}

static uint32_t choose_block(const spread *s) {
    uint32_t side = FINEST;
    for (; side < SCAN_BLOCK; side *= 2) {
        double cells = (double)blocks(s->w, side) * blocks(s->h, side);
        double taps = (2.0 + (double)s->kw / side) * (2.0 + (double)s->kh / side);
        if (cells * taps <= WORK) break;
    }
    return side;
}

/* Blocks before and after its own that a block's light reaches. */
static uint32_t reach(uint32_t taps, uint32_t side) {
    return blocks(taps + side - 1, side);
}

bool sketch_kernel_make(sketch_kernel *out, const spread *s, err *e) {
    sketch_kernel k = {.s = s, .block = choose_block(s)};
    k.cx = reach(s->cx, k.block), k.cy = reach(s->cy, k.block);
    k.w = k.cx + 1 + reach(s->kw - 1 - s->cx, k.block);
    k.h = k.cy + 1 + reach(s->kh - 1 - s->cy, k.block);
    k.tap = mem_new((size_t)k.w * k.h * s->kernels, sizeof *k.tap, "sketch of the kernel", e);
    if (!k.tap) return false;
    double side = k.block;
    for (uint32_t c = 0; c < s->kernels; c++)
        for (uint32_t y = 0; y < s->kh; y++)
            for (uint32_t x = 0; x < s->kw; x++) {
                /* A block moved by (dx, dy) covers parts of four: tents in x and in y. */
                double dx = ((double)x - s->cx) / side + k.cx,
                       dy = ((double)y - s->cy) / side + k.cy;
                uint32_t bx = (uint32_t)dx, by = (uint32_t)dy;
                double fx = dx - bx, fy = dy - by;
                double v = s->scale[c] * (double)s->tap[((size_t)c * s->kh + y) * s->kw + x] /
                           (side * side);
                double *to = k.tap + ((size_t)c * k.h + by) * k.w + bx;
                to[0] += v * (1 - fx) * (1 - fy);
                if (fx > 0) to[1] += v * fx * (1 - fy);
                if (fy > 0) to[k.w] += v * (1 - fx) * fy;
                if (fx > 0 && fy > 0) to[k.w + 1] += v * fx * fy;
            }
    *out = k;
    return true;
}

void sketch_kernel_free(sketch_kernel *k) {
    mem_free(k->tap);
    *k = (sketch_kernel){0};
}

/* --- one channel ----------------------------------------------------------------------------- */

typedef struct {
    const sketch_kernel *k;
    const double *tap;
    const scan_channel *in;
    uint32_t gw, gh; /* of the image */
    uint32_t w, h;   /* of the result: gw + k->w - 1, gh + k->h - 1 */
    double *glare;   /* means of blocks */
} job;

typedef double vec4d_any __attribute__((vector_size(32), aligned(8), may_alias));

VECTOR_INLINE void add_scaled(double *to, const double *tap, double by, uint32_t n) {
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) *(vec4d_any *)(to + i) += by * *(const vec4d_any *)(tap + i);
    for (; i < n; i++) to[i] += by * tap[i];
}

VECTOR_INLINE void add_row(const job *j, size_t y) {
    double *to = j->glare + y * j->w;
    uint32_t from = y + 1 > j->k->h ? (uint32_t)y + 1 - j->k->h : 0;
    for (uint32_t b = from; b < j->gh && b <= y; b++) {
        const double *tap = j->tap + (y - b) * j->k->w;
        for (uint32_t x = 0; x < j->gw; x++) {
            double light = j->in->block_sum[(size_t)b * j->gw + x];
            if (light != 0) add_scaled(to + x, tap, light, j->k->w);
        }
    }
}
VECTOR_WIDE static void add_row_wide(const job *j, size_t y) {
    add_row(j, y);
}
static void add_row_plain(const job *j, size_t y) {
    add_row(j, y);
}

static bool glare_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    (vector_wide() ? add_row_wide : add_row_plain)(ctx, y);
    return true;
}

/* Mean glare of the image's block (x, y), which may be outside: then the nearest one. */
static double mean_glare(const job *j, int64_t x, int64_t y) {
    x = x < 0 ? 0 : x >= j->gw ? j->gw - 1 : x;
    y = y < 0 ? 0 : y >= j->gh ? j->gh - 1 : y;
    return j->glare[((size_t)y + j->k->cy) * j->w + (size_t)x + j->k->cx];
}

/* Glare varies inside a block: no less than half the least of the blocks around it. */
static double darkest_of(const job *j, uint32_t channel, uint32_t x, uint32_t y) {
    double least = INFINITY;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            least = fmin(least, mean_glare(j, (int64_t)x + dx, (int64_t)y + dy));
    double centre = j->k->s->centre[spread_kernel(j->k->s, channel)];
    return centre * (double)j->in->block_least[(size_t)y * j->gw + x] + least / 2;
}

static void look(sketch *to, const job *j, uint32_t channel) {
    double area = (double)j->k->block * j->k->block, all = 0, inside = 0;
    *to = (sketch){.darkest = INFINITY};
    for (size_t i = 0; i < (size_t)j->w * j->h; i++) all += j->glare[i] * j->glare[i] * area;
    for (uint32_t y = 0; y < j->gh; y++)
        for (uint32_t x = 0; x < j->gw; x++) {
            double g = mean_glare(j, x, y);
            inside += g * g * area;
            to->peak = fmax(to->peak, fabs(g));
            to->darkest = fmin(to->darkest, darkest_of(j, channel, x, y));
        }
    to->darkest = fmax(0, to->darkest);
    to->norm = sqrt(all);
    to->outside = sqrt(fmax(0, all - inside));
}

bool sketch_make(sketch *to, const sketch_kernel *k, const scan *scanned, uint32_t channel,
                 par *threads, err *e) {
    job j = {.k = k,
             .tap = k->tap + (size_t)spread_kernel(k->s, channel) * k->w * k->h,
             .in = &scanned->channel[channel],
             .gw = scanned->grid_w,
             .gh = scanned->grid_h};
    j.w = j.gw + k->w - 1;
    j.h = j.gh + k->h - 1;
    j.glare = mem_new((size_t)j.w * j.h, sizeof *j.glare, "sketch of the glare", e);
    bool ok = j.glare && par_for(threads, j.h, glare_row, &j, e);
    if (ok) look(to, &j, channel);
    mem_free(j.glare);
    return ok;
}
