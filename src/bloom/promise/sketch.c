/* docs/math.md, "What is known of e before it is made". */
#include "bloom/promise/sketch.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

/* --- kernels --------------------------------------------------------------------------------- */

/* As fine as a kernel of a few blocks needs it, and no finer than a million products allow: less
 * than a millisecond. */
enum { FINEST = 8 };
static const double WORK = 1e6;

/* Blocks before or after its own that a block's light reaches. */
static uint32_t reach(uint32_t taps, uint32_t side) {
    return ceil_div_u32(taps + side - 1, side);
}

/* A block moved by this tap covers parts of four: tents in x and in y. */
static void add_tap(sketch_kernel *k, uint32_t c, uint32_t x, uint32_t y) {
    const kernel_tail *t = k->tail;
    double side = k->block, x_off = (double)x - t->cx, y_off = (double)y - t->cy;
    double dx = x_off / side + k->cx, dy = y_off / side + k->cy;
    uint32_t bx = (uint32_t)dx, by = (uint32_t)dy;
    double fx = dx - bx, fy = dy - by, from_centre = fmax(fabs(x_off), fabs(y_off));
    double tap = t->scale[c] * (double)t->tap[((size_t)c * t->kh + y) * t->pitch + x];
    for (uint32_t i = 0; i < 4; i++) {
        double part = (i % 2 ? fx : 1 - fx) * (i / 2 ? fy : 1 - fy);
        uint32_t to_x = bx + i % 2, to_y = by + i / 2;
        size_t to = ((size_t)c * k->h + to_y) * k->w + to_x;
        if (!(part > 0)) continue;
        k->mean[to] += tap / (side * side) * part;
        uint32_t near_x = to_x + 1 - k->cx, near_y = to_y + 1 - k->cy; /* wrap below 0 */
        if (near_x >= 3 || near_y >= 3) {
            k->most[to] = max_double(tap, k->most[to]);
            continue;
        }
        for (uint32_t r = 0; r < CORES && (!r || from_centre > CORE_RADII[r]); r++) {
            double *near = &k->near[c][r][3 * near_y + near_x];
            *near = max_double(tap, *near);
        }
    }
}

bool sketch_kernel_make(sketch_kernel *out, const kernel_tail *tail, err *e) {
    sketch_kernel k = {.tail = tail, .block = FINEST};
    for (; k.block < SCAN_BLOCK; k.block *= 2) {
        double cells = (double)ceil_div_u32(tail->w, k.block) * ceil_div_u32(tail->h, k.block);
        if (cells * (2.0 + (double)tail->kw / k.block) * (2.0 + (double)tail->kh / k.block) <= WORK)
            break;
    }
    k.cx = reach(tail->cx, k.block), k.cy = reach(tail->cy, k.block);
    k.w = k.cx + 1 + reach(tail->kw - 1 - tail->cx, k.block);
    k.h = k.cy + 1 + reach(tail->kh - 1 - tail->cy, k.block);
    size_t cells = (size_t)k.w * k.h;
    k.mean = mem_new(2 * cells * tail->kernels, sizeof *k.mean, "sketch of the kernel", e);
    k.near = mem_new(tail->kernels, sizeof *k.near, "sketch of the kernel", e);
    if (!k.mean || !k.near) {
        sketch_kernel_free(&k);
        return false;
    }
    k.most = k.mean + cells * tail->kernels;
    for (uint32_t c = 0; c < tail->kernels; c++)
        for (uint32_t y = 0; y < tail->kh; y++)
            for (uint32_t x = 0; x < tail->kw; x++) add_tap(&k, c, x, y);
    *out = k;
    return true;
}

void sketch_kernel_free(sketch_kernel *k) {
    mem_free(k->mean);
    mem_free(k->near);
    *k = (sketch_kernel){0};
}

/* --- one channel ----------------------------------------------------------------------------- */

enum { LANES = 8 };

typedef struct {
    const sketch_kernel *k;
    uint32_t kernel; /* of the channel */
    bool close;
    const scan_channel *in;
    uint32_t gw, gh;   /* of the image, in blocks */
    uint32_t whole[2]; /* columns and rows of its blocks that are all image */
    uint32_t w, h;     /* of the glare: gw + k->w - 1, gh + k->h - 1 */
    double *light;     /* the image's blocks, with LANES or more zeros beside each row */
    double *glare;     /* means of blocks */
    double *most;      /* bounds, without what is near; not close: of blocks with pixels
                          outside */
    size_t light_pitch, pitch;
} job;

