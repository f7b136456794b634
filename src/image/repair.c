#include "image/repair.h"

#include "base/mem.h"

enum { BLOCK = 256 }; /* pixels that a thread takes at a time */

typedef struct {
    uint32_t w, h, top; /* top: the first of them in the plane */
    uint32_t has[2][2]; /* of x and y: from where to before where there are pixels */
    pixel_type type;
    float *v;
    uint32_t *below; /* (w + 1) * (h + 1): finite pixels above and left of a corner */
    size_t bad;      /* pixels to be mended: */
    struct repair_pixel *pixel;
    uint32_t *far; /* the distances of their neighbours */
} window;

/* Finds where the square of radius d around c, where there is a pixel, lies in an axis that has
 * them from has[0] to before has[1]: [0] to before [1]. */
static void square(uint32_t c, uint32_t d, const uint32_t has[2], uint32_t at[2]) {
    at[0] = d < c - has[0] ? c - d : has[0];
    at[1] = d < has[1] - c ? c + d + 1 : has[1];
}

static uint32_t finite_within(const window *r, uint32_t x, uint32_t y, uint32_t d) {
    uint32_t ax[2], ay[2];
    size_t pitch = (size_t)r->w + 1;
    square(x, d, r->has[0], ax);
    square(y, d, r->has[1], ay);
    const uint32_t *lo = r->below + ay[0] * pitch, *hi = r->below + ay[1] * pitch;
    return hi[ax[1]] - hi[ax[0]] - lo[ax[1]] + lo[ax[0]];
}

/* Returns the mean of the finite pixels at distance d. Nothing nearer is finite, so that is the
 * mean of the whole square. Only the ends of its inner rows are read. */
static float ring_mean(const window *r, uint32_t x, uint32_t y, uint32_t d) {
    uint32_t ax[2], ay[2], count = 0;
    double sum = 0;
    square(x, d, r->has[0], ax);
    square(y, d, r->has[1], ay);
    for (uint32_t v = ay[0]; v < ay[1]; v++) {
        uint32_t away = v > y ? v - y : y - v;
        uint32_t step = away == d ? 1 : 2 * d;
        uint32_t u = away == d || x - r->has[0][0] >= d ? ax[0] : x + d;
        for (; u < ax[1]; u += step) {
            float at = r->v[(size_t)v * r->w + u];
            if (!isfinite(at)) continue;
            sum += (double)at;
            count++;
        }
    }
    return count ? (float)(sum / count) : 0;
}

/* Returns how far away the neighbours are. There are some. */
static uint32_t mend(const window *r, struct repair_pixel *pixel) {
    uint32_t lo = 0, hi = max_u32(r->w, r->h),
             y = pixel->y - r->top; /* none within lo, some in hi */
    while (hi - lo > 1) {
        uint32_t d = lo + (hi - lo) / 2;
        if (finite_within(r, pixel->x, y, d))
            hi = d;
        else
            lo = d;
    }
    uint32_t stored; /* it is as the type holds it */
    pixel->v = ring_mean(r, pixel->x, y, hi);
    image_from_float(&stored, r->type, 0, &pixel->v, 1);
    image_to_float(&pixel->v, &stored, r->type, 0, 1);
    return hi;
}

static bool mend_block(void *ctx, size_t index, int worker, err *e) {
    const window *r = ctx;
    for (size_t i = index * BLOCK; i < min_size(r->bad, (index + 1) * BLOCK); i++)
        r->far[i] = mend(r, &r->pixel[i]);
    return true;
}

static void count_finite(window *r) {
    size_t pitch = (size_t)r->w + 1;
    memset(r->below, 0, pitch * sizeof *r->below);
    for (uint32_t y = 0; y < r->h; y++) {
        uint32_t row = 0, *above = r->below + y * pitch, *to = above + pitch;
        to[0] = 0;
        for (uint32_t x = 0; x < r->w; x++) {
            row += isfinite(r->v[(size_t)y * r->w + x]) ? 1 : 0;
            to[x + 1] = above[x + 1] + row;
        }
    }
}

/* Mends the bad pixels of rows [row, row + rows), with neighbours in all rows at hand. *done: none
 * is farther away than `margin`, or all rows of the plane are at hand. */
