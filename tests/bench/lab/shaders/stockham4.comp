#version 460
#extension GL_GOOGLE_include_directive : require
// stockham4.comp - Stockham's transform, radix 4, decimation in frequency: all stages of a line.
//
//   With s = 1, 4, 16 .. and t = q + s p, where q < s, and a b c d = x[t], x[t + N/4], x[t + N/2],
//   x[t + 3N/4], the "dragonfly" is a transform of four numbers, which needs no multiplication:
//
//      y[q + s (4p + 0)] =   (a + c) +   (b + d)
//      y[q + s (4p + 1)] = ( (a - c) - i (b - d) ) w(s p)
//      y[q + s (4p + 2)] = ( (a + c) -   (b + d) ) w(2 s p)                          0 <= t < N/4
//      y[q + s (4p + 3)] = ( (a - c) + i (b - d) ) w(3 s p)
//
// It does the work of two stages of radix 2 with half the memory traffic, half the barriers and three
// quarters of the multiplications. Where N is no power of 4 the last stage is one of radix 2, whose
// twiddles are all 1. The inverse has -i for i.
//
// Dispatch:  a workgroup per line, of N / 4 / EACH threads.
// Binds:     `from` and `to`, see line.glsl;  roots.
#include "line.glsl"

complex a[EACH], b[EACH], c[EACH], d[EACH];

void read(uint stage, const uint k, uint t) {
    a[k] = get(stage, t);
    b[k] = get(stage, t + N / 4);
    c[k] = get(stage, t + N / 2);
    d[k] = get(stage, t + 3 * N / 4);
}

void dragonfly(uint stage, bool final, const uint k, uint t, uint s) {
    uint sp = t - t % s, to_place = t + 3 * sp;
    complex even = a[k] + c[k], odd = b[k] + d[k], p = a[k] - c[k];
    complex r = INVERSE ? times_i(b[k] - d[k]) : times_minus_i(b[k] - d[k]);
    put(stage, final, to_place, even + odd);
    put(stage, final, to_place + s, mul(p + r, w(sp)));
    put(stage, final, to_place + 2 * s, mul(even - odd, w(2 * sp)));
    put(stage, final, to_place + 3 * s, mul(p - r, w(3 * sp)));
}

// Two butterflies of radix 2 with s = N/2: of t, and of t + N/4.
void last_butterflies(uint stage, const uint k, uint t) {
    put(stage, true, t, a[k] + c[k]);
    put(stage, true, t + N / 2, a[k] - c[k]);
    put(stage, true, t + N / 4, b[k] + d[k]);
    put(stage, true, t + 3 * N / 4, b[k] - d[k]);
}

void main() {
    [[unroll]] for (uint stage = 0, s = 1; s < N; ++stage, s *= 4) {
        bool final = 4 * s >= N, halves = 2 * s == N;
        [[unroll]] for (uint k = 0; k < EACH; ++k)
            read(stage, k, gl_LocalInvocationID.x + k * gl_WorkGroupSize.x);
        all_have_read(stage);
        [[unroll]] for (uint k = 0; k < EACH; ++k) {
            uint t = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
            if (halves) last_butterflies(stage, k, t);
            else dragonfly(stage, final, k, t, s);
        }
        all_have_written(final);
    }
}
