#version 460
#extension GL_GOOGLE_include_directive : require
// ct2_stages.comp - Cooley and Tukey's transform, radix 2, decimation in time: one stage of all
// lines. The host dispatches it log2 N times for each axis, with the number of the stage.
//
//   stage s joins two transforms of h = 2^s numbers each, E (even) and O (odd), to one of 2h:
//
//      E[j] ---o--- E[j] + w(j N/2h) O[j]  =  X[j]
//               \ /
//               / \                                      0 <= j < h
//      O[j] ---o--- E[j] - w(j N/2h) O[j]  =  X[j + h]
//
// The first stage reads its input in the order of reversed bits. Then every butterfly writes to the
// places that it reads, so that all later stages work in place.
//
// Dispatch:  a thread per butterfly; x = butterflies, y = lines.
// Binds:     `from`, read by stage 0;  `to`;  roots.
#include "lab.glsl"

layout(push_constant) uniform stage_constants { uint stage; };

uint reversed(uint i) { return bitfieldReverse(i) >> (32 - findMSB(N)); }

void main() {
    uint t = gl_GlobalInvocationID.x, line = gl_WorkGroupID.y;
    uint h = 1 << stage, j = t % h, even = t / h * 2 * h + j, odd = even + h;
    complex e = stage == 0 ? from[at(line, reversed(even))] : to[at(line, even)];
    complex o = stage == 0 ? from[at(line, reversed(odd))] : to[at(line, odd)];
    o = mul(o, w(j * (N / (2 * h))));
    bool done = 2 * h == N;
    to[at(line, even)] = done ? last(e + o) : e + o;
    to[at(line, odd)] = done ? last(e - o) : e - o;
}
