// spread.glsl - what of a pixel is spread: src/engine/join.h has the formula, and join_parts_of() is the same
// in C. Pass 1 loads it, and the last pass adds the rest of the pixel.

layout(constant_id = ID_ABOVE) const bool ABOVE = false; // there is a threshold
layout(constant_id = ID_MASKED) const bool MASKED = false;
layout(constant_id = ID_AGAIN) const bool AGAIN = false; // of several steps: the mask is of what falls on a pixel
const bool PARTLY = ABOVE || MASKED;
layout(std430, set = 0, binding = BIND_MASK) readonly buffer mask_plane { float mask[]; };
layout(std430, set = 0, binding = BIND_MASK) readonly buffer mask_pairs { vec2 mask_pair[]; };

// The numbers of a join that are its channel's. engine/gpu/gpu_join.c has the same in C.
struct join_channel {
    wide centre, gain, dark, unit; // unit: 1 / most
    wide nonnegative;              // 1: neither what is spread nor the kernel is below zero
};
layout(std430, set = 0, binding = BIND_JOIN) readonly buffer join_numbers {
    uvec4 kept;                 // the pixels that count: x, y, width, height
    wide threshold, knee, begin, bend; // begin: threshold - knee; bend: 1 / (4 knee)
    wide additive;              // 1: the glare's plane receives what is added to the image
    join_channel join_of[];
};
layout(push_constant) uniform join_constants { uint first_channel; }; // of this dispatch

struct parts {
    wide spread, rest;
};

// A parabola joins the two lines at threshold -+ knee.
parts parts_of(real v, uint place) {
    wide whole = wide_of(v), x = whole;
    if (!PARTLY) return parts(whole, wide(0));
    if (MASKED) x = product(v, real(mask[place]));
    wide held = minus(whole, x);
    if (!ABOVE) return parts(x, held);
    wide over = minus(x, threshold), begun = plus(over, knee), part = wide(0);
    if (leading(minus(over, knee)) >= 0) {
        if (leading(over) > 0) return parts(over, plus(held, threshold));
    } else if (leading(begun) > 0 && leading(x) > 0) {
        part = times(times(begun, begun), bend);
        if (!(leading(minus(part, x)) < 0)) part = x;
    }
    return parts(part, minus(whole, part));
}

// The same in the precision of the pass, for parts that are not below zero. Each is right to some u of itself: the
// one difference in it is exact where it is small. `begin` is where the knee begins, and not below zero for `rest`.
struct shares {
    real spread, rest;
};

// What the mask lets through of the pixels of a pair. Two neighbours are one load, as of the image.
complex let_through(uint place, bool second) {
    if (!MASKED) return complex(1);
    if (ROWS) return complex(mask[place], second ? mask[place + SECOND] : 0);
    return complex(mask_pair[place / 2]);
}

// There is no branch in it, so that a thread loads all of its pixels before it waits for the first.
shares shares_of(real v, real through) {
    if (!PARTLY) return shares(v, real(0));
    if (!ABOVE) return shares(v * through, v * (1 - through));
    wide x = MASKED ? product(v, through) : wide_of(v);
    real over = difference(x, threshold), begun = difference(x, begin), slope = leading(bend);
    real part = min(begun * begun * slope, leading(x)), held = MASKED ? v * (1 - through) : real(0);
    bool whole = over >= leading(knee), none = !(begun > 0 && leading(x) > 0);
    real kept = whole ? leading(threshold) : leading(begin) + begun * (1 - begun * slope);
    return shares(none ? real(0) : whole ? over : part, none ? v : held + kept);
}

complex load_pair(uint channel, uint pair, int c) { // c < 0: padding
    if (c < 0 || !has_pair(pair)) return complex(0);
    uint place = place_of_pixel(pair, uint(c));
    bool second = has_second(pair, c);
    complex two = pixels_at(plane_of(channel) + place, second), through = let_through(place, second);
    return complex(shares_of(two.x, through.x).spread, second ? shares_of(two.y, through.y).spread : real(0));
}

real load_pixel(uint channel, uint row, int c) {
    if (c < 0 || !has_pair(row)) return real(0);
    uint place = place_of_pixel(row, uint(c));
    return shares_of(pixel_at(plane_of(channel) + place), MASKED ? real(mask[place]) : real(1)).spread;
}

// Loads leg r of butterfly j. With ALONE, the two pixels of a number in the border may come from two
// places.
complex load_leg(uint channel, uint pair, uint r, uint j) {
    if (!ALONE || BORDER == ZERO || STEP * REST_0 * (r + 1) <= EXTENT)
        return load_pair(channel, pair, source_of_leg(r, j));
    uint i = index_of_leg(r, j);
    return complex(load_pixel(channel, pair, source_of(i)), load_pixel(channel, pair, source_of(i + 1)));
}
