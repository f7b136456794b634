// join.glsl - the last store: the convolved tail joins the centre tap, in the image's place.

layout(push_constant) uniform join_constants {
    uint first_channel; // of this dispatch
};
layout(std430, set = 0, binding = 4) readonly buffer weights { complex weight[]; }; // tap, gain

// The pixels of a pair at index i, as they are before the store. Loads and stores go to the same
// planes, so a compiler keeps their order: all loads come first, or each would wait for a store.
complex load_old(uint channel, uint pair, uint i) {
    if (pair >= PAIRS || i >= EXTENT) return complex(0);
    uint p = pixel_of(channel, pair, i);
    return complex(image[p], has_second(pair) ? image[p + second_line()] : real(0));
}

void store_pair(uint channel, uint pair, uint i, complex old, complex lines) {
    if (pair >= PAIRS || i >= EXTENT) return;
    uint p = pixel_of(channel, pair, i);
    complex w = weight[first_channel + channel], joined = w.x * old + w.y * lines;
    image[p] = joined.x;
    if (has_second(pair)) image[p + second_line()] = joined.y;
}
