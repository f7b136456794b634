// join.glsl - the last store: everything that makes a pixel comes together, and is measured.
//
//     out  =  in - spread(in) + centre * spread(in) + glare         glare = gain * what the transform made
//
// src/engine/join.h says the same, and the CPU's engine does it. Sums are of wide numbers, rounded once. Each
// thread measures its own pixels; then the workgroup adds them up, and writes TOTALS numbers.

layout(constant_id = ID_OUTPUT) const uint OUTPUT = OUTPUT_FLOATS;
layout(constant_id = ID_GLARE) const bool GLARE = false; // the glare has a plane of its own

layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_words { uint result_word[]; };
layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_pairs { uvec2 result_pair[]; };
layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_halfs { uint16_t result_half[]; };
layout(std430, set = 0, binding = BIND_RESULT) writeonly buffer result_wides { wide result_wide[]; };
layout(std430, set = 0, binding = BIND_GLARE) writeonly buffer glare_words { uint glare_word[]; };
layout(std430, set = 0, binding = BIND_TOTALS) writeonly buffer total_numbers { real total[]; };

const real LARGEST_FLOAT = real(3.4028234663852886e38);
const real LARGEST_HALF = real(65504);

real measured[TOTALS];

void begin_totals() {
    [[unroll]] for (uint i = 0; i < TOTALS; ++i) measured[i] = real(0);
    measured[TOTAL_DARKEST] = -LARGEST_FLOAT;
}

// Adds to a sum that keeps what its roundings lose.
#ifdef FLOAT64
#define ADD_WIDE(at, v) measured[at] += (v);
#else
#define ADD_WIDE(at, v)                                                                \
    {                                                                                  \
        vec2 sum_ = plus(vec2(measured[at], measured[at + 1]), vec2(v, 0));            \
        measured[at] = sum_.x;                                                         \
        measured[at + 1] = sum_.y;                                                     \
    }
#endif

// What is stored of a pixel.
struct finished {
    wide all;
    uint bits, glare; // of floats
};

finished finish(uint channel, uint place, real pixel, real made) {
    join_channel j = join_of[first_channel + channel];
    uint x = place % IMAGE_PITCH, y = place / IMAGE_PITCH;
    real glare = leading(j.gain) * made, part = glare * leading(j.unit);
    measured[TOTAL_NORM] += part * part;
    measured[TOTAL_PEAK] = max(measured[TOTAL_PEAK], abs(glare));
    if (x - kept.x >= kept.z || y - kept.y >= kept.w) return finished(wide(0), 0, 0); // a margin
    if (leading(j.nonnegative) > 0 && glare < 0) {
        measured[TOTAL_CUT] += glare;
        measured[TOTAL_CUTS] += 1;
        measured[TOTAL_DEEPEST] = max(measured[TOTAL_DEEPEST], -glare);
        glare = real(0);
    }
    wide spread = spread_of(pixel, place), own = times(j.centre, spread);
    if (PARTLY) own = plus(minus(wide_of(pixel), spread), own);
    wide all = plus(own, wide_of(glare));
    uint bits = float_of(leading(all));
    real result = of_float(bits), size = abs(result);
    ADD_WIDE(TOTAL_OUT, result)
    measured[TOTAL_LARGEST] = max(measured[TOTAL_LARGEST], size);
    if (size < leading(j.dark)) measured[TOTAL_DARKER] += 1;
    else measured[TOTAL_DARKEST] = max(measured[TOTAL_DARKEST], -size);
    if (size > LARGEST_HALF) {
        measured[TOTAL_OVERS] += 1;
        ADD_WIDE(TOTAL_OVER, result - (result < 0 ? -LARGEST_HALF : LARGEST_HALF))
    }
    return finished(all, bits, float_of(leading(additive) > 0 ? result - pixel : glare));
}

uint stored_half(uint bits) { return half_of(float(clamp(of_float(bits), -LARGEST_HALF, LARGEST_HALF))); }

// Stores one pixel of a plane's result.
void store_pixel(uint p, finished a) {
    if (OUTPUT == OUTPUT_HALFS) result_half[p] = uint16_t(stored_half(a.bits));
    else if (OUTPUT == OUTPUT_FLOATS) result_word[p] = a.bits;
    else result_wide[p] = a.all;
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
    begin_totals();
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

// --- totals of a workgroup ----------------------------------------------------------------------

const uint THREADS = gl_WorkGroupSize.x;
// Numbers of every thread that fit shared memory at a time: two or more, since a thread has two numbers of a line.
const uint AT_ONCE = ADDRESSES < 4 * THREADS ? 2 : ADDRESSES / THREADS / 2 * 2;

// Adds what the thread `from` has of numbers `first` and the next ones to what the thread `to` has.
void add_totals(uint first, uint to, uint from) {
    for (uint i = 0; i < AT_ONCE && first + i < TOTALS; ++i) {
        uint at = first + i, a = i * THREADS + to, b = i * THREADS + from;
#ifndef FLOAT64
        if (at < TOTAL_NORM) { // sums that keep what they lose
            vec2 sum = plus(vec2(exchange_part[a], exchange_part[a + THREADS]),
                            vec2(exchange_part[b], exchange_part[b + THREADS]));
            exchange_part[a] = sum.x;
            exchange_part[a + THREADS] = sum.y;
            ++i;
            continue;
        }
#endif
        if (at < TOTAL_MAXIMA) exchange_part[a] += exchange_part[b];
        else exchange_part[a] = max(exchange_part[a], exchange_part[b]);
    }
}

void store_totals() {
    uint t = gl_LocalInvocationID.x;
    uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    for (uint first = 0; first < TOTALS; first += AT_ONCE) {
        barrier(); // all threads have read what was there
        for (uint i = 0; i < AT_ONCE && first + i < TOTALS; ++i) exchange_part[i * THREADS + t] = measured[first + i];
        for (uint count = THREADS; count > 1;) {
            uint left = (count + 1) / 2;
            barrier();
            if (t + left < count) add_totals(first, t, t + left);
            count = left;
        }
        if (t == 0)
            for (uint i = 0; i < AT_ONCE && first + i < TOTALS; ++i)
                total[group * TOTALS + first + i] = exchange_part[i * THREADS];
    }
}
