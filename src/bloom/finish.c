#include "bloom/finish.h"

#include "base/mem.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STRIP = 16 }; /* rows of a piece */

/* --- what is spread -------------------------------------------------------------------------- */

/* A parabola joins the two lines at threshold -+ knee. */
static float excess_of(const finish_excess *x, float v) {
    float over = v - x->threshold;
    if (over >= x->knee) return over > 0 ? over : 0;
    if (over <= -x->knee) return 0;
    float into = over + x->knee;
    return into * into / (4 * x->knee);
}

void finish_excess_row(const finish_excess *x, float *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = x->threshold > 0 ? excess_of(x, from[i]) : from[i];
}

/* --- one row --------------------------------------------------------------------------------- */

/* All of one row; `glare` holds what was done in space, and receives all of the glare. NULL: there
 * is none, and nobody asks for it. rest: NULL where there is none. */
typedef struct {
    float *out, *glare;
    const float *made, *spread, *rest;
    float centre, dark;
    bool light;
    bool last; /* nobody reads `out` before all is done: it need not go to the caches */
    uint32_t n;
} row;

typedef struct {
    double norm, sum;
    uint32_t negative;
    float negative_sum;
    float peak, darkest, lowest, largest; /* of |made|, |out| >= dark, glare, |out| */
    bool darker;
} row_totals;

#define ABS8(v) (vec8f)((vec8i)(v)&0x7fffffff)

VECTOR_INLINE double add_up(const vec8f *v) {
    double s[4];
    for (int k = 0; k < 4; k++) s[k] = (double)(*v)[k] + (double)(*v)[k + 4];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Of n numbers, a multiple of 8. Squares in float: of numbers near 1e19 and beyond, and near 1e-19
 * and below, they are not what they should be. */
VECTOR_INLINE double add_up_squares(const float *v, uint32_t n) {
    vec8f all = {0};
    for (uint32_t i = 0; i < n; i += 8) {
        vec8f x = *(const vec8f_any *)(v + i);
        all += x * x;
    }
    double squares = add_up(&all);
    if (squares > 1e-30 && squares < 1e30) return squares;
    squares = 0;
    for (uint32_t i = 0; i < n; i++) squares += (double)v[i] * (double)v[i];
    return squares;
}

VECTOR_INLINE void join_one(const row *r, row_totals *t, uint32_t i) {
    float e = r->made[i], g = e + (r->glare ? r->glare[i] : 0);
    t->norm += (double)e * (double)e;
    t->peak = fabsf(e) > t->peak ? fabsf(e) : t->peak;
    t->lowest = g < t->lowest ? g : t->lowest;
    if (r->light && g < 0) {
        t->negative++;
        t->negative_sum += g;
        g = 0;
    }
    float out = r->centre * r->spread[i] + g;
    if (r->rest) out += r->rest[i];
    if (r->glare) r->glare[i] = g;
    float size = fabsf(out);
    r->out[i] = out;
    t->sum += (double)out;
    t->largest = size > t->largest ? size : t->largest;
    if (size < r->dark)
        t->darker = true;
    else
        t->darkest = size < t->darkest ? size : t->darkest;
}

/* Sums of as many floats as this, eight at a time, go to a double: few enough that their rounding
 * is far below what the ledger allows where all are of one sign. */
enum { SPAN = 128 };

VECTOR_INLINE void join_any(const row *r, row_totals *to) {
    row_totals t = {.darkest = FLT_MAX};
    vec8f zero = {0}, peak = zero, largest = zero, lowest = zero, darkest = zero + FLT_MAX;
    vec8f cut = zero;
    vec8i darker = {0}, count = {0}, may_cut = r->light ? ~(vec8i){0} : (vec8i){0};
    vec4d sum = {0}; /* light of both signs may all but cancel */
    uint32_t i = 0, whole = r->n / 8 * 8;
    while (i < whole) {
        uint32_t end = i + SPAN < whole ? i + SPAN : whole;
        t.norm += add_up_squares(r->made + i, end - i); /* before `out`, which may be there, too */
        for (; i < end; i += 8) {
            vec8f e = *(const vec8f_any *)(r->made + i), g = e, size = ABS8(e);
            if (r->glare) g += *(const vec8f_any *)(r->glare + i);
            peak = VECTOR_PICK8(size > peak, size, peak);
            lowest = VECTOR_PICK8(g < lowest, g, lowest);
            vec8i off = (g < zero) & may_cut;
            count -= off;
            cut += (vec8f)((vec8i)g & off);
            g = (vec8f)((vec8i)g & ~off);
            vec8f out = r->centre * *(const vec8f_any *)(r->spread + i) + g;
            if (r->rest) out += *(const vec8f_any *)(r->rest + i);
            if (r->glare) *(vec8f_any *)(r->glare + i) = g;
            *(vec8f_any *)(r->out + i) = out;
            for (int k = 0; k < 4; k++) sum[k] += (double)out[k] + (double)out[k + 4];
            size = ABS8(out);
            largest = VECTOR_PICK8(size > largest, size, largest);
            vec8i below = size < zero + r->dark;
            darker |= below;
            darkest = VECTOR_PICK8(~below & (size < darkest), size, darkest);
        }
    }
    for (int k = 0; k < 8; k++) {
        t.peak = fmaxf(t.peak, peak[k]);
        t.lowest = fminf(t.lowest, lowest[k]);
        t.largest = fmaxf(t.largest, largest[k]);
        t.darkest = fminf(t.darkest, darkest[k]);
        t.darker |= darker[k] != 0;
        t.negative += (uint32_t)count[k];
        t.negative_sum += cut[k];
    }
    t.sum = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; i < r->n; i++) join_one(r, &t, i);
    *to = t;
}

