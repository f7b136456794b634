#version 460
#extension GL_GOOGLE_include_directive : require
// unpack.comp - between split lines of the first axis and the half spectrum: takes the spectra of two
// real lines out of that of a complex one, or (BACK) makes that of a complex one.
//
// It runs only where the first axis is split; otherwise forward.comp and inverse.comp do this.
//
// Dispatch:  x = pairs / threads, y = frequencies 0 .. L/2, z = channels.
// Binds:     1 half spectrum;  5 split lines;  6 places: where the transform leaves frequency k.
#include "real.glsl"
#include "complex.glsl"

layout(local_size_x_id = ID_THREADS) in;
layout(constant_id = ID_LENGTH_ALL) const uint LENGTH_ALL = 2;
layout(constant_id = ID_LINE_COUNT) const uint LINE_COUNT = 1;
layout(constant_id = ID_BACK) const bool BACK = false;
const uint PAIRS = (LINE_COUNT + 1) / 2;
#include "half.glsl"

layout(std430, set = 0, binding = BIND_HALF) buffer half_spectrum { complex2 half_pair[]; };
layout(std430, set = 0, binding = BIND_SPLIT) buffer split_lines { complex split_value[]; };
layout(std430, set = 0, binding = BIND_PLACES) readonly buffer place_table { uint place[]; };

void main() {
    uint pair = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y, channel = gl_WorkGroupID.z;
    if (pair >= PAIRS) return;
    uint line = (channel * PAIRS + pair) * LENGTH_ALL, at = place_across(0, 2, channel, k, pair, 0, 1);
    uint here = line + place[k], there = line + place[(LENGTH_ALL - k) % LENGTH_ALL];
    if (BACK) {
        split_value[here] = pack(half_pair[at]);
        if (there != here) split_value[there] = pack_mirrored(half_pair[at]);
    } else {
        half_pair[at] = unpack(split_value[here], split_value[there]);
    }
}
