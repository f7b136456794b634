/* docs/math.md, "What is known of e before it is made". */
#include "bloom/promise/sketch.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- kernels --------------------------------------------------------------------------------- */

/* As fine as a kernel of a few blocks needs it, and no finer than a million products allow: less
 * than a millisecond. No cell is smaller than the radius of a core. */
enum { FINEST = 8 };
static const double WORK = 1e6;

/* Blocks before or after its own that a block's light reaches. */
static uint32_t reach(uint32_t taps, uint32_t side) {
    return ceil_div_u32(taps + side - 1, side);
}

/* What the taps of a column (row) lead to, on a grid: a block moved by them covers parts of two, as
 * two tents. */
typedef struct {
    int32_t at; /* the first of the two blocks, from the one where the light comes from */
    double part[2];
} tents;

/* A column (row) of a kernel's taps. */
typedef struct {
    uint32_t cores; /* number of cores that do not hold it: the smallest ones */
    bool near;      /* its cells may be among those that are looked at closely */
    tents block, cell;
} tap_line;

static tents tents_of(double off, double side) {
    double d = off / side, low = floor(d), f = d - low;
    return (tents){(int32_t)low, {1 - f, f}};
}

/* Fills the lines of an axis. */
static void find_lines(tap_line *to, const sketch_kernel *k, uint32_t taps, uint32_t centre) {
    for (uint32_t i = 0; i < taps; i++) {
        double off = (double)i - centre;
        to[i] = (tap_line){1, false, tents_of(off, k->block),
                           tents_of(off, (double)k->block / k->cells)};
        while (to[i].cores < CORES && fabs(off) > CORE_RADII[to[i].cores]) to[i].cores++;
        to[i].near = abs(to[i].cell.at) <= SKETCH_NEAR / 2 + 1;
    }
}

/* Returns where (x, y) is in a table of side * side around the origin, or -1. */
static int32_t place_of(int32_t x, int32_t y, int32_t side) {
    x += side / 2;
    y += side / 2;
    return x < 0 || y < 0 || x >= side || y >= side ? -1 : y * side + x;
}

static void raise(double *to, double v) {
    *to = max_double(v, *to);
}

/* Enters a tap, from column x and row y, into the cells of kernel c. */
static void add_to_cells(sketch_kernel *k, uint32_t c, const tap_line *x, const tap_line *y,
                         double tap) {
    uint32_t cores = max_u32(x->cores, y->cores);
    for (int i = 0; i < 4; i++) {
        int32_t at_x = x->cell.at + i % 2, at_y = y->cell.at + i / 2;
        int32_t near = place_of(at_x, at_y, 3);
        int32_t cell = place_of(-at_x, -at_y, SKETCH_NEAR); /* rows are turned round */
        if (!(x->cell.part[i % 2] * y->cell.part[i / 2] > 0) || cell < 0) continue;
        if (near < 0) {
            raise(&k->near[c].cell[cell], tap);
            raise(&k->near[c].beside, tap);
        }
        for (uint32_t r = 0; near >= 0 && r < cores; r++) raise(&k->near[c].centre[near][r], tap);
    }
}

/* Enters a tap into the blocks. */
static void add_to_blocks(sketch_kernel *k, uint32_t c, const tap_line *x, const tap_line *y,
                          double tap) {
    bool core = max_u32(x->cores, y->cores) < CORES; /* the largest one holds it */
    double light = tap / ((double)k->block * k->block);
    for (int i = 0; i < 4; i++) {
        int32_t at_x = x->block.at + i % 2, at_y = y->block.at + i / 2;
        double part = x->block.part[i % 2] * y->block.part[i / 2];
        size_t at = ((size_t)c * k->h + (size_t)(at_y + (int32_t)k->cy)) * k->w +
                    (size_t)(at_x + (int32_t)k->cx);
        int32_t near = place_of(at_x, at_y, 3);
        if (!(part > 0)) continue;
        k->mean[at] += light * part;
        if (near >= 0 && core) k->near[c].core[near] += light * part;
        raise(near < 0 ? &k->most[at] : &k->near[c].most[near], tap);
    }
}

