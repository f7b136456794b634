#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
// nabla.comp - the article's transform along one axis of an image: see nabla.glsl.
//
// Dispatch:  a workgroup per line, along x.
// Binds:     `from`, read;  `to`, written;  factors.
#include "lab.glsl"
#include "nabla.h"
#include "nabla.glsl"

void main() {
    uint line = gl_WorkGroupID.x;
    [[unroll]] for (uint a = 0; a < EACH; a++) v[a] = from[at(line, a * THREADS + thread())];
    if (INVERSE)
        nabla_inverse();
    else
        nabla_forward();
    [[unroll]] for (uint a = 0; a < EACH; a++) to[at(line, a * THREADS + thread())] = last(v[a]);
}
