#include "bloom/field.h"

#include "base/half.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/vector.h"
#include "engine/cpu/cpu_passes.h"

/* What is known of a row of a window, or of the whole: the light that goes into the transform, with
 * what a border shows, and that of pixels of the image, each once. */
typedef struct {
    double sum, squares;
    double least, greatest;
    double light, spilled;
} row_light;

/* The work on one window. */
typedef struct {
    const view *v;
    const kernel_node *node;
    uint32_t number;
    const void *const *in;
    float *window[VIEW_CHANNELS]; /* its light, then its glare */
    float *sum[VIEW_CHANNELS];    /* of all windows, of the image's size: */
    bool in_result;               /* the planes of the result, where these are floats */
    row_light *row;               /* of each channel and row of the window */
    double *doubles;              /* of each worker: a row of the image, */
    float *floats;                /* and one more */
} window_job;

/* The light of a row's pixels: doubles, or floats where these say it exactly. */
typedef struct {
    const float *floats;
    const double *doubles; /* or NULL */
} row_pixels;

/* Multiplies a row's light with the weights, and adds up what comes out: in order, four at a time.
 */
VECTOR_INLINE void weigh(row_light *sums, float *to, const row_pixels *v, const double *across,
                         double down, uint32_t n) {
    vec4d sum = {0}, squares = {0}, least = {0}, greatest = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const vec4d weight = *(const vec4d_any *)(across + i) * down;
        vec4d p = VECTOR_DOUBLES(v->floats + i, 0);
        if (v->doubles) p = *(const vec4d_any *)(v->doubles + i);
        p *= weight;
        *(vec4f_any *)(to + i) = __builtin_convertvector(p, vec4f);
        sum += p, squares += p * p;
        least = VECTOR_PICK4(p < least, p, least);
        greatest = VECTOR_PICK4(p > greatest, p, greatest);
    }
    for (uint32_t k = 0; i < n; i++, k++) {
        const double p = (v->doubles ? v->doubles[i] : (double)v->floats[i]) * (across[i] * down);
        to[i] = (float)p;
        sum[k] += p, squares[k] += p * p;
        least[k] = fmin(least[k], p), greatest[k] = fmax(greatest[k], p);
    }
    sums->sum = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    sums->squares = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    for (int k = 0; k < 4; k++) {
        sums->least = fmin(sums->least, least[k]);
        sums->greatest = fmax(sums->greatest, greatest[k]);
    }
}
VECTOR_WIDE static void weigh_wide(row_light *sums, float *to, const row_pixels *v,
                                   const double *across, double down, uint32_t n) {
    weigh(sums, to, v, across, down, n);
}

VECTOR_INLINE void add(float *to, const float *from, uint32_t n) {
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) *(vec8f_any *)(to + i) += *(const vec8f_any *)(from + i);
    for (; i < n; i++) to[i] += from[i];
}
VECTOR_WIDE static void add_wide(float *to, const float *from, uint32_t n) {
    add(to, from, n);
}

