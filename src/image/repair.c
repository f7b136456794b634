#include "image/repair.h"

#include "base/mem.h"

#include <math.h>

typedef struct {
    const repair_request *ask;
    uint32_t w, h;
    float *v;        /* the plane as it was */
    uint32_t *below; /* (w + 1) * (h + 1): finite pixels above and left of a corner; or NULL */
    double *added;   /* by each row, */
    uint32_t *far;   /* and how far away its neighbours are */
} repair;

/* Finds where the square of radius d around c lies in an axis of n: [0] inclusive, [1] exclusive.
 */
static void square(uint32_t c, uint32_t d, uint32_t n, uint32_t at[2]) {
    at[0] = c > d ? c - d : 0;
    at[1] = d < n - c ? c + d + 1 : n;
}

static uint32_t finite_within(const repair *r, uint32_t x, uint32_t y, uint32_t d) {
    uint32_t ax[2], ay[2];
    size_t pitch = (size_t)r->w + 1;
    square(x, d, r->w, ax);
    square(y, d, r->h, ay);
    const uint32_t *lo = r->below + ay[0] * pitch, *hi = r->below + ay[1] * pitch;
    return hi[ax[1]] - hi[ax[0]] - lo[ax[1]] + lo[ax[0]];
}

/* Returns the mean of the finite pixels at distance d. Nothing nearer is finite, so that is the
 * mean of the whole square. Only the ends of its inner rows are read. */
static float ring_mean(const repair *r, uint32_t x, uint32_t y, uint32_t d) {
    uint32_t ax[2], ay[2], count = 0;
    double sum = 0;
    square(x, d, r->w, ax);
    square(y, d, r->h, ay);
    for (uint32_t v = ay[0]; v < ay[1]; v++) {
        uint32_t away = v > y ? v - y : y - v;
        uint32_t step = away == d ? 1 : 2 * d;
        uint32_t u = away == d || x >= d ? ax[0] : x + d;
        for (; u < ax[1]; u += step) {
            float at = r->v[(size_t)v * r->w + u];
            if (!isfinite(at)) continue;
            sum += (double)at;
            count++;
        }
    }
    return count ? (float)(sum / count) : 0;
}

/* *far: becomes the distance of the neighbours, if that is larger. */
static float neighbours(const repair *r, uint32_t x, uint32_t y, uint32_t *far) {
    uint32_t lo = 0, hi = r->w > r->h ? r->w : r->h; /* finite pixels: none within lo, some in hi */
    if (!finite_within(r, x, y, hi)) {
        *far = UINT32_MAX;
        return 0;
    }
    while (hi - lo > 1) {
        uint32_t d = lo + (hi - lo) / 2;
        if (finite_within(r, x, y, d))
            hi = d;
        else
            lo = d;
    }
    *far = hi > *far ? hi : *far;
    return ring_mean(r, x, y, hi);
}

static bool repair_row(void *ctx, size_t index, int worker, err *e) {
    const repair *r = ctx;
    size_t y = r->ask->first + index;
    (void)worker, (void)e;
    r->added[y] = 0;
    r->far[y] = 0;
    for (uint32_t x = 0; x < r->w; x++) {
        size_t at = y * r->w + x;
        if (isfinite(r->v[at])) continue;
        float good = r->below ? neighbours(r, x, (uint32_t)y, &r->far[y]) : 0;
        image_from_float(r->ask->plane, r->ask->type, at, &good, 1);
        image_to_float(&good, r->ask->plane, r->ask->type, at, 1); /* as it is stored */
        r->added[y] += (double)good;
    }
    return true;
}

bool repair_plane(double *added, const repair_request *ask, par *threads, err *e) {
    uint32_t far;
    return repair_rows(&far, added, ask, threads, e);
}

bool repair_rows(uint32_t *far, double *added, const repair_request *ask, par *threads, err *e) {
    repair r = {.ask = ask, .w = ask->w, .h = ask->h};
    size_t n = (size_t)r.w * r.h, pitch = (size_t)r.w + 1;
    r.v = mem_raw(n, sizeof *r.v, "repair of bad pixels", e);
    r.added = r.v ? mem_raw(r.h, sizeof *r.added, "repair of bad pixels", e) : NULL;
    r.far = r.added ? mem_raw(r.h, sizeof *r.far, "repair of bad pixels", e) : NULL;
    if (r.far && ask->interpolate)
        r.below = mem_new(pitch, ((size_t)r.h + 1) * sizeof *r.below, "repair of bad pixels", e);
    bool ok = r.far && (r.below || !ask->interpolate);
    if (ok) image_to_float(r.v, ask->plane, ask->type, 0, n);
    for (uint32_t y = 0; ok && r.below && y < r.h; y++) {
        uint32_t row = 0, *above = r.below + y * pitch, *to = above + pitch;
        for (uint32_t x = 0; x < r.w; x++) {
            row += isfinite(r.v[(size_t)y * r.w + x]) ? 1 : 0;
            to[x + 1] = above[x + 1] + row;
        }
    }
    uint32_t first = ask->first, rows = ask->rows ? ask->rows : r.h;
    ok = ok && par_for(threads, rows, repair_row, &r, e);
    double sum = 0;
    *far = 0;
    for (uint32_t y = first; ok && y < first + rows; y++) {
        sum += r.added[y];
        *far = r.far[y] > *far ? r.far[y] : *far;
    }
    if (ok) *added = sum;
    mem_free(r.v);
    mem_free(r.added);
    mem_free(r.far);
    mem_free(r.below);
    return ok;
}
