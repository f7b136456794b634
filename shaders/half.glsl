// half.glsl - the half spectrum [channel][k][m]: HALVES frequencies of the first axis, each a line
// of complex numbers along the second axis.
//
// Two image lines a and b went through one transform as z = a + i b. With Z at k and at L - k, the
// spectra are (Z(k) + conj Z(L-k)) / 2 and -i (Z(k) - conj Z(L-k)) / 2; the halving is in the
// kernel's spectrum. The two are neighbours in memory and are stored at once.

layout(constant_id = 40) const uint HALVES = 2;
layout(constant_id = 41) const uint PITCH = 2;

// A large half spectrum may be tiled, [channel][m / tile][k][m % tile]: passes 1 and 3, which take a
// few m of all k, then touch it in few pieces, and the runs of pass 2 are still long enough.
layout(constant_id = 42) const uint TILE_IN = 0;  // between passes 1 and 2; 0: not tiled
layout(constant_id = 43) const uint TILE_OUT = 0; // between passes 2 and 3
uint tiled_of(const uint tile, uint channel, uint k, uint m) {
    if (tile == 0) return (channel * HALVES + k) * PITCH + m;
    const uint edge = max(tile, 1); // nobody divides by 0, not even in code that is not reached
    return ((channel * (PITCH / edge) + m / edge) * HALVES + k) * edge + m % edge;
}
// The same in pairs of neighbours: tiled_of(tile, channel, k, 2 pair) / 2.
uint tiled_pair_of(const uint tile, uint channel, uint k, uint pair) {
    if (tile == 0) return (channel * HALVES + k) * (PITCH / 2) + pair;
    const uint edge = max(tile / 2, 1);
    return ((channel * (PITCH / 2 / edge) + pair / edge) * HALVES + k) * edge + pair % edge;
}
uint half_pair_of(uint channel, uint k, uint pair) { return tiled_pair_of(TILE_IN, channel, k, pair); }
uint convolved_pair_of(uint channel, uint k, uint pair) { return tiled_pair_of(TILE_OUT, channel, k, pair); }

complex2 unpack(complex z, complex mirrored) {
    complex m = conj(mirrored);
    return complex2(z + m, times_minus_i(z - m));
}
// Z(k), and Z(L - k), from the two lines' spectra.
complex pack(complex2 h) { return h.xy + times_i(h.zw); }
complex pack_mirrored(complex2 h) { return conj(h.xy) + times_i(conj(h.zw)); }
