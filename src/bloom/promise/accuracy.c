#include "bloom/promise/accuracy.h"

#include "bloom/promise/bright.h"
#include "bloom/promise/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const uint32_t ACCURACY_CORE[ACCURACY_CORES] = {0, 1, 2, 4, 8};

/* Seconds per product on one core with AVX2: docs/notebook.md. */
static const double PASTE = 0.16e-9, CORE = 0.09e-9;

double accuracy_dark(const scan_channel *c) {
    return ACCURACY_DARK * scan_median(c);
}

double accuracy_relative(const accuracy *a) {
    return noise_relative(a->precision) + accuracy_rounding(a, false);
}

/* Each term is rounded to a double, and what exceeds a threshold to a float: docs/math.md, "Terms
 * that cancel". */
double accuracy_rounding(const accuracy *a, bool excess) {
    return 0x1p-53 * (a->terms + 8) + (excess ? 0x1p-24 : 0);
}

/* --- one channel ----------------------------------------------------------------------------- */

static double spots_of(const scan_channel *c, uint32_t below) {
    double n = 0;
    for (uint32_t b = below; b < SCAN_BINS; b++) n += (double)(c->count[b] + c->extra[b]);
    return n;
}

/* The darkest pixel that something is promised for. Where some pixels are darker than that, there
 * are likely to be others that are just so dark: glare fades gradually. */
static double darkest_of(const accuracy_facts *f, uint32_t c) {
    double dark = f->dark[c];
    if (f->measured) return f->measured[c].darker ? dark : fmax(dark, f->measured[c].darkest);
    return fmax(dark, f->sketch[c].darkest);
}

/* cancelled: what terms that cancel take of the tolerance. */
static double allowed_of(const accuracy *a, const accuracy_facts *f, uint32_t c, double darkest,
                         double cancelled) {
    const scan_channel *in = &f->scanned->channel[c];
    if (in->least == 0 && in->greatest == 0) return INFINITY;
    return (f->tolerance - accuracy_relative(a) - cancelled) * darkest;
}

static double brightest_of(const scan_channel *in) {
    return fmax(fabs((double)in->least), fabs((double)in->greatest));
}

/* Returns the floor of channel c, whose glare has this norm, and this peak inside the image;
 * chooses the exponent if that is wanted. Ghosts come from outside the image as well. */
static double floor_of(accuracy *a, const accuracy_facts *f, uint32_t c, const noise_tail *tail,
                       double norm, double peak, bool choose) {
    const scan_channel *in = &f->scanned->channel[c];
    noise_transform t = {a->precision, f->points, f->signs[c]};
    peak = fmax(peak, f->sketch[c].peak_outside);
    noise_load load = noise_load_known(in, a->below[c], tail, norm, peak);
    if (choose) a->exponent[c] = noise_exponent(&t, &load);
    return noise_floor(&t, &load, a->exponent[c]);
}

/* The floor, from estimates; chooses the exponent. */
static double predict(accuracy *a, const accuracy_facts *f, uint32_t c, uint32_t ring) {
    const noise_tail *tail = &f->tail[c][ring];
    double share = f->tail[c][0].sum > 0 ? tail->sum / f->tail[c][0].sum : 0;
    /* Inside a block the sketch knows only the mean. */
    double peak = share * f->sketch[c].peak + tail->peak * brightest_of(&f->scanned->channel[c]);
    return floor_of(a, f, c, tail, share * f->sketch[c].norm, peak, true);
}

/* How much of what is allowed is used. */
static double strain(const accuracy *a) {
    if (a->allowed > 0) return a->floor / a->allowed;
    return a->floor > 0 ? INFINITY : 0;
}

/* Notes the channel if it is the first or the nearest to its limit so far. */
static void note(accuracy *a, uint32_t c, double floor, double allowed, double darkest) {
    accuracy one = *a;
    one.floor = floor;
    one.allowed = fmax(0, allowed);
    one.darkest = darkest;
    one.channel = c;
    one.kept = floor <= allowed && (c == 0 || a->kept);
    bool kept = one.kept;
    if (c == 0 || strain(&one) > strain(a)) *a = one;
    a->error[c] = floor;
    a->kept = kept;
}

static void forecast(accuracy *a, const accuracy_facts *f, uint32_t ring) {
    for (uint32_t c = 0; c < f->s->channels; c++) {
        double dark = darkest_of(f, c);
        double floor = predict(a, f, c, ring);
        note(a, c, floor, allowed_of(a, f, c, dark, 0), dark);
    }
}

/* --- candidates ------------------------------------------------------------------------------ */

static accuracy plain(const accuracy_facts *f, plan_precision p) {
    accuracy a = {.precision = p};
    for (uint32_t c = 0; c < PSF_CHANNELS; c++) a.below[c] = SCAN_BINS;
    if (p == PRECISION_FLOAT64) a.seconds = f->seconds64 - f->seconds;
    forecast(&a, f, 0);
    return a;
}

/* Fewest spots that keep the channel's promise, if the kernel's core is done in space: the floor
 * falls as more of the histogram's upper end is taken out. */
