/* The transpose of taking glare away (bloom/solve.h): a series in doubles, of the transposes At of
 * blooms A, with C for what stays of a pixel and m for the mask:
 *
 *   x' = y - At z + m x,  z = m x / C           the result is z + (1 - m) x
 *
 * It comes nearer by r = t / C with each step: by the largest pixel, or, where the transpose folds
 * a frame and its rows sum to more than t, by the sum over all pixels. So by that norm x' is off by
 * (r |x' - x| + rounding) / (1 - r) at most, and so is every pixel. */
#include "bloom/promise/accuracy.h"
#include "lib/lib.h"
#include "math/noise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const lib_job *j;
    bloom_report *made;
    lib_pair *p; /* what is bloomed, and its bloom */
    double *y[LIB_CHANNELS], *x[LIB_CHANNELS];
    float *mask;
    bool sums; /* the norm is the sum, */
    double ratio;
    double places; /* of that many pixels; else 1 */
    double dark[LIB_CHANNELS], bound[LIB_CHANNELS], allowed[LIB_CHANNELS];
    size_t at[LIB_CHANNELS], n; /* at: the pixel that is allowed least */
    uint64_t bad;
    bool settled[LIB_CHANNELS]; /* more steps would change nothing */
} series;

static double mask_at(const series *s, size_t i) {
    return s->mask ? (double)s->mask[i] : 1;
}

static void put_operand(const series *s, uint32_t c, size_t i, double v) {
    float *to = s->p->img->plane[0][c], *rest = s->p->rest->plane[0][c];
    to[i] = (float)v;
    rest[i] = (float)(v - (double)to[i]);
}

/* Returns C, which is 1 for a channel that does not spread. */
static double core_of(const series *s, uint32_t c) {
    const ledger_row *row = lib_row(s->made, &s->j->head.part[0], c);
    return row ? row->centre : 1;
}

/* Makes x' of a channel, and what is to be bloomed next, and bounds it. */
static bool step_channel(void *ctx, size_t index, int worker, err *e) {
    series *s = ctx;
    const uint32_t c = (uint32_t)index;
    const accuracy *a = &s->made->sum.promise.method;
    const double core = core_of(s, c), wide = fmax(1, core);
    double moved = 0, size = 0, least = INFINITY, error = 0;
    (void)worker, (void)e;
    for (size_t i = 0; i < s->n; i++) {
        const double m = mask_at(s, i), y = s->y[c][i], x = s->x[c][i], q = s->p->doubles[c][i];
        const double next = y - q + m * x, z = m * next / core;
        const double by = fabs(next - x), of = fabs(y) + 4 * wide * fabs(x);
        const double result = fabs(z + (1 - m) * next);
        moved = s->sums ? moved + by : fmax(moved, by);
        size = s->sums ? size + of : fmax(size, of);
        if (result < least) least = result, s->at[c] = i;
        s->x[c][i] = next;
        put_operand(s, c, i, z);
    }
    for (int k = 0; k < PSF_CHANNELS; k++) error = fmax(error, a->error[k]);
    const double rounding = s->places * (error + 0x1p-146) +
                            (accuracy_relative(a) + 0x1p-49) * size;
    s->settled[c] = !(s->ratio * moved > rounding);
    s->bound[c] = size > 0 ? fmax(1, 1 / core) * (s->ratio * moved + rounding) / (1 - s->ratio) : 0;
    s->allowed[c] = s->made->sum.promise.tolerance * fmax(least, s->dark[c]);
    return true;
}

/* Returns the bound of the channel that is nearest to breaking the promise, in parts of what is
 * allowed. */
static double worst_of(const series *s, uint32_t *channel) {
    double worst = -1;
    for (uint32_t c = 0; c < s->j->is->channels; c++) {
        const double part = s->bound[c] > 0 ? s->bound[c] / s->allowed[c] : 0;
        if (part > worst) worst = part, *channel = c;
    }
    return worst;
}

/* Makes the planes, and the first x. */
static bool begin(series *s, const fb_settings *set, err *e) {
    const lib_job *j = s->j;
    scan seen = {.memory = NULL};
    pixel_type type[LIB_CHANNELS];
    for (uint32_t c = 0; c < j->is->channels; c++) type[c] = PIXEL_FLOAT;
    const scan_request ask = {.w = j->is->width,
                              .h = j->is->height,
                              .channels = j->is->channels,
                              .plane = (const void *const *)s->p->img->plane[0],
                              .type = type};
    bool ok = lib_read_mask(&s->mask, j, e) && scan_make(&seen, &ask, j->threads, e);
    s->bad = seen.bad;
    if (ok && s->bad && set->nan == FB_NAN_INTERPOLATE)
        ok = err_set(e, ERR_CONFIG,
                     "nan cannot interpolate for the transpose: zero takes bad pixels out, and "
                     "error refuses them");
    for (uint32_t c = 0; ok && c < j->is->channels; c++) {
        const float *y = s->p->img->plane[0][c], *rest = s->p->rest->plane[0][c];
        s->dark[c] = accuracy_dark(&seen.channel[c], false);
        ok = (s->y[c] = mem_raw(s->n, sizeof(double), "a plate in doubles", e)) &&
             (s->x[c] = mem_raw(s->n, sizeof(double), "steps in doubles", e));
        for (size_t i = 0; ok && i < s->n; i++) {
            const bool drop = set->nan == FB_NAN_ZERO && !isfinite(y[i]);
            s->y[c][i] = drop ? 0 : (double)y[i] + (double)rest[i];
            put_operand(s, c, i, mask_at(s, i) * s->y[c][i]);
        }
    }
    scan_free(&seen);
    return ok;
}

