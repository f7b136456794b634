#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// inner.comp - the inner factor of a split line along the first axis, forward or (BACK) inverse.
//
// It works in place on contiguous lines. Frequencies stay where the transform leaves them;
// unpack.comp finds them there by a table.
//
// Dispatch:  x = inner lines of a long line / LINES, y = long lines (pairs), z = channels.
// Binds:     3 twiddles, read;  5 split lines, read and written.
#include "real.glsl"
#include "complex.glsl"
#include "fft.glsl"

layout(constant_id = ID_COUNT) const uint COUNT = 2; // inner lines of a long line
layout(constant_id = ID_BACK) const bool BACK = false;

layout(std430, set = 0, binding = BIND_SPLIT) buffer split_lines { complex split_value[]; };

bool exists(butterfly b) {
    return b.on && (COUNT % LINES == 0 || gl_WorkGroupID.x * LINES + b.line < COUNT);
}
uint first_of(butterfly b) {
    uint line = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * COUNT + gl_WorkGroupID.x * LINES + b.line;
    return line * LENGTH;
}

void forward() {
    [[unroll]] for (uint i = 0; i < EACH_0; ++i) {
        butterfly b = butterfly_of(0, i);
        if (exists(b))
            [[unroll]] for (uint r = 0; r < RADIX_0; ++r) v[i * RADIX_0 + r] = split_value[first_of(b) + b.j + REST_0 * r];
    }
    fft_forward();
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (exists(b))
            [[unroll]] for (uint q = 0; q < LAST_RADIX; ++q)
                split_value[first_of(b) + place_of(LAST, b.j) + q] = v[i * LAST_RADIX + q];
    }
}

void back() {
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (exists(b))
            [[unroll]] for (uint q = 0; q < LAST_RADIX; ++q)
                v[i * LAST_RADIX + q] = split_value[first_of(b) + place_of(LAST, b.j) + q].yx;
    }
    fft_inverse();
    [[unroll]] for (uint i = 0; i < EACH_0; ++i) {
        butterfly b = butterfly_of(0, i);
        if (exists(b))
            [[unroll]] for (uint r = 0; r < RADIX_0; ++r)
                split_value[first_of(b) + b.j + REST_0 * r] = v[i * RADIX_0 + r].yx;
    }
}

void main() {
    if (BACK) back();
    else forward();
}