static bool mend_rows(repairs *to, bool *done, window *r, const repair_plane *p, uint32_t row,
                      uint32_t rows, uint32_t margin, par *threads, err *e) {
    size_t first = (size_t)(row - r->top) * r->w, n = (size_t)r->w * rows, k = 0;
    count_finite(r);
    for (size_t i = first; i < first + n; i++) r->bad += isnan(r->v[i]) ? 1 : 0;
    *done = r->h == p->h || r->bad == 0;
    if (r->bad == 0) return true;
    bool none = finite_within(r, r->has[0][0], r->has[1][0], max_u32(r->w, r->h)) == 0,
         near = !none;
    if (none) return true;
    struct repair_pixel *more = mem_raw(to->count + r->bad, sizeof *more, "repaired pixels", e);
    if (!more) return false;
    if (to->count) memcpy(more, to->pixel, to->count * sizeof *more);
    mem_free(to->pixel);
    to->pixel = more;
    r->pixel = more + to->count;
    if (!(r->far = mem_raw(r->bad, sizeof *r->far, "repaired pixels", e))) return false;
    for (size_t i = first; i < first + n; i++)
        if (isnan(r->v[i]))
            r->pixel[k++] =
                (struct repair_pixel){(uint32_t)(i % r->w), r->top + (uint32_t)(i / r->w), 0};
    if (!par_for(threads, ceil_div_size(r->bad, BLOCK), mend_block, r, e)) return false;
    for (size_t i = 0; i < r->bad; i++) near &= r->far[i] <= margin;
    *done |= near;
    for (size_t i = 0; *done && i < r->bad; i++) to->added += (double)r->pixel[i].v;
    if (*done) to->count += r->bad;
    return true;
}

/* Looks at rows [row, row + rows), with `margin` rows around them. */
static bool look(repairs *to, bool *done, const repair_plane *p, uint32_t row, uint32_t rows,
                 uint32_t margin, par *threads, err *e) {
    window r = {.w = p->w, .type = p->type, .top = row > margin ? row - margin : 0};
    r.h = (uint32_t)min_u64((uint64_t)row + rows + margin, p->h) - r.top;
    r.has[0][0] = (uint32_t)p->has.x0, r.has[0][1] = (uint32_t)p->has.x1 + 1;
    r.has[1][0] = max_u32((uint32_t)p->has.y0, r.top) - r.top;
    r.has[1][1] = min_u32((uint32_t)p->has.y1 + 1, r.top + r.h) - r.top;
    size_t corners = ((size_t)r.w + 1) * ((size_t)r.h + 1);
    OWN_MEM float *v = r.v = mem_raw((size_t)r.w * r.h, sizeof *v, "rows", e);
    OWN_MEM uint32_t *below = r.below = mem_raw(corners, sizeof *below, "repair of bad pixels", e);
    bool ok = v && below && p->read(p->ctx, v, r.top, r.h, e) &&
              mend_rows(to, done, &r, p, row, rows, margin, threads, e);
    mem_free(r.far);
    return ok;
}

bool repairs_find(repairs *to, const repair_plane *p, par *threads, err *e) {
    *to = (repairs){.count = 0};
    for (uint32_t row = 0; row < p->h; row += p->some) {
        uint32_t rows = min_u32(p->some, p->h - row);
        bool done = false;
        for (uint32_t margin = 0; !done; margin = 4 * margin + 8)
            if (!look(to, &done, p, row, rows, margin, threads, e)) return false;
    }
    return true;
}

void repairs_free(repairs *r) {
    mem_free(r->pixel);
    *r = (repairs){.count = 0};
}

void repairs_put(const repairs *r, void *plane, pixel_type type, uint32_t w, uint32_t row,
                 uint32_t rows) {
    size_t low = 0, high = r->count; /* the first that is not before the row */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->pixel[mid].y < row)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < r->count && r->pixel[low].y - row < rows; low++) {
        const struct repair_pixel *pixel = &r->pixel[low];
        image_from_float(plane, type, (size_t)(pixel->y - row) * w + pixel->x, &pixel->v, 1);
    }
}