static void add_taps(sketch_kernel *k, uint32_t c, const tap_line *column, const tap_line *row) {
    const kernel_tail *t = k->tail;
    double top[CORES + 1] = {0}; /* top[n]: the largest tap that the n smallest cores do not hold */
    for (uint32_t y = 0; y < t->kh; y++)
        for (uint32_t x = 0; x < t->kw; x++) {
            double tap = t->scale[c] * (double)t->tap[((size_t)c * t->kh + y) * t->pitch + x];
            raise(&top[max_u32(column[x].cores, row[y].cores)], tap);
            add_to_blocks(k, c, &column[x], &row[y], tap);
            if (column[x].near && row[y].near) add_to_cells(k, c, &column[x], &row[y], tap);
        }
    for (uint32_t r = CORES; r-- > 0;) {
        raise(&top[r], top[r + 1]);
        k->near[c].peak[r] = top[r + 1];
    }
}

bool sketch_kernel_open(sketch_kernel *out, const kernel_tail *tail, err *e) {
    sketch_kernel k = {.tail = tail, .block = FINEST};
    for (; k.block < SCAN_BLOCK; k.block *= 2) {
        double cells = (double)ceil_div_u32(tail->w, k.block) * ceil_div_u32(tail->h, k.block);
        if (cells * (2.0 + (double)tail->kw / k.block) * (2.0 + (double)tail->kh / k.block) <= WORK)
            break;
    }
    k.cells = min_u32(SKETCH_CELLS, k.block / FINEST);
    k.cx = reach(tail->cx, k.block), k.cy = reach(tail->cy, k.block);
    k.w = k.cx + 1 + reach(tail->kw - 1 - tail->cx, k.block);
    k.h = k.cy + 1 + reach(tail->kh - 1 - tail->cy, k.block);
    size_t cells = (size_t)k.w * k.h;
    k.mean = mem_new(2 * cells * tail->kernels, sizeof *k.mean, "sketch of the kernel", e);
    k.near = mem_new(tail->kernels, sizeof *k.near, "sketch of the kernel", e);
    bool ok = k.mean && k.near;
    if (ok)
        k.most = k.mean + cells * tail->kernels;
    else
        sketch_kernel_free(&k);
    *out = k;
    return ok;
}

bool sketch_kernel_fill(sketch_kernel *k, uint32_t c, err *e) {
    const kernel_tail *tail = k->tail;
    tap_line *column =
        mem_raw((size_t)tail->kw + tail->kh, sizeof *column, "sketch of the kernel", e);
    if (!column) return false;
    tap_line *row = column + tail->kw;
    find_lines(column, k, tail->kw, tail->cx);
    find_lines(row, k, tail->kh, tail->cy);
    add_taps(k, c, column, row);
    mem_free(column);
    return true;
}

void sketch_kernel_free(sketch_kernel *k) {
    mem_free(k->mean);
    mem_free(k->near);
    *k = (sketch_kernel){0};
}

/* --- one channel ----------------------------------------------------------------------------- */

enum { LANES = 8 };

/* Where the glare lies along an axis: before the image, in it, behind it. */
enum { BEFORE, INSIDE, BEHIND, ZONES };

