#include "bloom/finish.h"

#include "base/mem.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STRIP = 16 }; /* rows of a piece */

/* --- what is spread -------------------------------------------------------------------------- */

/* A parabola joins the two lines at threshold -+ knee. */
double finish_excess_of(const finish_excess *x, double v) {
    double over = v - x->threshold;
    if (!(x->threshold > 0)) return v;
    if (over >= x->knee) return over > 0 ? over : 0;
    if (over <= -x->knee) return 0;
    return (over + x->knee) * (over + x->knee) / (4 * x->knee);
}

void finish_excess_row(const finish_excess *x, float *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = (float)finish_excess_of(x, (double)from[i]);
}

/* --- one row --------------------------------------------------------------------------------- */

/* The row of a result and what is known of it. */
typedef struct {
    float *out;
    uint32_t n;
    double centre;
    double dark;
    bool light;
} row;

typedef struct {
    double norm, sum;
    uint32_t negative;
    double negative_sum, lowest; /* lowest: of the glare */
    double peak;                 /* of what the transform made */
    float darkest, largest;      /* of |out|; darkest: of those that are not below `dark` */
    bool darker;
    double cancelled, cancelled_part;
} row_totals;

/* Sums of as many floats as this, eight at a time, go to a double: few enough that their rounding
 * is far below what the ledger allows where all are of one sign. */
enum { SPAN = 128 };

/* The ordinary row, in floats: light, nothing done in space, all spread, no rounding noise below
 * zero, nothing darker than `dark`, and of a size whose squares are floats. False where the row
 * turns out not to be ordinary; `out` must be made again then. Terms of one sign cannot cancel, so
 * all roundings are relative to the result: noise_relative has room for them. Two sums each, since
 * one addition waits for the one before. */
VECTOR_WIDE static bool join_ordinary(const row *r, const float *in, const float *made,
                                      row_totals *t) {
    float *to = r->out, centre = (float)r->centre;
    const float *next_in = in + 2 * r->n, *next_to = to + 2 * r->n; /* of the next pair of rows */
    vec8f zero = {0}, high = zero, low = zero + FLT_MAX, largest = zero, darkest = zero + FLT_MAX;
    vec4d norm = {0}, sum = {0};
    uint32_t i = 0, whole = r->n / 16 * 16;
    while (i < whole) {
        uint32_t end = i + SPAN < whole ? i + SPAN : whole;
        vec8f norm_a = zero, norm_b = zero, sum_a = zero, sum_b = zero;
        for (; i < end; i += 16) {
            __builtin_prefetch(next_in + i);
            __builtin_prefetch(next_to + i, 1);
            vec8f a = *(const vec8f_any *)(made + i), b = *(const vec8f_any *)(made + i + 8);
            vec8f out_a = centre * *(const vec8f_any *)(in + i) + a;
            vec8f out_b = centre * *(const vec8f_any *)(in + i + 8) + b;
            *(vec8f_any *)(to + i) = out_a;
            *(vec8f_any *)(to + i + 8) = out_b;
            norm_a += a * a;
            norm_b += b * b;
            sum_a += out_a;
            sum_b += out_b;
            high = VECTOR_MAX8(VECTOR_MAX8(a, b), high);
            low = VECTOR_MIN8(VECTOR_MIN8(a, b), low);
            largest = VECTOR_MAX8(VECTOR_MAX8(out_a, out_b), largest);
            darkest = VECTOR_MIN8(VECTOR_MIN8(out_a, out_b), darkest);
        }
        norm_a += norm_b;
        sum_a += sum_b;
        VECTOR_ADD_UP(norm, norm_a);
        VECTOR_ADD_UP(sum, sum_a);
    }
    float top = 0, bottom = FLT_MAX;
    *t = (row_totals){.norm = (norm[0] + norm[1]) + (norm[2] + norm[3]),
                      .sum = (sum[0] + sum[1]) + (sum[2] + sum[3]),
                      .darkest = FLT_MAX};
    for (int k = 0; k < 8; k++) {
        top = fmaxf(top, high[k]);
        bottom = fminf(bottom, low[k]);
        t->largest = fmaxf(t->largest, largest[k]);
        t->darkest = fminf(t->darkest, darkest[k]);
    }
    for (; i < r->n; i++) {
        float e = made[i], out = centre * in[i] + e;
        t->norm += (double)e * (double)e;
        t->sum += (double)out;
        top = fmaxf(top, e);
        bottom = fminf(bottom, e);
        t->largest = fmaxf(t->largest, out);
        t->darkest = fminf(t->darkest, out);
        to[i] = out;
    }
    t->peak = (double)top;
    return bottom >= 0 && (double)t->darkest >= r->dark && top > 1e-15F && top < 1e15F;
}