/* Fills one row of a window with its light: weight * what is spread, as the border continues it. */
static bool fill_row(void *ctx, size_t index, int worker, err *e) {
    const window_job *j = ctx;
    const view *v = j->v;
    const join_field *field = &v->size->field;
    const field_stretch *x = &j->node->window.axis[PLAN_X], *y = &j->node->window.axis[PLAN_Y];
    const uint32_t c = (uint32_t)(index / y->length), row = (uint32_t)(index % y->length),
                   w = v->need.w, from = x->light[0], n = x->light[1] - from;
    const int64_t source = field_source(y, row);
    const uint32_t own = (uint32_t)(from - x->first), /* the pixels; beside them: the border */
        behind = own + n;
    float *to = j->window[c] + (size_t)row * x->length;
    row_light sums = {0};
    j->row[index] = sums;
    if (source < 0) return memset(to, 0, x->length * sizeof *to), true;
    memset(to, 0, own * sizeof *to);
    memset(to + behind, 0, (x->length - behind) * sizeof *to);
    const size_t first = (size_t)source * w + from;
    const bool plain = v->all_spread && !v->lost[c];
    double *parts = j->doubles + (size_t)worker * w;
    const bool halfs = v->size->planes.in == PLAN_HALFS;
    float *room = j->floats + (size_t)worker * w;
    const float *floats = halfs ? room : (const float *)j->in[c] + first;
    if (halfs) half_to_floats(room, (const uint16_t *)j->in[c] + first, n);
    for (uint32_t i = 0; !plain && i < n; i++) parts[i] = (double)floats[i];
    for (uint32_t i = 0; v->lost[c] && i < n; i++) parts[i] += (double)v->lost[c][first + i];
    if (!v->all_spread) join_spread_doubles(&v->spread, first, parts, n);
    const uint32_t column = field_line(field->nodes, j->number, PLAN_X),
                   line = field_line(field->nodes, j->number, PLAN_Y);
    const row_pixels pixels = {floats, plain ? NULL : parts};
    (vector_wide() ? weigh_wide : weigh)(
        &sums, to + own, &pixels, field->weight[PLAN_X] + (size_t)column * w + from,
        field->weight[PLAN_Y][(size_t)line * v->need.h + (size_t)source], n);
    if (y->first + row == source) {
        sums.light = sums.sum;
        if (!v->kept.w)
            sums.spilled =
                spill_of_row(&j->node->at->ledger, c, (uint32_t)source, from, n, to + own);
    }
    for (uint32_t i = x->from; i < x->to; i++) {
        if (i == own) i = behind;
        const int64_t at = i < x->to ? field_source(x, i) : -1;
        if (at < from || at >= x->light[1]) continue; /* beside the node's light, it is 0 */
        const double value = (double)(to[i] = to[own + at - from]);
        sums.sum += value, sums.squares += value * value; /* its pixel is in least and greatest */
    }
    j->row[index] = sums;
    return true;
}

/* Adds to one row of the sum what of a window falls on it. */
static bool add_row(void *ctx, size_t index, int worker, err *e) {
    const window_job *j = ctx;
    const field_stretch *x = &j->node->window.axis[PLAN_X], *y = &j->node->window.axis[PLAN_Y];
    const uint32_t w = j->v->need.w, h = j->v->need.h, c = (uint32_t)(index / h),
                   at = (uint32_t)(index % h);
    float *to = j->sum[c] + (size_t)at * w;
    uint32_t row = (at + y->extent - field_target(y, y->begin)) % y->extent + y->begin;
    for (; row < y->end; row += y->extent) {
        const float *from = j->window[c] + (size_t)row * x->length;
        for (uint32_t i = x->begin; i < x->end;) {
            const uint32_t target = field_target(x, i), n = min_u32(x->end - i, w - target);
            (vector_wide() ? add_wide : add)(to + target, from + i, n);
            i += n;
        }
    }
    return true;
}

/* --- a window --------------------------------------------------------------------------------- */

/* Adds up the rows of a channel, in their order. */
static row_light light_of(const window_job *j, uint32_t c) {
    const uint32_t rows = j->node->window.axis[PLAN_Y].length;
    row_light sums = {0};
    for (const row_light *r = j->row + (size_t)c * rows, *end = r + rows; r < end; r++) {
        sums.sum += r->sum, sums.squares += r->squares;
        sums.least = fmin(sums.least, r->least), sums.greatest = fmax(sums.greatest, r->greatest);
        sums.light += r->light, sums.spilled += r->spilled;
    }
    return sums;
}

/* Returns the floor of a window: it is a whole circle, on which all light is there once. */
static double floor_of(const window_job *j, uint32_t c, const row_light *sums, const plan *p,
                       double norm) {
    const field_stretch *w = j->node->window.axis;
    const uint32_t across = w[PLAN_X].length, down = w[PLAN_Y].length;
    const double points = (double)p->axis[0].length * p->axis[1].length;
    const border_axis axis[] = {{.extent = across}, {.extent = down}};
    const scan_channel seen = {.pixels = (uint64_t)across * down,
                               .sum = sums->sum,
                               .squares = sums->squares,
                               .least = (float)sums->least,
                               .greatest = (float)sums->greatest};
    const noise_transform t = {p->sample_bytes == 8 ? PRECISION_FLOAT64 : PRECISION_FLOAT32,
                               points};
    const noise_load bound = noise_load_bound(&seen, &j->node->at->sums[c], axis, points),
                     load = noise_load_known(&bound, norm);
    return isfinite(norm) ? noise_floor(&t, &load) : INFINITY;
}