typedef struct {
    const sketch_kernel *k;
    uint32_t kernel; /* of the channel */
    bool close;
    uint32_t cells; /* along a block's side, in a close look */
    const scan_channel *in;
    uint32_t kept[2][2];  /* the first and the last block along each axis that count */
    uint32_t gw, gh;      /* of the image, in blocks */
    uint32_t image[2][2]; /* along each axis: the glare's first cell that is all image, and the
                             first after these that is not */
    uint32_t w, h;        /* of the glare: gw + k->w - 1, gh + k->h - 1 */
    double *light;        /* the image's blocks, with LANES or more zeros beside each row */
    double *glare;        /* means of blocks */
    double *most; /* bounds, without what is near; no close look: of blocks with pixels outside */
    /* The largest bounds, SKETCH_CORES numbers each: of the image; of each column of blocks beside
     * it, for cells before, in and behind it; of each row of blocks above it and below. */
    double *largest;
    size_t light_pitch, pitch;
    float *least; /* of the image's blocks, gw * gh */
    /* Of the image's blocks and one more on each side, (gw + 2) * (gh + 2): the mean glare without
     * what the largest core makes. */
    double *far;
    /* The light of cells, and two blocks of zeros around it. */
    double *cell;
    size_t cell_pitch;
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

/* Returns the zone of cell i of the glare. */
VECTOR_INLINE uint32_t zone_of(const job *j, int axis, uint32_t i) {
    return (i >= j->image[axis][0]) + (i >= j->image[axis][1]);
}

/* Returns where the largest bounds are that cell (x, y) of the glare counts for, in this block. */
VECTOR_INLINE vec4d_any *largest_at(const job *j, uint32_t x, uint32_t y, uint32_t block_x,
                                    uint32_t block_y) {
    uint32_t zone_x = zone_of(j, PLAN_X, x), zone_y = zone_of(j, PLAN_Y, y), at = 0;
    if (zone_x != INSIDE)
        at = 1 + zone_y * j->w + block_x;
    else if (zone_y != INSIDE)
        at = 1 + ZONES * j->w + block_y;
    return (vec4d_any *)(j->largest + (size_t)at * SKETCH_CORES);
}

/* Returns whether all cells of `blocks` blocks from (x, y) on are image. */
VECTOR_INLINE bool is_image(const job *j, uint32_t x, uint32_t y, uint32_t blocks) {
    uint32_t n = j->cells, right = (x + blocks) * n - 1, low = (y + 1) * n - 1;
    return zone_of(j, PLAN_X, x * n) == INSIDE && zone_of(j, PLAN_X, right) == INSIDE &&
           zone_of(j, PLAN_Y, y * n) == INSIDE && zone_of(j, PLAN_Y, low) == INSIDE;
}

VECTOR_INLINE void make_glare(const job *j) {
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x += LANES) {
            make_lanes(j, j->k->mean, j->glare, x, y);
            if (j->close || !is_image(j, x, y, LANES)) make_lanes(j, j->k->most, j->most, x, y);
        }
}
VECTOR_WIDE static void make_glare_wide(const job *j) {
    make_glare(j);
}
static void make_glare_plain(const job *j) {
    make_glare(j);
}

/* Returns what the 3 x 3 blocks around block (x, y) of the glare send there. */
VECTOR_INLINE double from_near(const job *j, const double near[9], uint32_t x, uint32_t y) {
    double sum = 0;
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t from_x = x + 1 - j->k->cx - i % 3, from_y = y + 1 - j->k->cy - i / 3;
        if (from_x >= j->gw || from_y >= j->gh) continue; /* also where they wrap below 0 */
        sum += near[i] * j->light[from_y * j->light_pitch + LANES + from_x];
    }
    return sum;
}

_Static_assert((int)CORES <= (int)SKETCH_CORES, "two vectors");

/* A cell of the glare: its block, and its place in that. */
typedef struct {
    uint32_t block_x, block_y, x, y;
} cell;

/* Returns what cells of the 3 x 3 blocks around send to a cell of the glare, but for the 3 x 3
 * cells around it. A few cells more may count: whole vectors are read. */
