#include "lab/nabla.h"

#include "base/number.h"

/* Returns floor(log2(x)), x > 0. */
static uint32_t log2_of(uint32_t x) {
    uint32_t n = 0;
    while (x >>= 1) n++;
    return n;
}

static uint32_t reversed(uint32_t x, uint32_t bits) {
    uint32_t y = 0;
    for (uint32_t b = 0; b < bits; b++) y |= (x >> b & 1) << (bits - 1 - b);
    return y;
}

/* Returns x with all bits below its highest 1 turned over. */
static uint32_t turned(uint32_t x) {
    return x ^ ((UINT32_C(1) << log2_of(x | 1)) - 1);
}

uint32_t nabla_each(nabla_line l) {
    return l.length / l.threads;
}

/* --- places, lanes, frequencies ---------------------------------------------------------------
 *
 *     lane at the end    register / 2   thread   register % 2
 */

nabla_place nabla_place_of(nabla_line l, uint32_t index) {
    return (nabla_place){index % l.threads, index / l.threads};
}

uint32_t nabla_index_of(nabla_line l, nabla_place at) {
    return at.reg * l.threads + at.thread;
}

static uint32_t lane_of(nabla_line l, nabla_place at) {
    return (at.reg / 2 * l.threads + at.thread) * 2 + at.reg % 2;
}

static nabla_place place_of_lane(nabla_line l, uint32_t lane) {
    return (nabla_place){lane / 2 % l.threads, lane / 2 / l.threads * 2 + lane % 2};
}

uint32_t nabla_frequency(nabla_line l, uint32_t index) {
    return reversed(lane_of(l, nabla_place_of(l, index)), log2_of(l.length));
}

uint32_t nabla_index_of_frequency(nabla_line l, uint32_t frequency) {
    return nabla_index_of(l, place_of_lane(l, reversed(frequency, log2_of(l.length))));
}

uint32_t nabla_mirror(nabla_line l, uint32_t index) {
    uint32_t lane = lane_of(l, nabla_place_of(l, index));
    return nabla_index_of(l, place_of_lane(l, turned(lane)));
}

/* The highest 1 of the lane is in the register's bits or in the thread's. */
nabla_place nabla_mirror_place(nabla_line l, nabla_place at) {
    uint32_t pair = at.reg / 2, other = 1 - at.reg % 2;
    if (pair) return (nabla_place){l.threads - 1 - at.thread, turned(pair) * 2 + other};
    if (at.thread) return (nabla_place){turned(at.thread), other};
    return at;
}

uint32_t nabla_half_index(nabla_line l, uint32_t r) {
    return r + r / l.threads * l.threads;
}

uint32_t nabla_half_frequency(nabla_line l, uint32_t r) {
    return reversed(r, log2_of(l.length) - 1);
}

/* --- sizes ------------------------------------------------------------------------------------ */

uint32_t nabla_barriers(nabla_line l) {
    return 2 * (nabla_each(l) / 2) * log2_of(l.threads / l.subgroup);
}

uint64_t nabla_packed_bytes(uint32_t channels, uint32_t lines, uint32_t length) {
    return (uint64_t)NABLA_NUMBER * channels * ceil_div_u32(lines, 2) * length;
}

uint64_t nabla_half_bytes(uint32_t channels, uint32_t lines, uint32_t length) {
    return (uint64_t)NABLA_NUMBER * channels * lines * (length / 2 + 1);
}

bool nabla_choose(nabla_line *to, uint32_t length, const nabla_limits *limits, err *e) {
    uint32_t most = min_u32(min_u32(limits->invocations, limits->shared_bytes / NABLA_NUMBER),
                            min_u32(NABLA_THREADS, length / 2));
    if (length < 2 || length & (length - 1))
        return err_set(e, ERR_USAGE, "nabla: a length of %u is not a power of two", length);
    if (!most) return err_set(e, ERR_NO_DEVICE, "nabla: the device has no threads or no memory");
    nabla_line l = {length, UINT32_C(1) << log2_of(most), limits->subgroup};
    if (!l.subgroup || l.subgroup & (l.subgroup - 1) || l.subgroup > l.threads) l.subgroup = 1;
    if (nabla_each(l) > NABLA_EACH)
        return err_set(e, ERR_NO_DEVICE,
                       "nabla: with %u threads, a length of %u needs %u numbers a thread, and %d "
                       "is the maximum",
                       l.threads, length, nabla_each(l), NABLA_EACH);
    *to = l;
    return true;
}
