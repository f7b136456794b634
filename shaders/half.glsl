// half.glsl - the half spectrum [channel][k][m]: HALVES frequencies of the first axis, each a line
// of complex numbers along the second axis.
//
// Two image lines a and b went through one transform as z = a + i b. With Z at k and at L - k, the
// spectra are (Z(k) + conj Z(L-k)) / 2 and -i (Z(k) - conj Z(L-k)) / 2; the halving is in the
// kernel's spectrum. The two are neighbours in memory and are stored at once.

layout(constant_id = ID_HALVES) const uint HALVES = 2;
layout(constant_id = ID_PITCH) const uint PITCH = 2;

// Where rows are lines it is tiled, [channel][k / BAND][m / tile][k % BAND][m % tile]: passes 1 and 3,
// which take a few m of all k, then touch it in fewer pieces, and pass 2, which takes all m of a k,
// finds them in tiles that lie side by side.
layout(constant_id = ID_TILE_IN) const uint TILE_IN = 0;  // between passes 1 and 2; 0: not tiled
layout(constant_id = ID_TILE_OUT) const uint TILE_OUT = 0; // between passes 2 and 3
layout(constant_id = ID_BAND) const uint BAND = 1;     // frequencies of a tile
const uint BANDS = (HALVES + BAND - 1) / BAND;

uint place_in_tiles(uint tile, uint pitch, uint channel, uint k, uint m) { // in units of m
    uint band = channel * BANDS + k / BAND;
    return ((band * (pitch / tile) + m / tile) * BAND + k % BAND) * tile + m % tile;
}

// The places of numbers whose m, or whose k, is n steps further. Where a step is whole tiles it is
// the same distance everywhere: an addition.
uint place_along(const uint tile, uint channel, uint k, uint m, uint n, const uint step) {
    const uint edge = max(tile, 1); // nobody divides by 0, not even in code that is not reached
    if (tile == 0) return (channel * HALVES + k) * PITCH + m + n * step;
    if (step % edge == 0) return place_in_tiles(edge, PITCH, channel, k, m) + n * (step * BAND);
    return place_in_tiles(edge, PITCH, channel, k, m + n * step);
}
// The same of k, in units of the `width` m that a line of passes 1 and 3 has.
uint place_across(const uint tile, const uint width, uint channel, uint k, uint line, uint n, const uint step) {
    const uint edge = max(tile / width, 1), pitch = PITCH / width;
    if (tile == 0) return (channel * HALVES + k) * pitch + line + n * (step * pitch);
    if (step % BAND == 0) return place_in_tiles(edge, pitch, channel, k, line) + n * (step * pitch);
    return place_in_tiles(edge, pitch, channel, k + n * step, line);
}

complex2 unpack(complex z, complex mirrored) {
    complex m = conj(mirrored);
    return complex2(z + m, times_minus_i(z - m));
}
// Z(k), and Z(L - k), from the two lines' spectra.
complex pack(complex2 h) { return h.xy + times_i(h.zw); }
complex pack_mirrored(complex2 h) { return conj(h.xy) + times_i(conj(h.zw)); }

// A row alone went through a transform of half its length H as z(n) = a(2n) + i a(2n+1). With
// w = exp(-2 pi i k / 2H) its spectrum is at k and at H - k, but for the halving:
complex2 unpack_alone(complex z, complex mirrored, complex w) {
    complex2 h = unpack(z, mirrored);
    complex t = mul(w, h.zw);
    return complex2(h.xy + t, conj(h.xy - t));
}
// Z(k) and Z(H - k) from the spectrum there.
complex2 pack_alone(complex2 h, complex w) {
    complex m = conj(h.zw), t = times_i(mul(conj(w), h.xy - m));
    return complex2(h.xy + m + t, conj(h.xy + m - t));
}
