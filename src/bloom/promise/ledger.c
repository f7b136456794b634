#include "bloom/promise/ledger.h"

#include "base/mem.h"

double ledger_gap(const ledger_row *r) {
    double gap = r->in + r->gained - r->out - r->spilled - r->bad - r->overflow - r->negative;
    return r->size > 0 ? gap / r->size : 0;
}

void ledger_cut(ledger_row *r, const void *plane, pixel_type t, const image_box *window,
                const image_box *kept) {
    size_t at = 0;
    double cut = 0;
    for (int64_t y = window->y0; y <= window->y1; y++)
        for (int64_t x = window->x0; x <= window->x1; x++, at++) {
            float v;
            if (y >= kept->y0 && y <= kept->y1 && x >= kept->x0 && x <= kept->x1) continue;
            image_to_float(&v, plane, t, at, 1);
            cut += (double)v;
        }
    r->out -= cut;
    r->spilled += cut;
}

/* --- what does not depend on the image: docs/inside/math.md, "Energy ledger"
 * ------------------------- */

/* Taps from .. to - 1 of an axis land in the image, for each place where a pixel of it is seen. */
typedef struct {
    uint32_t from, to;
} range;
typedef struct {
    uint32_t *first; /* of each column (row), and behind the last: its first range */
    range *range;
} landings;

static bool find_landings(landings *l, const border_axis *b, uint32_t taps, uint32_t centre,
                          err *e) {
    size_t shown = (size_t)b->before + b->extent + b->after; /* places; each shows one at most */
    uint32_t n = 0;
    OWN_MEM int64_t *places = mem_raw(border_most(b), sizeof *places, "ledger", e);
    l->first = mem_raw((size_t)b->extent + 1, sizeof *l->first, "ledger", e);
    l->range = mem_raw(shown, sizeof *l->range, "ledger", e);
    bool ok = places && l->first && l->range;
    if (ok) l->first[0] = 0;
    for (uint32_t i = 0; ok && i < b->extent; i++) {
        uint32_t count = border_places(b, i, places);
        for (uint32_t k = 0; k < count; k++) {
            int64_t from = (int64_t)centre - places[k];
            l->range[n++] = (range){(uint32_t)clamp_i64(from, 0, taps),
                                    (uint32_t)clamp_i64(from + b->extent, 0, taps)};
        }
        l->first[i + 1] = n;
    }
    return ok;
}

static void landings_free(landings *l) {
    mem_free(l->first);
    mem_free(l->range);
}

/* A border repeats only pixels within the kernel's reach of it; others are seen once. */
static void find_middle(uint32_t m[2], uint32_t extent, uint32_t taps, uint32_t centre) {
    m[0] = min_u32(max_u32(centre, taps - 1 - centre), extent);
    m[1] = max_u32(extent - m[0], m[0]);
}

/* Sums of the tail's taps above and left of a corner, [kh + 1][kw + 1]. */
static void make_table(double *t, const kernel_tail *tail, uint32_t kernel) {
    size_t pitch = (size_t)tail->kw + 1;
    const float *tap = tail->tap + (size_t)kernel * tail->kh * tail->kw;
    enum { ROWS = 4 }; /* at once, since each number of a row waits for the one before */
    memset(t, 0, pitch * sizeof *t);
    for (uint32_t y = 0; y < tail->kh; y += ROWS) {
        const uint32_t rows = min_u32(ROWS, tail->kh - y);
        double row[ROWS] = {0};
        for (uint32_t i = 0; i < rows; i++) t[(y + i + 1) * pitch] = 0;
        for (uint32_t x = 0; x < tail->kw; x++) {
            double *to = t + y * pitch + x + 1, above = *to;
            _Pragma("GCC unroll 4") for (uint32_t i = 0; i < rows; i++) {
                row[i] += (double)tap[(size_t)(y + i) * tail->kw + x];
                above = *(to += pitch) = above + row[i];
            }
        }
    }
}

