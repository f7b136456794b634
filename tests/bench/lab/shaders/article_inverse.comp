#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
// article_inverse.comp - pass 3 of 3 of the article's bloom: joins two lines of the half spectrum to
// one complex line, and goes back along the first axis.
//
// Z(k) = X(k) + i Y(k) and Z(-k) = X(k)* + i Y(k)*. Even registers hold the lower half, so a thread
// loads X and Y for these, and computes its odd registers for the threads that hold their mirror
// images. Those of one register are all in one other register, which turned() names.
//
// Dispatch:  a workgroup per pair of lines, along x.
// Binds:     half spectrum, read;  factors;  result, written.
#include "article.glsl"

layout(std430, set = 0, binding = ARTICLE_HALF) readonly buffer half_lines { complex halves[]; };
layout(std430, set = 0, binding = ARTICLE_RESULT) writeonly buffer result_pixels { vec4 result[]; };

// Loads X and Y, line r of the half spectrum.
void load(uint c, uint r, uint line, out complex x, out complex y) {
    uint at = (c * HALVES + r) * LINES + line;
    x = halves[at];
    y = line + 1 < LINES ? halves[at + 1] : complex(0);
}

void main() {
    uint line = 2 * gl_WorkGroupID.x;
    vec4 even[EACH], odd[EACH];
    [[unroll]] for (uint c = 0; c < CHANNELS; c++) {
        complex x, y, mirrored[EACH / 2];
        [[unroll]] for (uint p = 0; p < EACH / 2; p++) {
            load(c, p * THREADS + thread(), line, x, y);
            v[2 * p] = x + times_i(y);
            mirrored[p] = conj(x) + times_i(conj(y));
        }
        [[unroll]] for (uint p = 0; p < EACH / 2; p++) {
            uint partner = p == 0 ? turned(thread()) : THREADS - 1 - thread();
            v[2 * p + 1] = through_slots(mirrored[turned(p)], partner);
            if (p == 0 && thread() == 0) { // frequency N / 2, its own mirror image
                load(c, N / 2, line, x, y);
                v[2 * p + 1] = x + times_i(y);
            }
        }
        nabla_inverse();
        [[unroll]] for (uint a = 0; a < EACH; a++) {
            even[a][c] = v[a].x;
            odd[a][c] = v[a].y;
        }
    }
    [[unroll]] for (uint a = 0; a < EACH; a++) {
        uint i = a * THREADS + thread();
        if (on(line, i)) result[pixel_at(line, i)] = vec4(even[a].rgb, 1);
        if (on(line + 1, i)) result[pixel_at(line + 1, i)] = vec4(odd[a].rgb, 1);
    }
}