VECTOR_INLINE double from_cells(const job *j, const cell *c) {
    uint32_t n = j->cells, half = SKETCH_NEAR / 2;
    const double *taps = j->k->near[j->kernel].cell;
    /* Two blocks of zeros come before the image's first. Differences wrap below 0 and back. */
    uint32_t top = (c->block_y + 1 - j->k->cy) * n, left = (c->block_x + 1 - j->k->cx) * n;
    vec4d part[3] = {{0}}; /* an addition waits for the one before */
    for (uint32_t i = 0; i < 3 * n; i++) {
        const double *light = j->cell + (top + i) * j->cell_pitch + left;
        const double *tap = taps + (c->y + n + half - i) * SKETCH_NEAR + half - c->x - n;
#pragma GCC unroll 3
        for (uint32_t k = 0; k < 3; k++)
            if (4 * k < 3 * n)
                part[k] += *(const vec4d_any *)(light + 4 * k) * *(const vec4d_any *)(tap + 4 * k);
    }
    vec4d sum = part[0] + part[1] + part[2];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Enters a cell into the bounds. `far` comes from all but the 3 x 3 blocks around its own, which
 * send no more than `near` from beyond the 3 x 3 cells around it. The exact sum of that takes long,
 * and most cells cannot have more than others have anyway. */
VECTOR_INLINE void enter_cell(const job *j, const cell *c, double far, double near) {
    uint32_t n = j->cells, x = c->block_x * n + c->x, y = c->block_y * n + c->y;
    const double *light = j->cell + (y + (2 - j->k->cy) * n) * j->cell_pitch +
                          (x + (2 - j->k->cx) * n); /* wraps below 0 and back */
    vec4d a = {0}, b = a;
#pragma GCC unroll 9
    for (int i = 0; i < 9; i++) {
        double v = *(light - (i / 3 - 1) * (ptrdiff_t)j->cell_pitch - (i % 3 - 1));
        const vec4d_any *tap = (const vec4d_any *)j->k->near[j->kernel].centre[i];
        a += v * tap[0];
        b += v * tap[1];
    }
    vec4d_any *most = largest_at(j, x, y, c->block_x, c->block_y);
    vec4l more = (a + (far + near) > most[0]) | (b + (far + near) > most[1]);
    if (!(more[0] | more[1] | more[2] | more[3])) return;
    far += from_cells(j, c);
    a += far;
    b += far;
    most[0] = VECTOR_PICK4(a > most[0], a, most[0]);
    most[1] = VECTOR_PICK4(b > most[1], b, most[1]);
}

/* Enters block (x, y) as a whole, for all cores alike. */
VECTOR_INLINE void enter_block(const job *j, uint32_t x, uint32_t y, double most) {
    double *m = (double *)largest_at(j, x * j->cells, y * j->cells, x, y);
    for (int i = 0; i < SKETCH_CORES; i++) m[i] = max_double(most, m[i]);
}

/* `light` is that of the 3 x 3 blocks around block (x, y). */
VECTOR_INLINE void enter_cells(const job *j, uint32_t x, uint32_t y, double light) {
    uint32_t n = j->cells;
    double far = j->most[y * j->pitch + x], near = light * j->k->near[j->kernel].beside;
    cell c = {.block_x = x, .block_y = y};
    for (c.y = 0; c.y < n; c.y++)
        for (c.x = 0; c.x < n; c.x++) enter_cell(j, &c, far, near);
}

static const double ALL[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Returns whether no cell of a block in the image can have more than others have, for any core. */
VECTOR_INLINE bool is_less(const job *j, uint32_t x, uint32_t y, double light) {
    double far = j->most[y * j->pitch + x];
    for (int r = 0; r < CORES; r++)
        if (far + light * j->k->near[j->kernel].peak[r] > j->largest[r]) return false;
    return true;
}

/* The brightest blocks come first, so that most others need no look at their cells. */
VECTOR_INLINE void find_largest(const job *j) {
    const sketch_kernel *k = j->k;
    uint32_t brightest[2] = {k->cx, k->cy};
    double most = -1;
    for (uint32_t i = 0; j->close && i < j->gw * j->gh; i++) {
        double light = from_near(j, ALL, k->cx + i % j->gw, k->cy + i / j->gw);
        if (!(light > most) || !is_image(j, k->cx + i % j->gw, k->cy + i / j->gw, 1)) continue;
        most = light;
        brightest[0] = k->cx + i % j->gw, brightest[1] = k->cy + i / j->gw;
    }
    if (j->close)
        enter_cells(j, brightest[0], brightest[1], from_near(j, ALL, brightest[0], brightest[1]));
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x++) {
            double far = j->most[y * j->pitch + x];
            bool near = x + 1 >= k->cx && x <= k->cx + j->gw && y + 1 >= k->cy &&
                        y <= k->cy + j->gh;
            bool inside = is_image(j, x, y, 1);
            if (!j->close && inside) continue;
            if (!near || !j->close) {
                enter_block(j, x, y, far + from_near(j, k->near[j->kernel].most, x, y));
                continue;
            }
            double light = from_near(j, ALL, x, y);
            if (!inside || !is_less(j, x, y, light)) enter_cells(j, x, y, light);
        }
}
VECTOR_WIDE static void find_largest_wide(const job *j) {
    find_largest(j);
}
static void find_largest_plain(const job *j) {
    find_largest(j);
}

/* Returns the most that light of core r has where it leaves the image along an axis, on one side or
 * on both. most: of each block along the axis. Light that leaves behind the image meets light that
 * leaves before it where a place of a block there is as far from one of a block here as the circle
 * is long; and the circle is longer than the image by the kernel's reach at least. */
static double both_sides(const job *j, int axis, const double *most, int r) {
    const kernel_tail *t = j->k->tail;
    bool x = axis == PLAN_X;
    uint32_t block = j->k->block, n = x ? j->w : j->h, centre = x ? j->k->cx : j->k->cy,
             size = x ? t->w : t->h;
    uint32_t reach = x ? max_u32(t->cx, t->kw - 1 - t->cx) : max_u32(t->cy, t->kh - 1 - t->cy);
    double all = 0;
    for (uint32_t behind = centre + size / block; behind < n; behind++) {
        double here = most[behind * SKETCH_CORES + r], meets = 0;
        for (uint32_t before = 0; before < centre; before++)
            if ((uint64_t)(behind - before + 1) * block > (uint64_t)size + reach)
                raise(&meets, most[before * SKETCH_CORES + r]);
        raise(&all, here + meets);
    }
    for (uint32_t before = 0; before < centre; before++)
        raise(&all, most[before * SKETCH_CORES + r]);
    return all;
}

/* Bounds what each core leaves. */
static void find_bounds(sketch_bound to[CORES], const job *j) {
    const size_t band = (size_t)j->w * SKETCH_CORES;
    const double *across = j->largest + SKETCH_CORES, *down = across + ZONES * band;
    (vector_wide() ? find_largest_wide : find_largest_plain)(j);
    for (int r = 0; r < CORES; r++) {
        double above = both_sides(j, PLAN_X, across + BEFORE * band, r),
               beside = both_sides(j, PLAN_X, across + INSIDE * band, r),
               below = both_sides(j, PLAN_X, across + BEHIND * band, r);
        to[r] = (sketch_bound){
            .inside = j->close ? j->largest[r] : INFINITY,
            .outside = fmax(above + below, fmax(beside, both_sides(j, PLAN_Y, down, r)))};
    }
}

static void find_far(const job *j) {
    const double *core = j->k->near[j->kernel].core;
    for (uint32_t y = 0; y < j->gh + 2; y++)
        for (uint32_t x = 0; x < j->gw + 2; x++) {
            uint32_t at_x = x + j->k->cx - 1, at_y = y + j->k->cy - 1;
            j->far[y * (j->gw + 2) + x] = j->glare[at_y * j->pitch + at_x] -
                                          from_near(j, core, at_x, at_y);
        }
}

/* Finds the first and the last block along an axis whose pixels all count; where there is none,
 * those that have some. `end` is that of the image, whose last block may be smaller. */
static void kept_blocks(uint32_t to[2], uint32_t from, uint32_t n, uint32_t end, uint32_t side) {
    to[0] = ceil_div_u32(from, side);
    to[1] = from + n == end ? (end - 1) / side : (from + n) / side - 1;
    if ((from + n) / side > to[0] || (from + n == end && to[0] * side < end)) return;
    to[0] = from / side;
    to[1] = (from + n - 1) / side;
}

static bool is_kept(const job *j, uint32_t x, uint32_t y) {
    const uint32_t *kx = j->kept[PLAN_X], *ky = j->kept[PLAN_Y];
    return x >= kx[0] && x <= kx[1] && y >= ky[0] && y <= ky[1];
}

/* Estimates the darkest pixel of the image's block (x, y). It has its own light, no less light from
 * the core than dark neighbours would send it, and the least that comes from afar to the blocks
 * around it: three quarters of it at the image's end, on the line between two blocks, and half of
 * it at a corner. Margins are as good as the outside. */
static double darkest_of(const job *j, uint32_t x, uint32_t y, double centre) {
    const double *around = &j->far[y * (j->gw + 2) + x]; /* from the block above and to the left */
    double core = 0, own = around[j->gw + 3], far = INFINITY;
    float least = INFINITY;
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t at_x = x + i % 3 - 1, at_y = y + i / 3 - 1; /* wrap below 0 and back */
        double there = around[i / 3 * (j->gw + 2) + i % 3];
        const uint32_t *kx = j->kept[PLAN_X], *ky = j->kept[PLAN_Y];
        bool in_x = at_x >= kx[0] && at_x <= kx[1], in_y = at_y >= ky[0] && at_y <= ky[1];
        bool inside = in_x && in_y;
        double line = (own + there) / 2; /* between a block that counts and one that does not */
        far = min_double(inside ? there : in_x || in_y ? 0.75 * line : line / 2, far);
        core += j->k->near[j->kernel].core[i];
        if (inside && j->least[at_y * j->gw + at_x] < least) least = j->least[at_y * j->gw + at_x];
    }
    double area = (double)j->k->block * j->k->block;
    return centre * (double)j->least[y * j->gw + x] + core * area * (double)least + far;
}

