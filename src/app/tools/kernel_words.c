#include "app/tools/kernel_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    kernel_finding *to;
    int count;
} findings;

static void say(findings *f, bool warning, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void say(findings *f, bool warning, const char *key, const char *fmt, ...) {
    if (f->count == KERNEL_FINDINGS) return;
    kernel_finding *k = &f->to[f->count++];
    k->warning = warning;
    k->key = key;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k->words, sizeof k->words, fmt, ap);
    va_end(ap);
}

/* --- rules: each looks at one thing ---------------------------------------------------------- */

static double total(const lint *l) {
    double sum = 0;
    for (uint32_t c = 0; c < l->channels; c++) sum += l->sum[c];
    return sum;
}

static void judge_taps(findings *f, const lint *l) {
    if (l->bad)
        say(f, true, "not_finite",
            "%" PRIu64 " taps are NaN or infinite, the first in channel %u at %u, %u; the kernel "
            "is refused until they are mended",
            l->bad, l->first_bad[0], l->first_bad[1], l->first_bad[2]);
    if (!(total(l) > 0))
        say(f, true, "sum", "the taps add up to %g: it can be used only with --normalize none",
            total(l));
    if (l->negative)
        say(f, true, "negative",
            "%" PRIu64 " taps are below zero and hold %.3g %% of the whole: dark rings will show "
            "around lights; clip them unless they are meant",
            l->negative, 100 * l->negative_share);
}

static void judge_centre(findings *f, const lint *l) {
    uint32_t mx = l->w / 2, my = l->h / 2;
    /* A disc is as bright beside its middle; symmetry then says where its centre is. */
    bool peaked = (l->peak[0] == mx && l->peak[1] == my) || l->asymmetry < 0.01;
    double dx = l->centroid[0] - mx, dy = l->centroid[1] - my, off = hypot(dx, dy);
    if (!(total(l) > 0)) return;
    if (l->peak[0] == 0 && l->peak[1] == 0 && l->w > 2 && l->h > 2)
        say(f, true, "centre",
            "the brightest tap is in the corner, as transforms have it: use --kernel-center "
            "corner");
    else if (!peaked && l->w % 2 == 0 && l->peak[0] == mx - 1 && (l->h % 2 || l->peak[1] == my - 1))
        say(f, true, "centre",
            "the brightest tap is %u, %u, and the middle here is %u, %u: a kernel of a tool that "
            "counts from (n - 1) / 2; use --kernel-center peak, or 'kernel convert --from scipy'",
            l->peak[0], l->peak[1], mx, my);
    else if (!peaked)
        say(f, true, "centre",
            "the brightest tap is %u, %u, and the middle is %u, %u: the picture will move by %d, "
            "%d unless --kernel-center peak is given",
            l->peak[0], l->peak[1], mx, my, (int)l->peak[0] - (int)mx, (int)l->peak[1] - (int)my);
    if (peaked && off > 0.05)
        say(f, off > 0.5, "centroid",
            "the centre of gravity is %.2f, %.2f, %.2f taps from the middle: light moves by that "
            "much; --kernel-center centroid holds it in place",
            l->centroid[0], l->centroid[1], off);
    if (l->asymmetry > 0.01)
        say(f, false, "symmetry",
            "it is not symmetric (%.3g %% differ after half a turn), so its orientation matters: "
            "fftbloom convolves; for a kernel of a tool that correlates use --correlate",
            100 * l->asymmetry);
}

static void judge_colour(findings *f, const lint *l) {
    double low = INFINITY, high = -INFINITY;
    for (uint32_t c = 0; c < l->channels; c++)
        low = fmin(low, l->sum[c]), high = fmax(high, l->sum[c]);
    if (l->channels > 1 && high > 0 && (high - low) / high > 1e-3)
        say(f, false, "colour",
            "the channels' sums differ by %.3g %%: white light gets that tint; --normalize "
            "channel keeps it white",
            100 * (high - low) / high);
}

static void judge_rim(findings *f, const lint *l) {
    bool flat = l->background > 0 && l->background_share > 0.01 && fabs(l->slope) < 0.5;
    if (flat)
        say(f, true, "background",
            "a background of %.3g lies under everything and holds %.3g %% of the light: it is "
            "spread evenly over the kernel's square; subtract it",
            l->background, 100 * l->background_share);
    else if (isinf(l->enough))
        say(f, true, "tail",
            "towards its border light falls only as distance^-%.2f: no size would hold all of "
            "it, and the border will show around bright lights",
            l->slope);
    else if (l->enough > 0)
        say(f, true, "tail",
            "its tail (distance^-%.2f) is cut off by the border: about %.3g %% of the light would "
            "lie outside; a side of %.0f taps would hold 99.9 %%",
            l->slope, 100 * l->beyond, l->enough);
    if (l->border > 1e-3 && l->w > 8 && l->h > 8)
        say(f, true, "border",
            "the outermost taps hold %.3g %% of the light: the kernel's square will show around "
            "bright lights; fade it out",
            100 * l->border);
    if (l->noise > 0.2 && l->border > 1e-6)
        say(f, true, "noise",
            "neighbours in the outer third differ by %.0f %% of their mean: noise, which becomes a "
            "fixed pattern around lights; smooth the kernel",
            100 * l->noise);
}

