#include "bloom/finish.h"

#include "base/mem.h"
#include "math/vector.h"

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

/* All of one row; `glare` holds what was done in space, and receives all of the glare. */
typedef struct {
    float *out, *glare;
    const float *made, *spread, *rest;
    float centre, dark;
    bool light;
    uint32_t n;
} row;

typedef int32_t vec8i __attribute__((vector_size(32)));
typedef struct {
    double norm, sum;
    uint32_t negative;
    float negative_sum;
    float peak, darkest, lowest, largest; /* of |made|, |out| >= dark, glare, |out| */
    bool darker;
} row_totals;

#define PICK8(mask, a, b) (vec8f)(((mask) & (vec8i)(a)) | (~(mask) & (vec8i)(b)))
#define ABS8(v)           (vec8f)((vec8i)(v)&0x7fffffff)
typedef float vec4f __attribute__((vector_size(16)));

VECTOR_INLINE void add_doubles(vec4d *to, const vec8f *v, bool square) {
    vec4f half[2];
    memcpy(half, v, sizeof half);
    vec4d a = __builtin_convertvector(half[0], vec4d), b = __builtin_convertvector(half[1], vec4d);
    *to += square ? a * a + b * b : a + b;
}

VECTOR_INLINE void join_one(const row *r, row_totals *t, uint32_t i) {
    float e = r->made[i], g = e + r->glare[i];
    t->norm += (double)e * (double)e;
    t->peak = fabsf(e) > t->peak ? fabsf(e) : t->peak;
    t->lowest = g < t->lowest ? g : t->lowest;
    if (r->light && g < 0) {
        t->negative++;
        t->negative_sum += g;
        g = 0;
    }
    float out = r->rest[i] + r->centre * r->spread[i] + g, size = fabsf(out);
    r->glare[i] = g;
    r->out[i] = out;
    t->sum += (double)out;
    t->largest = size > t->largest ? size : t->largest;
    if (size < r->dark)
        t->darker = true;
    else
        t->darkest = size < t->darkest ? size : t->darkest;
}

VECTOR_INLINE void join_any(const row *r, row_totals *to) {
    row_totals t = {.darkest = FLT_MAX};
    vec4d norm = {0}, sum = {0};
    vec8f zero = {0}, peak = zero, largest = zero, lowest = zero, darkest = zero + FLT_MAX;
    vec8f cut = zero;
    vec8i darker = {0}, count = {0}, may_cut = r->light ? ~(vec8i){0} : (vec8i){0};
    uint32_t i = 0;
    for (; i + 8 <= r->n; i += 8) {
        vec8f e = *(const vec8f_any *)(r->made + i), g = e + *(const vec8f_any *)(r->glare + i);
        vec8f size = ABS8(e);
        add_doubles(&norm, &e, true);
        peak = PICK8(size > peak, size, peak);
        lowest = PICK8(g < lowest, g, lowest);
        vec8i off = (g < zero) & may_cut;
        count -= off;
        cut += (vec8f)((vec8i)g & off);
        g = (vec8f)((vec8i)g & ~off);
        vec8f out = *(const vec8f_any *)(r->rest + i) +
                    r->centre * *(const vec8f_any *)(r->spread + i) + g;
        *(vec8f_any *)(r->glare + i) = g;
        *(vec8f_any *)(r->out + i) = out;
        add_doubles(&sum, &out, false);
        size = ABS8(out);
        largest = PICK8(size > largest, size, largest);
        vec8i below = size < zero + r->dark;
        darker |= below;
        darkest = PICK8(~below & (size < darkest), size, darkest);
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
    t.norm = (norm[0] + norm[1]) + (norm[2] + norm[3]);
    t.sum = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; i < r->n; i++) join_one(r, &t, i);
    *to = t;
}

VECTOR_WIDE static void join_wide(const row *r, row_totals *t) {
    join_any(r, t);
}
static void join_plain(const row *r, row_totals *t) {
    join_any(r, t);
}

/* --- all rows -------------------------------------------------------------------------------- */

typedef struct {
    const finish_job *j;
    finish_stats *strip; /* [channel][strip] */
    float *scratch;      /* of each worker */
    size_t room, strips;
    bool wide;
} job;

static void count_over(finish_stats *st, const float *out, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!(fabsf(out[i]) > FINISH_HALF)) continue;
        st->over++;
        st->over_sum += (double)out[i] - copysign(FINISH_HALF, (double)out[i]);
    }
}

