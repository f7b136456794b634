#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// forward.comp - pass 1 of 3: real FFT along the first axis. Two lines go through one complex
// transform, or with ALONE, a long row goes through one of half its length.
//
//      image planes         one workgroup = LINES pairs of      half spectrum
//      [c][y][x]     -->    neighbouring lines of a channel  -->   [c][k][m]  --> pass 2
//
// Lines that are all padding are left out; padding along a line is made on load. So is what of a pixel is
// spread: the image comes as it is stored.
//
// Dispatch:  x = pairs / LINES, z = channels.
// Binds:     0 image, read;  1 half spectrum, written;  3 twiddles, read;  4 join;  9 mask, read.
#include "real.glsl"
#include "complex.glsl"
#include "fft.glsl"
#include "image.glsl"
#include "wide.glsl"
#include "bits.glsl"
#include "planes.glsl"
#include "spread.glsl"
#include "half.glsl"
#include "mirror.glsl"

layout(std430, set = 0, binding = BIND_HALF) writeonly buffer half_spectrum { complex2 half_pair[]; };
layout(std430, set = 0, binding = BIND_HALF) writeonly buffer half_of_rows { complex half_value[]; };

uint pair_of(butterfly b) { return gl_WorkGroupID.x * LINES + b.line; }

void load(const uint i) {
    butterfly b = butterfly_of(0, i);
    if (b.on) {
        FOR_EACH(r, RADIX_0, v[i * RADIX_0 + r] = load_leg(gl_WorkGroupID.z, pair_of(b), r, b.j))
    }
}

uint at_frequency(const uint width, uint f, uint q, uint pair) { // f + BLOCKS q
    return place_across(TILE_IN, width, gl_WorkGroupID.z, f, pair, q, BLOCKS);
}

void store(uint f, uint q, uint pair, complex z, complex mirrored) {
    if (!has_pair(pair)) return;
    if (ALONE) {
        complex2 h = unpack_alone(z, mirrored, line_root(f + BLOCKS * q));
        half_value[at_frequency(1, f, q, pair)] = h.xy;
        half_value[at_frequency(1, BLOCKS - f, LAST_RADIX - 1 - q, pair)] = h.zw;
    } else {
        half_pair[at_frequency(2, f, q, pair)] = unpack(z, mirrored);
    }
}

// Stores where one thread has both Z(k) and Z(L - k). In the thread of f = 0 each butterfly is its own
// mirror image.
void store_paired() {
    const uint R = LAST_RADIX;
    butterfly b = butterfly_of(LAST, 0);
    bool self = b.j == 0;
    uint pair = pair_of(b), opposite = mirror_of(b.j);
    if (b.on) {
        FOR_EACH(q, HALF_RADIX,
            store(b.j, q, pair, v[q], self ? v[(R - q) % R] : v[2 * R - 1 - q]);
            store(opposite, q, pair, v[R + q], self ? v[2 * R - 1 - q] : v[R - 1 - q]))
        if (self) store(0, HALF_RADIX, pair, v[HALF_RADIX], v[HALF_RADIX]);
    }
}

// Where another thread of the workgroup has Z(L - k), threads trade through shared memory: each gives
// the upper half of its numbers, and stores the lower half with what it takes.
void give_upper(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    if (b.on) {
        FOR_EACH(q, HALF_RADIX, give(upper_of(b, q), v[i * LAST_RADIX + HALF_RADIX + q]))
    }
}

void store_traded(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint at = i * LAST_RADIX;
    if (b.on) {
        FOR_EACH(q, HALF_RADIX,
            store(b.j, q, pair_of(b), v[at + q], is_zero(b, q) ? v[at + q] : take(partner_of(b, q))))
        if (b.j == 0) store(0, HALF_RADIX, pair_of(b), v[at + HALF_RADIX], v[at + HALF_RADIX]);
    }
}

void main() {
    FOR_EACH(i, EACH_0, load(i))
    fft_forward();
    if (PAIRED) {
        store_paired();
        return;
    }
    barrier(); // all threads have read the last exchange
    FOR_EACH(i, EACH_LAST, give_upper(i))
    barrier();
    FOR_EACH(i, EACH_LAST, store_traded(i))
}
