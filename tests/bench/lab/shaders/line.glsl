// line.glsl - a line on its way through the stages of a transform: get() reads what the stage before
// has written, and put() writes for the next one. Neither works in place.
//
// The line goes to and fro between the two images, in global memory. Compiled with SHARED, the first
// stage reads global memory, the last one writes it, and between them the line is in shared memory;
// since there is one line of it, all threads must have read before any of them writes.
#extension GL_EXT_control_flow_attributes : require
#ifndef SHARED
#define SHARED false
#define AMONG_THREADS coherent
#endif
#include "lab.glsl"

layout(constant_id = LAB_EACH) const uint EACH = 1; // butterflies of a thread
shared complex numbers[SHARED ? N : 1];

// The workgroup has one line; `stage` counts from 0.
complex get(uint stage, uint i) {
    if (SHARED && stage > 0) return numbers[i];
    return stage % 2 == 0 ? from[at(gl_WorkGroupID.x, i)] : to[at(gl_WorkGroupID.x, i)];
}

void put(uint stage, bool final, uint i, complex z) {
    if (SHARED && !final) numbers[i] = z;
    else if (SHARED) to[at(gl_WorkGroupID.x, i)] = last(z);
    else if (stage % 2 == 0) to[at(gl_WorkGroupID.x, i)] = final ? last(z) : z;
    else from[at(gl_WorkGroupID.x, i)] = final ? last(z) : z;
}

void all_have_read(uint stage) {
    if (SHARED && stage > 0) barrier();
}

void all_have_written(bool final) {
    if (!SHARED) memoryBarrierBuffer();
    if (!final) barrier();
}
