// ordinary.glsl - the last store of ordinary pixels: what spreads of the image and the kernel have nothing below
// zero, and the glare has no plane.
//
//     out  =  rest(in) + centre * spread(in) + glare         glare = gain * what the transform made, at least 0
//
// Terms of one sign cannot cancel, so a pixel is made in the precision of the pass, as the CPU's engine makes
// ordinary rows (src/engine/cpu/cpu_row.h), and goes straight from registers to memory.

const bool MAY_BE_ORDINARY = !AGAIN && !GLARE && OUTPUT != OUTPUT_DOUBLES;

// In doubles the image is loaded before the transform, which hides the wait; floats gain nothing of that.
#ifdef FLOAT64
const bool LOADED_FIRST = MAY_BE_ORDINARY && !PARTLY;
#else
const bool LOADED_FIRST = false;
#endif

// The channel's numbers: what a join holds may have to be read again after each store.
struct channel_numbers {
    real centre, gain;
    float unit;
};

// Where the pixels of a pair are in two rows, neighbouring threads have neighbours of both: they trade, so that
// one stores a word of the first row, and the other a word of the second.
const uint ODD_REST = REST_0 % 2; // glslang makes no constant of this and TRADED at once
const bool TRADED = ROWS && OUTPUT == OUTPUT_HALFS && ODD_REST == 0;

// Which pixels of a pair of lines there are, and which of them count.
struct pair_lines {
    uint pair, j, plane;
    uvec2 along;         // the kept part along a line: where it begins, and its length
    bool second, trades; // there is a second line; a neighbour has the other half of a word
    bvec2 count;
};

pair_lines lines_of(butterfly b, bool neighbours) {
    uvec2 across = X_FIRST ? kept.yw : kept.xz;
    pair_lines l;
    l.pair = pair_of(b);
    l.j = b.j;
    l.plane = plane_of(gl_WorkGroupID.z);
    l.along = X_FIRST ? kept.xz : kept.yw;
    l.second = ALONE || has_second(l.pair, 0);
    l.trades = TRADED && neighbours;
    uint line = ALONE ? l.pair : 2 * l.pair;
    l.count.x = line - across.x < across.y;
    l.count.y = ALONE ? l.count.x : line + 1 - across.x < across.y;
    return l;
}

uint place_of_leg(pair_lines l, uint r) { return l.plane + place_of_pixel(l.pair, index_of_leg(r, l.j)); }

// Returns whether something is to be done for leg r: where threads trade, the neighbour's pixel may be the last.
bool has_leg(pair_lines l, uint r) { return leg_is_image(r, TRADED && l.trades ? l.j & ~1u : l.j); }
bvec2 exists(pair_lines l, uint r) {
    bool first = leg_is_image(r, l.j);
    return bvec2(first, first && (ALONE ? has_second(l.pair, index_of_leg(r, l.j)) : l.second));
}
bvec2 counts(pair_lines l, uint r) {
    bvec2 there = exists(l, r);
    if (!MARGINS) return there;
    uint from = index_of_leg(r, l.j) - l.along.x;
    return bvec2(there.x && l.count.x && from < l.along.y,
                 there.y && l.count.y && (ALONE ? from + 1 : from) < l.along.y);
}

// What a pixel gives itself. A number that a device takes for zero stays what it is where nothing of it spreads.
real own_of(real v, real through, channel_numbers c) {
    shares of = shares_of(v, through);
    return of.spread == 0 ? v : fma(c.centre, of.spread, of.rest);
}

// was: the pixel as it came, or where light only partly spreads, what it gives itself.
real ordinary_pixel(real was, real made, channel_numbers c) {
    real glare = max(c.gain * made, real(0));
    if (PARTLY) return glare == 0 ? was : was + glare;
    return fma(c.centre, was, glare);
}

// Returns the bits of a float, and measures the pixel.
uint finish_ordinary(real was, real made, channel_numbers c, bool there, bool counts) {
    float glare = float(c.gain * made);
    real result = ordinary_pixel(was, made, c);
    uint bits = float_of(result);
    if (there) measure_glare(glare, c.unit);
    if (counts) {
        measure_cut(glare);
        measure_pixel(result, bits);
        measure_over(bits);
    }
    return bits;
}

uint half_pair_of(uvec2 bits) {
    vec2 v = clamp(uintBitsToFloat(bits), -LARGEST_HALF, LARGEST_HALF);
    return halfs_of(v);
}

