/* lengths.h - finds transform lengths 2^a 3^b 5^c 7^d, their radices and their price. */
#pragma once

#include "math/plan.h"

enum { LENGTH_MAX = 1 << 26 };

/* Returns whether n has no prime factor above 7. */
bool length_is_smooth(uint32_t n);
/* Returns the smallest smooth length >= n, a multiple of `multiple` (1 or 2), or 0. */
uint32_t length_next(uint32_t n, uint32_t multiple);

/* Return the relative price of a complex transform of a smooth length, on a GPU and a CPU. */
double length_cost(uint32_t n);
double length_cost_cpu(uint32_t n);

/* What a transform is for decides the order of its radices. A real one (of two lines at once) wants
 * an even last radix; with columns as its lines, or four stages, one that lets a thread hold a
 * butterfly and its mirror image (docs/inside/notebook.md). A row alone, in a line of half its
 * length, must have an even one. */
typedef enum { LENGTH_COMPLEX, LENGTH_REAL_ROWS, LENGTH_REAL_COLUMNS, LENGTH_ROW_ALONE } length_use;

/* Chooses radices for a workgroup of at most `invocations` threads: as few stages as possible, then
 * those that leave the fewest threads waiting. Returns false when none fit. */
bool length_radices(plan_fft *f, uint32_t n, uint32_t invocations, length_use use);

/* Returns whether `lines` complex lines fill the subgroups of a workgroup better than one, and then
 * sets the threads of a line for that. */
bool length_share(plan_fft *f, uint32_t lines, uint32_t invocations);

/* Returns the butterflies of stage s that one of `threads` threads does for `lines` lines. */
uint32_t length_butterflies(const plan_fft *f, uint32_t s, uint32_t lines, uint32_t threads);
