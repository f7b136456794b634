#version 460
#extension GL_EXT_shader_16bit_storage : require
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
// inverse.comp - pass 3 of 3: inverse real FFT along the first axis; the result joins the image.
//
//      half spectrum        one workgroup = LINES pairs of        planes of the result
//      [c][k][m]     -->    neighbouring lines of a channel  -->  [c][y][x], and totals
//
// Padding is dropped on store. Pixels leave it finished, in the type that they are stored in: join.glsl.
//
// Dispatch:  x = pairs / LINES, z = channels.
// Binds:     0 image, read;  3 twiddles, read;  4 join;  7 half spectrum, read;  8 result, written, which may
//            be the image;  9 mask, read;  5 glare, 6 totals, written.
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
#include "measure.glsl"
#include "join.glsl"

layout(std430, set = 0, binding = BIND_CONVOLVED) readonly buffer half_spectrum { complex2 half_pair[]; };
layout(std430, set = 0, binding = BIND_CONVOLVED) readonly buffer half_of_rows { complex half_value[]; };

uint pair_of(butterfly b) { return gl_WorkGroupID.x * LINES + b.line; }
#include "ordinary.glsl"
uint at_frequency(const uint width, uint f, uint q, uint pair) { // f + BLOCKS q
    return place_across(TILE_OUT, width, gl_WorkGroupID.z, f, pair, q, BLOCKS);
}

// Returns Z(k) and Z(L - k) for k = f + BLOCKS q. Pass 2 does not write a second line that is not in
// the image, so it is taken as zero.
complex2 fetch(uint f, uint q, uint pair) {
    if (!has_pair(pair)) return complex2(0);
    if (ALONE) {
        complex x = half_value[at_frequency(1, f, q, pair)];
        complex mirrored = half_value[at_frequency(1, BLOCKS - f, LAST_RADIX - 1 - q, pair)];
        return pack_alone(complex2(x, mirrored), line_root(f + BLOCKS * q));
    }
    complex2 h = half_pair[at_frequency(2, f, q, pair)];
    if (!has_second(pair, 0)) h.zw = complex(0);
    return complex2(pack(h), pack_mirrored(h));
}

// Loads where one thread has both Z(k) and Z(L - k). In the thread of f = 0 each butterfly is its own
// mirror image.
void load_paired() {
    const uint R = LAST_RADIX;
    butterfly b = butterfly_of(LAST, 0);
    bool self = b.j == 0;
    uint pair = pair_of(b), opposite = mirror_of(b.j);
    complex low[MOST_HELD + 1], high[MOST_HELD];
    if (b.on) {
        FOR_EACH(q, HALF_RADIX,
            complex2 h = fetch(b.j, q, pair);
            complex2 g = fetch(opposite, q, pair);
            v[q] = h.yx;
            v[R + q] = g.yx;
            low[q] = h.wz;
            high[q] = g.wz)
        low[HALF_RADIX] = self ? fetch(0, HALF_RADIX, pair).yx : complex(0);
        FOR_EACH(q, HALF_RADIX,
            v[2 * R - 1 - q] = self ? high[q] : low[q];
            v[R - 1 - q] = self ? low[q + 1] : high[q])
    }
}

// Where another thread of the workgroup has Z(L - k), a thread fetches the lower half of its numbers
// of the last stage, and trades with its partners for the upper half. Components are swapped, as the
// inverse transform needs them.
void fetch_lower(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint low = i * LAST_RADIX, high = low + HALF_RADIX;
    if (b.on) {
        FOR_EACH(q, HALF_RADIX,
            complex2 h = fetch(b.j, q, pair_of(b));
            v[low + q] = h.yx;
            v[high + q] = h.wz)
        if (b.j == 0) v[high] = fetch(0, HALF_RADIX, pair_of(b)).yx;
    }
}

void give_mirrored(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint high = i * LAST_RADIX + HALF_RADIX;
    if (b.on) {
        FOR_EACH(q, HALF_RADIX, give(is_zero(b, q) ? upper_of(b, q) : partner_of(b, q), v[high + q]))
    }
}

void take_upper(const uint i) {
    butterfly b = butterfly_of(LAST, i);
    uint high = i * LAST_RADIX + HALF_RADIX;
    if (b.on) {
        FOR_EACH(q, HALF_RADIX, v[high + q] = take(upper_of(b, q)))
    }
}

bool place_of_leg(butterfly b, uint r, out uint pair, out uint index) {
    pair = pair_of(b);
    index = index_of_leg(r, b.j);
    return leg_is_image(r, b.j) && has_pair(pair);
}

void main() {
    if (PAIRED) {
        load_paired();
    } else {
        FOR_EACH(i, EACH_LAST, fetch_lower(i))
        FOR_EACH(i, EACH_LAST, give_mirrored(i))
        barrier();
        FOR_EACH(i, EACH_LAST, take_upper(i))
        barrier();
    }
    if (LOADED_FIRST && is_ordinary()) load_ordinary_pixels();
    fft_inverse();
    begin_measures();
    if (MAY_BE_ORDINARY) {
        if (is_ordinary()) finish_ordinary_pixels();
        else finish_pixels();
    } else {
        finish_pixels();
    }
    store_totals();
}