static void look(sketch *to, const job *j, double centre) {
    double area = (double)j->k->block * j->k->block, all = 0, inside = 0;
    *to = (sketch){.darkest = INFINITY};
    find_bounds(to->most, j);
    find_far(j);
    for (uint32_t y = 0; y < j->h; y++)
        for (uint32_t x = 0; x < j->w; x++) {
            double g = j->glare[y * j->pitch + x];
            all += g * g * area;
        }
    for (uint32_t y = 0; y < j->gh; y++)
        for (uint32_t x = 0; x < j->gw; x++) {
            double g = j->glare[(y + j->k->cy) * j->pitch + x + j->k->cx];
            inside += g * g * area;
            to->peak = max_double(fabs(g), to->peak);
            if (is_kept(j, x, y))
                to->darkest = min_double(darkest_of(j, x, y, centre), to->darkest);
        }
    to->darkest = fmax(0, to->darkest);
    to->norm = sqrt(all);
    to->outside = sqrt(fmax(0, all - inside));
}

/* Enters the cells of a scan, as blocks and as cells. */
static void load(const job *j, const scan *scanned) {
    uint32_t n = j->cells;
    for (uint32_t i = 0; i < j->gw * j->gh; i++) j->least[i] = INFINITY;
    for (uint32_t y = 0; y < scanned->grid_h; y++) {
        const double *sum = j->in->block_sum + (size_t)y * scanned->grid_w;
        const float *least = j->in->block_least + (size_t)y * scanned->grid_w;
        double *row = j->cell + (y + 2 * n) * j->cell_pitch + 2 * n;
        for (uint32_t block = 0, x = 0; x < scanned->grid_w; block++) {
            double *light = &j->light[y / n * j->light_pitch + LANES + block];
            float *to = &j->least[y / n * j->gw + block];
            for (uint32_t end = min_u32(x + n, scanned->grid_w); x < end; x++) {
                *light += sum[x];
                row[x] = sum[x];
                if (least[x] < *to) *to = least[x];
            }
        }
    }
}

