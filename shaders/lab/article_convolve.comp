#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
// article_convolve.comp - pass 2 of 3 of the article's bloom: for one frequency of the first axis,
// the second axis forward, times the kernel's spectrum, and back.
//
// With Z the transform of a pair, x + iy:  2 X(k) = Z(k) + Z(-k)*,  2 Y(k) = -i (Z(k) - Z(-k)*).
// The factor 2 is in the spectrum, and so are the lengths of the transforms.
//
// Dispatch:  x = lines of the half spectrum, y = channels.
// Binds:     pairs, read;  half spectrum, written;  factors;  spectrum, read.
#include "article.glsl"

layout(std430, set = 0, binding = ARTICLE_PAIRS) readonly buffer pair_lines { complex pairs[]; };
layout(std430, set = 0, binding = ARTICLE_HALF) writeonly buffer half_lines { complex halves[]; };
layout(std430, set = 0, binding = ARTICLE_SPECTRUM) readonly buffer kernel_lines { complex spectrum[]; };

// The kernel's spectrum is as large as the kernel; between its frequencies, it is interpolated. The
// second axis goes round; the first one ends in the middle, at KERNEL / 2.
complex sampled(uint c, uint k1, uint k2) {
    uint at1 = k1 * KERNEL, at2 = k2 * KERNEL;
    uint row = c * (KERNEL / 2 + 1) + at1 / FIRST, next = at1 % FIRST == 0 ? row : row + 1;
    uint left = at2 / N, right = (left + 1) % KERNEL;
    float down = float(at1 % FIRST) / float(FIRST), across = float(at2 % N) / float(N);
    return mix(mix(spectrum[row * KERNEL + left], spectrum[row * KERNEL + right], across),
               mix(spectrum[next * KERNEL + left], spectrum[next * KERNEL + right], across), down);
}

void main() {
    uint r = gl_WorkGroupID.x, c = gl_WorkGroupID.y;
    uint lane = r < FIRST / 2 ? 2 * r : 1; // the lower half, then its end, frequency FIRST / 2
    uint here = index_of(lane, FIRST_THREADS), mirror = index_of(turned(lane), FIRST_THREADS);
    [[unroll]] for (uint a = 0; a < EACH; a++) {
        uint line = a * THREADS + thread(), pair = (c * PAIRS + line / 2) * FIRST;
        v[a] = complex(0);
        if (line < LINES) {
            complex z = pairs[pair + here], m = conj(pairs[pair + mirror]);
            v[a] = line % 2 == 0 ? z + m : times_minus_i(z - m);
        }
    }
    nabla_forward();
    [[unroll]] for (uint a = 0; a < EACH; a++) {
        uint k2 = frequency_of(lane_of(a * THREADS + thread(), THREADS), N);
        v[a] = mul(v[a], sampled(c, frequency_of(lane, FIRST), k2));
    }
    nabla_inverse();
    [[unroll]] for (uint a = 0; a < EACH; a++) {
        uint line = a * THREADS + thread();
        if (line < LINES) halves[(c * HALVES + r) * LINES + line] = v[a];
    }
}
