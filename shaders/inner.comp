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

void load(const uint i) {
    butterfly b = butterfly_of(0, i);
    if (exists(b)) {
        FOR_EACH(r, RADIX_0, v[i * RADIX_0 + r] = split_value[first_of(b) + b.j + REST_0 * r])
    }
}

void store_last(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint to = first_of(b) + place_of(LAST, b.j);
    if (exists(b)) {
        FOR_EACH(q, LAST_RADIX, split_value[to + q] = v[i * LAST_RADIX + q])
    }
}

void load_last(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint from = first_of(b) + place_of(LAST, b.j);
    if (exists(b)) {
        FOR_EACH(q, LAST_RADIX, v[i * LAST_RADIX + q] = split_value[from + q].yx)
    }
}

void store(const uint i) {
    butterfly b = butterfly_of(0, i);
    if (exists(b)) {
        FOR_EACH(r, RADIX_0, split_value[first_of(b) + b.j + REST_0 * r] = v[i * RADIX_0 + r].yx)
    }
}

void main() {
    if (BACK) {
        FOR_EACH(i, EACH_LAST, load_last(i))
        fft_inverse();
        FOR_EACH(i, EACH_0, store(i))
    } else {
        FOR_EACH(i, EACH_0, load(i))
        fft_forward();
        FOR_EACH(i, EACH_LAST, store_last(i))
    }
}
