/* solve_kernel.h - whether a kernel can be taken away from a plate, and what that does to noise. */
#ifndef BLOOM_SOLVE_KERNEL_H
#define BLOOM_SOLVE_KERNEL_H

#include "bloom/view.h"

/* Return C, and r = t / C, of a channel: solve.h has what they are. */
double solve_core_of(const kernel_at *k, uint32_t channel);
double solve_ratio_of(const kernel_at *k, uint32_t channel);

/* These of the channel with the largest r. */
typedef struct {
    double core, tail, ratio;
    uint32_t channel;
} solve_split;
solve_split solve_split_of(const kernel_at *size);

/* Refuses a kernel whose series does not converge, with the core and the amount that would do. */
bool solve_converges(const view *v, err *e);

#endif