bool sketch_make(sketch *to, const sketch_request *r, err *e) {
    const sketch_kernel *k = r->kernel;
    const tail_kept all = {0, 0, k->tail->w, k->tail->h}, *kept = r->kept.w ? &r->kept : &all;
    uint32_t n = r->close ? k->cells : 1;
    job j = {.k = k,
             .kernel = tail_kernel(k->tail, r->channel),
             .close = r->close,
             .cells = n,
             .in = &r->scanned->channel[r->channel],
             .gw = ceil_div_u32(r->scanned->grid_w, n),
             .gh = ceil_div_u32(r->scanned->grid_h, n)};
    j.image[PLAN_X][0] = k->cx * n, j.image[PLAN_Y][0] = k->cy * n;
    j.image[PLAN_X][1] = j.image[PLAN_X][0] + k->tail->w / (k->block / n);
    j.image[PLAN_Y][1] = j.image[PLAN_Y][0] + k->tail->h / (k->block / n);
    kept_blocks(j.kept[PLAN_X], kept->x, kept->w, k->tail->w, k->block);
    kept_blocks(j.kept[PLAN_Y], kept->y, kept->h, k->tail->h, k->block);
    j.w = j.gw + k->w - 1;
    j.h = j.gh + k->h - 1;
    j.light_pitch = (size_t)j.gw + 3 * LANES;
    j.pitch = ceil_div_size(j.w, LANES) * LANES;
    j.cell_pitch = ((size_t)j.gw + 4) * n;
    size_t lit = j.light_pitch * j.gh, made = j.pitch * j.h, blocks = (size_t)j.gw * j.gh,
           bounds = (1 + ZONES * (size_t)j.w + j.h) * SKETCH_CORES,
           cells = j.cell_pitch * (j.gh + 4) * n + 4, /* a vector is read beyond the last */
        far = ((size_t)j.gw + 2) * (j.gh + 2);
    j.light = mem_new(lit + 2 * made + bounds + cells + far + (blocks + 1) / 2, sizeof *j.light,
                      "sketch of the glare", e);
    if (!j.light) return false;
    j.glare = j.light + lit;
    j.most = j.glare + made;
    j.largest = j.most + made;
    j.cell = j.largest + bounds;
    j.far = j.cell + cells;
    j.least = (float *)(j.far + far);
    load(&j, r->scanned);
    (vector_wide() ? make_glare_wide : make_glare_plain)(&j);
    look(to, &j, k->tail->centre[j.kernel]);
    mem_free(j.light);
    return true;
}
