#include "bloom/promise/accuracy.h"

#include "bloom/promise/core.h"
#include "bloom/promise/spots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double accuracy_dark(const scan_channel *c) {
    return ACCURACY_DARK * scan_median(c);
}

/* Each term is rounded to a double, and what exceeds a threshold to a float: docs/math.md, "Terms
 * that cancel". */
double accuracy_rounding(const accuracy *a, bool excess) {
    return 0x1p-53 * (a->terms + 8) + (excess ? 0x1p-24 : 0);
}

double accuracy_relative(const accuracy *a) {
    return noise_relative(a->precision) + accuracy_rounding(a, false) + a->floats;
}

/* --- one channel ----------------------------------------------------------------------------- */

/* Returns the darkest pixel that something is promised for. Glare fades gradually: where some
 * pixels are darker than `dark`, others are likely to be just as dark as that. */
static double darkest_of(const accuracy_facts *f, uint32_t c) {
    double dark = f->dark[c];
    if (f->measured) return f->measured[c].darker ? dark : fmax(dark, f->measured[c].darkest);
    return fmax(dark, f->sketch[c].darkest);
}

/* Returns the floor that keeps the promise of a pixel. `used` is the part of the tolerance that
 * other errors take. */
static double allowed_of(const accuracy_facts *f, uint32_t c, double darkest, double used) {
    const scan_channel *in = &f->scanned->channel[c];
    if (in->least == 0 && in->greatest == 0) return INFINITY;
    return (f->tolerance - used) * darkest;
}

static const noise_tail *sums_of(const accuracy *a, const accuracy_facts *f, uint32_t c) {
    return &f->sums[c][core_index(a->core)];
}

static noise_transform transform_of(const accuracy *a, const accuracy_facts *f, uint32_t c) {
    return (noise_transform){a->precision, f->points, f->signs[c]};
}

/* Returns what the transform carries of channel c, whose glare has this norm, and this peak inside
 * the image. Ghosts come from outside the image as well: docs/math.md, "The noise floor". */
static noise_load load_of(const accuracy *a, const accuracy_facts *f, uint32_t c, double norm,
                          double peak) {
    peak = fmax(peak, f->sketch[c].most[core_index(a->core)].outside);
    return noise_load_known(&f->scanned->channel[c], a->below[c], sums_of(a, f, c), norm, peak);
}

/* Returns the part of what is allowed that is used. */
static double strain(double floor, double allowed) {
    if (allowed > 0) return floor / allowed;
    return floor > 0 ? INFINITY : 0;
}

/* Enters channel c: channel 0 first. */
static void enter(accuracy *a, uint32_t c, double floor, double allowed, double darkest) {
    a->error[c] = floor;
    a->kept = floor <= allowed && (c == 0 || a->kept);
    allowed = fmax(0, allowed);
    if (c > 0 && !(strain(floor, allowed) > strain(a->floor, a->allowed))) return;
    a->floor = floor;
    a->allowed = allowed;
    a->darkest = darkest;
    a->channel = c;
}

/* --- methods: docs/math.md, "Choosing a method" ----------------------------------------------- */

typedef struct {
    const char *name;
    bool (*usable)(const accuracy_facts *f);
    /* How it is run: the transform's precision, the radius of the core that is summed in space, and
     * whether bright pixels are pasted, as few as keep the promise. */
    plan_precision precision;
    uint32_t core;
    bool spots;
    /* Its price: seconds on one core, more than the plain transform takes. */
    double (*price)(const accuracy *a, const accuracy_facts *f);
    /* Its forecast: the floor of channel c. Sets a->exponent[c]. */
    double (*forecast)(accuracy *a, const accuracy_facts *f, uint32_t c);
} method;

static bool may_be_plain(const accuracy_facts *f) {
    return f->precision != PRECISION_FLOAT64;
}
static bool may_be_in_space(const accuracy_facts *f) {
    return f->precision != PRECISION_FLOAT64 && f->scanned->channel[0].count;
}
static bool may_be_float64(const accuracy_facts *f) {
    if (f->precision == PRECISION_FLOAT64) return true;
    return f->precision == PRECISION_AUTO && f->scanned->channel[0].count && isfinite(f->seconds64);
}

static double price_nothing(const accuracy *a, const accuracy_facts *f) {
    (void)a, (void)f;
    return 0;
}
/* Seconds per product on one core with AVX2, where other programs run: docs/notebook.md. */
static double price_in_space(const accuracy *a, const accuracy_facts *f) {
    static const double PASTE[] = {0.1e-9, 0.06e-9}, CORE[] = {0.09e-9, 0.035e-9};
    bool floats = a->floats > 0;
    return PASTE[floats] * spots_work(f->tail, a->spots) +
           CORE[floats] * core_work(f->tail, a->core) * f->tail->channels;
}
static double price_float64(const accuracy *a, const accuracy_facts *f) {
    (void)a;
    return f->seconds64 - f->seconds;
}

