// shared.h - the numbers that shaders and the engine must agree on: ids of specialization
// constants, bindings, limits. C and GLSL both include this file, so that each number is written
// once.
#ifndef SHADERS_SHARED_H
#define SHADERS_SHARED_H

// Ids of the specialization constants; shaders/README.md says what each of them means.
#define ID_THREADS       0
#define ID_LENGTH        1
#define ID_STAGES        2
#define ID_RADIX         3 // and the next three: one id for each stage
#define ID_EACH          7 // and the next three
#define ID_LINES         11
#define ID_RUN           12
#define ID_TWIDDLES      13
#define ID_BY_FREQUENCY  14
#define ID_COPY          15
#define ID_PAIRED        16
#define ID_WHOLE         17
#define ID_EXTENT        20
#define ID_LENGTH_ALL    21
#define ID_SPLIT         22
#define ID_BORDER        23
#define ID_ALONE         24
#define ID_BEFORE        25
#define ID_X_FIRST       30
#define ID_LINE_COUNT    31
#define ID_IMAGE_PITCH   32
#define ID_IMAGE_ROWS    33
#define ID_HALF_INPUT    34
#define ID_OUTPUT        35
#define ID_ABOVE         36
#define ID_MASKED        37
#define ID_GLARE         38
#define ID_MARGINS       39
#define ID_AGAIN         53
#define ID_NATIVE_HALFS  55
#define ID_TINY_DOUBLES  56
#define ID_HALVES        40
#define ID_PITCH         41
#define ID_TILE_IN       42
#define ID_TILE_OUT      43
#define ID_BAND          44
#define ID_ONE_KERNEL    52
#define ID_REAL_KERNEL   54
#define ID_LINE_TWIDDLES 63

// Bindings of all passes.
#define BIND_IMAGE     0
#define BIND_HALF      1
#define BIND_SPECTRUM  2
#define BIND_TWIDDLES  3
#define BIND_JOIN      4
#define BIND_GLARE     5
#define BIND_TOTALS    6
#define BIND_CONVOLVED 7
#define BIND_RESULT    8
#define BIND_MASK      9
#define BINDINGS       10

// Bindings of the copy that benchmarks run for comparison.
#define COPY_FROM     0
#define COPY_TO       1
#define COPY_BINDINGS 2

// What a plane of the result has: ID_OUTPUT. These are the numbers of plan_sample.
#define OUTPUT_FLOATS  0
#define OUTPUT_HALFS   1
#define OUTPUT_DOUBLES 2

// What a workgroup of the last pass measures: sums, then maxima.
#define TOTAL_SUM      0 // of the pixels
#define TOTAL_OVER     1 // of what halfs cannot hold of them
#define TOTAL_NORM     2 // of the squares of the glare, in parts of `most`
#define TOTAL_CUT      3 // of glare below zero that was cut off
#define TOTAL_CUTS     4 // how many pixels that were
#define TOTAL_OVERS    5 // pixels beyond halfs
#define TOTAL_PEAK     6 // the largest |glare|,
#define TOTAL_DEEPEST  7 // the deepest that was cut off, without its sign,
#define TOTAL_LARGEST  8 // the largest |pixel|,
#define TOTAL_LEAST    9 // and minus the least
#define TOTAL_MAXIMA   TOTAL_PEAK
#define TOTALS         10

#define MOST_HELD 20 // complex numbers that a thread keeps in registers

#endif
