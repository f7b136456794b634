// half.glsl - the half spectrum [channel][k][m]: HALVES frequencies of the first axis, each a line
// of complex numbers along the second axis.
//
// Two image lines a and b went through one transform as z = a + i b. With Z at k and at L - k, the
// spectra are (Z(k) + conj Z(L-k)) / 2 and -i (Z(k) - conj Z(L-k)) / 2; the halving is in the
// kernel's spectrum. The two are neighbours in memory and are stored at once.

layout(constant_id = 40) const uint HALVES = 2;
layout(constant_id = 41) const uint PITCH = 2;

uint half_pair_of(uint channel, uint k, uint pair) { return (channel * HALVES + k) * (PITCH / 2) + pair; }

// From pass 2 to pass 3 a large half spectrum is [channel][m / TILE][k][m % TILE]: pass 3, which
// takes a few m of all k, then reads it in few pieces, and pass 2 writes runs that are still long
// enough. 0: not tiled.
layout(constant_id = 42) const uint TILE = 0;
const uint EDGE = TILE == 0 ? 2 : TILE; // divides in code that is not reached
uint tiled_of(uint channel, uint k, uint m) {
    if (TILE == 0) return (channel * HALVES + k) * PITCH + m;
    return ((channel * (PITCH / EDGE) + m / EDGE) * HALVES + k) * EDGE + m % EDGE;
}
uint tiled_pair_of(uint channel, uint k, uint pair) { return tiled_of(channel, k, 2 * pair) / 2; }

complex2 unpack(complex z, complex mirrored) {
    complex m = conj(mirrored);
    return complex2(z + m, times_minus_i(z - m));
}
// Z(k), and Z(L - k), from the two lines' spectra.
complex pack(complex2 h) { return h.xy + times_i(h.zw); }
complex pack_mirrored(complex2 h) { return conj(h.xy) + times_i(conj(h.zw)); }
