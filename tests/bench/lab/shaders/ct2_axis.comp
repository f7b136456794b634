#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// ct2_axis.comp - Cooley and Tukey's transform, radix 2, decimation in time: all stages of a line.
//
//      E[j], O[j]  -->  E[j] + w(j N/2h) O[j],  E[j] - w(j N/2h) O[j]        h = 1, 2, 4 .. N/2
//
// The butterflies are those of ct2_stages.comp. A workgroup has a line, so a barrier of the workgroup
// between two stages is enough, and the host is not needed before the line is done. The numbers stay
// in global memory.
//
// Dispatch:  a workgroup per line, of N / 2 / EACH threads.
// Binds:     `from`, read by the first stage;  `to`;  roots.
#define AMONG_THREADS coherent
#include "lab.glsl"

layout(constant_id = LAB_EACH) const uint EACH = 1;

uint reversed(uint i) { return bitfieldReverse(i) >> (32 - findMSB(N)); }

void main() {
    uint line = gl_WorkGroupID.x;
    [[unroll]] for (uint h = 1; h < N; h *= 2) {
        bool done = 2 * h == N;
        [[unroll]] for (uint k = 0; k < EACH; ++k) {
            uint t = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
            uint j = t % h, even = t / h * 2 * h + j, odd = even + h;
            complex e = h == 1 ? from[at(line, reversed(even))] : to[at(line, even)];
            complex o = h == 1 ? from[at(line, reversed(odd))] : to[at(line, odd)];
            o = mul(o, w(j * (N / (2 * h))));
            to[at(line, even)] = done ? last(e + o) : e + o;
            to[at(line, odd)] = done ? last(e - o) : e - o;
        }
        memoryBarrierBuffer();
        if (!done) barrier();
    }
}