typedef float vec4f __attribute__((vector_size(16)));
typedef float vec4f_any __attribute__((vector_size(16), aligned(4), may_alias));
#define SIZE4(v) (vec4d)((vec4l)(v)&INT64_MAX)

/* What join adds up of a row besides `out`, in fours: as many pixels as are whole fours. */
VECTOR_WIDE static uint32_t join_fours(const row *r, const double *own, double *glare,
                                       row_totals *t) {
    vec4d zero = {0}, sum = zero, cut = zero, largest = zero, lowest = zero;
    vec4d darkest = zero + FLT_MAX, all = darkest, dark = zero + r->dark;
    vec4l count = {0}, may_cut = r->light ? ~(vec4l){0} : (vec4l){0};
    uint32_t i = 0;
    for (; i + 4 <= r->n; i += 4) {
        vec4d g = *(const vec4d_any *)(glare + i);
        lowest = VECTOR_MIN4(g, lowest);
        vec4l off = (g < zero) & may_cut;
        count -= off;
        cut += (vec4d)((vec4l)g & off);
        g = (vec4d)((vec4l)g & ~off);
        *(vec4d_any *)(glare + i) = g;
        vec4f out = __builtin_convertvector(*(const vec4d_any *)(own + i) + g, vec4f);
        *(vec4f_any *)(r->out + i) = out;
        vec4d v = __builtin_convertvector(out, vec4d), size = SIZE4(v);
        sum += v;
        largest = VECTOR_MAX4(size, largest);
        all = VECTOR_MIN4(size, all);
        darkest = VECTOR_MIN4(VECTOR_PICK4(size < dark, darkest, size), darkest);
    }
    for (int k = 0; k < 4; k++) {
        t->lowest = fmin(t->lowest, lowest[k]);
        t->largest = fmaxf(t->largest, (float)largest[k]);
        t->darkest = fminf(t->darkest, (float)darkest[k]);
        t->darker |= all[k] < r->dark;
        t->negative += (uint32_t)count[k];
        t->negative_sum += cut[k];
        t->sum += sum[k];
    }
    return i;
}

/* Any row: in doubles, rounded to a float once, so that terms of both signs may cancel. own: what
 * the pixel itself gives, the part that is not spread and the centre tap's; glare: all else, cut
 * off below zero where it is light. */
static void join(const row *r, const double *own, double *glare, row_totals *t) {
    for (uint32_t i = vector_wide() ? join_fours(r, own, glare, t) : 0; i < r->n; i++) {
        double g = glare[i];
        t->lowest = fmin(t->lowest, g);
        if (r->light && g < 0) {
            t->negative++;
            t->negative_sum += g;
            glare[i] = g = 0;
        }
        float out = (float)(own[i] + g), size = fabsf(out);
        r->out[i] = out;
        t->sum += (double)out;
        t->largest = fmaxf(t->largest, size);
        if ((double)size < r->dark)
            t->darker = true;
        else
            t->darkest = fminf(t->darkest, size);
    }
}

/* What begin does, in fours: as many pixels as are whole fours. */
VECTOR_WIDE static uint32_t begin_fours(double *glare, double *own, const row *r, const float *in,
                                        const float *floats, const double *doubles, double back,
                                        row_totals *t) {
    vec4d zero = {0}, norm = zero, peak = zero, e;
    uint32_t i = 0;
    for (; i + 4 <= r->n; i += 4) {
        if (floats)
            e = back * VECTOR_DOUBLES(floats + i, 0);
        else
            e = back * *(const vec4d_any *)(doubles + i);
        *(vec4d_any *)(glare + i) = e;
        *(vec4d_any *)(own + i) = r->centre * VECTOR_DOUBLES(in + i, 0);
        norm = VECTOR_FMA4(e, e, norm);
        peak = VECTOR_MAX4(SIZE4(e), peak);
    }
    t->norm = (norm[0] + norm[1]) + (norm[2] + norm[3]);
    t->peak = fmax(fmax(peak[0], peak[1]), fmax(peak[2], peak[3]));
    return i;
}

/* Fills `glare` with what the transform made, scaled back, and notes its norm and peak; fills `own`
 * with what the pixels give where all of them is spread. */
