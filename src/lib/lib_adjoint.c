/* The transposes of a bloom and of taking glare away.
 *
 * A bloom is A = (1 - a) I + a R K E: the border continues the image (E), the kernel spreads it
 * (K), and the frame is cut out again (R). So the transpose puts zeros around an image (R'),
 * correlates with the kernel (K'), and adds what lies outside to the pixels that the border has
 * taken it from (E'). Zero and wrapped borders need no frame: there the transpose of K has the same
 * border. A mask M gives (I - M) + A M, so the transpose mixes by it at the end.
 *
 * That of taking glare away (bloom/solve.h) is a series in doubles, of such transposes At, with C
 * for what stays of a pixel and m for the mask:
 *
 *   x' = y - At z + m x,  z = m x / C           the result is z + (1 - m) x
 *
 * It comes nearer by r = t / C with each step: by the largest pixel, or, where the transpose folds
 * a frame and its rows sum to more than t, by the sum over all pixels. So by that norm x' is off by
 * (r |x' - x| + rounding) / (1 - r) at most, and so is every pixel. */
#include "lib/lib.h"

/* --- folding ---------------------------------------------------------------------------------- */

typedef struct {
    const lib_pair *from, *to; /* with the frame, and without */
    border_axis axis[PLAN_AXES];
    const float *mask; /* NULL: none */
    double *sum;       /* of each worker, a row */
    int64_t *place;    /* of each worker, where a row is shown */
    size_t places;
} fold;

/* Adds all places of a row to it. */
static bool fold_row(void *ctx, size_t index, int worker, err *e) {
    const fold *f = ctx;
    const border_axis *x = &f->axis[PLAN_X], *y = &f->axis[PLAN_Y];
    const int c = (int)(index / y->extent);
    const uint32_t row = (uint32_t)(index % y->extent), wide = x->before + x->extent + x->after;
    double *sum = f->sum + (size_t)worker * x->extent;
    int64_t *place = f->place + (size_t)worker * f->places;
    uint32_t n = border_places(y, row, place);
    memset(sum, 0, x->extent * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        size_t at = (size_t)(place[i] + y->before) * wide;
        const float *from = (const float *)f->from->img->plane[0][c] + at;
        const double *doubles = f->from->doubles[c] ? f->from->doubles[c] + at : NULL;
        for (uint32_t k = 0; k < wide; k++) {
            int64_t to = plan_place(x->border, x->extent, (int64_t)k - x->before);
            if (to >= 0) sum[to] += doubles ? doubles[k] : (double)from[k];
        }
    }
    const size_t at = (size_t)row * x->extent;
    float *out = (float *)f->to->img->plane[0][c] + at;
    for (uint32_t k = 0; f->mask && k < x->extent; k++) {
        const double part = (double)f->mask[at + k];
        sum[k] = part * sum[k] + (1 - part) * (double)out[k];
    }
    for (uint32_t k = 0; k < x->extent; k++) out[k] = (float)sum[k];
    if (f->to->doubles[c]) memcpy(f->to->doubles[c] + at, sum, x->extent * sizeof *sum);
    return true;
}

static bool fold_image(fold *f, par *threads, err *e) {
    const size_t workers = (size_t)par_workers(threads), w = f->axis[PLAN_X].extent,
                 rows = (size_t)f->axis[PLAN_Y].extent * (size_t)f->to->img->head.part[0].channels;
    f->places = border_most(&f->axis[PLAN_Y]);
    f->sum = mem_raw(workers * w, sizeof *f->sum, "rows", e);
    f->place = mem_raw(workers * f->places, sizeof *f->place, "rows", e);
    const bool ok = f->sum && f->place && par_for(threads, rows, fold_row, f, e);
    mem_free(f->sum);
    mem_free(f->place);
    return ok;
}

/* --- of a bloom ------------------------------------------------------------------------------- */

static bool make_frame(lib_pair *to, const lib_pair *own, const lib_job *j, const border_axis *axis,
                       err *e) {
    const border_axis *x = &axis[PLAN_X], *y = &axis[PLAN_Y];
    const uint32_t w = x->before + x->extent + x->after, h = y->before + y->extent + y->after;
    const image_box box = {-(int32_t)x->before, -(int32_t)y->before,
                           (int32_t)(x->extent + x->after) - 1,
                           (int32_t)(y->extent + y->after) - 1};
    image_header head;
    if (!image_header_copy(&head, &j->head, e)) return false;
    bool ok = (w <= IMAGE_SIDE && h <= IMAGE_SIDE) ||
              err_set(e, ERR_DATA,
                      "with the reach of the kernel around it, the image has %u x %u pixels; the "
                      "maximum is %d a side",
                      w, h, IMAGE_SIDE);
    head.part[0].data = head.part[0].display = box;
    ok = ok && lib_pair_make(to, j, &head, true, e);
    for (int i = 0; ok && i < (own->rest ? 2 : 1); i++)
        for (uint32_t c = 0; c < j->pixels->channels; c++)
            image_copy_box((i ? to->rest : to->img)->plane[0][c], &box,
                           (i ? own->rest : own->img)->plane[0][c], &j->head.part[0].data,
                           sizeof(float));
    image_header_free(&head);
    to->far |= own->far;
    return ok;
}

