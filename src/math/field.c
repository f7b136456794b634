#include "math/field.h"

#include "math/lengths.h"

double field_weight(const field_grid *g, const field_frame *f, uint32_t axis, uint32_t n,
                    int64_t sample) {
    if (f->extent[axis])
        sample = plan_place(f->border[axis], f->extent[axis], f->first[axis] + sample);
    if (sample < 0) return 0;
    const double *at = g->at[axis],
                 share = ((double)(f->from[axis] + sample) + 0.5) / (double)f->size[axis];
    const uint32_t last = g->nodes[axis] - 1;
    if (n > last) return 1;
    if (n > 0 && share < at[n])
        return share <= at[n - 1] ? 0 : (share - at[n - 1]) / (at[n] - at[n - 1]);
    if (n < last && share > at[n])
        return share >= at[n + 1] ? 0 : 1 - (share - at[n]) / (at[n + 1] - at[n]);
    return 1;
}

int64_t field_source(const field_stretch *a, uint32_t sample) {
    if (sample < a->from || sample >= a->to) return -1;
    return plan_place(a->border, a->extent, a->first + sample);
}

uint32_t field_target(const field_stretch *a, uint32_t sample) {
    const int64_t n = a->extent;
    return (uint32_t)(((a->first + sample) % n + n) % n);
}

/* Light goes out by lo before its place and by hi behind it. A border that wraps around is left to
 * field_target: the window holds the pixels alone, and what leaves the image falls on its other
 * side. Else it holds all places from which a border sends light into the image. A tile that is cut
 * has all that its border shows, of which only what reaches a pixel that counts is taken. */
static field_stretch stretch_of(const field_grid *g, const field_frame *f, uint32_t axis,
                                uint32_t n, const plan_request *ask) {
    const bool cut = f->extent[axis] > 0;
    field_stretch s = {.extent = ask->size[axis], .border = cut ? BORDER_ZERO : ask->border[axis]};
    const int64_t lo = ask->reach_lo[axis], hi = ask->reach_hi[axis], extent = s.extent,
                  first = cut ? f->kept[axis][0] : 0, last = cut ? f->kept[axis][1] : extent;
    const bool round = s.border == BORDER_WRAP, more = s.border != BORDER_ZERO && !round;
    int64_t from = INT64_MAX, to = 0;
    s.light[0] = s.extent;
    for (int64_t i = max_i64(0, first - hi); i < min_i64(extent, last + lo); i++) {
        if (!(field_weight(g, f, axis, n, i) > 0)) continue;
        s.light[0] = min_u32(s.light[0], (uint32_t)i), s.light[1] = (uint32_t)i + 1;
    }
    for (int64_t at = more ? -hi : 0; at < (more ? extent + lo : extent); at++) {
        const int64_t shows = plan_place(s.border, s.extent, at);
        if (shows < s.light[0] || shows >= s.light[1]) continue;
        from = min_i64(from, at), to = at + 1;
    }
    if (to <= from) return s;
    const int64_t begin = round ? from - lo : max_i64(first, from - lo),
                  end = round ? to + hi : min_i64(last, to + hi);
    s.first = min_i64(from, begin);
    s.length = length_next((uint32_t)max_i64(to + hi - begin, end - from + lo), 2);
    s.from = (uint32_t)(from - s.first), s.to = (uint32_t)(to - s.first);
    s.begin = (uint32_t)(begin - s.first), s.end = (uint32_t)(end - s.first);
    return s;
}

field_window field_window_of(const field_grid *g, const field_frame *f, uint32_t node,
                             const plan_request *ask) {
    field_window w;
    for (uint32_t a = 0; a < PLAN_AXES; a++)
        w.axis[a] = stretch_of(g, f, a, field_line(g->nodes, node, a), ask);
    return w;
}

plan_request field_window_ask(const field_window *w, const plan_request *ask) {
    plan_request r = *ask;
    r.planes = (plan_planes){.in = PLAN_FLOATS, .out = PLAN_FLOATS};
    for (int a = 0; a < PLAN_AXES; a++) r.size[a] = w->axis[a].length, r.border[a] = BORDER_WRAP;
    return r;
}