static void begin(double *glare, double *own, const row *r, const float *in, const float *floats,
                  const double *doubles, double back, row_totals *t) {
    uint32_t i = 0;
    if (vector_wide()) i = begin_fours(glare, own, r, in, floats, doubles, back, t);
    for (; i < r->n; i++) {
        glare[i] = back * (floats ? (double)floats[i] : doubles[i]);
        own[i] = r->centre * (double)in[i];
        t->norm += glare[i] * glare[i];
        t->peak = fmax(t->peak, fabs(glare[i]));
    }
}

/* --- all rows -------------------------------------------------------------------------------- */

struct finish {
    finish_job j;
    finish_stats *row; /* [channel][y] */
    void *scratch;     /* of each worker, scratch_bytes of the job */
    size_t room;
    bool wide;
};

static void count_over(finish_stats *st, const float *out, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!(fabsf(out[i]) > FINISH_HALF)) continue;
        st->over++;
        st->over_sum += (double)out[i] - copysign(FINISH_HALF, (double)out[i]);
    }
}

/* Number by number: a whole struct would be made elsewhere and copied in larger pieces, each of
 * which waits for what was just stored. */
static void set_stats(finish_stats *st, const row_totals *t, double spilled) {
    st->measured.norm = t->norm;
    st->measured.peak = t->peak;
    st->measured.darkest = (double)t->darkest;
    st->measured.darker = t->darker;
    st->measured.cancelled = t->cancelled;
    st->measured.cancelled_part = t->cancelled_part;
    st->sum = t->sum;
    st->spilled = spilled;
    st->negative = t->negative;
    st->negative_sum = t->negative_sum;
    st->negative_worst = t->negative ? t->lowest : 0;
    st->over = 0;
    st->over_sum = 0;
    st->largest = t->largest;
}

/* A worker's scratch: in doubles what the pixels themselves give, the glare, what its terms in
 * space come to without their signs, and the core's own; in floats the row as it came, and what of
 * it is spread. */
static size_t scratch_bytes(const finish_job *j) {
    size_t doubles = 3 * (size_t)j->s->w + core_scratch(j->core) + bright_scratch(j->s),
           floats = 2 * (size_t)j->s->w;
    return (doubles * sizeof(double) + floats * sizeof(float) + 127) / 64 * 64;
}

void finish_row(void *ctx, uint32_t c, uint32_t y, int worker, const float *made) {
    const finish *f = ctx;
    const finish_job *j = &f->j;
    uint32_t w = j->s->w, kernel = spread_kernel(j->s, c);
    size_t first = (size_t)y * w;
    finish_stats *st = &f->row[(size_t)c * j->s->h + y];
    __builtin_prefetch(st, 1); /* nothing has touched its two cache lines before */
    __builtin_prefetch(st + 1, 1);
    double *own = (double *)((char *)f->scratch + (size_t)worker * f->room), *glare = own + w;
    double *magnitude = glare + w, *core = magnitude + w, *taps = core + core_scratch(j->core);
    float *in = (float *)(taps + bright_scratch(j->s)), *excess = in + w;
    bool all = !(j->excess.threshold > 0), floats = j->type[c] == PIXEL_FLOAT;
    const float *source = floats ? (const float *)j->source[c] : j->same[c] ? j->in[c] : NULL;
    source = source ? source + first : in;
    if (source == in) image_to_float(in, j->source[c], j->type[c], first, w);
    if (!all) finish_excess_row(&j->excess, excess, source, w);
    double spilled = ledger_spill(j->ledger, c, y, all ? source : excess);
    const double *doubles = j->wide ? (const double *)j->made[c] + first : NULL;
    if (!made && !j->wide) made = (const float *)j->made[c] + first;
    row r = {.out = j->out[c] + first,
             .n = w,
             .centre = j->s->centre[kernel],
             .dark = j->dark[c] / 2,
             .light = j->light[c]};
    row_totals t;
    bool in_space = j->core->radius || j->bright[c].count, plain = f->wide && !j->wide && all;
    /* Where the result takes the place of what the engine made, that is gone after an attempt. */
    plain = plain && r.light && !in_space && !j->glare && !j->exponent[c] && made != r.out;
    if (!plain || !join_ordinary(&r, source, made, &t)) {
        if (source == r.out) /* and is written over by now */
            image_to_float(in, j->source[c], j->type[c], first, w), source = in;
        t = (row_totals){.darkest = FLT_MAX};
        double back = ldexp(1, -j->exponent[c]);
        begin(glare, own, &r, source, made, doubles, back, &t);
        double *sizes = j->signs[c] && in_space ? magnitude : NULL;
        if (sizes) memset(sizes, 0, w * sizeof *sizes);
        if (in_space) core_row(j->core, c, j->in ? j->in[c] : NULL, y, back, glare, sizes, core);
        if (in_space) bright_row(&j->bright[c], j->s, c, y, glare, sizes, taps);
        for (uint32_t i = 0; !all && i < w; i++) {
            double v = (double)source[i], x = finish_excess_of(&j->excess, v);
            own[i] = v - x + r.centre * x;
        }
        join(&r, own, glare, &t);
        for (uint32_t i = 0; sizes && i < w; i++) { /* the pixel should perhaps be less by `off` */
            double off = j->rounding * sizes[i], size = fabs((double)r.out[i]);
            if (!(off > 0x1p-26 * size)) continue; /* lost in the pixel's own rounding */
            t.cancelled = fmax(t.cancelled, off);
            t.cancelled_part = fmax(t.cancelled_part, off / fmax(size - off, j->dark[c]));
        }
        for (uint32_t i = 0; j->glare && i < w; i++) j->glare[c][first + i] = (float)glare[i];
    }
    set_stats(st, &t, spilled);
    if (t.largest > FINISH_HALF) count_over(st, r.out, w);
}

