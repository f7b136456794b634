// planes.glsl - image planes [channel][y][x], read and written as pairs of neighbouring lines.
//
// A pair is lines 2g and 2g + 1 of the first axis: two columns where that axis is y (X_FIRST
// false), two rows where it is x. A second line beyond the image is zero and is not stored.

layout(constant_id = 30) const bool X_FIRST = false;
layout(constant_id = 31) const uint LINE_COUNT = 1; // image lines: the extent across
layout(constant_id = 32) const uint IMAGE_PITCH = 4;
layout(constant_id = 33) const uint IMAGE_ROWS = 1;
const uint PAIRS = (LINE_COUNT + 1) / 2;

layout(std430, set = 0, binding = 0) IMAGE_ACCESS buffer image_planes { real image[]; };

uint pixel_of(uint channel, uint pair, uint c) { // its first line; the other is one further
    uint x = X_FIRST ? c : 2 * pair, y = X_FIRST ? 2 * pair : c;
    return (channel * IMAGE_ROWS + y) * IMAGE_PITCH + x;
}
uint second_line() { return X_FIRST ? IMAGE_PITCH : 1; }
bool has_second(uint pair) { return 2 * pair + 1 < LINE_COUNT; }

complex load_pair(uint channel, uint pair, uint i) {
    int c = source_of(i);
    if (pair >= PAIRS || c < 0) return complex(0);
    uint p = pixel_of(channel, pair, uint(c));
    return complex(image[p], has_second(pair) ? image[p + second_line()] : real(0));
}
