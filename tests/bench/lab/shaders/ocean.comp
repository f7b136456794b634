#version 460
#extension GL_GOOGLE_include_directive : require
// ocean.comp - the spectrum of a sea at one moment, from which four inverse transforms make eight
// fields: Tessendorf, "Simulating Ocean Water" (2001).
//
// A wave k turns by w = sqrt(g |k|) t, its mirror image -k the other way, so that the height is real:
//
//      h(k) = h0(k) exp(i w) + conj(h0(-k)) exp(-i w)
//
// Derivatives and displacements are products with k, and two real fields share one complex image,
// a + i b, so each image is h(k) times one complex number:
//
//      0  height                    + i  dDx / dz                1  displacement Dx    + i  Dz
//      2  slope dh / dx             + i  slope dh / dz           3  dDx / dx           + i  dDz / dz
//
// All speeds are multiples of one (the sea repeats itself after TURNS frames), so exp(i w) comes from
// a table, and its angle is exact however late it is.
//
// Dispatch:  a thread per place of the spectrum; x along rows, y = rows.
// Binds:     0 waves;  1 turns per frame;  2 roots of unity, positive;  3 the frequency at each place
//            of an axis;  4 to 7 the images, written.
#include "shaders/real.glsl"
#include "shaders/complex.glsl"
#include "ids.h"

layout(local_size_x_id = ID_THREADS) in;
layout(constant_id = ID_LENGTH) const uint N = 2;
layout(push_constant) uniform ocean_constants { uint frame; };

layout(std430, set = 0, binding = OCEAN_WAVES) readonly buffer waves { vec4 h0[]; }; // h0(k), conj(h0(-k))
layout(std430, set = 0, binding = OCEAN_TURNS) readonly buffer turns_of_waves { uint turns[]; };
layout(std430, set = 0, binding = OCEAN_ROOTS) readonly buffer roots { complex root[]; };
layout(std430, set = 0, binding = OCEAN_FREQUENCY) readonly buffer frequencies { uint frequency[]; };
layout(std430, set = 0, binding = OCEAN_IMAGE) writeonly buffer image_0 { complex image0[]; };
layout(std430, set = 0, binding = OCEAN_IMAGE + 1) writeonly buffer image_1 { complex image1[]; };
layout(std430, set = 0, binding = OCEAN_IMAGE + 2) writeonly buffer image_2 { complex image2[]; };
layout(std430, set = 0, binding = OCEAN_IMAGE + 3) writeonly buffer image_3 { complex image3[]; };

const real STEP = real(6.283185307179586) / real(OCEAN_PATCH); // between wave numbers

void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y, to = y * N + x;
    if (x >= N) return;
    uvec2 f = uvec2(frequency[x], frequency[y]);
    uint from = f.y * N + f.x;
    vec2 k = STEP * vec2(f.x < N / 2 ? int(f.x) : int(f.x) - int(N), f.y < N / 2 ? int(f.y) : int(f.y) - int(N));
    vec2 unit = f == uvec2(0) ? vec2(0) : k / length(k);
    complex turn = root[turns[from] * frame % OCEAN_LOOP];
    complex h = mul(h0[from].xy, turn) + mul(h0[from].zw, conj(turn));
    image0[to] = mul(h, complex(1, k.x * unit.y));
    image1[to] = mul(h, complex(unit.y, -unit.x));
    image2[to] = mul(h, complex(-k.y, k.x));
    image3[to] = mul(h, complex(k.x * unit.x, k.y * unit.y));
}
