// image.glsl - the circle that a line of the image lies on: which pixel each index reads.
//
// Index i of the circle is coordinate i below SPLIT, and i - LENGTH_ALL from there on, which lies
// before the image. Outside the image the border decides. plan_source() in src/math/plan.c is the
// same in C.

layout(constant_id = ID_EXTENT) const uint EXTENT = 1;     // samples of the image along the line
layout(constant_id = ID_LENGTH_ALL) const uint LENGTH_ALL = 2; // of the circle; LENGTH, unless the line is split
layout(constant_id = ID_SPLIT) const uint SPLIT = 2;
layout(constant_id = ID_BORDER) const uint BORDER = 0;
layout(constant_id = ID_BEFORE) const uint BEFORE = 0; // samples before the image that a tap needs

// With ALONE a row is a complex line of half its length, with samples 2 n and 2 n + 1 in number n.
layout(constant_id = ID_ALONE) const bool ALONE = false;
const uint STEP = ALONE ? 2 : 1; // samples of a line in a number

const uint ZERO = 0, CLAMP = 2, WRAP = 3; // 1: mirror

// Returns the coordinate to read, or -1 for zero.
int source_of(uint i) {
    const int n = int(EXTENT);
    if (BORDER == ZERO) return i < EXTENT ? int(i) : -1;
    int c = i < SPLIT ? int(i) : int(i) - int(LENGTH_ALL);
    if (c >= 0 && c < n) return c;
    if (c < -int(BEFORE)) return -1;
    if (BORDER == CLAMP) return c < 0 ? 0 : n - 1;
    if (BORDER == WRAP) return c < 0 ? n - 1 - (-1 - c) % n : c % n;
    c = (c < 0 ? -1 - c : c) % (2 * n); // mirror
    return c < n ? c : 2 * n - 1 - c;
}

// Leg r of the first stage's butterfly j is number j + REST_0 r. Most legs are in the image for every
// j, or behind it for every j; these need no comparison.
uint index_of_leg(uint r, uint j) { return STEP * (j + REST_0 * r); }
bool leg_is_image(uint r, uint j) {
    if (STEP * REST_0 * r >= EXTENT) return false;
    if (STEP * REST_0 * (r + 1) <= EXTENT) return true;
    return index_of_leg(r, j) < EXTENT;
}
int source_of_leg(uint r, uint j) {
    if (BORDER == ZERO) return leg_is_image(r, j) ? int(index_of_leg(r, j)) : -1;
    if (STEP * REST_0 * (r + 1) <= EXTENT) return int(index_of_leg(r, j));
    return source_of(index_of_leg(r, j));
}