/* Forecasts the floor of channel c from the sketch, which knows only the mean of a block. Where it
 * has looked closely, the peak is not guessed, but no lower than it can turn out to be. */
static double forecast(accuracy *a, const accuracy_facts *f, uint32_t c) {
    const scan_channel *in = &f->scanned->channel[c];
    const noise_tail *sums = sums_of(a, f, c);
    double whole = f->sums[c][0].sum, share = whole > 0 ? sums->sum / whole : 0;
    double brightest = fmax(fabs((double)in->least), fabs((double)in->greatest));
    double peak = share * f->sketch[c].peak + sums->peak * brightest;
    if (a->core) peak = f->sketch[c].most[core_index(a->core)].inside;
    noise_load load = load_of(a, f, c, share * f->sketch[c].norm, peak);
    noise_transform t = transform_of(a, f, c);
    a->exponent[c] = noise_exponent(&t, &load);
    return noise_floor(&t, &load, a->exponent[c]);
}

/* One row per method; of two with the same price, the first is taken. bloom/attempt.c runs what the
 * rows say. */
static const method METHOD[] = {
    {"plain transform", may_be_plain, PRECISION_FLOAT32, 0, false, price_nothing, forecast},
    {"bright pixels", may_be_in_space, PRECISION_FLOAT32, 0, true, price_in_space, forecast},
    {"core of 1", may_be_in_space, PRECISION_FLOAT32, 1, true, price_in_space, forecast},
    {"core of 2", may_be_in_space, PRECISION_FLOAT32, 2, true, price_in_space, forecast},
    {"core of 3", may_be_in_space, PRECISION_FLOAT32, 3, true, price_in_space, forecast},
    {"core of 4", may_be_in_space, PRECISION_FLOAT32, 4, true, price_in_space, forecast},
    {"core of 8", may_be_in_space, PRECISION_FLOAT32, 8, true, price_in_space, forecast},
    {"float64", may_be_float64, PRECISION_FLOAT64, 0, false, price_float64, forecast},
};
enum { METHODS = sizeof METHOD / sizeof METHOD[0] };

/* The most of the tolerance that sums in floats, in space, may take. */
static double room_for_floats(const accuracy_facts *f) {
    return f->tolerance / 16;
}

/* Returns whether each bright pixel times the kernel's scale is a float, and not one that has lost
 * digits. A kernel of tiny taps has a large scale. */
static bool spots_are_floats(const accuracy *a, const accuracy_facts *f) {
    for (uint32_t c = 0; c < f->tail->channels; c++) {
        const scan_channel *in = &f->scanned->channel[c];
        double scale = fabs(f->tail->scale[tail_kernel(f->tail, c)]);
        double most = fmax(fabs((double)in->least), fabs((double)in->greatest));
        if (a->below[c] == SCAN_BINS) continue;
        if (!(scale * most < 1e38) || scale * (double)scan_bin_floor(a->below[c]) < 1e-30)
            return false;
    }
    return true;
}

/* Returns what they put a pixel off; 0 where that is too much, and they must be in doubles. Four
 * more roundings add the parts up. */
static double rounding_of_floats(const accuracy *a, const accuracy_facts *f) {
    double off = 0x1p-22;
    if (!spots_are_floats(a, f)) return 0;
    if (a->spots > 0) off += spots_rounding(f->tail, a->spots);
    if (a->core) off += core_rounding(a->core);
    return (a->spots > 0 || a->core) && off < room_for_floats(f) ? off : 0;
}

/* Takes the fewest bright pixels out of channel c that keep its promise: the floor falls as more of
 * the histogram's upper end is taken. */
static void take_spots(accuracy *a, const method *m, const accuracy_facts *f, uint32_t c) {
    const scan_channel *in = &f->scanned->channel[c];
    uint32_t lo = in->first_bin, hi = in->end_bin; /* enough, too little */
    double used = accuracy_relative(a), darkest = darkest_of(f, c), count = 0;
    double core = a->core ? core_rounding(a->core) + 0x1p-22 : 0;
    if (m->forecast(a, f, c) <= allowed_of(f, c, darkest, used + core)) return;
    double allowed = allowed_of(f, c, darkest, used + room_for_floats(f));
    while (hi - lo > 1) {
        a->below[c] = lo + (hi - lo) / 2;
        if (m->forecast(a, f, c) <= allowed)
            lo = a->below[c];
        else
            hi = a->below[c];
    }
    a->below[c] = lo;
    for (uint32_t b = lo; b < in->end_bin; b++) count += (double)(in->count[b] + in->extra[b]);
    a->spots += count;
}

