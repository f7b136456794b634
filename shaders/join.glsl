// join.glsl - the last store: the convolved tail joins the centre tap, in the image's place.

layout(push_constant) uniform join_constants {
    uint first_channel; // of this dispatch
};
layout(std430, set = 0, binding = 4) readonly buffer weights { complex weight[]; }; // tap, gain

void store_pixel(uint at, complex w, real convolved) { image[at] = w.x * image[at] + w.y * convolved; }

void store_pair(uint channel, uint pair, uint i, complex lines) {
    if (pair >= PAIRS || i >= EXTENT) return;
    uint p = pixel_of(channel, pair, i);
    complex w = weight[first_channel + channel];
    store_pixel(p, w, lines.x);
    if (has_second(pair)) store_pixel(p + second_line(), w, lines.y);
}