/* Fills in, for a pixel of row y, the sums left of each column over those rows of the kernel that
 * land in the image. */
static void column_sums(double *sums, const double *table, size_t pitch, const landings *l,
                        uint32_t y) {
    memset(sums, 0, pitch * sizeof *sums);
    for (uint32_t i = l->first[y]; i < l->first[y + 1]; i++) {
        const double *lo = table + l->range[i].from * pitch, *hi = table + l->range[i].to * pitch;
        for (size_t x = 0; x < pitch; x++) sums[x] += hi[x] - lo[x];
    }
}

/* One row of the result for one kernel. The middle loses nothing, unless taps that reach no pixel
 * were cut off or the row is near the top or the bottom. */
static void find_lost(float *to, const spill *k, const kernel_tail *tail, uint32_t kernel,
                      const double *sums, const landings *l) {
    const uint32_t *middle = k->middle[PLAN_X];
    double scale = tail->scale[kernel], whole = tail->sum[kernel] - tail->centre[kernel];
    for (uint32_t x = 0; x < tail->w; x++) {
        double lands = 0;
        if (x == middle[0]) x = middle[1];
        if (x == tail->w) break;
        for (uint32_t i = l->first[x]; i < l->first[x + 1]; i++)
            lands += sums[l->range[i].to] - sums[l->range[i].from];
        *to++ = (float)(whole - scale * lands);
    }
    double rest = whole - scale * sums[tail->kw];
    *to = fabs(rest) > 1e-12 * fabs(tail->sum[kernel]) ? (float)rest : 0;
}

static void fill(spill *k, const kernel_tail *tail, double *table, double *sums,
                 const landings *across, const landings *down) {
    const uint32_t *middle = k->middle[PLAN_Y];
    float *to = k->lost;
    for (uint32_t kernel = 0; kernel < tail->kernels; kernel++) {
        make_table(table, tail, kernel);
        for (uint32_t i = 0; i < k->rows; i++, to += k->columns) {
            uint32_t y = i < middle[0]     ? i
                         : i + 1 < k->rows ? i - middle[0] + middle[1]
                                           : middle[0];
            if (y == tail->h) continue; /* no row is far from the borders */
            column_sums(sums, table, (size_t)tail->kw + 1, down, y);
            find_lost(to, k, tail, kernel, sums, across);
        }
    }
}

bool ledger_spill_make(spill *out, const kernel_tail *tail, err *e) {
    spill k = {.w = tail->w, .kernels = tail->kernels};
    OWN(landings) across = {0}, down = {0};
    size_t pitch = (size_t)tail->kw + 1;
    find_middle(k.middle[PLAN_X], tail->w, tail->kw, tail->cx);
    find_middle(k.middle[PLAN_Y], tail->h, tail->kh, tail->cy);
    k.columns = k.middle[PLAN_X][0] + tail->w - k.middle[PLAN_X][1] + 1;
    k.rows = k.middle[PLAN_Y][0] + tail->h - k.middle[PLAN_Y][1] + 1;
    const size_t points = (size_t)k.rows * k.columns * tail->kernels;
    OWN_MEM float *lost = mem_new(points, sizeof *lost, "ledger", e);
    OWN_MEM double *table = lost ? mem_raw(pitch * (tail->kh + 2), sizeof *table, "ledger", e)
                                 : NULL;
    if (!table || !find_landings(&across, &tail->axis[PLAN_X], tail->kw, tail->cx, e) ||
        !find_landings(&down, &tail->axis[PLAN_Y], tail->kh, tail->cy, e))
        return false;
    k.lost = GIVE(lost);
    fill(&k, tail, table, table + pitch * (tail->kh + 1), &across, &down);
    *out = k;
    return true;
}

void ledger_spill_free(spill *k) {
    mem_free(k->lost);
    *k = (spill){0};
}
