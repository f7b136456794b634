#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// convolve.comp - pass 2 of 3: FFT along the second axis, times the kernel's spectrum, and back.
//
//      half spectrum        one workgroup = LINES lines      half spectrum
//      [c][k][m]  -->       of a channel                -->  the same, or tiled   --> pass 3
//
// The lines k = 0 and k = L1/2 are treated as all others. Padding is made on load and dropped on
// store. The kernel's spectrum is in the order in which the transform leaves its frequencies,
// [c][line][q][butterfly], so that neighbouring threads read neighbouring numbers. It contains the
// factor 1 / (2 L1 L2) of both transforms and of unpacking.
//
// Two lines at a time read and write squares of the half spectrum (half.glsl). A kernel that half a turn
// leaves as it is has a real spectrum, and half of the bytes (REAL_KERNEL).
//
// Dispatch:  x = lines / LINES, z = channels.
// Binds:     1 lines, read;  2 kernel's spectrum, read;  3 twiddles, read;  7 lines, written: the
//            same buffer as 1, unless they are tiled.
#include "real.glsl"
#include "complex.glsl"
#include "fft.glsl"
#include "image.glsl"
#include "half.glsl"

layout(constant_id = ID_ONE_KERNEL) const bool ONE_KERNEL = false; // the same spectrum for all channels
layout(constant_id = ID_REAL_KERNEL) const bool REAL_KERNEL = false; // the kernel is symmetric, so its spectrum is real

layout(std430, set = 0, binding = BIND_HALF) readonly buffer half_spectrum { complex half_value[]; };
layout(std430, set = 0, binding = BIND_SPECTRUM) readonly buffer kernel_spectrum { complex kernel[]; };
layout(std430, set = 0, binding = BIND_SPECTRUM) readonly buffer real_spectrum { real real_kernel[]; };
layout(std430, set = 0, binding = BIND_CONVOLVED) writeonly buffer convolved_lines { complex convolved[]; };

uint line_of(butterfly b) { return gl_WorkGroupID.x * LINES + b.line; }
bool exists(butterfly b) { return b.on && (HALVES % LINES == 0 || line_of(b) < HALVES); }

// Returns the place of number m + n step of a line.
uint half_place(const uint tile, uint plane, butterfly b, uint m, uint n, const uint step) {
    return place_along(tile, plane, line_of(b), m, n, step);
}

complex number_of_leg(uint plane, butterfly b, uint r) {
    if (!exists(b)) return complex(0);
    if (BORDER == ZERO)
        return leg_is_image(r, b.j) ? half_value[half_place(TILE_IN, plane, b, b.j, r, REST_0)] : complex(0);
    int c = source_of_leg(r, b.j);
    return c < 0 ? complex(0) : half_value[half_place(TILE_IN, plane, b, uint(c), 0, 1)];
}

void load(const uint i, uint plane) {
    butterfly b = butterfly_of(0, i);
    FOR_EACH(r, RADIX_0, v[i * RADIX_0 + r] = number_of_leg(plane, b, r))
}

complex times_kernel(complex z, uint at) { return REAL_KERNEL ? real_kernel[at] * z : mul(z, kernel[at]); }

void multiply(const uint i, uint spectrum) {
    butterfly b = butterfly_of(LAST, i);
    uint at = i * LAST_RADIX, k = (spectrum * HALVES + line_of(b)) * LENGTH + b.j;
    if (exists(b)) {
        FOR_EACH(q, LAST_RADIX, v[at + q] = times_kernel(v[at + q], k + BLOCKS * q).yx)
    }
}

void store(const uint i) {
    butterfly b = butterfly_of(0, i);
    if (exists(b)) {
        FOR_EACH(r, RADIX_0, if (leg_is_image(r, b.j))
            convolved[half_place(TILE_OUT, gl_WorkGroupID.z, b, b.j, r, REST_0)] = v[i * RADIX_0 + r].yx)
    }
}

void main() {
    FOR_EACH(i, EACH_0, load(i, gl_WorkGroupID.z))
    fft_forward();
    FOR_EACH(i, EACH_LAST, multiply(i, ONE_KERNEL ? 0 : gl_WorkGroupID.z))
    fft_inverse();
    FOR_EACH(i, EACH_0, store(i))
}
