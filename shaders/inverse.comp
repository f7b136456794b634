#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// inverse.comp - pass 3 of 3: inverse real FFT along the first axis, joined with the image.
//
//      half spectrum        one workgroup = LINES pairs of        image planes
//      [c][k][m]     -->    neighbouring lines of a channel  -->  [c][y][x], in place
//
// Padding is dropped on store. What is stored is tap * image + gain * convolution: the kernel's
// centre tap and the sharpening never went through the transform.
//
// Dispatch:  x = pairs / LINES, z = channels.
// Binds:     0 image, read and written;  1 half spectrum, read;  3 twiddles, read.
#include "real.glsl"
#include "complex.glsl"
#include "fft.glsl"
#include "image.glsl"
#define IMAGE_ACCESS
#include "planes.glsl"
#include "half.glsl"
#include "mirror.glsl"
#include "join.glsl"

layout(std430, set = 0, binding = 1) readonly buffer half_spectrum { complex2 half_pair[]; };

uint pair_of(butterfly b) { return gl_WorkGroupID.x * LINES + b.line; }
complex2 fetch(uint k, uint pair) {
    return pair < PAIRS ? half_pair[half_pair_of(gl_WorkGroupID.z, k, pair)] : complex2(0);
}

complex partner[16];

// The lower half of the last stage's numbers, and for a trade with the partners the upper half's.
// Components are swapped, as the inverse transform wants them.
void load() {
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (!b.on) continue;
        [[unroll]] for (uint q = 0; q < HALF_RADIX; ++q) {
            complex2 h = fetch(b.j + BLOCKS * q, pair_of(b));
            v[i * LAST_RADIX + q] = pack(h).yx;
            partner[i * HALF_RADIX + q] = pack_mirrored(h).yx;
        }
    }
}

void trade(const uint c) {
    barrier();
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (b.on)
            [[unroll]] for (uint q = 0; q < HALF_RADIX; ++q)
                if (!is_zero(b, q)) exchange_line[partner_of(b, q)] = partner[i * HALF_RADIX + q][c];
    }
    barrier();
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (b.on)
            [[unroll]] for (uint q = 0; q < HALF_RADIX; ++q)
                v[i * LAST_RADIX + HALF_RADIX + q][c] = exchange_line[upper_of(b, q)];
    }
}

void load_nyquist() {
    [[unroll]] for (uint i = 0; i < each(LAST); ++i) {
        butterfly b = butterfly_of(LAST, i);
        if (b.on && b.j == 0) v[i * LAST_RADIX + HALF_RADIX] = pack(fetch(LENGTH / 2, pair_of(b))).yx;
    }
}

complex old[16];

void load_image() {
    [[unroll]] for (uint i = 0; i < EACH_0; ++i) {
        butterfly b = butterfly_of(0, i);
        if (b.on)
            [[unroll]] for (uint r = 0; r < RADIX_0; ++r)
                old[i * RADIX_0 + r] = load_old(gl_WorkGroupID.z, pair_of(b), b.j + REST_0 * r);
    }
}

void store() {
    [[unroll]] for (uint i = 0; i < EACH_0; ++i) {
        butterfly b = butterfly_of(0, i);
        if (b.on)
            [[unroll]] for (uint r = 0; r < RADIX_0; ++r)
                store_pair(gl_WorkGroupID.z, pair_of(b), b.j + REST_0 * r, old[i * RADIX_0 + r], v[i * RADIX_0 + r].yx);
    }
}

void main() {
    load();
    trade(0);
    trade(1);
    load_nyquist();
    barrier();
    load_image(); // early: the transform hides the way to memory
    fft_inverse();
    store();
}
