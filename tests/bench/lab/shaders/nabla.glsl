// nabla.glsl - the article's transform: radix 2, in registers, one number traded for a butterfly.
//
// A line of N numbers lies in the registers of THREADS threads: v[a] of thread t is number
// a THREADS + t. nabla_forward() is a decimation in frequency, which needs no reordering in front;
// nabla_inverse() is its mirror image, a decimation in time, which needs none behind. In between the
// numbers are in Nabla order, and a convolution does not mind.
//
//     spans N/2 .. 2 THREADS     both numbers of a butterfly are registers of one thread
//     span THREADS               they are the registers v[a], v[a + 1] of one thread, a even
//     spans THREADS/2 .. 1       they are in thread t and in thread t + span: these two trade,
//                                and each has a whole butterfly
//
//         thread t            p   q                  p   p'
//                                   \   ---------->
//         thread t + span     p'  q'                 q   q'
//
// The pairs of registers go through the same steps, one after the other, as if each were a thread of
// its own. Partners of one subgroup trade by a shuffle, others through shared memory.
//
// Who includes this declares N, root[] and the size of the workgroup, THREADS. The factors of span s
// begin at root[s]: exp(-pi i j / s) for j < s, side by side for the threads that read them. With SHARED
// there are no shuffles, for devices that have none. ../nabla.h does the same sums of indices.

layout(constant_id = NABLA_THREAD_BITS) const uint THREAD_BITS = 0;
layout(constant_id = NABLA_EACH_BITS) const uint EACH_BITS = 1;
layout(constant_id = NABLA_SUBGROUP) const uint SUBGROUP = 1;
const uint THREADS = 1 << THREAD_BITS;
const uint EACH = 1 << EACH_BITS;

complex v[EACH];
shared complex slot[THREADS];

#ifdef SHARED
uint thread() { return gl_LocalInvocationID.x; }
complex shuffled(complex mine, uint span) { return mine; } // never called: SUBGROUP is 1
#else
// Counted by subgroups, since Vulkan does not say which invocations make one.
uint thread() {
    return SUBGROUP == 1 ? gl_LocalInvocationID.x
                         : gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
}
complex shuffled(complex mine, uint span) { return subgroupShuffleXor(mine, span); }
#endif

// Gives a number to another thread and returns the one that `from` has given.
complex through_slots(complex mine, uint from) {
    slot[thread()] = mine;
    barrier();
    complex theirs = slot[from];
    barrier();
    return theirs;
}

void trade(uint a, uint span) {
    bool upper = (thread() & span) != 0;
    complex mine = upper ? v[a] : v[a + 1];
    complex theirs = span < SUBGROUP ? shuffled(mine, span) : through_slots(mine, thread() ^ span);
    if (upper)
        v[a] = theirs;
    else
        v[a + 1] = theirs;
}

// The factor of a butterfly: the bits of its place that are below the span count it.
complex factor(uint a, uint span) { return root[span + (a * THREADS + thread()) % span]; }

void butterfly(uint a, uint b, uint span) {
    complex p = v[a], q = v[b];
    v[a] = p + q;
    v[b] = mul(factor(a, span), p - q);
}

void butterfly_back(uint a, uint b, uint span) {
    complex p = v[a], q = mul(conj(factor(a, span)), v[b]);
    v[a] = p + q;
    v[b] = p - q;
}

void nabla_forward() {
    [[unroll]] for (uint i = 1; i < EACH_BITS; i++) {
        const uint apart = EACH >> i;
        [[unroll]] for (uint a = 0; a < EACH; a++)
            if ((a & apart) == 0) butterfly(a, a + apart, apart * THREADS);
    }
    [[unroll]] for (uint a = 0; a < EACH; a += 2) {
        butterfly(a, a + 1, THREADS);
        [[unroll]] for (uint i = 1; i <= THREAD_BITS; i++) {
            trade(a, THREADS >> i);
            butterfly(a, a + 1, THREADS >> i);
        }
    }
}

void nabla_inverse() {
    [[unroll]] for (uint a = 0; a < EACH; a += 2) {
        [[unroll]] for (uint i = 0; i < THREAD_BITS; i++) {
            butterfly_back(a, a + 1, 1 << i);
            trade(a, 1 << i);
        }
        butterfly_back(a, a + 1, THREADS);
    }
    [[unroll]] for (uint i = 1; i < EACH_BITS; i++) {
        const uint apart = 1 << i;
        [[unroll]] for (uint a = 0; a < EACH; a++)
            if ((a & apart) == 0) butterfly_back(a, a + apart, apart * THREADS);
    }
}

// --- Nabla order -------------------------------------------------------------------------------

// The lane of number `index`, once transformed: the textbook's place of its frequency, which is the
// frequency with its bits reversed. And back, and what follows from it.
uint lane_of(uint index, uint threads) {
    uint a = index / threads;
    return (a / 2 * threads + index % threads) * 2 + a % 2;
}
uint index_of(uint lane, uint threads) {
    return (lane / 2 / threads * 2 + lane % 2) * threads + lane / 2 % threads;
}
uint frequency_of(uint lane, uint length) { return bitfieldReverse(lane) >> (32 - findMSB(length)); }

// Turns over all bits below the highest 1. The mirror image of a lane's frequency has this lane.
uint turned(uint x) { return x ^ ((1 << findMSB(x | 1)) - 1); }
