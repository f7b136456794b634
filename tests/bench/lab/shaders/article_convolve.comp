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
// Binds:     pairs, read;  half spectrum, written;  factors;  set 1: spectrum, sampled.
#include "article.glsl"

layout(std430, set = 0, binding = ARTICLE_PAIRS) readonly buffer pair_lines { complex pairs[]; };
layout(std430, set = 0, binding = ARTICLE_HALF) writeonly buffer half_lines { complex halves[]; };
layout(set = 1, binding = 0) uniform sampler2DArray spectrum;

// The spectrum is as large as the kernel. Between its frequencies it is interpolated, and it goes
// round along the second axis. The middle of its first texel is frequency 0.
complex sampled(uint c, uint k1, uint k2) {
    vec2 share = vec2(k2, k1) / vec2(N, FIRST);
    return textureLod(spectrum, vec3(share + 0.5 / KERNEL, c), 0).xy;
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