/* Runs a window's frame, on the CPU where a device has failed. */
static bool run_frame(outcome *to, const window_job *j, const accuracy *method,
                      const row_light *sums, join_stats st[VIEW_CHANNELS], err *e) {
    const view *v = j->v;
    join how = {.field = NULL};
    for (uint32_t c = 0; c < v->channels; c++)
        how.channel[c] = (join_channel){.gain = (1 - v->sharpen) * kernel_need_tint(&v->need, c),
                                        .most = fmax(sums[c].greatest, -sums[c].least) *
                                                j->node->at->sums[c].sum};
    const engine_frame f = {
        .in = (const void *const *)j->window, .out = (void *const *)j->window, .join = &how};
    bool ok = true, again = true;
    while (ok && again) {
        const session_want want = {j->node->at, attempt_way(method), j->node};
        const device_lease *at = &to->lease.at;
        engine_times times = {0};
        err why = {0};
        ok = session_take(&to->lease, v->session, &want, e);
        if (!ok) break;
        ok = engine_submit(at->engine, at->slot, &f, &why) &&
             engine_wait(at->engine, at->slot, st, &times, &why);
        again = session_give(v->session, &to->lease, !ok && why.code != ERR_CANCELLED, &why);
        if (!ok && !again && e) *e = why;
        ok |= again;
        bloom_account sum = {.times = to->times};
        account_add(&sum, &(bloom_account){.times = times});
        to->times = sum.times;
    }
    return ok;
}

/* Makes the glare of a node and adds it to the sum. floor: receives that of each channel. */
static bool run_window(outcome *to, window_job *j, const accuracy *method,
                       double floor[VIEW_CHANNELS], err *e) {
    const view *v = j->v;
    const field_stretch *w = j->node->window.axis;
    row_light sums[VIEW_CHANNELS];
    join_stats st[VIEW_CHANNELS];
    if (!par_for(v->threads, (size_t)v->channels * w[PLAN_Y].length, fill_row, j, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        const kernel_tail *of = &j->node->at->tail;
        sums[c] = light_of(j, c);
        to->stats[c].spilled += sums[c].spilled;
        to->gained[c] += sums[c].light *
                         (of->sum[tail_kernel(of, c)] - !kernel_at_common(v->size, j->number));
    }
    if (!run_frame(to, j, method, sums, st, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++)
        floor[c] = floor_of(j, c, &sums[c], &to->lease.plan, st[c].norm);
    return par_for(v->threads, (size_t)v->channels * v->need.h, add_row, j, e);
}

/* --- the field -------------------------------------------------------------------------------- */

/* Returns how often a pixel in the result of window a may be in that of b, too: where a border
 * wraps around, a window that is larger than the image falls on it several times. */
static uint32_t meet(const field_window *a, const field_window *b) {
    uint32_t times = 1;
    for (int i = 0; i < PLAN_AXES; i++) {
        const field_stretch *s = &a->axis[i], *t = &b->axis[i];
        if (!s->length || !t->length) return 0;
        if (t->border == BORDER_WRAP)
            times *= ceil_div_u32(t->end - t->begin, t->extent);
        else if (s->first + s->begin >= t->first + t->end ||
                 t->first + t->begin >= s->first + s->end)
            return 0;
    }
    return times;
}

/* A window's light is rounded, its glare, and each sum that this goes into. */
uint32_t field_roundings(const kernel_at *size) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < size->nodes; i++) {
        uint32_t some = 0;
        for (uint32_t k = 0; k < size->nodes; k++)
            some += meet(&size->node[i].window, &size->node[k].window);
        most = max_u32(most, some);
    }
    return most + 2;
}

/* A pixel has the errors of all windows that it is in, and these meet each other. */
static void add_floors(outcome *to, const kernel_at *size, const double *floor) {
    for (uint32_t i = 0; i < size->nodes; i++)
        for (uint32_t c = 0; c < size->need.channels; c++) {
            double sum = 0;
            for (uint32_t k = 0; k < size->nodes; k++)
                sum += meet(&size->node[i].window, &size->node[k].window) *
                       floor[k * VIEW_CHANNELS + c];
            to->floor[c] = fmax(to->floor[c], sum);
        }
}

static void clear_block(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    memset(((const window_job *)ctx)->sum[c] + first, 0, n * sizeof(float));
}

