#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// ours.comp - the transform of this program, ../fft.glsl, of LINES rows or columns, in natural order.
//
// A length is a product of up to four radices from 2 to 20. Each stage is a transform of that many
// numbers in the registers of a thread, by the fewest operations; between two stages the numbers
// change threads through shared memory. Butterfly j of the first stage holds the numbers j + REST_0 r
// of its line, and butterfly f of the last one the frequencies f + BLOCKS q, so that reading and
// writing natural order needs no step of its own.
//
// Dispatch:  x = lines / LINES.
// Binds:     `from`, read;  `to`, written;  tables of twiddle factors.
#include "shaders/real.glsl"
#include "shaders/complex.glsl"
#include "shaders/fft.glsl"
#include "ids.h"

layout(constant_id = LAB_COLUMNS) const bool COLUMNS = false;
layout(constant_id = LAB_INVERSE) const bool INVERSE = false;

layout(std430, set = 0, binding = LAB_FROM) readonly buffer image_from { complex from[]; };
layout(std430, set = 0, binding = LAB_TO) writeonly buffer image_to { complex to[]; };

uint line_of(butterfly b) { return gl_WorkGroupID.x * LINES + b.line; }
bool exists(butterfly b) { return b.on && line_of(b) < LENGTH; }
uint at(butterfly b, uint i) { return COLUMNS ? i * LENGTH + line_of(b) : line_of(b) * LENGTH + i; }

void forward() {
    [[unroll]] for (uint i = 0; i < EACH_0; ++i) {
        butterfly b = butterfly_of(0, i);
        [[unroll]] for (uint r = 0; r < RADIX_0; ++r)
            v[i * RADIX_0 + r] = exists(b) ? from[at(b, b.j + REST_0 * r)] : complex(0);
    }
    fft_forward();
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (exists(b))
            [[unroll]] for (uint q = 0; q < LAST_RADIX; ++q) to[at(b, b.j + BLOCKS * q)] = v[i * LAST_RADIX + q];
    }
}

// The inverse works on numbers with their components swapped: see fft_inverse().
void inverse() {
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        [[unroll]] for (uint q = 0; q < LAST_RADIX; ++q)
            v[i * LAST_RADIX + q] = exists(b) ? from[at(b, b.j + BLOCKS * q)].yx : complex(0);
    }
    fft_inverse();
    [[unroll]] for (uint i = 0; i < EACH_0; ++i) {
        butterfly b = butterfly_of(0, i);
        if (exists(b))
            [[unroll]] for (uint r = 0; r < RADIX_0; ++r)
                to[at(b, b.j + REST_0 * r)] = v[i * RADIX_0 + r].yx / real(LENGTH);
    }
}

void main() {
    if (INVERSE) inverse();
    else forward();
}
