#include "kernel/lint.h"

#include "base/json_out.h"

/* Taps a side: kernels beyond this are not worth their transforms. */
static const double PRACTICAL_SIDE = 16384;

typedef struct {
    kernel_finding *to;
    int count;
} findings;

__attribute__((format(printf, 4, 5))) static void say(findings *f, bool warning, const char *key,
                                                      const char *fmt, ...) {
    if (f->count == KERNEL_FINDINGS) return;
    kernel_finding *k = &f->to[f->count++];
    k->warning = warning;
    k->key = key;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k->words, sizeof k->words, fmt, ap);
    va_end(ap);
}

static double total(const lint *l) {
    double sum = 0;
    for (uint32_t c = 0; c < l->channels; c++) sum += l->sum[c];
    return sum;
}

static void judge_taps(findings *f, const lint *l) {
    if (l->bad)
        say(f, true, "not_finite",
            "%" PRIu64 " taps are NaN or infinite, the first in channel %u at %u, %u; a run "
            "refuses this kernel ('kernel clean' makes them zero)",
            l->bad, l->first_bad[0], l->first_bad[1], l->first_bad[2]);
    if (!(total(l) > 0))
        say(f, true, "sum", "the taps add up to %g: the kernel works only with --normalize none",
            total(l));
    if (l->negative)
        say(f, true, "negative",
            "%" PRIu64 " taps are below zero and hold %.3g %% of the whole: dark rings will show "
            "around lights; unless they are meant, clip them ('kernel clean')",
            l->negative, 100 * l->negative_share);
}

static void judge_centre(findings *f, const lint *l) {
    const double middle[2] = {l->w / 2, l->h / 2}, side[2] = {l->w, l->h};
    /* Without the background, whose own centre is between the taps of an even side. */
    const double share = lint_has_background(l) ? l->background_share : 0;
    const bool moved = l->corner || !l->centred;
    double off[2];
    for (int a = 0; a < 2; a++)
        off[a] = (moved ? l->peak[a] : (l->centroid[a] - share * (side[a] - 1) / 2) / (1 - share)) -
                 middle[a];
    const double far = length_of(off[0], off[1]);
    const char *word = l->corner ? "corner" : moved ? "peak" : "centroid";
    if (total(l) > 0 && (moved || far > 0.05))
        say(f, moved || far > 0.5, "centre",
            "the kernel's %s is not its middle, tap %.0f, %.0f: light moves by %.3g, %.3g taps "
            "unless --kernel-center %s is given",
            word, middle[0], middle[1], off[0], off[1], word);
}

/* Judges the background first: where there is one, the tail is part of it. */
static void judge_border(findings *f, const lint *l) {
    char larger[64] = "";
    if (lint_has_background(l)) {
        say(f, true, "background",
            "a background of about %.3g in each channel lies under everything and holds %.3g %% of "
            "the light: it will be spread evenly over the kernel's square; take it out ('kernel "
            "clean')",
            l->background / l->channels, 100 * l->background_share);
    } else if (l->enough > 0 && !l->flat) {
        if (l->enough <= PRACTICAL_SIDE)
            snprintf(larger, sizeof larger, "; %.0f taps a side would hold 99.9 %%", l->enough);
        say(f, true, "tail",
            "the border cuts off the tail, which goes as distance^%.2f: about %.3g %% of the light "
            "would lie outside, and the kernel's square will show around bright lights%s; let it "
            "fade to zero ('kernel crop --fade 0.6')",
            -l->slope, 100 * l->beyond, larger);
    }
    if (l->cut_at)
        say(f, true, "clipped_tail",
            "the tail ends all at once %u taps from the middle, as black does in 8 bits: about "
            "%.2g %% of the light is missing; take a longer exposure, or let the tail go on "
            "('kernel clean')",
            l->cut_at, 100 * l->cut_off);
}

