/* nabla.h - the index algebra of the transform `nabla`: which thread holds a number of a line, and
 * which frequency that number becomes.
 *
 * A line of `length` numbers lies in the registers of `threads` threads, both powers of two. Number
 * i is in register i / threads of thread i % threads, so neighbouring threads have neighbours in
 * memory. The transform is a decimation in frequency of radix 2 and never puts its numbers in
 * order: whole butterflies are in one thread at first, and later a thread trades one number with a
 * partner before each butterfly. Where the numbers are then is called Nabla order. The inverse
 * takes that order, so a convolution needs no other.
 *
 *     lane       of the diagram that textbooks draw: where a transform in place would keep the
 *                number. Bit b of a lane is decided by the butterflies of span 2^b
 *     in front   lane = index
 *     at the end lane = bits of the index, of which those of the thread moved up by one: the lowest
 *                bit of the register came below them, with the trades
 *     frequency  bits of the last lane, reversed, as after every decimation in frequency
 *
 * A negative frequency in two's complement keeps its lowest 1 and the zeros below it, and all bits
 * above are turned over. A lane is a frequency with its bits reversed: so the mirror image of a
 * lane keeps its highest 1, and all bits below are turned over. The shaders find it so. */
#ifndef LAB_NABLA_H
#define LAB_NABLA_H

#include "lab/lab.h"

typedef struct {
    uint32_t length;   /* 2 or more */
    uint32_t threads;  /* of its workgroup, at most length / 2 */
    uint32_t subgroup; /* partners nearer than this trade by a shuffle; 1: all use shared memory */
} nabla_line;

/* Returns the numbers that each thread holds, 2 or more. */
uint32_t nabla_each(nabla_line l);
/* Returns the frequency that a transformed line has at that index. */
uint32_t nabla_frequency(nabla_line l, uint32_t index);
/* Returns the barriers of one transform: two for each trade through shared memory. */
uint32_t nabla_barriers(nabla_line l);

/* What the transform is held to: NABLA_THREADS of a workgroup keep two of them on a processor, and
 * a thread with more than NABLA_EACH numbers would spill registers. */
enum { NABLA_THREADS = 512, NABLA_EACH = 16, NABLA_NUMBER = 8 /* bytes of a complex number */ };

/* Chooses the line for a length, a power of two: as many threads as the limits allow, so two
 * numbers a thread where that is possible. Shuffles need whole subgroups. Of the request, the
 * length does not count. */
bool nabla_choose(nabla_line *to, uint32_t length, const lab_ask *limits, err *e);

/* Adds the constants of nabla.glsl to the shader that was added last. */
void nabla_add_constants(lab_program *p, nabla_line l);
/* Returns the table of factors that it reads, `length` complex numbers, for lines of this length
 * and of all shorter ones: number s + j is exp(-pi i j / s), for each power of two s and j < s. */
float *nabla_factors(uint32_t length, err *e);

#endif