/* Returns the method as it would be run here, and what is expected of it. */
static accuracy candidate(const method *m, const accuracy_facts *f) {
    accuracy a = {.method = m->name, .precision = m->precision, .core = m->core};
    double side = 2.0 * m->core + 1;
    for (uint32_t c = 0; c < PSF_CHANNELS; c++) a.below[c] = SCAN_BINS;
    for (uint32_t c = 0; m->spots && c < f->tail->channels; c++) take_spots(&a, m, f, c);
    a.floats = rounding_of_floats(&a, f);
    a.terms = fmin(a.spots, (double)f->tail->kw * f->tail->kh) + (m->core ? side * side : 0);
    a.seconds = m->price(&a, f);
    for (uint32_t c = 0; c < f->tail->channels; c++) {
        double floor = m->forecast(&a, f, c), darkest = darkest_of(f, c);
        enter(&a, c, floor, allowed_of(f, c, darkest, accuracy_relative(&a)), darkest);
    }
    return a;
}

/* Work in space that takes far longer than the transform would look like a program that hangs.
 * Where it does not even keep the promise, it may take no longer than the transform itself. */
static bool is_affordable(const accuracy *a, const accuracy_facts *f) {
    bool in_space = a->spots > 0 || a->core;
    return !in_space || a->seconds <= (a->kept ? 30 + 100 * f->seconds : f->seconds);
}

static bool is_better(const accuracy *a, const accuracy *b) {
    if (a->kept != b->kept) return a->kept;
    if (a->kept) return a->seconds < b->seconds;
    double one = strain(a->floor, a->allowed), other = strain(b->floor, b->allowed);
    return one < other || (one == other && a->precision > b->precision);
}

void accuracy_choose(accuracy *to, const accuracy_facts *f) {
    bool any = false;
    for (int i = 0; i < METHODS; i++) {
        if (!METHOD[i].usable(f)) continue;
        accuracy a = candidate(&METHOD[i], f);
        if (!any || (is_affordable(&a, f) && is_better(&a, to))) *to = a;
        if (to->kept && to->seconds <= 0) return; /* nothing is cheaper */
        any = true;
    }
}

bool accuracy_same_method(const accuracy *a, const accuracy *b) {
    return a->precision == b->precision && a->core == b->core &&
           memcmp(a->exponent, b->exponent, sizeof a->exponent) == 0 &&
           memcmp(a->below, b->below, sizeof a->below) == 0;
}

/* --- afterwards: docs/math.md, "The promise" -------------------------------------------------- */

void accuracy_check(accuracy *a, const accuracy_facts *f, const accuracy_measured *m) {
    accuracy_facts with = *f;
    with.measured = m;
    double used = accuracy_relative(a), cancelled = 0;
    for (uint32_t c = 0; c < f->tail->channels; c++)
        cancelled = fmax(cancelled, m[c].cancelled_part);
    for (uint32_t c = 0; c < f->tail->channels; c++) {
        noise_transform t = transform_of(a, f, c);
        double inside = m[c].norm, outside = f->sketch[c].outside;
        double norm = sqrt(inside * inside + outside * outside);
        noise_load load = load_of(a, f, c, norm, m[c].peak);
        double floor = isfinite(norm) ? noise_floor(&t, &load, a->exponent[c]) : INFINITY;
        /* The darkest pixel may be darker by its own error. */
        double darkest = fmax(f->dark[c], darkest_of(&with, c) - floor);
        enter(a, c, floor, allowed_of(f, c, darkest, used + cancelled), darkest);
        a->error[c] += m[c].cancelled;
    }
}

void accuracy_text(const accuracy *a, char *to, size_t room) {
    char how[128] = "", more[64] = "";
    if (a->spots > 0)
        snprintf(how, sizeof how, ", %.0f bright spot%s in space", a->spots,
                 a->spots > 1 ? "s" : "");
    if (a->core) {
        size_t n = strlen(how);
        snprintf(how + n, sizeof how - n, ", a core of radius %u in space", a->core);
    }
    if (a->error[a->channel] > a->floor)
        snprintf(more, sizeof more, " (%.2g where terms cancel)", a->error[a->channel]);
    snprintf(to, room, "%s%s: errors up to %.2g%s, and %.2g allowed for the darkest pixel (%.2g)%s",
             a->precision == PRECISION_FLOAT64 ? "float64" : "float32", how, a->floor, more,
             a->allowed, a->darkest, a->kept ? "" : "; the tolerance is not kept");
}
