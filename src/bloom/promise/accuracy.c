#include "bloom/promise/accuracy.h"

/* Pixels below zero are common where one in this many is; noise is at most this part. */
enum { COMMON = 100 };
static const double NOISE_MOST = 1e-2;

double accuracy_dark(const scan_channel *c, bool halfs) {
    double median = scan_median(c->count), dark = ACCURACY_DARK * median;
    if (COMMON * scan_count(c->below) >= scan_count(c->count))
        dark = fmax(dark, fmin(scan_median(c->below), NOISE_MOST * median));
    return halfs ? fmax(dark, 0x1p-24) : dark;
}

double accuracy_depth(const scan_channel *c) {
    static const double SEEN = 0.1, TAIL = 16, RARE = 2;
    double least = (double)c->least, median = scan_median(c->count);
    double noise = TAIL * scan_median(c->below);
    if (COMMON * scan_count(c->below) < c->pixels) noise = fmin(noise, RARE * median);
    return -least > fmax(SEEN * median, noise) ? least : 0;
}

/* The last pass adds a few terms up in doubles, or joins parts that are right to 11 u. */
double accuracy_relative(const accuracy *a) {
    return noise_relative(a->precision) * (a->in_parts ? 3 : 1) + 0x1p-50 + a->roundings * 0x1p-24;
}

/* Returns the floor of a channel, where the norm of its glare in the image is known. */
static double floor_of(const accuracy *a, const accuracy_facts *f, uint32_t c, double norm) {
    const noise_transform t = {a->precision, f->points};
    const noise_load bound = noise_load_bound(&f->scanned->channel[c], &f->sums[c], f->tail->axis,
                                              f->points),
                     load = noise_load_known(&bound, norm);
    return noise_floor(&t, &load);
}

static double strain(double floor, double allowed) {
    if (allowed > 0) return floor / allowed;
    return floor > 0 ? INFINITY : 0;
}

/* Enters channel c, 0 first. `darkest`: of the pixels that something is promised for. */
static void enter(accuracy *a, const accuracy_facts *f, uint32_t c, double floor, double darkest) {
    const scan_channel *in = &f->scanned->channel[c];
    bool black = in->least == 0 && in->greatest == 0;
    double allowed = black && f->digits <= f->tolerance
                         ? INFINITY
                         : (f->tolerance - accuracy_relative(a) - f->digits) * darkest;
    a->error[c] = floor;
    a->kept = floor <= allowed && (c == 0 || a->kept);
    allowed = fmax(0, allowed);
    if (c > 0 && !(strain(floor, allowed) > strain(a->floor, a->allowed))) return;
    a->floor = floor;
    a->allowed = allowed;
    a->darkest = darkest;
    a->channel = c;
}

/* --- before: docs/inside/math.md, "Floats or doubles" --- */

/* The glare of a channel, as it would be if its pixels were shuffled. It is even where many pixels
 * light each pixel, and else comes from pixels like the median. The darkest places have less. */
enum { GUESS_EVEN = 16, GUESS_DARKER = 4 };
typedef struct {
    double norm, darkest;
} guess;

static guess guess_of(const accuracy_facts *f, uint32_t c) {
    const scan_channel *in = &f->scanned->channel[c];
    const noise_tail *k = &f->sums[c];
    double pixels = (double)in->pixels, mean = fabs(in->sum) / pixels;
    double centre = fabs(f->tail->centre[tail_kernel(f->tail, c)]);
    /* How many pixels have the light, and how many of them light a pixel of the glare. */
    double lit = in->squares > 0 ? in->sum * in->sum / in->squares : 0;
    double reach = k->norm > 0 ? k->sum * k->sum / (k->norm * k->norm) : 0;
    double usual = 2 * in->count[0] > in->pixels ? 0 : scan_median(in->count);
    bool even = lit * reach > GUESS_EVEN * pixels;
    double glare = k->sum * (even ? mean : fmin(mean, usual)) / GUESS_DARKER;
    guess g = {.norm = k->norm * sqrt(in->squares)};
    g.norm = sqrt(g.norm * g.norm + k->sum * k->sum * mean * mean * pixels);
    g.darkest = f->dark[c]; /* values of both signs pass near 0 */
    if (!f->signs[c]) g.darkest = fmax(g.darkest, centre * (double)in->least + glare);
    return g;
}

static accuracy forecast(plan_precision precision, const accuracy_facts *f) {
    accuracy a = {.precision = precision,
                  .roundings = f->roundings,
                  .in_parts = f->partly && precision == PRECISION_FLOAT32};
    for (uint32_t c = 0; c < f->tail->channels; c++) {
        const guess g = guess_of(f, c);
        enter(&a, f, c, floor_of(&a, f, c, g.norm), g.darkest);
    }
    return a;
}

void accuracy_choose(accuracy *to, const accuracy_facts *f) {
    bool only64 = f->precision == PRECISION_FLOAT64;
    *to = forecast(only64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32, f);
    if (!to->kept && f->precision == PRECISION_AUTO && f->doubles)
        *to = forecast(PRECISION_FLOAT64, f);
}

/* --- afterwards: docs/inside/math.md, "The promise"
 * -------------------------------------------------- */

void accuracy_check(accuracy *a, const accuracy_facts *f, const join_stats *m) {
    for (uint32_t c = 0; c < f->tail->channels; c++) {
        double floor = !isfinite(m[c].norm) ? INFINITY
                       : f->floors          ? f->floors[c]
                                            : floor_of(a, f, c, m[c].norm);
        if (f->partly) floor += 0x1p-150 * f->sums[c].sum; /* rounded to denormals, at the least */
        floor += f->roundings * 0x1p-150 * (1 + f->sums[c].sum);
        /* What meets in a pixel, without signs: what is spread, and what stays. */
        const scan_channel *in = &f->scanned->channel[c];
        const double gain = f->sums[c].sum + fabs(f->tail->centre[tail_kernel(f->tail, c)]),
                     size = 2 * gain * fmax(fabs((double)in->least), fabs((double)in->greatest)) +
                            (double)m[c].largest;
        /* Sums of both signs cancel, digits do not. */
        if (f->signs[c]) floor += (f->digits + f->roundings * 0x1p-24) * size;
        /* Glare fades gradually: where some pixels are darker than `dark`, others are likely to be
         * just as dark as that. The darkest pixel may be darker by its own error. */
        double darkest = m[c].darker ? 0 : m[c].darkest - floor;
        enter(a, f, c, floor, fmax(f->dark[c], darkest));
        if (a->channel == c) a->rounded = (f->digits + accuracy_relative(a)) * size;
    }
}

void accuracy_text(const accuracy *a, char *to, size_t room) {
    snprintf(to, room, "%s: errors up to %.2g, and %.2g allowed for the darkest pixel (%.2g)",
             a->precision == PRECISION_FLOAT64 ? "float64" : "float32", a->floor, a->allowed,
             a->darkest);
}
