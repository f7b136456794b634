#include "bloom/promise/sketch.h"

#include "base/mem.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

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
    size_t cells = (size_t)k.w * k.h;
    k.tap = mem_new(2 * cells * s->kernels, sizeof *k.tap, "sketch of the kernel", e);
    if (!k.tap) return false;
    k.most = k.tap + cells * s->kernels;
    double side = k.block;
    for (uint32_t c = 0; c < s->kernels; c++)
        for (uint32_t y = 0; y < s->kh; y++)
            for (uint32_t x = 0; x < s->kw; x++) {
                /* A block moved by (dx, dy) covers parts of four: tents in x and in y. */
                double dx = ((double)x - s->cx) / side + k.cx,
                       dy = ((double)y - s->cy) / side + k.cy;
                uint32_t bx = (uint32_t)dx, by = (uint32_t)dy;
                double fx = dx - bx, fy = dy - by;
                double tap = s->scale[c] * (double)s->tap[((size_t)c * s->kh + y) * s->pitch + x];
                for (uint32_t i = 0; i < 4; i++) {
                    double part = (i % 2 ? fx : 1 - fx) * (i / 2 ? fy : 1 - fy);
                    size_t to = c * cells + (by + i / 2) * (size_t)k.w + bx + i % 2;
                    if (!(part > 0)) continue;
                    k.tap[to] += tap / (side * side) * part;
                    k.most[to] = fmax(k.most[to], tap);
                }
            }
    *out = k;
    return true;
}

void sketch_kernel_free(sketch_kernel *k) {
    mem_free(k->tap);
    *k = (sketch_kernel){0};
}

/* --- one channel ----------------------------------------------------------------------------- */

enum { LANES = 8 };

typedef struct {
    const sketch_kernel *k;
    const double *tap, *most;
    const scan_channel *in;
    uint32_t gw, gh;         /* of the image */
    uint32_t whole[2];       /* columns and rows of its blocks that are all image */
    uint32_t w, h;           /* of the result: gw + k->w - 1, gh + k->h - 1; its rows in whole */
    double *light;           /* lanes, and the image's blocks, so much darkness beside each row; */
    double *glare, *highest; /* means of blocks; a bound, of blocks that have pixels outside */
    size_t light_pitch, pitch;
} job;

static void fill(const job *j) {
    for (uint32_t y = 0; y < j->gh; y++)
        memcpy(j->light + y * j->light_pitch + LANES, j->in->block_sum + (size_t)y * j->gw,
               j->gw * sizeof *j->light);
}

/* LANES blocks of the glare, from all blocks whose light reaches them. */
VECTOR_INLINE void make_glare(const job *j, const double *taps, double *glare, uint32_t x,
                              uint32_t y) {
    const sketch_kernel *k = j->k;
    uint32_t first = y + 1 > k->h ? y + 1 - k->h : 0, last = y < j->gh ? y : j->gh - 1;
    uint32_t from = x >= j->gw ? x - j->gw + 1 : 0;
    uint32_t to = x + LANES < k->w ? x + LANES : k->w;
    vec4d a = {0}, b = {0};
    for (uint32_t from_y = first; from_y <= last; from_y++) {
        const double *tap = taps + (size_t)(y - from_y) * k->w;
        const double *light = j->light + from_y * j->light_pitch + LANES + x;
        for (uint32_t i = from; i < to; i++) {
            a += tap[i] * *(const vec4d_any *)(light - i);
            b += tap[i] * *(const vec4d_any *)(light - i + 4);
        }
    }
    *(vec4d_any *)(glare + y * j->pitch + x) = a;
    *(vec4d_any *)(glare + y * j->pitch + x + 4) = b;
}

/* Where a block lies beside the image: 0 before it, 1 in it, 2 behind it. */
static uint32_t side_of(const job *j, int axis, uint32_t i) {
    uint32_t first = axis == PLAN_X ? j->k->cx : j->k->cy;
    return i < first ? 0 : i < first + j->whole[axis] ? 1 : 2;
}