// Stores pixels p and p + SECOND, which are floats.
void store_two(uint p, uvec2 bits, pair_lines l) {
    if (OUTPUT == OUTPUT_HALFS) {
        uint own = half_pair_of(bits);
#ifdef SUBGROUPS
        if (TRADED && l.trades) {
            uint other = subgroupShuffleXor(own, 1);
            bool odd = l.j % 2 != 0;
            uint word = odd ? own & 0xffff0000u | other >> 16 : own & 0xffffu | other << 16;
            if (!odd || l.second) result_word[(odd ? p + IMAGE_PITCH : p) / 2] = word;
            return;
        }
#endif
        if (ROWS) result_half[p] = uint16_t(own & 0xffffu);
        if (ROWS && l.second) result_half[p + IMAGE_PITCH] = uint16_t(own >> 16);
        if (!ROWS) result_word[p / 2] = own;
    } else {
        if (ROWS) result_word[p] = bits.x;
        if (ROWS && l.second) result_word[p + IMAGE_PITCH] = bits.y;
        if (!ROWS) result_pair[p / 2] = bits;
    }
}

uvec2 was[MOST_HELD];   // the words of the image, as v[]
complex own[MOST_HELD]; // in their place, where light only partly spreads: what the pixels give themselves

void finish_leg(const uint at, pair_lines l, uint r, channel_numbers c) {
    bvec2 there = exists(l, r), count = counts(l, r);
    complex old = PARTLY ? own[at] : pixels_of(was[at]), made = v[at].yx;
    uvec2 bits;
    bits.x = finish_ordinary(old.x, made.x, c, there.x, count.x);
    bits.y = finish_ordinary(old.y, made.y, c, there.y, count.y);
    store_two(place_of_leg(l, r), bits, l);
}

void load_again(const uint at, pair_lines l, uint r, channel_numbers c) {
    uint p = place_of_leg(l, r);
    uvec2 words = words_at(p, l.second);
    was[at] = words;
    if (!PARTLY) return;
    bvec2 there = exists(l, r);
    complex two = pixels_of(words), through = let_through(there.x ? p - l.plane : 0, there.y);
    own[at] = complex(own_of(two.x, through.x, c), own_of(two.y, through.y, c));
}

void load_butterfly(const uint i, channel_numbers c, bool neighbours) {
    butterfly b = butterfly_of(0, i);
    pair_lines l = lines_of(b, neighbours);
    if (b.on && has_pair(l.pair)) {
        FOR_EACH(r, RADIX_0, if (has_leg(l, r)) load_again(i * RADIX_0 + r, l, r, c))
    }
}

// All words are loaded before the first is stored: to a compiler the image may be the result's memory.
void finish_butterfly(const uint i, channel_numbers c, bool neighbours) {
    butterfly b = butterfly_of(0, i);
    pair_lines l = lines_of(b, neighbours);
    if (!LOADED_FIRST) load_butterfly(i, c, neighbours);
    if (b.on && has_pair(l.pair)) {
        FOR_EACH(r, RADIX_0, if (has_leg(l, r)) finish_leg(i * RADIX_0 + r, l, r, c))
    }
}

bool is_ordinary() {
    bool one_sign = leading(join_of[first_channel + gl_WorkGroupID.z].nonnegative) > 0;
    return one_sign && (!ABOVE || leading(begin) >= 0);
}

channel_numbers numbers_of_channel() {
    join_channel j = join_of[first_channel + gl_WorkGroupID.z];
    return channel_numbers(leading(j.centre), leading(j.gain), float(leading(j.unit)));
}

bool has_neighbours() {
#ifdef SUBGROUPS
    uint t = gl_LocalInvocationID.x;
    if (TRADED && (EACH_0 == 1 || gl_WorkGroupSize.x % 2 == 0)) return subgroupShuffleXor(t, 1) == (t ^ 1);
#endif
    return false;
}

void load_ordinary_pixels() {
    channel_numbers c = numbers_of_channel();
    bool neighbours = has_neighbours();
    FOR_EACH(i, EACH_0, load_butterfly(i, c, neighbours))
}

void finish_ordinary_pixels() {
    channel_numbers c = numbers_of_channel();
    bool neighbours = has_neighbours();
    FOR_EACH(i, EACH_0, finish_butterfly(i, c, neighbours))
}
