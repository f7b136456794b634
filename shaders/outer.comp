#version 460
#extension GL_EXT_shader_16bit_storage : require
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// outer.comp - the outer factor of a line too long for a workgroup (four-step split), both ways.
//
// A line has the numbers n = INNER a + b. For each b, this pass transforms over a. It strides through
// memory, and therefore takes LINES neighbouring b at a time. It multiplies by exp(-2 pi i b k / L) and
// leaves the numbers at [place of k][b], where the lines of the inner factor are contiguous. BACK does
// the reverse: twiddles, inverse transform over k, numbers back to their places.
//
// Along the first axis (FIRST) it reads or writes the image at the other end, two lines in each
// complex one; along the second axis the half spectrum.
//
// Dispatch:  x = INNER / LINES, y = lines (pairs of the image, or frequencies), z = channels.
// Binds:     0 image;  1 half spectrum;  3 twiddles;  4 join;  5 split lines;  8 result;  9 mask;  10 glare;
//            11 totals.
#include "real.glsl"
#include "complex.glsl"
#include "fft.glsl"
#include "image.glsl"
#include "wide.glsl"
#include "bits.glsl"
#include "planes.glsl"
#include "spread.glsl"
#include "measure.glsl"
#include "join.glsl"

layout(constant_id = ID_HALVES) const uint HALVES = 2;
layout(constant_id = ID_PITCH) const uint PITCH = 2;
layout(constant_id = ID_FIRST) const bool FIRST = true;
layout(constant_id = ID_BACK) const bool BACK = false;
layout(constant_id = ID_INNER) const uint INNER = 2;
layout(constant_id = ID_LINE_TWIDDLES) const uint LINE_TWIDDLES = 0; // where exp(-2 pi i m / L) begins, in numbers

layout(std430, set = 0, binding = BIND_HALF) buffer half_spectrum { complex half_value[]; };
layout(std430, set = 0, binding = BIND_SPLIT) buffer split_lines { complex split_value[]; };
layout(std430, set = 0, binding = BIND_TWIDDLES) readonly buffer line_tables { complex line_twiddle[]; };

const uint COUNT = FIRST ? PAIRS : HALVES;

uint inner_of(butterfly b) { return gl_WorkGroupID.x * LINES + b.line; }
bool exists(butterfly b) { return b.on && inner_of(b) < INNER; }
uint split_at(uint place, butterfly b) {
    return (gl_WorkGroupID.z * COUNT + gl_WorkGroupID.y) * LENGTH_ALL + place * INNER + inner_of(b);
}
uint half_at(uint m) { return (gl_WorkGroupID.z * HALVES + gl_WorkGroupID.y) * PITCH + m; }

complex load_far(uint n) {
    int c = source_of(n);
    if (FIRST) return load_pair(gl_WorkGroupID.z, gl_WorkGroupID.y, c);
    return c < 0 ? complex(0) : half_value[half_at(uint(c))];
}

bool place_of_leg(butterfly b, uint r, out uint pair, out uint index) {
    pair = gl_WorkGroupID.y;
    index = (b.j + REST_0 * r) * INNER + inner_of(b);
    return exists(b) && index < EXTENT;
}

// Returns exp(-2 pi i b k / L), where k is the frequency that butterfly b of the last stage has at q.
complex line_root(butterfly b, uint q) {
    return line_twiddle[LINE_TWIDDLES + inner_of(b) * (b.j + BLOCKS * q)];
}

void load(const uint i) {
    butterfly b = butterfly_of(0, i);
    if (exists(b)) {
        FOR_EACH(r, RADIX_0, v[i * RADIX_0 + r] = load_far((b.j + REST_0 * r) * INNER + inner_of(b)))
    }
}

void store_last(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint place = place_of(LAST, b.j);
    if (exists(b)) {
        FOR_EACH(q, LAST_RADIX, split_value[split_at(place + q, b)] = mul(v[i * LAST_RADIX + q], line_root(b, q)))
    }
}

void load_last(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint place = place_of(LAST, b.j);
    if (exists(b)) {
        FOR_EACH(q, LAST_RADIX, v[i * LAST_RADIX + q] = mul(split_value[split_at(place + q, b)].yx, line_root(b, q)))
    }
}

// Stores lines of the half spectrum; those of the image are joined.
void store(const uint i) {
    butterfly b = butterfly_of(0, i);
    uint line, m;
    FOR_EACH(r, RADIX_0, if (place_of_leg(b, r, line, m)) half_value[half_at(m)] = v[i * RADIX_0 + r].yx)
}

void main() {
    if (BACK) {
        FOR_EACH(i, EACH_LAST, load_last(i))
        fft_inverse();
        if (FIRST) {
            begin_measures();
            finish_pixels();
            store_totals();
        } else {
            FOR_EACH(i, EACH_0, store(i))
        }
    } else {
        FOR_EACH(i, EACH_0, load(i))
        fft_forward();
        FOR_EACH(i, EACH_LAST, store_last(i))
    }
}