static bool iterate(uint32_t *steps, series *s, lib_job *j, fb_session *of, bloom_report *r,
                    err *e) {
    enum { MOST = 10000 };
    uint32_t ignored;
    for (*steps = 1; *steps < MOST; ++*steps) {
        if (!lib_transpose(s->p, j, of, NULL, r, e)) return false;
        for (uint32_t c = 0; *steps == 1 && c < j->is->channels; c++)
            for (size_t i = 0; i < s->n; i++) s->x[c][i] = s->y[c][i] * core_of(s, c);
        if (!par_for(j->threads, j->is->channels, step_channel, s, e)) return false;
        bool done = true;
        for (uint32_t c = 0; c < j->is->channels; c++) done &= s->settled[c];
        if (done || worst_of(s, &ignored) <= 1) break;
    }
    return true;
}

/* Enters what is found, and makes the result of x. */
static void finish(series *s, const lib_job *j, bloom_report *r, const bloom_solved *is) {
    uint32_t worst = 0;
    const double part = worst_of(s, &worst);
    const char *name = j->head.part[0].channel[worst].name;
    for (uint32_t c = 0; c < j->is->channels; c++) {
        double in = 0, out = 0;
        for (size_t i = 0; i < s->n; i++) {
            const double m = mask_at(s, i), x = s->x[c][i];
            s->p->doubles[c][i] = m * x / core_of(s, c) + (1 - m) * x;
            in += s->y[c][i], out += s->p->doubles[c][i];
        }
        ledger_row *row = lib_row(r, &j->head.part[0], c);
        if (row) row->in = in, row->out = out;
    }
    r->sum.bad = s->bad;
    r->sum.solved = *is;
    r->sum.solved.x = (int32_t)(s->at[worst] % j->is->width);
    r->sum.solved.y = (int32_t)(s->at[worst] / j->is->width);
    snprintf(r->sum.solved.channel, sizeof r->sum.solved.channel, "%s", name);
    snprintf(r->sum.promise.channel, sizeof r->sum.promise.channel, "%s", name);
    r->sum.promise.method = (accuracy){.precision = PRECISION_FLOAT64,
                                       .floor = s->bound[worst],
                                       .allowed = s->allowed[worst],
                                       .kept = part <= 1};
}

/* Refuses a kernel that cannot be taken away, and finds r. */
static bool foresee(bloom_solved *to, const lib_job *j, fb_session *s, bloom_report *r, err *e) {
    const bloom *b = lib_bloom(s, LIB_SOLVES, e);
    image *zeros = b ? image_new(&j->head, e) : NULL;
    const bool ok = zeros && bloom_predict(b, zeros, r, e);
    *to = r->sum.solved;
    image_free(&zeros);
    return ok;
}

bool lib_solve_adjoint(lib_job *j, fb_session *of, bloom_report *r, err *e) {
    lib_pair p = {0};
    bloom_solved is;
    series s = {.j = j, .made = r, .p = &p, .places = 1, .n = (size_t)j->is->width * j->is->height};
    if (!foresee(&is, j, of, r, e)) return false;
    s.ratio = is.ratio;
    bool ok = lib_pair_make(&p, j, &j->head, false, e) && lib_pair_read(&p, j, e) &&
              begin(&s, &of->set, e);
    p.far = true; /* what blooms would say is not true of the plate */
    const border_axis *x = &of->axis[PLAN_X], *y = &of->axis[PLAN_Y];
    ok = ok && lib_bloom(of, LIB_WIDE | LIB_TRANSPOSE, e); /* finds the frame */
    s.sums = x->before + x->after + y->before + y->after > 0;
    if (s.sums)
        s.places = ((double)x->before + j->is->width + x->after) *
                   ((double)y->before + j->is->height + y->after);
    ok = ok && iterate(&is.steps, &s, j, of, r, e);
    if (ok) finish(&s, j, r, &is);
    ok = ok && lib_pair_write(&p, j, e);
    for (int c = 0; c < LIB_CHANNELS; c++) mem_free(s.y[c]), mem_free(s.x[c]);
    mem_free(s.mask);
    lib_pair_free(&p);
    return ok;
}

bool lib_solve(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    return lib_bloom_it(j, s, r, e);
}
