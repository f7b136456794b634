// lab.glsl - what the textbook transforms share: the image, its lines, and the roots of unity.
//
// An image of N x N complex numbers lies in one buffer, row by row, and a transform along its rows
// or its columns takes it to another. FORWARD: X[k] = sum of x[n] w(k n), w(m) = exp(-2 pi i m / N).
// The inverse has the conjugate roots, and divides by N.
#include "shaders/real.glsl"
#include "shaders/complex.glsl"
#include "ids.h"

layout(local_size_x_id = ID_THREADS) in;
layout(constant_id = ID_LENGTH) const uint N = 2;
layout(constant_id = LAB_COLUMNS) const bool COLUMNS = false;
layout(constant_id = LAB_INVERSE) const bool INVERSE = false;

// A shader whose threads read what others of the workgroup have written says `coherent` here.
#ifndef AMONG_THREADS
#define AMONG_THREADS
#endif
layout(std430, set = 0, binding = LAB_FROM) AMONG_THREADS buffer image_from { complex from[]; };
layout(std430, set = 0, binding = LAB_TO) AMONG_THREADS buffer image_to { complex to[]; };
layout(std430, set = 0, binding = LAB_TABLE) readonly buffer table_of_roots { complex root[]; };

// Returns where number i of a line is.
uint at(uint line, uint i) { return COLUMNS ? i * N + line : line * N + i; }
// Returns w(m), for m < N.
complex w(uint m) { return INVERSE ? conj(root[m]) : root[m]; }
// Returns a number of the last stage as it is stored.
complex last(complex z) { return INVERSE ? z / real(N) : z; }
