// half.glsl - the half spectrum [channel][k][m]: HALVES frequencies of the first axis, each a line
// of complex numbers along the second axis.
//
// Two image lines a and b go through one transform as z = a + i b. From Z(k) and Z(L - k) their
// spectra are (Z(k) + conj Z(L-k)) / 2 and -i (Z(k) - conj Z(L-k)) / 2; the kernel's spectrum contains
// the factor 1/2. The two are neighbours in memory and are stored together.

layout(constant_id = ID_HALVES) const uint HALVES = 2;
layout(constant_id = ID_PITCH) const uint PITCH = 2;

// Where the first axis is x it is tiled, [channel][k / BAND][m / tile][k % BAND][m % tile]. Passes 1
// and 3, which take a few m of all k, then access it in fewer pieces; pass 2, which takes all m of a
// few k, finds them in tiles side by side. In tiles of 2, the numbers of two k at two m are 32 bytes of
// floats, the least that memory moves, and pass 2 takes two lines at a time.
layout(constant_id = ID_TILE_IN) const uint TILE_IN = 0;  // between passes 1 and 2; 0: not tiled
layout(constant_id = ID_TILE_OUT) const uint TILE_OUT = 0; // between passes 2 and 3
layout(constant_id = ID_BAND) const uint BAND = 1;     // frequencies of a tile
const uint BANDS = (HALVES + BAND - 1) / BAND;

uint place_in_tiles(uint tile, uint pitch, uint channel, uint k, uint m) { // in units of m
    uint band = channel * BANDS + k / BAND;
    return ((band * (pitch / tile) + m / tile) * BAND + k % BAND) * tile + m % tile;
}

// Returns the place of the number whose m is n steps further. Where a step is a whole number of
// tiles, it is the same distance everywhere, and costs an addition.
uint place_along(const uint tile, uint channel, uint k, uint m, uint n, const uint step) {
    const uint edge = max(tile, 1); // never 0, since it divides even in code that is not reached
    if (tile == 0) return (channel * HALVES + k) * PITCH + m + n * step;
    if (step % edge == 0) return place_in_tiles(edge, PITCH, channel, k, m) + n * (step * BAND);
    return place_in_tiles(edge, PITCH, channel, k, m + n * step);
}
// Returns the same for k, in units of the `width` numbers that a line has in passes 1 and 3.
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
// Return Z(k) and Z(L - k) from the spectra of the two lines.
complex pack(complex2 h) { return h.xy + times_i(h.zw); }
complex pack_mirrored(complex2 h) { return conj(h.xy) + times_i(conj(h.zw)); }

// With ALONE a row goes through a transform of half its length H as z(n) = a(2n) + i a(2n+1). With
// w = exp(-2 pi i k / 2H) this returns its spectrum at k and at H - k, times 2.
complex2 unpack_alone(complex z, complex mirrored, complex w) {
    complex2 h = unpack(z, mirrored);
    complex t = mul(w, h.zw);
    return complex2(h.xy + t, conj(h.xy - t));
}
// Returns Z(k) and Z(H - k) from the spectrum at k and H - k.
complex2 pack_alone(complex2 h, complex w) {
    complex m = conj(h.zw), t = times_i(mul(conj(w), h.xy - m));
    return complex2(h.xy + m + t, conj(h.xy + m - t));
}