/* Makes of a pair what the transpose of a bloom makes of it. mask: NULL: none. */
static bool transpose(lib_pair *own, lib_job *j, fb_session *s, const float *mask, bloom_report *r,
                      err *e) {
    if (s->set.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "threshold is %g: what is not linear has no transpose; set it to 0",
                       s->set.threshold);
    if (j->space.curve && j->space.curve != CURVE_LINEAR)
        return err_set(e, ERR_USAGE, "space is '%s': a curve has no transpose; decode the image",
                       j->pixels->space);
    const bloom *b = lib_bloom(s, j->way & ~LIB_SOLVES, e);
    if (!b) return false;
    OWN(lib_pair) framed = {0};
    fold f = {.from = &framed, .to = own, .axis = {s->axis[PLAN_X], s->axis[PLAN_Y]}, .mask = mask};
    f.axis[PLAN_X].extent = j->pixels->width;
    f.axis[PLAN_Y].extent = j->pixels->height;
    return make_frame(&framed, own, j, f.axis, e) && lib_pair_bloom(&framed, b, r, e) &&
           fold_image(&f, j->threads, e);
}

bool lib_adjoint(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    OWN(lib_pair) own = {0};
    OWN_MEM float *mask = NULL;
    return lib_pair_make(&own, j, &j->head, false, e) && lib_pair_read(&own, j, e) &&
           lib_read_mask(&mask, j, e) && transpose(&own, j, s, mask, r, e) &&
           lib_pair_write(&own, j, e);
}

/* --- of taking glare away --------------------------------------------------------------------- */

typedef struct {
    lib_job *j;
    fb_session *of;
    bloom_report *made;
    lib_pair p; /* what is bloomed, and its bloom */
    double *y[LIB_CHANNELS], *x[LIB_CHANNELS];
    float *mask;
    bool sums; /* the norm is the sum, */
    double ratio;
    double places;  /* of that many pixels; else 1 */
    uint32_t worst; /* the channel that is nearest to breaking the promise, */
    double part;    /* and its bound in parts of what is allowed */
    double dark[LIB_CHANNELS], bound[LIB_CHANNELS], allowed[LIB_CHANNELS];
    size_t at[LIB_CHANNELS], n; /* at: the pixel that is allowed least */
    uint64_t bad;
    bool settled[LIB_CHANNELS]; /* more steps would change nothing */
} series;

static double mask_at(const series *s, size_t i) {
    return s->mask ? (double)s->mask[i] : 1;
}