static void judge_storage(findings *f, const lint *l) {
    if (l->half_zero)
        say(f, l->half_lost > 1e-3, "half",
            "as half floats %" PRIu64 " taps would become zero and %.2g %% of the light would "
            "change: keep it as float",
            l->half_zero, 100 * l->half_lost);
    if (l->w % 2 == 0 || l->h % 2 == 0)
        say(f, false, "parity",
            "an even number of taps: the centre is %u, %u here, and one before that in some other "
            "tools",
            l->w / 2, l->h / 2);
}

int kernel_findings(kernel_finding to[KERNEL_FINDINGS], const lint *l) {
    static void (*const RULE[])(findings *, const lint *) = {judge_taps, judge_centre, judge_rim,
                                                             judge_colour, judge_storage};
    kernel_finding all[KERNEL_FINDINGS];
    findings f = {all, 0};
    for (size_t i = 0; i < sizeof RULE / sizeof RULE[0]; i++) RULE[i](&f, l);
    int n = 0;
    for (int warning = 1; warning >= 0; warning--)
        for (int i = 0; i < f.count; i++)
            if (all[i].warning == warning) to[n++] = all[i];
    return n;
}

/* --- text ------------------------------------------------------------------------------------- */

void kernel_words(const char *path, const lint *l, text *to) {
    kernel_finding found[KERNEL_FINDINGS];
    int n = kernel_findings(found, l), warnings = 0;
    text_add(to, "%s: %u x %u taps, %u channel%s\n", path, l->w, l->h, l->channels,
             l->channels == 1 ? "" : "s");
    text_add(to, "  middle    %u, %u; peak %u, %u; centroid %.3f, %.3f\n", l->w / 2, l->h / 2,
             l->peak[0], l->peak[1], l->centroid[0], l->centroid[1]);
    for (uint32_t c = 0; c < l->channels; c++)
        text_add(to, "  channel %u sum %.9g, from %.6g to %.6g\n", c, l->sum[c], l->low[c],
                 l->high[c]);
    text_add(to,
             "  light     %.3g %% in the middle tap, half of it within %.2f taps, %.2g %% in "
             "the outermost\n",
             100 * l->centre_tap, l->inner_radius, 100 * l->border);
    for (int i = 0; i < n; i++) {
        warnings += found[i].warning;
        text_add(to, "%s: %s\n", found[i].warning ? "warning" : "note", found[i].words);
    }
    text_add(to, warnings ? "%d warning%s\n" : "nothing to warn of\n", warnings,
             warnings == 1 ? "" : "s");
}

static void add_number(text *to, const char *key, double v) {
    if (isfinite(v))
        text_add(to, ",\n  \"%s\": %.9g", key, v);
    else
        text_add(to, ",\n  \"%s\": \"inf\"", key);
}

static void add_numbers(text *to, const char *key, const double *v, uint32_t n) {
    text_add(to, ",\n  \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) text_add(to, "%s%.9g", i ? ", " : "", v[i]);
    text_add(to, "]");
}

void kernel_json(const char *path, const lint *l, text *to) {
    kernel_finding found[KERNEL_FINDINGS];
    int n = kernel_findings(found, l);
    text_add(to, "{\n  \"version\": 1,\n  \"kernel\": ");
    text_add_json(to, path);
    text_add(to, ",\n  \"size\": [%u, %u], \"channels\": %u", l->w, l->h, l->channels);
    text_add(to, ",\n  \"middle\": [%u, %u], \"peak\": [%u, %u]", l->w / 2, l->h / 2, l->peak[0],
             l->peak[1]);
    add_numbers(to, "centroid", l->centroid, 2);
    add_numbers(to, "sum", l->sum, l->channels);
    add_numbers(to, "lowest", l->low, l->channels);
    add_numbers(to, "highest", l->high, l->channels);
    text_add(to,
             ",\n  \"not_finite\": %" PRIu64 ", \"negative\": %" PRIu64 ", \"half_zero\": %" PRIu64,
             l->bad, l->negative, l->half_zero);
    const struct {
        const char *key;
        double value;
    } NUMBER[] = {{"negative_share", l->negative_share},
                  {"centre_share", l->centre_tap},
                  {"half_light_radius", l->inner_radius},
                  {"border_share", l->border},
                  {"asymmetry", l->asymmetry},
                  {"background", l->background},
                  {"background_share", l->background_share},
                  {"tail_slope", l->slope},
                  {"beyond_border", l->beyond},
                  {"side_for_999", l->enough},
                  {"noise", l->noise},
                  {"half_lost", l->half_lost}};
    for (size_t i = 0; i < sizeof NUMBER / sizeof NUMBER[0]; i++)
        add_number(to, NUMBER[i].key, NUMBER[i].value);
    text_add(to, ",\n  \"findings\": [");
    for (int i = 0; i < n; i++) {
        text_add(to, "%s\n    {\"level\": \"%s\", \"key\": \"%s\", \"words\": ", i ? "," : "",
                 found[i].warning ? "warning" : "note", found[i].key);
        text_add_json(to, found[i].words);
        text_add(to, "}");
    }
    text_add(to, "%s]\n}\n", n ? "\n  " : "");
}