static void add_totals(finish_stats *st, const row_totals *t) {
    accuracy_measured *m = &st->measured;
    m->norm += t->norm;
    m->peak = fmax(m->peak, (double)t->peak);
    m->darkest = fmin(m->darkest, (double)t->darkest);
    m->darker |= t->darker;
    st->sum += t->sum;
    st->negative += t->negative;
    st->negative_sum += (double)t->negative_sum;
    if (t->negative) st->negative_worst = fmin(st->negative_worst, (double)t->lowest);
    if (t->largest > st->largest) st->largest = t->largest;
}

/* A worker's scratch: the row as it was, what of it is spread, the rest, what the engine made, the
 * glare, and the core's own. */
enum { ROWS = 5 };

static void join_row(const job *b, finish_stats *st, uint32_t c, uint32_t y, float *scratch) {
    const finish_job *j = b->j;
    uint32_t w = j->s->w;
    size_t first = (size_t)y * w;
    float *in = scratch, *spread_of = in + w, *rest = spread_of + w, *made = rest + w,
          *glare = made + w, *own = glare + w;
    image_to_float(in, j->source[c], j->type[c], first, w);
    bool all = !(j->excess.threshold > 0);
    if (!all) {
        finish_excess_row(&j->excess, spread_of, in, w);
        for (uint32_t i = 0; i < w; i++) rest[i] = in[i] - spread_of[i];
    }
    if (j->wide)
        for (uint32_t i = 0; i < w; i++) made[i] = (float)((const double *)j->made[c])[first + i];
    memset(glare, 0, w * sizeof *glare);
    core_row(j->core, c, j->in ? j->in[c] : NULL, y, glare, own);
    bright_row(&j->bright[c], j->s, c, y, glare);
    const float *engine = j->wide ? made : (const float *)j->made[c] + first;
    row r = {.out = j->out[c] + first,
             .glare = glare,
             .made = engine,
             .spread = all ? in : spread_of,
             .rest = rest,
             .centre = (float)j->s->centre[spread_kernel(j->s, c)],
             .dark = (float)(j->dark[c] / 2),
             .light = j->light[c],
             .n = w};
    row_totals t;
    (b->wide ? join_wide : join_plain)(&r, &t);
    if (t.largest > FINISH_HALF) count_over(st, r.out, w);
    if (j->glare) memcpy(j->glare[c] + first, glare, w * sizeof *glare);
    add_totals(st, &t);
}

static bool join_strip(void *ctx, size_t index, int worker, err *e) {
    const job *b = ctx;
    (void)e;
    uint32_t c = (uint32_t)(index / b->strips), y = (uint32_t)(index % b->strips) * STRIP;
    uint32_t end = y + STRIP < b->j->s->h ? y + STRIP : b->j->s->h;
    float *scratch = b->scratch + (size_t)worker * b->room;
    finish_stats *st = &b->strip[index];
    st->measured.darkest = INFINITY;
    memset(scratch + 2 * b->j->s->w, 0, b->j->s->w * sizeof *scratch); /* no rest */
    for (; y < end; y++) join_row(b, st, c, y, scratch);
    return true;
}

static void merge(finish_stats *to, const finish_stats *from) {
    accuracy_measured *m = &to->measured;
    m->norm += from->measured.norm;
    m->peak = fmax(m->peak, from->measured.peak);
    m->darkest = fmin(m->darkest, from->measured.darkest);
    m->darker |= from->measured.darker;
    to->sum += from->sum;
    to->negative += from->negative;
    to->negative_sum += from->negative_sum;
    to->negative_worst = fmin(to->negative_worst, from->negative_worst);
    to->over += from->over;
    to->over_sum += from->over_sum;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
}

bool finish_join(finish_stats *st, const finish_job *j, par *threads, err *e) {
    job b = {.j = j, .strips = (j->s->h + STRIP - 1) / STRIP, .wide = vector_wide()};
    size_t pieces = b.strips * j->s->channels;
    b.room = (ROWS * (size_t)j->s->w + core_scratch(j->core) + 31) / 16 * 16;
    b.strip = mem_new(pieces, sizeof *b.strip, "statistics", e);
    b.scratch =
        mem_raw(b.room * (size_t)par_threads(threads), sizeof *b.scratch, "rows of workers", e);
    bool ok = b.strip && b.scratch && par_for(threads, pieces, join_strip, &b, e);
    for (uint32_t c = 0; ok && c < j->s->channels; c++) {
        st[c] = (finish_stats){.measured.darkest = INFINITY};
        for (size_t i = 0; i < b.strips; i++) merge(&st[c], &b.strip[c * b.strips + i]);
        st[c].measured.norm = sqrt(st[c].measured.norm);
        if (isinf(st[c].measured.darkest)) st[c].measured.darkest = 0;
    }
    mem_free(b.strip);
    mem_free(b.scratch);
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