/* An ordinary row: light, nothing done in space, all spread, no rounding noise below zero, nothing
 * darker than `dark`, and of a size whose squares are floats. False where it is none; `out` is to
 * be made again then. Two sums each, since one addition waits for the one before. */
VECTOR_WIDE static bool join_ordinary(const row *r, row_totals *t) {
    const float *made = r->made, *in = r->spread;
    float *to = r->out, centre = r->centre;
    const float *next_in = in + 2 * r->n, *next_to = to + 2 * r->n; /* of the next pair of rows */
    vec8f zero = {0}, high = zero, low = zero + FLT_MAX, largest = zero, darkest = zero + FLT_MAX;
    vec4d norm = {0}, sum = {0};
    uint32_t i = 0, whole = r->n / 16 * 16;
    bool stream = r->last && (uintptr_t)to % 32 == 0;
    if (!r->light || r->glare || r->rest) return false;
    while (i < whole) {
        uint32_t end = i + SPAN < whole ? i + SPAN : whole;
        vec8f norm_a = zero, norm_b = zero, sum_a = zero, sum_b = zero;
        for (; i < end; i += 16) {
            __builtin_prefetch(next_in + i);
            if (!stream) __builtin_prefetch(next_to + i, 1);
            vec8f a = *(const vec8f_any *)(made + i), b = *(const vec8f_any *)(made + i + 8);
            vec8f out_a = centre * *(const vec8f_any *)(in + i) + a;
            vec8f out_b = centre * *(const vec8f_any *)(in + i + 8) + b;
            if (stream) {
                VECTOR_STREAM8(to + i, out_a);
                VECTOR_STREAM8(to + i + 8, out_b);
            } else {
                *(vec8f_any *)(to + i) = out_a;
                *(vec8f_any *)(to + i + 8) = out_b;
            }
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
    if (stream) VECTOR_STREAMED();
    *t = (row_totals){.norm = (norm[0] + norm[1]) + (norm[2] + norm[3]),
                      .sum = (sum[0] + sum[1]) + (sum[2] + sum[3]),
                      .lowest = FLT_MAX,
                      .darkest = FLT_MAX};
    for (int k = 0; k < 8; k++) {
        t->peak = high[k] > t->peak ? high[k] : t->peak;
        t->lowest = low[k] < t->lowest ? low[k] : t->lowest;
        t->largest = largest[k] > t->largest ? largest[k] : t->largest;
        t->darkest = darkest[k] < t->darkest ? darkest[k] : t->darkest;
    }
    if (!(t->lowest >= 0 && t->darkest >= r->dark && t->peak > 1e-15F && t->peak < 1e15F))
        return false;
    for (; i < r->n; i++) join_one(r, t, i);
    return true;
}

VECTOR_WIDE static void join_wide(const row *r, row_totals *t) {
    join_any(r, t);
}
static void join_plain(const row *r, row_totals *t) {
    join_any(r, t);
}

/* Of doubles, which are rounded once. */
static void join_doubles(const row *r, const double *made, const float *source, double centre,
                         row_totals *t) {
    *t = (row_totals){.darkest = FLT_MAX};
    for (uint32_t i = 0; i < r->n; i++) {
        double e = made[i], g = e + (r->glare ? (double)r->glare[i] : 0), in = (double)r->spread[i];
        t->norm += e * e;
        t->peak = fmaxf(t->peak, (float)fabs(e));
        t->lowest = fminf(t->lowest, (float)g);
        if (r->light && g < 0) {
            t->negative++;
            t->negative_sum += (float)g;
            g = 0;
        }
        float out = (float)((double)source[i] - in + centre * in + g), size = fabsf(out);
        if (r->glare) r->glare[i] = (float)g;
        r->out[i] = out;
        t->sum += (double)out;
        t->largest = fmaxf(t->largest, size);
        t->darker |= size < r->dark;
        if (size >= r->dark) t->darkest = fminf(t->darkest, size);
    }
}

/* --- all rows -------------------------------------------------------------------------------- */

struct finish {
    finish_job j;
    finish_stats *row; /* [channel][y] */
    float *scratch;    /* of each worker */
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
    st->measured.peak = (double)t->peak;
    st->measured.darkest = (double)t->darkest;
    st->measured.darker = t->darker;
    st->sum = t->sum;
    st->spilled = spilled;
    st->negative = t->negative;
    st->negative_sum = (double)t->negative_sum;
    st->negative_worst = t->negative ? (double)t->lowest : 0;
    st->over = 0;
    st->over_sum = 0;
    st->largest = t->largest;
}

/* What was done in space. */
static void add_glare(const finish *f, uint32_t c, uint32_t y, float *glare, float *own) {
    const finish_job *j = &f->j;
    uint32_t w = j->s->w;
    memset(glare, 0, w * sizeof *glare);
    core_row(j->core, c, j->in ? j->in[c] : NULL, y, glare, own);
    float back = ldexpf(1, -j->exponent[c]);
    for (uint32_t i = 0; j->core->radius && back != 1 && i < w; i++) glare[i] *= back;
    bright_row(&j->bright[c], j->s, c, y, glare);
}

static void join_floats(const finish *f, row *r, row_totals *t, uint32_t c, float *room) {
    const finish_job *j = &f->j;
    /* Where the result takes the place of what the engine made, that is gone after an attempt. */
    if (f->wide && r->made != r->out && join_ordinary(r, t)) return;
    if (r->spread == r->out) { /* and is written over by now */
        image_to_float(room, j->source[c], j->type[c], (size_t)(r->out - j->out[c]), r->n);
        r->spread = room;
    }
    (f->wide ? join_wide : join_plain)(r, t);
}

/* A worker's scratch: the row as it was, what of it is spread, the rest, what the engine made
 * when that is scaled, the glare, and the core's own. */
enum { ROWS = 5 };

void finish_row(void *ctx, uint32_t c, uint32_t y, int worker, const float *made) {
    const finish *f = ctx;
    const finish_job *j = &f->j;
    uint32_t w = j->s->w;
    size_t first = (size_t)y * w;
    finish_stats *st = &f->row[(size_t)c * j->s->h + y];
    __builtin_prefetch(st, 1); /* nothing has touched its two cache lines before */
    __builtin_prefetch(st + 1, 1);
    float *in = f->scratch + (size_t)worker * f->room, *excess = in + w, *rest = excess + w,
          *scaled = rest + w, *glare = scaled + w, *own = glare + w;
    bool all = !(j->excess.threshold > 0), floats = j->type[c] == PIXEL_FLOAT;
    const float *source = floats ? (const float *)j->source[c] : j->same[c] ? j->in[c] : NULL;
    source = source ? source + first : in;
    if (source == in) image_to_float(in, j->source[c], j->type[c], first, w);
    if (!all) finish_excess_row(&j->excess, excess, source, w);
    for (uint32_t i = 0; !all && i < w; i++) rest[i] = source[i] - excess[i];
    if (!made && !j->wide) made = (const float *)j->made[c] + first;
    const float back = ldexpf(1, -j->exponent[c]);
    for (uint32_t i = 0; made && back != 1 && i < w; i++) scaled[i] = back * made[i];
    if (back != 1) made = scaled;
    bool lit = j->core->radius || j->bright[c].count || j->glare;
    if (lit) add_glare(f, c, y, glare, own);
    row r = {.out = j->out[c] + first,
             .glare = lit ? glare : NULL,
             .made = made,
             .spread = all ? source : excess,
             .rest = all ? NULL : rest,
             .centre = (float)j->s->centre[spread_kernel(j->s, c)],
             .dark = (float)(j->dark[c] / 2),
             .light = j->light[c],
             .last = floats && j->out[c] != j->source[c],
             .n = w};
    row_totals t;
    double spilled = ledger_spill(j->ledger, c, y, r.spread);
    if (j->wide)
        join_doubles(&r, (const double *)j->made[c] + first, source,
                     j->s->centre[spread_kernel(j->s, c)], &t);
    else
        join_floats(f, &r, &t, c, in);
    set_stats(st, &t, spilled);
    if (t.largest > FINISH_HALF) count_over(st, r.out, w);
    if (j->glare) memcpy(j->glare[c] + first, glare, w * sizeof *glare);
}

static void merge(finish_stats *to, const finish_stats *from) {
    accuracy_measured *m = &to->measured;
    m->norm += from->measured.norm;
    m->peak = fmax(m->peak, from->measured.peak);
    m->darkest = fmin(m->darkest, from->measured.darkest);
    m->darker |= from->measured.darker;
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
    f->room = (ROWS * (size_t)j->s->w + core_scratch(j->core) + 31) / 16 * 16;
    f->row = mem_raw((size_t)j->s->h * j->s->channels, sizeof *f->row, "statistics", e);
    if (f->row)
        f->scratch = mem_raw(f->room * (size_t)par_threads(threads), sizeof *f->scratch, "rows", e);
    if (!f->scratch) finish_close(&f, NULL);
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
