// planes.glsl - image planes [channel][y][x], read and written as pairs of neighbouring lines.
//
// A pair is lines 2g and 2g + 1 of the first axis: two columns where that axis is y (X_FIRST
// false), two rows where it is x. A second line beyond the image is zero and is not stored.
// With ALONE it is one row, whose pixels go two at a time; the second may be beyond the image.

layout(constant_id = ID_X_FIRST) const bool X_FIRST = false;
layout(constant_id = ID_LINE_COUNT) const uint LINE_COUNT = 1; // image lines: the extent of the other axis
layout(constant_id = ID_IMAGE_PITCH) const uint IMAGE_PITCH = 4;
layout(constant_id = ID_IMAGE_ROWS) const uint IMAGE_ROWS = 1;
layout(constant_id = ID_HALF_INPUT) const bool HALF_INPUT = false; // the image that is read has halfs
const uint PAIRS = ALONE ? LINE_COUNT : (LINE_COUNT + 1) / 2;
const bool ROWS = X_FIRST && !ALONE; // the two pixels of a pair are not neighbours in memory

layout(std430, set = 0, binding = BIND_IMAGE) IMAGE_ACCESS buffer image_planes { real image[]; };
layout(std430, set = 0, binding = BIND_IMAGE) IMAGE_ACCESS buffer image_columns { complex image_pair[]; };
layout(std430, set = 0, binding = BIND_IMAGE) readonly buffer image_of_halfs { uint two_halfs[]; };

// Returns the pixel of a pair's first line at coordinate c. That of the second line is one line further.
uint pixel_of(uint channel, uint pair, uint c) {
    uint line = ALONE ? pair : 2 * pair, x = X_FIRST ? c : line, y = X_FIRST ? line : c;
    return (channel * IMAGE_ROWS + y) * IMAGE_PITCH + x;
}
bool has_pair(uint pair) { return PAIRS % LINES == 0 || pair < PAIRS; }
bool has_second(uint pair, uint c) {
    if (ALONE) return EXTENT % 2 == 0 || c + 1 < EXTENT;
    return LINE_COUNT % 2 == 0 || 2 * pair + 1 < LINE_COUNT;
}

// Two neighbouring pixels are one complex number; rows have an even pitch, so that the last one exists.
complex pixels_at(uint p, bool second) {
    if (ROWS) return complex(image[p], second ? image[p + IMAGE_PITCH] : real(0));
    complex z = image_pair[p / 2];
    return complex(z.x, second ? z.y : real(0));
}

// Do the same for halfs. Integer operations and an exact product turn them into floats, since Vulkan allows a
// device to take subnormal halfs for zeros in unpackHalf2x16. Infinities and NaN do not occur here.
real real_of(uint half_bits) {
    uint m = half_bits & 0x7fffu;
    float v = m < 0x400u ? float(m) * 5.9604644775390625e-8 : uintBitsToFloat((m << 13) + (112u << 23));
    return real((half_bits & 0x8000u) != 0u ? -v : v);
}
real half_pixel(uint p) { return real_of(two_halfs[p / 2] >> 16 * (p % 2)); }
complex half_pixels_at(uint p, bool second) {
    if (ROWS) return complex(half_pixel(p), second ? half_pixel(p + IMAGE_PITCH) : real(0));
    uint two = two_halfs[p / 2];
    return complex(real_of(two), second ? real_of(two >> 16) : real(0));
}

complex load_pair(uint channel, uint pair, int c) { // c < 0: padding
    if (c < 0 || !has_pair(pair)) return complex(0);
    uint p = pixel_of(channel, pair, uint(c));
    if (HALF_INPUT) return half_pixels_at(p, has_second(pair, c));
    return pixels_at(p, has_second(pair, c));
}

real load_pixel(uint channel, uint row, int c) {
    if (c < 0 || !has_pair(row)) return real(0);
    uint p = pixel_of(channel, row, uint(c));
    return HALF_INPUT ? half_pixel(p) : image[p];
}

// Loads leg r of butterfly j. With ALONE, the two pixels of a number in the border may come from two
// places.
complex load_leg(uint channel, uint pair, uint r, uint j) {
    if (!ALONE || BORDER == ZERO || STEP * REST_0 * (r + 1) <= EXTENT)
        return load_pair(channel, pair, source_of_leg(r, j));
    uint i = index_of_leg(r, j);
    return complex(load_pixel(channel, pair, source_of(i)), load_pixel(channel, pair, source_of(i + 1)));
}
