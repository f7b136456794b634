// ids.h - the numbers that the lab's shaders and its C must agree on, beside those of
// shaders/shared.h: C and GLSL both include this file.
#ifndef SHADERS_LAB_IDS_H
#define SHADERS_LAB_IDS_H

#include "shaders/shared.h"

// Ids of specialization constants.
#define LAB_COLUMNS 100 // the lines are columns of the image, not rows
#define LAB_INVERSE 101
#define LAB_EACH    102 // butterflies of a thread

// Bindings of all shaders of the lab.
#define LAB_FROM     0
#define LAB_TO       1
#define LAB_MORE     2 // where a transform needs a second table
#define LAB_TABLE    BIND_TWIDDLES
#define LAB_BINDINGS 4

// The bench scene `ocean`: its bindings, the metres of its side, and the frames after which it repeats.
#define OCEAN_WAVES     0
#define OCEAN_TURNS     1
#define OCEAN_ROOTS     2
#define OCEAN_FREQUENCY 3
#define OCEAN_IMAGE     4 // and the next three
#define OCEAN_BINDINGS  8
#define OCEAN_PATCH     320
#define OCEAN_LOOP      4096

#endif
