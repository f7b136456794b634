// measure.glsl - what a thread measures of its pixels, and the sum of it over a workgroup.
//
// Each subgroup adds up the numbers of its threads, and then TOTALS threads those of the subgroups, which go
// through shared memory. Without subgroup arithmetic (no SUBGROUPS) a thread is a subgroup of its own, and a tree
// adds them up.
// docs/inside/math.md, "The last pass of a GPU", bounds what rounding loses.

layout(std430, set = 0, binding = BIND_TOTALS) writeonly buffer total_numbers { real total[]; };

struct measures {
    real sum, over;                          // of the pixels; of what halfs cannot hold of them
    float norm, cut;                         // of the glare: squares, in parts of `most`; what was cut off
    uint cuts, overs;                        // how many pixels these are
    float peak, deepest, largest, least;     // |glare|; the glare cut off, without its sign; |pixel|
};
const float LARGEST_FLOAT = 3.4028234663852886e38;
measures measured;
void begin_measures() { measured = measures(real(0), real(0), 0, 0, 0, 0, 0, 0, 0, LARGEST_FLOAT); }

const float LARGEST_HALF = 65504;

void measure_glare(float glare, float unit) {
    float part = glare * unit;
    measured.norm += part * part;
    measured.peak = max(measured.peak, abs(glare));
}
void measure_cut(float glare) { // counts what is below zero
    measured.cut += min(glare, 0);
    measured.cuts += glare < 0 ? 1 : 0;
    measured.deepest = max(measured.deepest, -glare);
}
void measure_pixel(real result, uint bits) { // bits: of the float that it is rounded to
    float size = abs(uintBitsToFloat(bits));
    measured.sum += result;
    measured.largest = max(measured.largest, size);
    measured.least = min(measured.least, size);
}
void measure_over(uint bits) {
    float result = uintBitsToFloat(bits);
    if (abs(result) <= LARGEST_HALF) return;
    measured.over += real(result) - (result < 0 ? -LARGEST_HALF : LARGEST_HALF);
    measured.overs += 1;
}

// --- of a workgroup -----------------------------------------------------------------------------

#ifdef SUBGROUPS // lavapipe does not count a last one that is not full
#define ADD_UP(x)      subgroupAdd(x)
#define MOST_OF(x)     subgroupMax(x)
#define LEAST_OF(x)    subgroupMin(x)
#define IS_FIRST       subgroupElect()
#define PARTS          max(gl_NumSubgroups, (gl_WorkGroupSize.x + gl_SubgroupSize - 1) / gl_SubgroupSize)
#define PART           gl_SubgroupID
#else
#define ADD_UP(x)      (x)
#define MOST_OF(x)     (x)
#define LEAST_OF(x)    (x)
#define IS_FIRST       true
#define PARTS          gl_WorkGroupSize.x
#define PART           gl_LocalInvocationID.x
#endif

// Sizes have the order of their bits, and devices are quicker with these.
real most_of_sizes(float size) { return real(uintBitsToFloat(MOST_OF(floatBitsToUint(abs(size))))); }
real least_of_sizes(float size) { return real(uintBitsToFloat(LEAST_OF(floatBitsToUint(abs(size))))); }

#ifdef SUBGROUPS
// Returns total n of all parts: what they have laid down is `parts` numbers from `first` on. Sums of 32 at a
// time are added up, so that few roundings follow each other.
real total_of_parts(uint n, uint first) {
    real total = n < TOTAL_MAXIMA ? real(0) : exchange_part[first];
    for (uint from = 0; from < PARTS; from += 32) {
        real some = real(0);
        for (uint k = from; k < min(from + 32, PARTS); ++k) {
            real one = exchange_part[first + k];
            some += one;
            if (n >= TOTAL_MAXIMA) total = max(total, one);
        }
        if (n < TOTAL_MAXIMA) total += some;
    }
    return total;
}
#else
// Adds up `count` totals from `first` on: each step leaves half of the parts. The sum is in the place of the first.
void add_parts(uint first, uint count) {
    for (uint parts = PARTS; parts > 1;) {
        uint kept = (parts + 1) / 2, gone = parts - kept;
        for (uint i = gl_LocalInvocationID.x; i < count * gone; i += gl_WorkGroupSize.x) {
            uint n = i / gone, at = n * PARTS + i % gone;
            real a = exchange_part[at], b = exchange_part[at + kept];
            exchange_part[at] = first + n < TOTAL_MAXIMA ? a + b : max(a, b);
        }
        barrier();
        parts = kept;
    }
}
real total_of_parts(uint n, uint first) { return exchange_part[first]; }
#endif

void store_totals() {
    uint t = gl_LocalInvocationID.x, at_once = min(ADDRESSES / PARTS, TOTALS);
    uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    real each[TOTALS];
    each[TOTAL_SUM] = ADD_UP(measured.sum);
    each[TOTAL_NORM] = real(ADD_UP(measured.norm));
    each[TOTAL_PEAK] = most_of_sizes(measured.peak);
    each[TOTAL_DEEPEST] = most_of_sizes(measured.deepest);
    each[TOTAL_LARGEST] = most_of_sizes(measured.largest);
    each[TOTAL_LEAST] = -least_of_sizes(measured.least);
    each[TOTAL_CUT] = each[TOTAL_CUTS] = each[TOTAL_OVER] = each[TOTAL_OVERS] = real(0);
    if (each[TOTAL_DEEPEST] > 0) {
        each[TOTAL_CUT] = real(ADD_UP(measured.cut));
        each[TOTAL_CUTS] = real(ADD_UP(measured.cuts));
    }
    if (each[TOTAL_LARGEST] > LARGEST_HALF) {
        each[TOTAL_OVER] = ADD_UP(measured.over);
        each[TOTAL_OVERS] = real(ADD_UP(measured.overs));
    }
    for (uint first = 0; first < TOTALS; first += at_once) {
        barrier(); // all threads have read what was there
        if (IS_FIRST) {
            [[unroll]] for (uint i = 0; i < TOTALS; ++i)
                if (i - first < at_once) exchange_part[(i - first) * PARTS + PART] = each[i];
        }
        barrier();
#ifndef SUBGROUPS
        add_parts(first, min(at_once, TOTALS - first));
#endif
        for (uint i = t; i < at_once && first + i < TOTALS; i += gl_WorkGroupSize.x)
            total[group * TOTALS + first + i] = total_of_parts(first + i, i * PARTS);
    }
}
