// join.glsl - the last store: writes tap * image + gain * convolution over the image.

layout(push_constant) uniform join_constants {
    uint first_channel; // of this dispatch
};
layout(std430, set = 0, binding = BIND_WEIGHTS) readonly buffer weights { complex weight[]; }; // tap, gain

layout(constant_id = ID_JOIN) const bool JOIN = true; // false: no channel has a tap

// The pixels of a pair at index i, before the store. Loads and stores go to the same planes, so a
// compiler keeps their order. Therefore all loads come first; otherwise each would wait for a store.
complex load_old(uint channel, uint pair, uint i) {
    if (!JOIN || !has_pair(pair)) return complex(0);
    return pixels_at(pixel_of(channel, pair, i), has_second(pair, i));
}

void store_pair(uint channel, uint pair, uint i, complex old, complex lines) {
    if (!has_pair(pair)) return;
    uint p = pixel_of(channel, pair, i);
    complex w = weight[first_channel + channel], joined = JOIN ? w.x * old + w.y * lines : w.y * lines;
    if (!ROWS) image_pair[p / 2] = joined;
    else image[p] = joined.x;
    if (ROWS && has_second(pair, i)) image[p + IMAGE_PITCH] = joined.y;
}