static void put_operand(const series *s, uint32_t c, size_t i, double v) {
    float *to = s->p.img->plane[0][c], *rest = s->p.rest->plane[0][c];
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
    for (size_t i = 0; i < s->n; i++) {
        const double m = mask_at(s, i), y = s->y[c][i], x = s->x[c][i], q = s->p.doubles[c][i];
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

static bool begin(series *s, err *e) {
    lib_job *j = s->j;
    const int32_t nan = s->of->set.nan;
    OWN(scan) seen = {.memory = NULL};
    pixel_type type[LIB_CHANNELS];
    for (uint32_t c = 0; c < j->pixels->channels; c++) type[c] = PIXEL_FLOAT;
    const scan_request ask = {.w = j->pixels->width,
                              .h = j->pixels->height,
                              .channels = j->pixels->channels,
                              .plane = (const void *const *)s->p.img->plane[0],
                              .type = type};
    bool ok = lib_read_mask(&s->mask, j, e) && scan_make(&seen, &ask, j->threads, e);
    s->bad = seen.bad;
    if (ok && s->bad && nan == FB_NAN_INTERPOLATE)
        ok = err_set(e, ERR_CONFIG,
                     "nan cannot interpolate for the transpose: zero takes bad pixels out, and "
                     "error refuses them");
    for (uint32_t c = 0; ok && c < j->pixels->channels; c++) {
        const float *y = s->p.img->plane[0][c], *rest = s->p.rest->plane[0][c];
        s->dark[c] = accuracy_dark(&seen.channel[c], false);
        ok = (s->y[c] = mem_raw(s->n, sizeof(double), "a plate in doubles", e)) &&
             (s->x[c] = mem_raw(s->n, sizeof(double), "steps in doubles", e));
        for (size_t i = 0; ok && i < s->n; i++) {
            const bool drop = nan == FB_NAN_ZERO && !isfinite(y[i]);
            s->y[c][i] = drop ? 0 : (double)y[i] + (double)rest[i];
            put_operand(s, c, i, mask_at(s, i) * s->y[c][i]);
        }
    }
    return ok;
}

static bool iterate(series *s, uint32_t *steps, err *e) {
    enum { MOST = 10000 };
    const uint32_t channels = s->j->pixels->channels;
    for (*steps = 1; *steps < MOST; ++*steps) {
        if (!transpose(&s->p, s->j, s->of, NULL, s->made, e)) return false;
        for (uint32_t c = 0; *steps == 1 && c < channels; c++)
            for (size_t i = 0; i < s->n; i++) s->x[c][i] = s->y[c][i] * core_of(s, c);
        if (!par_for(s->j->threads, channels, step_channel, s, e)) return false;
        bool done = true;
        s->part = -1;
        for (uint32_t c = 0; c < channels; c++) {
            const double part = s->bound[c] > 0 ? s->bound[c] / s->allowed[c] : 0;
            if (part > s->part) s->part = part, s->worst = c;
            done &= s->settled[c];
        }
        if (done || s->part <= 1) break;
    }
    return true;
}

static void finish(series *s, const bloom_solved *solved) {
    const image_part *part = &s->j->head.part[0];
    const char *name = part->channel[s->worst].name;
    bloom_account *sum = &s->made->sum;
    for (uint32_t c = 0; c < s->j->pixels->channels; c++) {
        double in = 0, out = 0;
        for (size_t i = 0; i < s->n; i++) {
            const double m = mask_at(s, i), x = s->x[c][i];
            s->p.doubles[c][i] = m * x / core_of(s, c) + (1 - m) * x;
            in += s->y[c][i], out += s->p.doubles[c][i];
        }
        ledger_row *row = lib_row(s->made, part, c);
        if (row) row->in = in, row->out = out;
    }
    sum->bad = s->bad;
    sum->solved = *solved;
    sum->solved.x = (int32_t)(s->at[s->worst] % s->j->pixels->width);
    sum->solved.y = (int32_t)(s->at[s->worst] / s->j->pixels->width);
    snprintf(sum->solved.channel, sizeof sum->solved.channel, "%s", name);
    snprintf(sum->promise.channel, sizeof sum->promise.channel, "%s", name);
    sum->promise.method = (accuracy){.precision = PRECISION_FLOAT64,
                                     .floor = s->bound[s->worst],
                                     .allowed = s->allowed[s->worst],
                                     .kept = s->part <= 1};
}

bool lib_solve_adjoint(lib_job *j, fb_session *of, bloom_report *r, err *e) {
    series s = {.j = j,
                .of = of,
                .made = r,
                .places = 1,
                .n = (size_t)j->pixels->width * j->pixels->height};
    /* A kernel that cannot be taken away is refused here. */
    const bloom *b = lib_bloom(of, LIB_SOLVES, e);
    image *zeros = b ? image_new(&j->head, e) : NULL;
    bool ok = zeros && bloom_predict(b, zeros, NULL, r, e);
    image_free(&zeros);
    bloom_solved solved = r->sum.solved;
    s.ratio = solved.ratio;
    ok = ok && lib_pair_make(&s.p, j, &j->head, false, e) && lib_pair_read(&s.p, j, e) &&
         begin(&s, e) && lib_bloom(of, LIB_WIDE | LIB_TRANSPOSE, e); /* finds the frame */
    s.p.far = true; /* what blooms would say is not true of the plate */
    const border_axis *x = &of->axis[PLAN_X], *y = &of->axis[PLAN_Y];
    s.sums = x->before + x->after + y->before + y->after > 0;
    if (s.sums)
        s.places = ((double)x->before + j->pixels->width + x->after) *
                   ((double)y->before + j->pixels->height + y->after);
    ok = ok && iterate(&s, &solved.steps, e);
    if (ok) finish(&s, &solved);
    ok = ok && lib_pair_write(&s.p, j, e);
    for (int c = 0; c < LIB_CHANNELS; c++) mem_free(s.y[c]), mem_free(s.x[c]);
    mem_free(s.mask);
    lib_pair_free(&s.p);
    return ok;
}
