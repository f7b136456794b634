#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
// article_forward.comp - pass 1 of 3 of the article's bloom: two lines of the image become the real
// and the imaginary part of one complex line, which goes through the first axis.
//
// Dispatch:  a workgroup per pair of lines, along x.
// Binds:     image, read;  pairs, written;  factors.
#include "article.glsl"

layout(std430, set = 0, binding = ARTICLE_IMAGE) readonly buffer image_pixels { vec4 image[]; };
layout(std430, set = 0, binding = ARTICLE_PAIRS) writeonly buffer pair_lines { complex pairs[]; };

void main() {
    uint pair = gl_WorkGroupID.x;
    vec4 even[EACH], odd[EACH]; // the pixels of both lines, for all channels
    [[unroll]] for (uint a = 0; a < EACH; a++) {
        uint i = a * THREADS + thread(), line = 2 * pair;
        even[a] = on(line, i) ? image[pixel_at(line, i)] : vec4(0);
        odd[a] = on(line + 1, i) ? image[pixel_at(line + 1, i)] : vec4(0);
    }
    [[unroll]] for (uint c = 0; c < CHANNELS; c++) {
        [[unroll]] for (uint a = 0; a < EACH; a++) v[a] = complex(even[a][c], odd[a][c]);
        nabla_forward();
        [[unroll]] for (uint a = 0; a < EACH; a++)
            pairs[(c * PAIRS + pair) * N + a * THREADS + thread()] = v[a];
    }
}
