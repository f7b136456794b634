#version 460
#extension GL_GOOGLE_include_directive : require
// copy.comp - moves bytes and does nothing else: `fftbloom bench` compares the passes with it.
//
// Dispatch:  x, y: workgroups of 256 threads, 16 bytes each.
// Binds:     0 from, read;  1 to, written.
#include "shared.h"

layout(local_size_x = 256) in;
layout(push_constant) uniform copy_constants { uint count; }; // of 16 bytes
layout(std430, set = 0, binding = COPY_FROM) readonly buffer from_bytes { vec4 from[]; };
layout(std430, set = 0, binding = COPY_TO) writeonly buffer to_bytes { vec4 to[]; };

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint i = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i < count) to[i] = from[i];
}
