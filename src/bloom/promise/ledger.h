/* ledger.h - where the light of a channel went.
 *
 *   in + gained  =  out + spilled + bad + overflow + negative
 *
 *   in        the finite pixels of the file
 *   gained    in times what the kernel's sum is more than 1: a coloured kernel takes from one
 *             channel and gives to another; `normalize none` does what it likes
 *   spilled   what left over the border, less what came in over it; and what a window that is
 *             smaller than the computed one has cut off
 *   bad       taken out as NaN or infinite; below zero where neighbours' light was put there
 *   overflow  cut off by `half_overflow: clamp`
 *   negative  rounding noise below zero that was cut off: never above zero
 *
 * Nothing comes in over a zero border. What a mirror or a wrap brings in is light of the image's
 * own, so that a wrap spills nothing; a clamp repeats its edge without end and may bring in more
 * than left.
 *
 * Spilled light is found from the image and the kernel's cumulative sums, not as a difference, so
 * the equation is a check of the whole run: it holds to 1e-6 of `in` (docs/inside/math.md, "Energy
 * ledger"). A ledger knows nothing of how the result was made. */
#pragma once

#include "bloom/promise/tail.h"
#include "engine/join.h"

enum { LEDGER_NAME = 128 };
typedef struct {
    char channel[LEDGER_NAME]; /* its full name; longer ones are cut */
    double in, gained, out, spilled, bad, overflow, negative;
    double size; /* what the gap is relative to: the largest of in, out, spilled, overflow and
                    negative; where pixels below zero may cancel others, at least as much as their
                    magnitudes add up to */
    uint64_t bad_pixels, overflow_pixels, negative_pixels;
    double centre; /* the kernel's centre tap: a pixel becomes centre * itself + glare */
    /* Of the finite pixels of the file: the highest; the part of them that is 1, if that is the
     * highest; and where accuracy_depth finds one, the lowest and how many are below zero. */
    double highest, ones, lowest;
    uint64_t below;
} ledger_row;

/* Moves the light of pixels that lie in `window`, but not in `kept`, from `out` to `spilled`. */
void ledger_cut(ledger_row *r, const void *plane, pixel_type t, const image_box *window,
                const image_box *kept);

/* Returns (in + gained - out - spilled - bad - overflow - negative) / size; 0 where all is dark. */
double ledger_gap(const ledger_row *r);

/* Fills *k with what the kernel, the size and the borders say about light that spills, for any
 * number of images; to be freed with ledger_spill_free. */
bool ledger_spill_make(spill *k, const kernel_tail *tail, err *e);
void ledger_spill_free(spill *k);