static void merge(finish_stats *to, const finish_stats *from) {
    accuracy_measured *m = &to->measured;
    m->norm += from->measured.norm;
    m->peak = fmax(m->peak, from->measured.peak);
    m->darkest = fmin(m->darkest, from->measured.darkest);
    m->darker |= from->measured.darker;
    m->cancelled = fmax(m->cancelled, from->measured.cancelled);
    m->cancelled_part = fmax(m->cancelled_part, from->measured.cancelled_part);
    to->sum += from->sum;
    to->spilled += from->spilled;
    to->negative += from->negative;
    to->negative_sum += from->negative_sum;
    to->negative_worst = fmin(to->negative_worst, from->negative_worst);
    to->over += from->over;
    to->over_sum += from->over_sum;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
}

finish *finish_open(const finish_job *j, par *threads, err *e) {
    finish *f = mem_new(1, sizeof *f, "last pass", e);
    if (!f) return NULL;
    *f = (finish){.j = *j, .wide = vector_wide()};
    f->room = scratch_bytes(j);
    f->row = mem_raw((size_t)j->s->h * j->s->channels, sizeof *f->row, "statistics", e);
    if (f->row) f->scratch = mem_raw(f->room * (size_t)par_workers(threads), 1, "rows", e);
    if (f->scratch)
        memset(f->scratch, 0xff, f->room * (size_t)par_workers(threads)); /* as core_row wants it */
    else
        finish_close(&f, NULL);
    return f;
}

void finish_close(finish **pf, finish_stats *st) {
    finish *f = *pf;
    if (!f) return;
    for (uint32_t c = 0; st && c < f->j.s->channels; c++) {
        accuracy_measured *m = &st[c].measured;
        st[c] = (finish_stats){.measured.darkest = INFINITY};
        for (size_t y = 0; y < f->j.s->h; y++) merge(&st[c], &f->row[c * f->j.s->h + y]);
        m->norm = sqrt(m->norm);
        if (m->darkest == FLT_MAX) m->darkest = 0;
    }
    mem_free(f->row);
    mem_free(f->scratch);
    mem_free(f);
    *pf = NULL;
}

static bool join_strip(void *ctx, size_t index, int worker, err *e) {
    finish *f = ctx;
    (void)e;
    size_t strips = (f->j.s->h + STRIP - 1) / STRIP;
    uint32_t y = (uint32_t)(index % strips) * STRIP;
    uint32_t end = y + STRIP < f->j.s->h ? y + STRIP : f->j.s->h;
    for (; y < end; y++) finish_row(f, (uint32_t)(index / strips), y, worker, NULL);
    return true;
}

bool finish_join(finish_stats *st, const finish_job *j, par *threads, err *e) {
    finish *f = finish_open(j, threads, e);
    size_t strips = (j->s->h + STRIP - 1) / STRIP;
    bool ok = f && par_for(threads, strips * j->s->channels, join_strip, f, e);
    finish_close(&f, ok ? st : NULL);
    return ok;
}

void finish_store(void *plane, pixel_type t, size_t first, float *from, size_t n) {
    if (t == PIXEL_HALF)
        for (size_t i = 0; i < n; i++)
            from[i] = from[i] > FINISH_HALF    ? FINISH_HALF
                      : from[i] < -FINISH_HALF ? -FINISH_HALF
                                               : from[i];
    image_from_float(plane, t, first, from, n);
}
