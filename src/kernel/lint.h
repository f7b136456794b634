/* lint.h - measures a kernel before it is used: `fftbloom kernel check`. lint_words.c decides what
 * deserves a warning, and in what words. All sums are over all channels unless they are per
 * channel.
 */
#pragma once

#include "base/text.h"
#include "kernel/psf_core.h"

enum { LINT_CHANNELS = 4 };

typedef struct {
    uint32_t w, h, channels;
    /* Taps that are NaN or infinite; all other figures take them for zero. */
    uint64_t bad;
    uint32_t first_bad[3]; /* channel, x, y */
    double sum[LINT_CHANNELS], low[LINT_CHANNELS], high[LINT_CHANNELS];
    bool flat; /* every tap of a channel has the same value */
    uint64_t negative;
    double negative_share; /* of the sum of |tap| */

    /* --- the centre --- */
    uint32_t peak[2];
    double centroid[2]; /* 0, 0 where the sum is not above 0 */
    /* The layout of transforms: tap 0, 0 is the centre. The figures below are then those of the
     * kernel with its centre moved to the middle. */
    bool corner;
    /* The middle is the centre: it has the brightest tap, or the kernel is symmetric about it, as a
     * disc is. Where it is not, distances below are from the brightest tap. */
    bool centred;
    double centre_tap; /* share of the light in the middle tap */
    /* Distances within which 50, 90 and 99 % of the light lie, up to the last whole ring. */
    double inner_radius, radius_90, radius_99;
    /* The veiling glare index as ISO 9358 measures it: of the light of an endless white field, the
     * part that falls into the middle of a black disc, whose diameter is a tenth of the shorter
     * side, but at least three taps. */
    double glare, glare_disc;

    /* --- the border --- */
    double background; /* the level that the darkest corner does not fall below */
    double background_share;
    /* The tail as light ~ distance^-slope in the outer third; the share of all light that it has
     * beyond the kernel's border; and the side of a kernel that holds 99.9 %. */
    double slope, beyond; /* slope 0: no tail to speak of */
    double enough;        /* taps; 0: this kernel does; INFINITY: none does */
    /* The ring at which light that falls off ends all at once, far inside the border, and the share
     * that the same fall-off has beyond it. 0: it does not. */
    uint32_t cut_at;
    double cut_off;
    uint32_t useful; /* side of the square that holds all but a millionth of the light */

    /* At most 256 values, as a picture of 8 bits has them; and these are steps of linear light, as
     * in a picture of sRGB that was not decoded. */
    bool eight_bit, not_decoded;

    /* --- core and tail: lint_core fills this in --- */
    double core; /* the radius of psf_core_radius; 0: not known */
    psf_split split[LINT_CHANNELS];
} lint;

/* Measures the first LINT_CHANNELS planes. Fails only when there is no memory. */
bool lint_kernel(lint *l, const psf_planes *in, err *e);

/* Finds the core of a kernel that was measured, normalised as a run has it unless told otherwise.
 * One that cannot be normalised has none. Fails only when there is no memory. */
bool lint_core(lint *l, const psf_planes *in, err *e);

/* Returns true if all taps share some light that is not the kernel itself, as in a flat one. */
bool lint_has_background(const lint *l);

/* Looks at a kernel that is about to be used for what would make every picture wrong. `placed`: the
 * caller has set the centre. */
typedef struct {
    char words[128]; /* "off centre by 19, -11", or "" */
    int off[2];      /* how far off centre, where the words tell of it */
} lint_faults;
bool lint_glance(lint_faults *to, const psf_planes *in, bool placed, err *e);

/* What is wrong, what it will do to a picture, and what to do about it. */
typedef struct {
    bool warning;    /* else a note: worth knowing, nothing to mend */
    const char *key; /* for scripts: "centre", "tail", ... */
    char words[400]; /* a sentence, and what to do about it */
} kernel_finding;

enum { KERNEL_FINDINGS = 10 };

/* Fills in the findings, the warnings first, and returns how many there are. */
int kernel_findings(kernel_finding to[KERNEL_FINDINGS], const lint *l);

void kernel_report(const char *path, const lint *l, bool as_json, text *to);
