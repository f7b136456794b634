/* ledger.h - where the light of a channel went.
 *
 *   in + gained  =  out + spilled + bad + overflow + negative
 *
 *   in        the finite pixels of the file
 *   gained    in times what the kernel's sum is more than 1: a coloured kernel takes from one
 *             channel and gives to another; `normalize none` does what it likes
 *   spilled   what left over the border, less what came in over it. With a zero border nothing
 * comes in; what a mirror or a wrap brings in is light of the image's own, so that a wrap spills
 * nothing; a clamp repeats its edge without end and may bring in more than left bad       taken out
 * as NaN or infinite; below zero where neighbours' light was put there overflow  cut off by
 * half_overflow clamp negative  rounding noise below zero that was cut off: never above zero
 *
 * Spilled light is found from the image and the kernel's cumulative sums, not as a difference, so
 * the equation is a check of the whole run: it holds to 1e-6 of `in`. docs/math.md, "Energy
 * ledger". */
#ifndef BLOOM_LEDGER_H
#define BLOOM_LEDGER_H

#include "base/par.h"
#include "bloom/finish.h"

enum { LEDGER_NAME = 128 };
typedef struct {
    char channel[LEDGER_NAME]; /* its full name; longer ones are cut */
    double in, gained, out, spilled, bad, overflow, negative;
    uint64_t bad_pixels, overflow_pixels, negative_pixels;
} ledger_row;

/* (in + gained - out - spilled - bad - overflow - negative) / in; 0 where all is dark. */
double ledger_gap(const ledger_row *r);

/* The light that channel c spreads over the border, net, of the image as it came. */
bool ledger_spilled(double *spilled, const finish_job *j, uint32_t c, par *threads, err *e);

#endif
