/* Over 600 lines because a row is made in one of three ways, in floats, from halfs to halfs or in
 * doubles, and these share the row, its totals and the scratch, which no other file should see. */
#include "bloom/join.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STRIP = 16 }; /* rows of a piece */

/* --- what is spread -------------------------------------------------------------------------- */

/* A parabola joins the two lines at threshold -+ knee. */
double join_excess_of(const join_excess *x, double v) {
    double over = v - x->threshold;
    if (!(x->threshold > 0)) return v;
    if (over >= x->knee) return over > 0 ? over : 0;
    if (over <= -x->knee || !(v > 0)) return 0;
    return fmin(v, (over + x->knee) * (over + x->knee) / (4 * x->knee));
}

void join_excess_row(const join_excess *x, float *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = (float)join_excess_of(x, (double)from[i]);
}

/* --- one row --------------------------------------------------------------------------------- */

/* A row of a result, and what it is made of. */
typedef struct {
    float *out;
    uint16_t *half_out;      /* not NULL: the result goes there, */
    const uint16_t *half_in; /* and the row is this, instead of `in` */
    uint32_t n;
    uint32_t ahead; /* the row that is wanted next is as many below */
    double centre;
    double dark;
    bool nonnegative;
    const float *in;       /* the row as it came */
    const float *floats;   /* what the transform made, or */
    const double *doubles; /* this */
    double back;           /* by which it must be multiplied */
    const float *space;    /* what was added in space, as floats; NULL: nothing, or doubles */
    double *own, *glare;   /* what the pixels give themselves; all else */
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

/* What the engine made is fetched so many numbers ahead, also beyond the row: rows that a device
 * has copied to the host lie one behind the other, and not in the cache. */
enum { AHEAD = 768 };

/* Makes an ordinary row, in floats: nothing below zero, all spread, nothing darker than `dark`, and
 * of a size whose squares are floats, as are the sums of its result; with `halfs` from halfs to
 * halfs that hold it, without a way through memory in between. Returns false where the row turns
 * out not to be ordinary; the result must be made again then. Terms of one sign cannot cancel, so
 * all roundings are relative to the result: accuracy_relative has room for them. Two sums each,
 * since one addition waits for the one before. */
VECTOR_INLINE VECTOR_WIDE bool make_floats(const row *r, row_totals *t, bool space, bool halfs) {
    const float *in = r->in, *made = r->floats, *added = r->space;
    float *to = r->out, centre = (float)r->centre;
    size_t bytes = halfs ? sizeof(uint16_t) : sizeof(float);
    const char *next_in = (halfs ? (const char *)r->half_in : (const char *)in) +
                          r->ahead * r->n * bytes;
    const char *next_to = (halfs ? (const char *)r->half_out : (const char *)to) + 2 * r->n * bytes;
    vec8f zero = {0}, high = zero, low = zero + FLT_MAX, largest = zero, darkest = zero + FLT_MAX;
    vec4d norm = {0}, sum = {0};
    uint32_t i = 0, whole = r->n / 16 * 16;
    while (i < whole) {
        uint32_t end = i + SPAN < whole ? i + SPAN : whole;
        vec8f norm_a = zero, norm_b = zero, sum_a = zero, sum_b = zero;
        for (; i < end; i += 16) {
            __builtin_prefetch(next_in + i * bytes);
            __builtin_prefetch(next_to + i * bytes, 1);
            __builtin_prefetch(made + i + AHEAD);
            vec8f in_a, in_b;
            if (halfs) {
                vector_of_halfs(&in_a, r->half_in + i);
                vector_of_halfs(&in_b, r->half_in + i + 8);
            } else {
                in_a = *(const vec8f_any *)(in + i);
                in_b = *(const vec8f_any *)(in + i + 8);
            }
            vec8f a = *(const vec8f_any *)(made + i), b = *(const vec8f_any *)(made + i + 8);
            norm_a += a * a;
            norm_b += b * b;
            high = VECTOR_MAX8(VECTOR_MAX8(a, b), high);
            if (space) {
                high = VECTOR_MAX8(VECTOR_MAX8(-a, -b), high);
                a += *(const vec8f_any *)(added + i);
                b += *(const vec8f_any *)(added + i + 8);
            }
            vec8f out_a = centre * in_a + a, out_b = centre * in_b + b;
            if (halfs) {
                vector_to_halfs(r->half_out + i, &out_a);
                vector_to_halfs(r->half_out + i + 8, &out_b);
            } else {
                *(vec8f_any *)(to + i) = out_a;
                *(vec8f_any *)(to + i + 8) = out_b;
            }
            sum_a += out_a;
            sum_b += out_b;
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
        float e = made[i], g = space ? e + added[i] : e;
        float out = centre * (halfs ? half_to_float(r->half_in[i]) : in[i]) + g;
        t->norm += (double)e * (double)e;
        t->sum += (double)out;
        top = fmaxf(top, space ? fabsf(e) : e);
        bottom = fminf(bottom, g);
        t->largest = fmaxf(t->largest, out);
        t->darkest = fminf(t->darkest, out);
        if (halfs)
            r->half_out[i] = half_from_float(out);
        else
            to[i] = out;
    }
    t->peak = (double)top;
    if (halfs && !(t->largest <= HALF_MAX)) return false;
    return bottom >= 0 && (double)t->darkest >= r->dark && top > 1e-15F && top < 1e15F &&
           t->largest < 1e36F;
}
VECTOR_WIDE static bool make_ordinary(const row *r, row_totals *t) {
    return make_floats(r, t, false, false);
}
VECTOR_WIDE static bool make_ordinary_and_space(const row *r, row_totals *t) {
    return make_floats(r, t, true, false);
}
VECTOR_WIDE static bool make_ordinary_halfs(const row *r, row_totals *t) {
    return make_floats(r, t, false, true);
}
VECTOR_WIDE static bool make_ordinary_halfs_and_space(const row *r, row_totals *t) {
    return make_floats(r, t, true, true);
}

typedef float vec4f __attribute__((vector_size(16)));
typedef float vec4f_any __attribute__((vector_size(16), aligned(4), may_alias));
#define SIZE4(v) (vec4d)((vec4l)(v)&INT64_MAX)

/* Does what `finish` does, as far as the pixels are whole fours; returns how many these are. */
VECTOR_WIDE static uint32_t finish_fours(const row *r, row_totals *t) {
    const double *own = r->own;
    double *glare = r->glare;
    vec4d zero = {0}, sum = zero, cut = zero, largest = zero, lowest = zero;
    vec4d darkest = zero + FLT_MAX, all = darkest, dark = zero + r->dark;
    vec4l count = {0}, may_cut = r->nonnegative ? ~(vec4l){0} : (vec4l){0};
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

/* Makes `out` of any row from r->own and r->glare: in doubles, rounded to a float once, so that
 * terms of both signs may cancel (docs/math.md, "Terms that cancel"). Glare below zero is cut off
 * where there can be none. */
static void finish(const row *r, row_totals *t) {
    for (uint32_t i = vector_wide() ? finish_fours(r, t) : 0; i < r->n; i++) {
        double g = r->glare[i];
        t->lowest = fmin(t->lowest, g);
        if (r->nonnegative && g < 0) {
            t->negative++;
            t->negative_sum += g;
            r->glare[i] = g = 0;
        }
        float out = (float)(r->own[i] + g), size = fabsf(out);
        r->out[i] = out;
        t->sum += (double)out;
        t->largest = fmaxf(t->largest, size);
        if ((double)size < r->dark)
            t->darker = true;
        else
            t->darkest = fminf(t->darkest, size);
    }
}

/* Does what `begin` does, as far as the pixels are whole fours; returns how many these are. */
VECTOR_WIDE static uint32_t begin_fours(const row *r, row_totals *t) {
    const float *in = r->in, *floats = r->floats;
    const double *doubles = r->doubles;
    double *own = r->own, *glare = r->glare, back = r->back;
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

/* Starts the totals of a row. Fills r->glare with what the transform made, scaled back, and notes
 * its norm and peak; fills r->own with what the pixels give where all of them is spread. */
static void begin(const row *r, row_totals *t) {
    *t = (row_totals){.darkest = FLT_MAX};
    for (uint32_t i = vector_wide() ? begin_fours(r, t) : 0; i < r->n; i++) {
        double g = r->back * (r->floats ? (double)r->floats[i] : r->doubles[i]);
        r->glare[i] = g;
        r->own[i] = r->centre * (double)r->in[i];
        t->norm += g * g;
        t->peak = fmax(t->peak, fabs(g));
    }
}

/* --- all rows -------------------------------------------------------------------------------- */

struct join {
    join_job j;
    join_stats *row; /* [channel][y] */
    void *scratch;   /* of each worker, `room` bytes */
    size_t room;
};

/* Writes number by number. A whole struct would be made elsewhere and copied in larger pieces, and
 * each of these would wait for what was just stored. */
static void set_stats(join_stats *st, const row_totals *t, double spilled) {
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

/* A worker's scratch. In doubles: what the pixels give themselves, the glare, the sums of the
 * magnitudes of its terms in space, and the scratch of core_row. In floats: the row as it came, the
 * part of it that is spread, what the engine made, and the result; and what is added in space to
 * STENCIL_ROWS rows at once, with the room for making that. */
typedef struct {
    double *own, *glare, *magnitude, *core;
    uint64_t *rows; /* which rows `space` has: channel * height + y, over STENCIL_ROWS */
    float *in, *excess, *made, *out, *space, *room;
} scratch;

static size_t space_pitch(const join_job *j) {
    return j->tail->w + STENCIL_MORE;
}

static size_t scratch_bytes(const join_job *j) {
    size_t doubles = 3 * (size_t)j->tail->w + core_scratch(j->core) + 1,
           floats = 4 * (size_t)j->tail->w + STENCIL_ROWS * space_pitch(j) + spots_room(j->tail);
    return (doubles * sizeof(double) + floats * sizeof(float) + 127) / 64 * 64;
}

static scratch lay_out(const join_job *j, void *at) {
    size_t w = j->tail->w;
    scratch s = {.own = at};
    s.glare = s.own + w;
    s.magnitude = s.glare + w;
    s.core = s.magnitude + w;
    s.rows = (uint64_t *)(s.core + core_scratch(j->core));
    s.in = (float *)(s.rows + 1);
    s.excess = s.in + w;
    s.made = s.excess + w;
    s.out = s.made + w;
    s.space = s.out + w;
    s.room = s.space + STENCIL_ROWS * space_pitch(j);
    return s;
}

/* Which row is made, and with what. */
typedef struct {
    const join_job *j;
    uint32_t c, y;
    size_t first;   /* where its pixels are in the planes */
    tail_kept kept; /* what of the image counts */
    bool all;       /* all light is spread, none of it is held back by a threshold */
    bool in_space;  /* something is added in space */
    scratch s;
} row_job;

static row_job job_of(const join *f, uint32_t c, uint32_t y, int worker) {
    const join_job *j = &f->j;
    const tail_kept whole = {0, 0, j->tail->w, j->tail->h};
    return (row_job){.j = j,
                     .c = c,
                     .y = y,
                     .first = (size_t)y * j->tail->w,
                     .kept = j->kept.w ? j->kept : whole,
                     .all = !(j->excess.threshold > 0),
                     .in_space = j->core->radius || j->spots[c].count,
                     .s = lay_out(j, (char *)f->scratch + (size_t)worker * f->room)};
}

/* Returns the row without its pixels. made: what the engine made, where that is not in planes. */
static row row_of(const row_job *p, const float *made) {
    const join_job *j = p->j;
    if (!made && !j->wide) made = (const float *)j->made[p->c] + p->first;
    return (row){.out = j->half ? p->s.out : j->out[p->c] + p->first,
                 .n = j->tail->w,
                 .ahead = j->core->radius ? STENCIL_ROWS + j->core->radius : 2,
                 .centre = j->tail->centre[tail_kernel(j->tail, p->c)],
                 .dark = j->dark[p->c] / 2,
                 .nonnegative = j->nonnegative[p->c],
                 .floats = made,
                 .doubles = j->wide ? (const double *)j->made[p->c] + p->first : NULL,
                 .back = ldexp(1, -j->exponent[p->c]),
                 .own = p->s.own,
                 .glare = p->s.glare};
}

/* Gives the row its pixels, and returns what of them is spread over the border. */
static double read_pixels(const row_job *p, row *r) {
    const join_job *j = p->j;
    const float *plane = j->type[p->c] == PIXEL_FLOAT ? (const float *)j->source[p->c]
                         : j->same[p->c]              ? j->in[p->c]
                                                      : NULL;
    r->in = plane ? plane + p->first : p->s.in;
    if (!plane) image_to_float(p->s.in, j->source[p->c], j->type[p->c], p->first, r->n);
    if (!p->all) join_excess_row(&j->excess, p->s.excess, r->in, r->n);
    return ledger_spill(j->ledger, p->c, p->y, p->all ? r->in : p->s.excess);
}

/* Returns the part of a row whose result counts. */
static row kept_of(const row *r, const tail_kept *kept) {
    row k = *r;
    k.n = kept->w;
    k.out += kept->x;
    if (k.in) k.in += kept->x;
    if (k.floats) k.floats += kept->x;
    if (k.doubles) k.doubles += kept->x;
    if (k.space) k.space += kept->x;
    k.own += kept->x;
    k.glare += kept->x;
    return k;
}

/* Adds what the transform made of the rest of a row. */
static void add_margins(row_totals *t, const row *r, const tail_kept *kept) {
    for (uint32_t i = 0; i < r->n; i++) {
        if (i == kept->x) i += kept->w;
        if (i >= r->n) break;
        double g = (double)r->floats[i];
        t->norm += g * g;
        t->peak = fmax(t->peak, fabs(g));
    }
}

/* --- a row in floats --- */

/* Returns what is added in space to the row, in floats: made for some rows at once, which the same
 * worker wants next. */
static const float *space_of(const row_job *p) {
    const join_job *j = p->j;
    const scratch *s = &p->s;
    uint32_t first = p->y / STENCIL_ROWS * STENCIL_ROWS, h = j->tail->h;
    space_rows r = {p->c, first, min_u32(STENCIL_ROWS, h - first), s->space, space_pitch(j)};
    uint64_t wanted = (uint64_t)p->c * h + first;
    if (*s->rows != wanted) {
        memset(s->space, 0, r.rows * r.pitch * sizeof *s->space);
        if (j->core->radius) core_floats(j->core, &r, j->in[p->c]);
        if (j->spots[p->c].count) spots_floats(&j->spots[p->c], &r, s->room);
    }
    *s->rows = wanted;
    return s->space + (p->y - first) * r.pitch;
}

/* Makes a row in floats, or of halfs where it has these, if it is an ordinary one. */
static bool make_in_floats(const row_job *p, const row *is, row_totals *t) {
    row r = *is;
    if (p->in_space) r.space = space_of(p);
    row k = kept_of(&r, &p->kept);
    static bool (*const MAKE[2][2])(const row *, row_totals *) = {
        {make_ordinary, make_ordinary_halfs},
        {make_ordinary_and_space, make_ordinary_halfs_and_space}};
    if (!MAKE[p->in_space][r.half_out != NULL](&k, t)) return false;
    add_margins(t, &r, &p->kept);
    return true;
}

/* Returns whether the row may be an ordinary one, which its pixels decide. */
static bool may_be_ordinary(const row_job *p, const row *r) {
    const join_job *j = p->j;
    return vector_wide() && !j->wide && p->all && r->nonnegative && !j->glare &&
           !j->exponent[p->c] && (!p->in_space || j->floats);
}

/* Makes a row that may be ordinary from halfs to halfs, without floats in memory, but for the
 * pixels whose light leaves the image. */
static bool make_halfs(const row_job *p, const row *is, row_totals *t, double *spilled) {
    const join_job *j = p->j;
    if (!j->half || j->type[p->c] != PIXEL_HALF || j->kept.w) return false;
    uint32_t unread[2];
    row r = *is;
    r.half_in = (const uint16_t *)j->source[p->c] + p->first;
    r.half_out = j->half[p->c] + p->first;
    if (!make_in_floats(p, &r, t)) return false;
    ledger_unread(j->ledger, p->c, p->y, unread);
    half_to_floats(p->s.in, r.half_in, unread[0]);
    half_to_floats(p->s.in + unread[1], r.half_in + unread[1], r.n - unread[1]);
    *spilled = ledger_spill(j->ledger, p->c, p->y, p->s.in);
    return true;
}

/* --- a row in doubles --- */

/* Adds what is done in space to the glare. Returns true if p->s.magnitude is valid. */
static bool add_in_space(const row_job *p, const row *r) {
    const join_job *j = p->j;
    if (!p->in_space) return false;
    tail_row to = {p->c, p->y, r->glare, j->signs[p->c] ? p->s.magnitude : NULL};
    if (to.magnitude) memset(to.magnitude, 0, r->n * sizeof *to.magnitude);
    core_row(j->core, &to, &(core_input){j->in ? j->in[p->c] : NULL, r->back, p->s.core});
    spots_row(&j->spots[p->c], &to);
    return to.magnitude;
}

/* Notes by how much pixels should perhaps be less, since terms of both signs were added up. */
static void note_cancelled(const row_job *p, const row *kept, row_totals *t) {
    const double *magnitude = p->s.magnitude + p->kept.x, dark = p->j->dark[p->c];
    for (uint32_t i = 0; i < kept->n; i++) {
        double off = p->j->rounding * magnitude[i], size = fabs((double)kept->out[i]);
        if (!(off > 0x1p-26 * size)) continue; /* lost in the pixel's own rounding */
        t->cancelled = fmax(t->cancelled, off);
        t->cancelled_part = fmax(t->cancelled_part, off / fmax(size - off, dark));
    }
}

/* Makes any row. */
static void make_in_doubles(const row_job *p, row *r, row_totals *t) {
    const join_job *j = p->j;
    if (r->in == r->out) { /* the result of another try may be there by now */
        image_to_float(p->s.in, j->source[p->c], j->type[p->c], p->first, r->n);
        r->in = p->s.in;
    }
    begin(r, t);
    bool sized = add_in_space(p, r);
    for (uint32_t i = 0; !p->all && i < r->n; i++) {
        double v = (double)r->in[i], x = join_excess_of(&j->excess, v);
        r->own[i] = v - x + r->centre * x;
    }
    row k = kept_of(r, &p->kept);
    finish(&k, t);
    if (sized) note_cancelled(p, &k, t);
    for (uint32_t i = 0; j->glare && i < r->n; i++)
        j->glare[p->c][p->first + i] = (float)r->glare[i];
}

/* --- a row --- */

/* Counts what halfs cannot hold, and limits it where the result is halfs. */
static void limit_to_halfs(const row_job *p, const row *r, join_stats *st) {
    const double half = (double)HALF_MAX;
    for (float *at = r->out + p->kept.x, *end = at + p->kept.w; at < end; at++) {
        double out = (double)*at;
        if (!(fabs(out) > half)) continue;
        st->over++;
        st->over_sum += out - copysign(half, out);
        if (p->j->half) *at = copysignf(HALF_MAX, *at);
    }
}

void join_row(void *ctx, uint32_t c, uint32_t y, int worker, const float *made) {
    const join *f = ctx;
    join_stats *st = &f->row[(size_t)c * f->j.tail->h + y];
    __builtin_prefetch(st, 1); /* nothing has touched its two cache lines before */
    __builtin_prefetch(st + 1, 1);
    const row_job p = job_of(f, c, y, worker);
    row r = row_of(&p, made);
    row_totals t;
    double spilled;
    bool ordinary = may_be_ordinary(&p, &r);
    if (ordinary && make_halfs(&p, &r, &t, &spilled)) {
        set_stats(st, &t, spilled);
        return;
    }
    spilled = read_pixels(&p, &r);
    if (y < p.kept.y || y - p.kept.y >= p.kept.h) { /* a margin: what the engine made is measured */
        begin(&r, &t);
        set_stats(st, &t, 0);
        return;
    }
    if (ordinary && r.floats == r.out) /* it is written over */
        r.floats = memcpy(p.s.made, r.floats, r.n * sizeof *r.floats);
    if (!ordinary || !make_in_floats(&p, &r, &t)) make_in_doubles(&p, &r, &t);
    set_stats(st, &t, spilled);
    if (t.largest > HALF_MAX) limit_to_halfs(&p, &r, st);
    if (f->j.half) half_from_floats(f->j.half[c] + p.first, r.out, r.n);
}

static void merge(join_stats *to, const join_stats *from) {
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

join *join_open(const join_job *j, par *threads, err *e) {
    join *f = mem_new(1, sizeof *f, "last pass", e);
    if (!f) return NULL;
    f->j = *j;
    f->room = scratch_bytes(j);
    f->row = mem_raw((size_t)j->tail->h * j->tail->channels, sizeof *f->row, "statistics", e);
    if (f->row) f->scratch = mem_raw(f->room * (size_t)par_workers(threads), 1, "rows", e);
    if (!f->scratch) join_close(&f, NULL);
    for (int i = 0; f && i < par_workers(threads); i++) { /* no rows are there yet */
        scratch s = lay_out(j, (char *)f->scratch + (size_t)i * f->room);
        memset(s.core, 0xff, core_scratch(j->core) * sizeof *s.core + sizeof *s.rows);
    }
    return f;
}

void join_close(join **pf, join_stats *st) {
    join *f = *pf;
    if (!f) return;
    for (uint32_t c = 0; st && c < f->j.tail->channels; c++) {
        accuracy_measured *m = &st[c].measured;
        st[c] = (join_stats){.measured.darkest = INFINITY};
        for (uint32_t y = 0; y < f->j.tail->h; y++) {
            const join_stats *one = &f->row[(size_t)c * f->j.tail->h + y];
            if (one->measured.darkest < m->darkest) st[c].dark_row = y;
            if (one->measured.peak > m->peak) st[c].bright_row = y;
            merge(&st[c], one);
        }
        m->norm = sqrt(m->norm);
        if (m->darkest == FLT_MAX) m->darkest = 0;
    }
    mem_free(f->row);
    mem_free(f->scratch);
    mem_free(f);
    *pf = NULL;
}

static bool join_strip(void *ctx, size_t index, int worker, err *e) {
    join *f = ctx;
    (void)e;
    size_t strips = ceil_div_u32(f->j.tail->h, STRIP);
    uint32_t y = (uint32_t)(index % strips) * STRIP, end = min_u32(y + STRIP, f->j.tail->h);
    for (; y < end; y++) join_row(f, (uint32_t)(index / strips), y, worker, NULL);
    return true;
}

bool join_all(join_stats *st, const join_job *j, par *threads, err *e) {
    join *f = join_open(j, threads, e);
    size_t strips = ceil_div_u32(j->tail->h, STRIP);
    bool ok = f && par_for(threads, strips * j->tail->channels, join_strip, f, e);
    join_close(&f, ok ? st : NULL);
    return ok;
}
