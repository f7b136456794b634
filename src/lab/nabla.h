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
 * All of this is arithmetic; nothing here knows a device, a buffer or a shader. */
#ifndef LAB_NABLA_H
#define LAB_NABLA_H

#include "base/err.h"

#include <stdint.h>

typedef struct {
    uint32_t length;   /* 2 or more */
    uint32_t threads;  /* of its workgroup, at most length / 2 */
    uint32_t subgroup; /* partners nearer than this trade by a shuffle; 1: all use shared memory */
} nabla_line;

typedef struct {
    uint32_t thread, reg;
} nabla_place;

/* Returns the numbers that each thread holds, 2 or more. */
uint32_t nabla_each(nabla_line l);

/* Return the place of the number with that index, and back. */
nabla_place nabla_place_of(nabla_line l, uint32_t index);
uint32_t nabla_index_of(nabla_line l, nabla_place at);

/* Return the frequency that a transformed line has at that index, and back. */
uint32_t nabla_frequency(nabla_line l, uint32_t index);
uint32_t nabla_index_of_frequency(nabla_line l, uint32_t frequency);

/* Returns the index of frequency length - f, where f is that of `index`; and the same as a place. A
 * negative number in two's complement keeps its lowest 1 and the zeros below it, and all bits above
 * are turned over. A lane is a frequency with its bits reversed: so it keeps its highest 1, and all
 * bits below are turned over. Therefore the partners of one register are all in one other register,
 * but for thread 0 of registers 0 and 1: it holds frequencies 0 and length / 2, which are their own
 * mirror images. */
uint32_t nabla_mirror(nabla_line l, uint32_t index);
nabla_place nabla_mirror_place(nabla_line l, nabla_place at);

/* Return index and frequency of number r of the lower half, r < length / 2: even registers hold the
 * frequencies below length / 2, odd ones the others. */
uint32_t nabla_half_index(nabla_line l, uint32_t r);
uint32_t nabla_half_frequency(nabla_line l, uint32_t r);

/* Returns the barriers of one transform: two for each trade through shared memory. */
uint32_t nabla_barriers(nabla_line l);

/* Return the bytes between the passes of a convolution whose first axis has this length: after
 * `lines` real lines of each channel went through it two by two; and after the second axis, of
 * which `lines` numbers are kept for each frequency 0 .. length / 2. */
uint64_t nabla_packed_bytes(uint32_t channels, uint32_t lines, uint32_t length);
uint64_t nabla_half_bytes(uint32_t channels, uint32_t lines, uint32_t length);

/* What the transform is held to: NABLA_THREADS of a workgroup keep two of them on a processor, and
 * a thread with more than NABLA_EACH numbers would spill registers. */
enum { NABLA_THREADS = 512, NABLA_EACH = 16, NABLA_NUMBER = 8 /* bytes of a complex number */ };

typedef struct {
    uint32_t invocations, shared_bytes; /* of a workgroup */
    uint32_t subgroup;                  /* its size; 0 or 1: it does not shuffle */
} nabla_limits;

/* Chooses the line for a length: as many threads as the limits allow, so two numbers a thread where
 * that is possible. Shuffles need whole subgroups. */
bool nabla_choose(nabla_line *to, uint32_t length, const nabla_limits *limits, err *e);

#endif