static void judge_values(findings *f, const lint *l) {
    double low = INFINITY, high = -INFINITY;
    for (uint32_t c = 0; c < l->channels; c++)
        low = fmin(low, l->sum[c]), high = fmax(high, l->sum[c]);
    if (l->channels > 1 && high > 0 && (high - low) / high > 1e-3)
        say(f, false, "colour",
            "the channels' sums differ by %.3g %%: white light gets that tint; --normalize channel "
            "keeps it white",
            100 * (high - low) / high);
    if (l->useful < 0.7 * max_u32(l->w, l->h) && l->useful > 1)
        say(f, false, "large",
            "the middle %u x %u taps hold all but a millionth of the light; the rest only costs "
            "time ('kernel crop --taps %u')",
            l->useful, l->useful, l->useful);
    if (l->eight_bit)
        say(f, l->not_decoded, "eight_bit",
            "the taps have the values of an 8-bit picture%s: light below 1/3300 of its white is "
            "missing; a float or half image of the source keeps the tail",
            l->not_decoded ? ", in steps of linear light. An sRGB picture that was not decoded has "
                             "a far too bright tail (oiiotool --colorconvert sRGB linear)"
                           : "");
}

int kernel_findings(kernel_finding to[KERNEL_FINDINGS], const lint *l) {
    kernel_finding found[KERNEL_FINDINGS];
    findings f = {found, 0};
    judge_taps(&f, l);
    judge_centre(&f, l);
    judge_border(&f, l);
    judge_values(&f, l);
    int n = 0;
    for (int warning = 1; warning >= 0; warning--)
        for (int i = 0; i < f.count; i++)
            if (found[i].warning == warning) to[n++] = found[i];
    return n;
}

/* Adds the figures that say more to a program than to people, who read what follows from them. */
static void add_figures(json_out *j, const lint *l) {
    JSON_UINTS(j, {"not_finite", l->bad}, {"negative", l->negative});
    JSON_EACH(j, json_real_or_word, 9, {"negative_share", l->negative_share},
              {"background", l->background}, {"background_share", l->background_share},
              {"tail_slope", l->slope}, {"beyond_border", l->beyond}, {"side_for_999", l->enough});
    json_uint(j, "cut_at", l->cut_at);
    json_real(j, "cut_off", 9, l->cut_off);
    json_uint(j, "useful_side", l->useful);
    json_bool(j, "eight_bit", l->eight_bit);
}

void kernel_report(const char *path, const lint *l, bool as_json, text *to) {
    kernel_finding found[KERNEL_FINDINGS];
    const int n = kernel_findings(found, l);
    int warnings = 0;
    double of[2][LINT_CHANNELS];
    json_out j = told_begin(to, as_json);
    json_string(&j, "kernel", path);
    json_uints(&j, "size", (uint32_t[]){l->w, l->h}, 2);
    json_uint(&j, "channels", l->channels);
    json_uints(&j, "middle", (uint32_t[]){l->w / 2, l->h / 2}, 2);
    json_uints(&j, "peak", l->peak, 2);
    json_reals(&j, "centroid", 9, l->centroid, 2);
    json_reals(&j, "sum", 9, l->sum, l->channels);
    json_reals(&j, "lowest", 9, l->low, l->channels);
    json_reals(&j, "highest", 9, l->high, l->channels);
    JSON_EACH(&j, json_real, 9, {"centre_share", l->centre_tap},
              {"half_light_radius", l->inner_radius}, {"radius_90", l->radius_90},
              {"radius_99", l->radius_99}, {"veiling_glare", l->glare},
              {"veiling_glare_disc", l->glare_disc});
    if (as_json) add_figures(&j, l);
    json_real(&j, "core_radius", 9, l->core);
    for (uint32_t c = 0; c < l->channels; c++)
        of[0][c] = l->split[c].core, of[1][c] = l->split[c].tail;
    json_reals(&j, "core_sum", 9, of[0], l->channels);
    json_reals(&j, "tail_sum", 9, of[1], l->channels);
    if (as_json) json_list(&j, "findings");
    for (int i = 0; i < n; i++) {
        const char *level = found[i].warning ? "warning" : "note";
        warnings += found[i].warning;
        if (as_json) {
            json_object(&j, NULL);
            json_string(&j, "level", level);
            json_string(&j, "key", found[i].key);
            json_string(&j, "words", found[i].words);
            json_close(&j);
        } else {
            text_add(to, "\n%s: %s", level, found[i].words);
        }
    }
    if (as_json)
        json_close(&j);
    else
        text_add(to, warnings ? "\n%d warning%s" : "\nno warnings", warnings,
                 warnings == 1 ? "" : "s");
    json_end(&j);
}