static bool make_planes(window_job *j, const view *v, err *e) {
    size_t points = 0, rows = 0;
    const size_t workers = (size_t)par_workers(v->threads) * v->need.w;
    for (uint32_t i = 0; i < v->size->nodes; i++) {
        const field_stretch *w = v->size->node[i].window.axis;
        points = max_u64(points, (uint64_t)w[PLAN_X].length * w[PLAN_Y].length);
        rows = max_u64(rows, w[PLAN_Y].length);
    }
    bool ok = (j->row = mem_new(rows * v->channels, sizeof *j->row, "rows", e)) &&
              (j->doubles = mem_raw(workers, sizeof *j->doubles, "rows", e)) &&
              (j->floats = mem_raw(workers, sizeof *j->floats, "rows", e));
    for (uint32_t c = 0; ok && c < v->channels; c++)
        ok = (j->sum[c] = j->in_result ? v->buf->plane[c]
                                       : mem_raw(v->pixels, sizeof(float), "sum of windows", e)) &&
             (j->window[c] = mem_raw(points, sizeof(float), "a window", e));
    return ok && view_blocks(v, clear_block, j, e);
}

static void window_job_free(window_job *j) {
    for (int c = 0; c < VIEW_CHANNELS; c++) {
        if (!j->in_result) mem_free(j->sum[c]);
        mem_free(j->window[c]);
    }
    mem_free(j->row);
    mem_free(j->doubles);
    mem_free(j->floats);
}

/* Joins the sum of the windows with the pixels. */
static bool join_sum(outcome *to, const view *v, const light *l, const window_job *j, err *e) {
    const join how = attempt_join(v, l);
    const plan_request ask = {
        .size = {v->need.w, v->need.h}, .channels = v->channels, .planes = v->size->planes};
    const engine_frame f = {.in = j->in,
                            .lost = v->lost[0] ? v->lost : NULL,
                            .out = v->doubles[0] ? (void *const *)v->doubles : to->out,
                            .glare = v->size->planes.glare ? v->glare : NULL,
                            .join = &how};
    join_stats st[VIEW_CHANNELS];
    if (!cpu_join_planes(st, &ask, &f, (const float *const *)j->sum, v->threads, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        st[c].spilled = to->stats[c].spilled;
        to->stats[c] = st[c];
    }
    return true;
}

bool field_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e) {
    const kernel_at *size = v->size;
    OWN(attempt_sources) from = {0};
    *to = (outcome){.type = size->planes.out == PLAN_HALFS ? PIXEL_HALF : PIXEL_FLOAT};
    OWN(window_job) j = {.v = v, .in_result = size->planes.out == PLAN_FLOATS};
    OWN_MEM double *floor = mem_new((size_t)size->nodes * VIEW_CHANNELS, sizeof *floor, "field", e);
    bool ok = floor && buffers_room(v->buf, v->channels, v->pixels * pixel_bytes(to->type), e) &&
              attempt_sources_find(&from, v, e) && make_planes(&j, v, e);
    for (uint32_t c = 0; ok && c < v->channels; c++) to->out[c] = v->buf->plane[c];
    j.in = (const void *const *)from.in;
    for (uint32_t i = 0; ok && i < size->nodes; i++) {
        j.node = &size->node[i], j.number = i;
        if (field_window_empty(&j.node->window)) continue;
        ok = host_ask((double)i / (size->nodes + 1), e) &&
             run_window(to, &j, method, floor + (size_t)i * VIEW_CHANNELS, e);
    }
    if (ok) add_floors(to, size, floor);
    return ok && join_sum(to, v, l, &j, e) && attempt_narrow(to, v, e);
}

double field_points(const view *v, char *note, size_t room) {
    const kernel_at *size = v->size;
    double points = 0;
    uint32_t windows = 0;
    plan one;
    err ignored = {0};
    for (uint32_t i = 0; i < size->nodes; i++) {
        const field_stretch *w = size->node[i].window.axis;
        points += (double)w[PLAN_X].length * w[PLAN_Y].length;
        windows += !field_window_empty(&size->node[i].window);
    }
    if (!plan_make(&one, &size->ask, &ignored)) return 0;
    points /= (double)one.axis[0].length * one.axis[1].length;
    if (note)
        snprintf(note, room,
                 "the kernel is a field of %u: %u windows, which have %.2g times the points of one "
                 "kernel's transform",
                 size->nodes, windows, points);
    return points;
}