VECTOR_INLINE void make_all(const job *j) {
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x += LANES) {
            bool inside = side_of(j, PLAN_Y, y) == 1 && side_of(j, PLAN_X, x) == 1 &&
                          side_of(j, PLAN_X, x + LANES - 1) == 1;
            make_glare(j, j->tap, j->glare, x, y);
            if (!inside) make_glare(j, j->most, j->highest, x, y);
        }
}
VECTOR_WIDE static void make_all_wide(const job *j) {
    make_all(j);
}
static void make_all_plain(const job *j) {
    make_all(j);
}

/* Mean glare of the image's block (x, y), which may be outside: then the nearest one. */
static double mean_glare(const job *j, int64_t x, int64_t y) {
    x = x < 0 ? 0 : x >= j->gw ? j->gw - 1 : x;
    y = y < 0 ? 0 : y >= j->gh ? j->gh - 1 : y;
    return j->glare[((size_t)y + j->k->cy) * j->pitch + (size_t)x + j->k->cx];
}

/* Glare varies inside a block: no less than half the least of the blocks around it. */
static double darkest_of(const job *j, double centre, uint32_t x, uint32_t y) {
    double least = INFINITY;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            double g = mean_glare(j, (int64_t)x + dx, (int64_t)y + dy);
            least = g < least ? g : least;
        }
    return centre * (double)j->in->block_least[(size_t)y * j->gw + x] + least / 2;
}

/* What leaves the image on one side meets, on the circle, what leaves it on the other:
 * docs/math.md, "What is known of e before it is made". */
static double peak_outside(const job *j) {
    double most[3][3] = {{0}};
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x++) {
            double *m = &most[side_of(j, PLAN_Y, y)][side_of(j, PLAN_X, x)];
            if (m != &most[1][1]) *m = fmax(*m, j->highest[y * j->pitch + x]);
        }
    return fmax(fmax(most[1][0] + most[1][2], most[0][1] + most[2][1]),
                most[0][0] + most[0][2] + most[2][0] + most[2][2]);
}

static void look(sketch *to, const job *j, double centre) {
    double area = (double)j->k->block * j->k->block, all = 0, inside = 0;
    *to = (sketch){.darkest = INFINITY};
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x++) {
            double g = j->glare[y * j->pitch + x];
            all += g * g * area;
        }
    for (uint32_t y = 0; y < j->gh; y++)
        for (uint32_t x = 0; x < j->gw; x++) {
            double g = mean_glare(j, x, y), dark = darkest_of(j, centre, x, y);
            inside += g * g * area;
            to->peak = fabs(g) > to->peak ? fabs(g) : to->peak;
            to->darkest = dark < to->darkest ? dark : to->darkest;
        }
    to->darkest = fmax(0, to->darkest);
    to->norm = sqrt(all);
    to->outside = sqrt(fmax(0, all - inside));
    to->peak_outside = peak_outside(j);
}

bool sketch_make(sketch *to, const sketch_kernel *k, const scan *scanned, uint32_t channel,
                 err *e) {
    uint32_t kernel = spread_kernel(k->s, channel);
    job j = {.k = k,
             .tap = k->tap + (size_t)kernel * k->w * k->h,
             .most = k->most + (size_t)kernel * k->w * k->h,
             .in = &scanned->channel[channel],
             .gw = scanned->grid_w,
             .gh = scanned->grid_h,
             .whole = {k->s->w / k->block, k->s->h / k->block}};
    j.w = j.gw + k->w - 1;
    j.h = j.gh + k->h - 1;
    j.light_pitch = (size_t)j.gw + 3 * LANES;
    j.pitch = ((size_t)j.w + LANES - 1) / LANES * LANES;
    size_t lit = j.light_pitch * j.gh;
    j.light = mem_new(lit + 2 * j.pitch * j.h, sizeof *j.light, "sketch of the glare", e);
    if (!j.light) return false;
    j.glare = j.light + lit;
    j.highest = j.glare + j.pitch * j.h;
    fill(&j);
    (vector_wide() ? make_all_wide : make_all_plain)(&j);
    look(to, &j, k->s->centre[kernel]);
    mem_free(j.light);
    return true;
}
