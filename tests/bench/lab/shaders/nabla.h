// nabla.h - the numbers that the shaders of `nabla` and of the article's bloom agree on with
// the lab, beside those of shaders/shared.h: C and GLSL both include this file.
#ifndef SHADERS_LAB_NABLA_H
#define SHADERS_LAB_NABLA_H

#include "shaders/shared.h"

// Ids of specialization constants.
#define NABLA_THREAD_BITS 120 // log2 of the threads
#define NABLA_EACH_BITS   121 // log2 of the numbers of a thread
#define NABLA_SUBGROUP    122 // partners nearer than this trade by a shuffle

#define ARTICLE_EXTENT        130 // pixels of the image along the first axis
#define ARTICLE_LINES         131 // and along the second one
#define ARTICLE_X_FIRST       132 // the first axis is x
#define ARTICLE_FIRST         133 // length of the transform along the first axis
#define ARTICLE_FIRST_THREADS 134 // threads that do it
#define ARTICLE_KERNEL        135 // taps of the kernel along each axis

// Bindings of the article's passes.
#define ARTICLE_IMAGE    0 // rgba, row by row: read by pass 1
#define ARTICLE_PAIRS    1 // complex [channel][pair of lines][Nabla order]
#define ARTICLE_HALF     2 // complex [channel][number of the lower half, then the middle][line]
#define ARTICLE_TABLE    BIND_TWIDDLES
#define ARTICLE_RESULT   4 // rgba: written by pass 3
#define ARTICLE_BINDINGS 5

#define ARTICLE_CHANNELS 3

#endif