/* LANES blocks of the glare, from all blocks whose light reaches them. */
VECTOR_INLINE void make_lanes(const job *j, const double *taps, double *glare, uint32_t x,
                              uint32_t y) {
    const sketch_kernel *k = j->k;
    uint32_t first = y + 1 > k->h ? y + 1 - k->h : 0, last = y < j->gh ? y : j->gh - 1;
    uint32_t from = x >= j->gw ? x - j->gw + 1 : 0;
    uint32_t to = x + LANES < k->w ? x + LANES : k->w;
    vec4d a = {0}, b = {0};
    taps += (size_t)j->kernel * k->w * k->h;
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

VECTOR_INLINE void make_glare(const job *j) {
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x += LANES) {
            bool inside = side_of(j, PLAN_Y, y) == 1 && side_of(j, PLAN_X, x) == 1 &&
                          side_of(j, PLAN_X, x + LANES - 1) == 1;
            make_lanes(j, j->k->mean, j->glare, x, y);
            if (j->close || !inside) make_lanes(j, j->k->most, j->most, x, y);
        }
}
VECTOR_WIDE static void make_glare_wide(const job *j) {
    make_glare(j);
}
static void make_glare_plain(const job *j) {
    make_glare(j);
}

/* Returns the mean glare of the image's block (x, y), or of the one that is nearest to it. */
static double mean_glare(const job *j, int64_t x, int64_t y) {
    size_t in_x = (size_t)clamp_i64(x, 0, (int64_t)j->gw - 1),
           in_y = (size_t)clamp_i64(y, 0, (int64_t)j->gh - 1);
    return j->glare[(in_y + j->k->cy) * j->pitch + in_x + j->k->cx];
}

/* Returns a bound on block (x, y), together with what comes from the blocks beside it. */
static double bound_of(const job *j, const double near[9], uint32_t x, uint32_t y) {
    double most = j->most[y * j->pitch + x];
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t from_x = x + 1 - j->k->cx - i % 3, from_y = y + 1 - j->k->cy - i / 3;
        if (from_x >= j->gw || from_y >= j->gh) continue; /* also where they wrap below 0 */
        most += near[i] * j->light[from_y * j->light_pitch + LANES + from_x];
    }
    return most;
}

/* Bounds the glare of a kernel without its core. On the circle, light that leaves the image on one
 * side meets light that leaves it on the other. */
static sketch_bound bound_without(const job *j, uint32_t core) {
    double most[3][3] = {{0}};
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x++) {
            double *m = &most[side_of(j, PLAN_Y, y)][side_of(j, PLAN_X, x)];
            if (j->close || m != &most[1][1])
                *m = max_double(bound_of(j, j->k->near[j->kernel][core], x, y), *m);
        }
    return (sketch_bound){.inside = j->close ? most[1][1] : INFINITY,
                          .outside = fmax(fmax(most[1][0] + most[1][2], most[0][1] + most[2][1]),
                                          most[0][0] + most[0][2] + most[2][0] + most[2][2])};
}

static void look(sketch *to, const job *j, double centre) {
    double area = (double)j->k->block * j->k->block, all = 0, inside = 0;
    *to = (sketch){.darkest = INFINITY};
    for (uint32_t i = 0; i < CORES; i++) to->most[i] = bound_without(j, i);
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x++) {
            double g = j->glare[y * j->pitch + x];
            all += g * g * area;
        }
    for (uint32_t y = 0; y < j->gh; y++)
        for (uint32_t x = 0; x < j->gw; x++) {
            double g = mean_glare(j, x, y), least = INFINITY;
            inside += g * g * area;
            to->peak = max_double(fabs(g), to->peak);
            /* Glare varies inside a block: the estimate is half the minimum of the blocks around
             * it. */
            for (int i = 0; i < 9; i++)
                least = min_double(mean_glare(j, (int64_t)x + i % 3 - 1, (int64_t)y + i / 3 - 1),
                                   least);
            double own = centre * (double)j->in->block_least[(size_t)y * j->gw + x];
            to->darkest = min_double(own + least / 2, to->darkest);
        }
    to->darkest = fmax(0, to->darkest);
    to->norm = sqrt(all);
    to->outside = sqrt(fmax(0, all - inside));
}

bool sketch_make(sketch *to, const sketch_kernel *k, const scan *scanned, uint32_t channel,
                 bool close, err *e) {
    job j = {.k = k,
             .kernel = tail_kernel(k->tail, channel),
             .close = close,
             .in = &scanned->channel[channel],
             .gw = scanned->grid_w,
             .gh = scanned->grid_h,
             .whole = {k->tail->w / k->block, k->tail->h / k->block}};
    j.w = j.gw + k->w - 1;
    j.h = j.gh + k->h - 1;
    j.light_pitch = (size_t)j.gw + 3 * LANES;
    j.pitch = ceil_div_size(j.w, LANES) * LANES;
    size_t lit = j.light_pitch * j.gh, made = j.pitch * j.h;
    j.light = mem_new(lit + 2 * made, sizeof *j.light, "sketch of the glare", e);
    if (!j.light) return false;
    j.glare = j.light + lit;
    j.most = j.glare + made;
    for (uint32_t y = 0; y < j.gh; y++)
        memcpy(j.light + y * j.light_pitch + LANES, j.in->block_sum + (size_t)y * j.gw,
               j.gw * sizeof *j.light);
    (vector_wide() ? make_glare_wide : make_glare_plain)(&j);
    look(to, &j, k->tail->centre[j.kernel]);
    mem_free(j.light);
    return true;
}
