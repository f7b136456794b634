#version 460
#extension GL_GOOGLE_include_directive : require
// stockham2.comp - Stockham's transform, radix 2, decimation in frequency: all stages of a line.
//
//   With s = 1, 2, 4 .. N/2 and t = q + s p, where q < s:
//
//      x[t]        ---o---  x[t] + x[t + N/2]                     =  y[q + s 2p]
//                  \ /
//                  / \                                                               0 <= t < N/2
//      x[t + N/2]  ---o---  (x[t] - x[t + N/2]) w(s p)            =  y[q + s (2p + 1)]
//
// Each stage puts its results a step closer to natural order, so no bits are ever reversed. The price
// is that butterflies do not write where they have read. Note that 2 s p + q = 2t - q.
//
// Dispatch:  a workgroup per line, of N / 2 / EACH threads.
// Binds:     `from` and `to`, see line.glsl;  roots.
#include "line.glsl"

void main() {
    complex a[EACH], b[EACH];
    [[unroll]] for (uint stage = 0, s = 1; s < N; ++stage, s *= 2) {
        bool final = 2 * s == N;
        [[unroll]] for (uint k = 0; k < EACH; ++k) {
            uint t = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
            a[k] = get(stage, t);
            b[k] = get(stage, t + N / 2);
        }
        all_have_read(stage);
        [[unroll]] for (uint k = 0; k < EACH; ++k) {
            uint t = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x, q = t % s;
            put(stage, final, 2 * t - q, a[k] + b[k]);
            put(stage, final, 2 * t - q + s, mul(a[k] - b[k], w(t - q)));
        }
        all_have_written(final);
    }
}
