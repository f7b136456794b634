// planes.glsl - image planes [channel][y][x], read as pairs of neighbouring lines.
//
// A pair is lines 2g and 2g + 1 of the first axis: two columns where that axis is y (X_FIRST
// false), two rows where it is x. A second line beyond the image is zero and is not stored.
// With ALONE it is one row, whose pixels go two at a time; the second may be beyond the image.

layout(constant_id = ID_X_FIRST) const bool X_FIRST = false;
layout(constant_id = ID_LINE_COUNT) const uint LINE_COUNT = 1; // image lines: the extent of the other axis
layout(constant_id = ID_IMAGE_PITCH) const uint IMAGE_PITCH = 4;
layout(constant_id = ID_IMAGE_ROWS) const uint IMAGE_ROWS = 1;
layout(constant_id = ID_HALF_INPUT) const bool HALF_INPUT = false; // the image has halfs; else floats
const uint PAIRS = ALONE ? LINE_COUNT : (LINE_COUNT + 1) / 2;
const bool ROWS = X_FIRST && !ALONE; // the two pixels of a pair are not neighbours in memory
const uint SECOND = ROWS ? IMAGE_PITCH : 1; // the way from one to the other

// The image as it is stored. A word is a float or two halfs.
layout(std430, set = 0, binding = BIND_IMAGE) readonly buffer image_words { uint image_word[]; };
layout(std430, set = 0, binding = BIND_IMAGE) readonly buffer image_pairs { uvec2 image_pair[]; };

// Returns the place, in a plane, of a pair's first pixel at coordinate c.
uint place_of_pixel(uint pair, uint c) {
    uint line = ALONE ? pair : 2 * pair, x = X_FIRST ? c : line, y = X_FIRST ? line : c;
    return y * IMAGE_PITCH + x;
}
uint plane_of(uint channel) { return channel * (IMAGE_ROWS * IMAGE_PITCH); }
bool has_pair(uint pair) { return PAIRS % LINES == 0 || pair < PAIRS; }
bool has_second(uint pair, uint c) {
    if (ALONE) return EXTENT % 2 == 0 || c + 1 < EXTENT;
    return LINE_COUNT % 2 == 0 || 2 * pair + 1 < LINE_COUNT;
}

real pixel_of(uint word) { return HALF_INPUT ? of_half(word) : of_float(word); }
uint word_at(uint p) { return HALF_INPUT ? image_word[p / 2] >> 16 * (p % 2) : image_word[p]; }
real pixel_at(uint p) { return pixel_of(word_at(p)); }

// The words of a pair of pixels, as they are stored. Two neighbours are one load; rows have an even pitch, so
// that the last one exists.
uvec2 words_at(uint p, bool second) {
    if (ROWS) return uvec2(word_at(p), second ? word_at(p + IMAGE_PITCH) : 0);
    uvec2 two = HALF_INPUT ? uvec2(image_word[p / 2], image_word[p / 2] >> 16) : image_pair[p / 2];
    return uvec2(two.x, second ? two.y : 0);
}
complex pixels_of(uvec2 words) { return complex(pixel_of(words.x), pixel_of(words.y)); }
complex pixels_at(uint p, bool second) { return pixels_of(words_at(p, second)); }
