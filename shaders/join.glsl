// join.glsl - the last store of any pixel, of which ordinary.glsl makes most.
//
//     out  =  rest(in) + centre * spread(in) + glare         glare = gain * what the transform made
//
// src/engine/join.h says the same, and the CPU's engine does it. Sums are of wide numbers, rounded once.

layout(constant_id = ID_OUTPUT) const uint OUTPUT = OUTPUT_FLOATS;
layout(constant_id = ID_GLARE) const bool GLARE = false; // the glare has a plane of its own
layout(constant_id = ID_MARGINS) const bool MARGINS = false; // some pixels do not count

layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_words { uint result_word[]; };
layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_pairs { uvec2 result_pair[]; };
layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_halfs { uint16_t result_half[]; };
layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_wides { wide result_wide[]; };
layout(std430, set = 0, binding = BIND_GLARE) writeonly buffer glare_words { uint glare_word[]; };

// What is stored of a pixel.
struct finished {
    wide sum;
    uint bits, glare; // of floats
};

finished finish(uint channel, uint place, real pixel, real made) {
    join_channel j = join_of[first_channel + channel];
    uint x = place % IMAGE_PITCH, y = place / IMAGE_PITCH;
    real glare = leading(j.gain) * made;
    if (AGAIN && MASKED) glare *= real(mask[place]);
    measure_glare(float(glare), float(leading(j.unit)));
    if (MARGINS && (x - kept.x >= kept.z || y - kept.y >= kept.w)) return finished(wide(0), 0, 0);
    if (leading(j.nonnegative) > 0 && glare < 0) {
        measure_cut(float(glare));
        glare = real(0);
    }
    parts of = parts_of(pixel, place);
    wide own = times(j.centre, of.spread);
    if (PARTLY) own = plus(of.rest, own);
    wide sum = plus(own, wide_of(glare));
    // A number that a device takes for zero stays what it is where nothing is added to it.
    if (PARTLY && leading(of.spread) == 0 && glare == 0) sum = wide_of(pixel);
    uint bits = float_of(leading(sum));
    real result = of_float(bits);
    measure_pixel(result, bits);
    measure_over(bits);
    return finished(sum, bits, float_of(leading(additive) > 0 ? result - pixel : glare));
}

uint stored_half(uint bits) { return halfs_of(vec2(clamp(uintBitsToFloat(bits), -LARGEST_HALF, LARGEST_HALF), 0)); }

// Stores one pixel of a plane's result.
void store_pixel(uint p, finished a) {
    if (OUTPUT == OUTPUT_HALFS) result_half[p] = uint16_t(stored_half(a.bits));
    else if (OUTPUT == OUTPUT_FLOATS) result_word[p] = a.bits;
    else result_wide[p] = a.sum;
}

void store_pair(uint channel, uint pair, uint i, complex lines) {
    if (!has_pair(pair)) return;
    bool second = has_second(pair, i);
    uint place = place_of_pixel(pair, i), p = plane_of(channel) + place;
    complex old = pixels_at(p, second);
    finished a = finish(channel, place, old.x, lines.x), b = finished(wide(0), 0, 0);
    if (second) b = finish(channel, place + SECOND, old.y, lines.y);
    if (!ROWS && OUTPUT == OUTPUT_HALFS) {
        result_word[p / 2] = stored_half(a.bits) | stored_half(b.bits) << 16;
    } else if (!ROWS && OUTPUT == OUTPUT_FLOATS) {
        result_pair[p / 2] = uvec2(a.bits, b.bits);
    } else {
        store_pixel(p, a);
        if (second) store_pixel(p + SECOND, b);
    }
    if (GLARE) glare_word[p] = a.glare;
    if (GLARE && second) glare_word[p + SECOND] = b.glare;
}

// --- all pixels of a workgroup ------------------------------------------------------------------

// Returns whether leg r of stage 0's butterfly b is in the image: at an index of a pair.
bool place_of_leg(butterfly b, uint r, out uint pair, out uint index);

// Some numbers of v[] at a time go through places of shared memory that are the thread's own. So the code of a
// pixel is there once, and not for each number of v[], for which drivers take seconds; v[] stays in registers.
const uint ITEMS = LINES * REST_0;
const uint LEGS = RADIX_0 / 2; // of a butterfly, at a time
const uint TURNS = (RADIX_0 + LEGS - 1) / LEGS;

void lay_down(const uint i, uint turn, uint own) {
    if (turn / TURNS == i) {
        FOR_EACH(r, RADIX_0, if (r / LEGS == turn % TURNS) {
            exchange_part[r % LEGS * 2 * ITEMS + own] = v[i * RADIX_0 + r].y;
            exchange_part[(r % LEGS * 2 + 1) * ITEMS + own] = v[i * RADIX_0 + r].x;
        })
    }
}

void finish_pixels() {
    barrier(); // all threads have read the last exchange
    for (uint turn = 0; turn < EACH_0 * TURNS; ++turn) {
        butterfly b = butterfly_of(0, turn / TURNS);
        uint own = b.j * LINES + b.line, first = turn % TURNS * LEGS, pair, index;
        if (!b.on) continue;
        FOR_EACH(i, EACH_0, lay_down(i, turn, own))
        for (uint k = 0; k < LEGS && first + k < RADIX_0; ++k) {
            if (!place_of_leg(b, first + k, pair, index)) continue;
            complex lines = complex(exchange_part[2 * k * ITEMS + own], exchange_part[(2 * k + 1) * ITEMS + own]);
            store_pair(gl_WorkGroupID.z, pair, index, lines);
        }
    }
}