static uint32_t fewest(accuracy *a, const accuracy_facts *f, uint32_t c, uint32_t ring) {
    uint32_t lo = 0, hi = SCAN_BINS + 1; /* enough, too little */
    double allowed = allowed_of(a, f, c, darkest_of(f, c), 0);
    while (hi - lo > 1) {
        a->below[c] = lo + (hi - lo) / 2;
        if (predict(a, f, c, ring) <= allowed)
            lo = a->below[c];
        else
            hi = a->below[c];
    }
    return lo;
}

/* In space: a core of the kernel, and as many bright pixels as are needed then. */
static accuracy in_space(const accuracy_facts *f, uint32_t ring) {
    accuracy a = {.precision = PRECISION_FLOAT32, .core = ACCURACY_CORE[ring]};
    double side = 2.0 * a.core + 1;
    for (uint32_t c = 0; c < f->s->channels; c++) a.below[c] = SCAN_BINS;
    for (uint32_t c = 0; c < f->s->channels; c++) {
        a.below[c] = fewest(&a, f, c, ring);
        a.spots += spots_of(&f->scanned->channel[c], a.below[c]);
    }
    a.seconds = PASTE * bright_work(f->s, a.spots) +
                CORE * core_work(f->s, a.core) * f->s->channels;
    a.terms = fmin(a.spots, (double)f->s->kw * f->s->kh) + (side > 1 ? side * side : 0);
    forecast(&a, f, ring);
    return a;
}

/* The cheapest that keeps the promise for no more than `most` seconds; where none does, the one
 * that is nearest to it among those that cost no more than the transform itself. */
static accuracy best_in_space(const accuracy_facts *f, double most) {
    accuracy best = plain(f, PRECISION_FLOAT32);
    for (uint32_t ring = 0; ring < ACCURACY_CORES; ring++) {
        accuracy a = in_space(f, ring);
        if (!(a.seconds <= most)) continue;
        bool cheaper = a.seconds < best.seconds, nearer = strain(&a) < strain(&best);
        if (a.kept ? !best.kept || cheaper : !best.kept && nearer && a.seconds <= f->seconds)
            best = a;
    }
    return best;
}

/* Core seconds that methods in space may take where float64 is out of the question: more would look
 * like a program that hangs. */
static double patience(const accuracy_facts *f) {
    return 30 + 100 * f->seconds;
}

void accuracy_choose(accuracy *to, const accuracy_facts *f) {
    bool may64 = f->precision != PRECISION_FLOAT32 && isfinite(f->seconds64);
    accuracy a =
        plain(f, f->precision == PRECISION_FLOAT64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32);
    if (!a.kept && a.precision == PRECISION_FLOAT32 && f->scanned->channel[0].count) {
        accuracy wide = plain(f, PRECISION_FLOAT64);
        a = best_in_space(f, may64 && wide.kept ? wide.seconds : patience(f));
        if (!a.kept && may64 && (wide.kept || !(strain(&a) < strain(&wide)))) a = wide;
    }
    *to = a;
}

/* --- afterwards ------------------------------------------------------------------------------ */

static uint32_t core_index(uint32_t radius) {
    uint32_t i = 0;
    while (i + 1 < ACCURACY_CORES && ACCURACY_CORE[i] != radius) i++;
    return i;
}

void accuracy_check(accuracy *a, const accuracy_facts *f, const accuracy_measured *m) {
    accuracy_facts with = *f;
    with.measured = m;
    double cancelled = 0;
    for (uint32_t c = 0; c < f->s->channels; c++) cancelled = fmax(cancelled, m[c].cancelled_part);
    for (uint32_t c = 0; c < f->s->channels; c++) {
        double outside = f->sketch[c].outside;
        double norm = sqrt(m[c].norm * m[c].norm + outside * outside);
        const noise_tail *tail = &f->tail[c][core_index(a->core)];
        double floor = floor_of(a, f, c, tail, norm, m[c].peak, false);
        if (!isfinite(norm)) floor = INFINITY;
        /* The darkest pixel may be darker by its own error. */
        double darkest = fmax(f->dark[c], darkest_of(&with, c) - floor);
        note(a, c, floor, allowed_of(a, f, c, darkest, cancelled), darkest);
        a->error[c] += m[c].cancelled;
    }
}

void accuracy_text(const accuracy *a, char *to, size_t room) {
    char how[128] = "";
    if (a->spots > 0)
        snprintf(how, sizeof how, ", %.0f bright spot%s in space", a->spots,
                 a->spots > 1 ? "s" : "");
    if (a->core) {
        size_t n = strlen(how);
        snprintf(how + n, sizeof how - n, ", a core of radius %u in space", a->core);
    }
    char more[64] = "";
    if (a->error[a->channel] > a->floor)
        snprintf(more, sizeof more, " (%.2g where terms cancel)", a->error[a->channel]);
    snprintf(to, room, "%s%s: errors up to %.2g%s, %.2g allowed where it is darkest (%.2g)%s",
             a->precision == PRECISION_FLOAT64 ? "float64" : "float32", how, a->floor, more,
             a->allowed, a->darkest, a->kept ? "" : "; the tolerance is not kept");
}
