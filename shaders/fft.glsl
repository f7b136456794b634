// fft.glsl - transforms the lines of a workgroup, in registers v[] and one shared array.
//
// It knows nothing about images or bindings. A pass loads the inputs of stage 0 into v[], calls
// fft_forward(), and finds the outputs of the last stage in v[]; fft_inverse() goes from the last
// stage to stage 0. The forward transform is a decimation in frequency and the inverse is its mirror
// image, so that transform, multiply, transform never reorders anything: see docs/inside/math.md, "The
// transform in a workgroup".
//
// Stage s cuts blocks of radix(s) * rest(s) numbers into radix(s) blocks of rest(s), in place.
// Each butterfly writes to the places that it has read, so one barrier separates writing from reading
// and none is needed before the next write. Only one component at a time goes through shared memory,
// unless WHOLE: that halves its size, and more workgroups fit on a processor.
//
// A workgroup has LINES lines. Its butterflies of a stage are counted by `item`; thread t does
// items t, t + threads, ... In most stages neighbouring threads take neighbouring lines. In stage 0
// they take RUN neighbouring numbers of one line, because memory runs along the line.

layout(local_size_x_id = ID_THREADS) in;
layout(constant_id = ID_LENGTH) const uint LENGTH = 2;
layout(constant_id = ID_STAGES) const uint STAGES = 1;
layout(constant_id = ID_RADIX) const uint RADIX_0 = 2;
layout(constant_id = ID_RADIX + 1) const uint RADIX_1 = 1;
layout(constant_id = ID_RADIX + 2) const uint RADIX_2 = 1;
layout(constant_id = ID_RADIX + 3) const uint RADIX_3 = 1;
layout(constant_id = ID_EACH) const uint EACH_0 = 1; // butterflies per thread in stage 0
layout(constant_id = ID_EACH + 1) const uint EACH_1 = 0;
layout(constant_id = ID_EACH + 2) const uint EACH_2 = 0;
layout(constant_id = ID_EACH + 3) const uint EACH_3 = 0;
layout(constant_id = ID_LINES) const uint LINES = 1;
layout(constant_id = ID_RUN) const uint RUN = 1; // stage 0: numbers of a line that neighbouring threads take before the next line's
layout(constant_id = ID_BY_FREQUENCY) const bool BY_FREQUENCY = false;
layout(constant_id = ID_TWIDDLES) const uint TWIDDLES = 0; // where this length's tables begin, in entries

layout(constant_id = ID_COPY) const uint COPY = 0; // from there to a copy of the tables
layout(constant_id = ID_PAIRED) const bool PAIRED = false; // last stage: a thread has a butterfly and its mirror image
layout(constant_id = ID_WHOLE) const bool WHOLE = false;  // both components go through shared memory at once

const uint REST_0 = LENGTH / RADIX_0;
const uint REST_1 = REST_0 / RADIX_1;
const uint REST_2 = REST_1 / RADIX_2;
const uint LAST_RADIX = STAGES == 1 ? RADIX_0 : STAGES == 2 ? RADIX_1 : STAGES == 3 ? RADIX_2 : RADIX_3;
const uint EACH_LAST = STAGES == 1 ? EACH_0 : STAGES == 2 ? EACH_1 : STAGES == 3 ? EACH_2 : EACH_3;
const uint LAST = STAGES - 1;
const uint BLOCKS = LENGTH / LAST_RADIX; // butterflies of the last stage

// A place is digits q0 q1 q2 q3 of the radices; its address in shared memory is their sum with
// these strides. Odd ones keep the 32 banks apart whichever digit neighbouring threads count.
const uint STRIDE_2 = STAGES > 3 ? RADIX_3 | 1 : 1;
const uint STRIDE_1 = STAGES > 2 ? RADIX_2 * STRIDE_2 | 1 : 1;
const uint STRIDE_0 = STAGES > 1 ? RADIX_1 * STRIDE_1 | 1 : 1;

uint radix(uint s) { return s == 0 ? RADIX_0 : s == 1 ? RADIX_1 : s == 2 ? RADIX_2 : RADIX_3; }
uint each(uint s) { return s == 0 ? EACH_0 : s == 1 ? EACH_1 : s == 2 ? EACH_2 : EACH_3; }
uint rest(uint s) { return s == LAST ? 1 : s == 0 ? REST_0 : s == 1 ? REST_1 : REST_2; }
uint stride(uint s) { return s == 0 ? STRIDE_0 : s == 1 ? STRIDE_1 : s == 2 ? STRIDE_2 : 1; }
uint table(uint s) { return TWIDDLES + (s == 0 ? 0 : s == 1 ? REST_0 : REST_0 + REST_1); }

complex v[MOST_HELD]; // butterfly i of the thread: v[i * radix .. ]

// Does DO for r = 0 .. COUNT - 1; numbers move between v[] and memory this way. For doubles it is
// written out. NVIDIA's compiler does not unroll a loop that moves doubles from or to a buffer, and
// without constant indices it keeps v[] in memory, which takes five times as long.
#ifndef FLOAT64
#define FOR_EACH(r, COUNT, DO) [[unroll]] for (uint r = 0; r < COUNT; ++r) { DO; }
#else
#define ONCE(r, at, COUNT, DO) { const uint r = at; if (r < COUNT) { DO; } }
#define FOUR(r, at, COUNT, DO)                                                                     \
    ONCE(r, at, COUNT, DO) ONCE(r, at + 1, COUNT, DO) ONCE(r, at + 2, COUNT, DO) ONCE(r, at + 3, COUNT, DO)
#define FOR_EACH(r, COUNT, DO)                                                                     \
    FOUR(r, 0, COUNT, DO) FOUR(r, 4, COUNT, DO) FOUR(r, 8, COUNT, DO) FOUR(r, 12, COUNT, DO)       \
    FOUR(r, 16, COUNT, DO)
#endif

const uint ADDRESSES = RADIX_0 * STRIDE_0 * LINES;
shared real exchange_part[WHOLE ? 1 : ADDRESSES];
shared complex exchange_whole[WHOLE ? ADDRESSES : 1];

// Twiddle factors: entry n of a stage's table has w^n and w^4n, with w = exp(-2 pi i / block).
layout(std430, set = 0, binding = BIND_TWIDDLES) readonly buffer twiddle_tables { complex2 twiddle[]; };

// --- which butterfly ------------------------------------------------------------------------

struct butterfly {
    uint line; // of the workgroup
    uint j;    // of the line: 0 .. LENGTH / radix - 1
    bool on;
};

// With BY_FREQUENCY, the mirror images L - k of the frequencies k of butterfly f are in butterfly
// BLOCKS - f. Butterflies 0 and BLOCKS / 2 are their own mirror images, and share a thread where PAIRED.
uint mirror_of(uint f) { return f == 0 ? BLOCKS / 2 : BLOCKS - f; }

butterfly butterfly_of(const uint s, uint i) {
    bool paired = PAIRED && s == LAST;
    uint count = LENGTH / radix(s) / (paired ? 2 : 1), turns = paired ? 1 : each(s);
    uint item = gl_LocalInvocationID.x + (paired ? 0 : i * gl_WorkGroupSize.x);
    uint run = s == 0 ? RUN : 1;
    uint line = item / run % LINES, j = item / (run * LINES) * run + item % run;
    if (run == count) line = item / count, j = item % count;
    if (paired && i == 1) j = mirror_of(j);
    return butterfly(line, j, turns * gl_WorkGroupSize.x == count * LINES || item < count * LINES);
}

// Returns the last stage's block that holds the frequencies f + BLOCKS q: the digits of f reversed.
uint block_of(uint f) {
    if (STAGES < 3) return f;
    uint q1 = f % RADIX_0, q2 = f / RADIX_0 % RADIX_1;
    if (STAGES == 3) return q1 * RADIX_1 + q2;
    return (q1 * RADIX_1 + q2) * RADIX_2 + f / (RADIX_0 * RADIX_1);
}

// Returns the place in the line of a butterfly's first number; the others follow at distance rest(s).
// The last stage's butterflies are counted by place, or, with BY_FREQUENCY, so that butterfly f
// holds the frequencies f + BLOCKS q.
uint place_of(const uint s, uint j) {
    if (s == LAST) return (BY_FREQUENCY ? block_of(j) : j) * LAST_RADIX;
    uint n = rest(s);
    return (j / n) * n * radix(s) + j % n;
}

// --- butterflies: natural order in and out, on v[at] -----------------------------------------

void dft2(uint a, uint b) {
    complex d = v[a] - v[b];
    v[a] += v[b];
    v[b] = d;
}

void dft3(uint a, uint b, uint c) {
    const real S = real(0.86602540378443864676LF);
    complex sum = v[b] + v[c], dif = S * times_minus_i(v[b] - v[c]), mid = v[a] - real(0.5) * sum;
    v[a] += sum;
    v[b] = mid + dif;
    v[c] = mid - dif;
}

void dft4(uint a, uint b, uint c, uint d) {
    complex p = v[a] + v[c], q = v[a] - v[c], r = v[b] + v[d], s = times_minus_i(v[b] - v[d]);
    v[a] = p + r;
    v[b] = q + s;
    v[c] = p - r;
    v[d] = q - s;
}

void dft5(uint a, uint b, uint c, uint d, uint e) {
    const real C1 = real(0.30901699437494742410LF), C2 = real(-0.80901699437494742410LF);
    const real S1 = real(0.95105651629515357212LF), S2 = real(0.58778525229247312917LF);
    complex p = v[b] + v[e], q = v[c] + v[d], r = v[b] - v[e], s = v[c] - v[d], o = v[a];
    complex m1 = o + C1 * p + C2 * q, m2 = o + C2 * p + C1 * q;
    complex n1 = times_minus_i(S1 * r + S2 * s), n2 = times_minus_i(S2 * r - S1 * s);
    v[a] = o + p + q;
    v[b] = m1 + n1;
    v[c] = m2 + n2;
    v[d] = m2 - n2;
    v[e] = m1 - n1;
}

void dft7(uint a, uint b, uint c, uint d, uint e, uint f, uint g) {
    const real C1 = real(0.62348980185873353053LF), C2 = real(-0.22252093395631440429LF);
    const real C3 = real(-0.90096886790241912624LF), S1 = real(0.78183148246802980871LF);
    const real S2 = real(0.97492791218182360702LF), S3 = real(0.43388373911755812048LF);
    complex p = v[b] + v[g], q = v[c] + v[f], r = v[d] + v[e], o = v[a];
    complex s = v[b] - v[g], t = v[c] - v[f], u = v[d] - v[e];
    complex m1 = o + C1 * p + C2 * q + C3 * r, n1 = times_minus_i(S1 * s + S2 * t + S3 * u);
    complex m2 = o + C2 * p + C3 * q + C1 * r, n2 = times_minus_i(S2 * s - S3 * t - S1 * u);
    complex m3 = o + C3 * p + C1 * q + C2 * r, n3 = times_minus_i(S3 * s - S1 * t + S2 * u);
    v[a] = o + p + q + r;
    v[b] = m1 + n1;
    v[c] = m2 + n2;
    v[d] = m3 + n3;
    v[e] = m3 - n3;
    v[f] = m2 - n2;
    v[g] = m1 - n1;
}

// Returns a exp(-2 pi i m / 9).
complex turn9(complex a, uint m) { // m of 1 2 4
    if (m == 1) return mul(a, complex(real(0.76604444311897803520LF), real(-0.64278760968653932632LF)));
    if (m == 2) return mul(a, complex(real(0.17364817766693034885LF), real(-0.98480775301220805937LF)));
    return mul(a, complex(real(-0.93969262078590838405LF), real(-0.34202014332566873304LF)));
}

// Three transforms of three, twice: numbers 3 a + b, frequencies a + 3 b.
void dft9(uint a, uint b, uint c, uint d, uint e, uint f, uint g, uint h, uint i) {
    dft3(a, d, g);
    dft3(b, e, h);
    dft3(c, f, i);
    v[e] = turn9(v[e], 1);
    v[f] = turn9(v[f], 2);
    v[h] = turn9(v[h], 2);
    v[i] = turn9(v[i], 4);
    dft3(a, b, c);
    dft3(d, e, f);
    dft3(g, h, i);
    complex t = v[b], u = v[c], w = v[f];
    v[b] = v[d];
    v[d] = t;
    v[c] = v[g];
    v[g] = u;
    v[f] = v[h];
    v[h] = w;
}

// The numbers start, start + step, ... (modulo R) of the R at v[at].
#define PICK(k) (at + (start + (k) * step) % R)
#define DFT_2 dft2(PICK(0), PICK(1))
#define DFT_3 dft3(PICK(0), PICK(1), PICK(2))
#define DFT_4 dft4(PICK(0), PICK(1), PICK(2), PICK(3))
#define DFT_5 dft5(PICK(0), PICK(1), PICK(2), PICK(3), PICK(4))
#define DFT_7 dft7(PICK(0), PICK(1), PICK(2), PICK(3), PICK(4), PICK(5), PICK(6))
#define DFT_9 dft9(PICK(0), PICK(1), PICK(2), PICK(3), PICK(4), PICK(5), PICK(6), PICK(7), PICK(8))

// R = P * Q without a common factor, by the algorithm of Good and Thomas: numbers n = Q a + P b,
// frequencies by the Chinese remainder theorem, no twiddles in between. KP is 1 mod P and 0 mod Q, KQ
// is 0 mod P and 1 mod Q.
#define DFT_COPRIME(P, Q, KP, KQ)                                                                  \
    const uint R = P * Q;                                                                          \
    complex t[R];                                                                                  \
    { const uint step = Q; [[unroll]] for (uint start = 0; start < R; start += P) DFT_##P; }       \
    { const uint step = P; [[unroll]] for (uint start = 0; start < R; start += Q) DFT_##Q; }       \
    [[unroll]] for (uint a = 0; a < P; ++a)                                                        \
        [[unroll]] for (uint b = 0; b < Q; ++b) t[(KP * a + KQ * b) % R] = v[at + (Q * a + P * b) % R]; \
    [[unroll]] for (uint k = 0; k < R; ++k) v[at + k] = t[k];

void dft6(uint at) { DFT_COPRIME(2, 3, 3, 4) }
void dft10(uint at) { DFT_COPRIME(2, 5, 5, 6) }
void dft12(uint at) { DFT_COPRIME(4, 3, 9, 4) }
void dft14(uint at) { DFT_COPRIME(2, 7, 7, 8) }
void dft15(uint at) { DFT_COPRIME(3, 5, 10, 6) }
void dft18(uint at) { DFT_COPRIME(2, 9, 9, 10) }
void dft20(uint at) { DFT_COPRIME(4, 5, 5, 16) }

// Returns a exp(-2 pi i m / 16).
const real C16 = real(0.92387953251128675613LF), S16 = real(0.38268343236508977173LF);
const real C8 = real(0.70710678118654752440LF);
complex turn16(complex a, uint m) { // m of 1 2 3 4 6 9
    if (m == 1) return mul(a, complex(C16, -S16));
    if (m == 2) return C8 * complex(a.x + a.y, a.y - a.x);
    if (m == 3) return mul(a, complex(S16, -C16));
    if (m == 4) return times_minus_i(a);
    if (m == 6) return C8 * complex(a.y - a.x, -a.x - a.y);
    return mul(a, complex(-C16, S16)); // 9
}

// R = P * Q in two steps with twiddles between, numbers n = Q a + b, frequencies k = a + P b.
#define DFT_TWO(P, Q, TURN)                                                                        \
    const uint R = P * Q;                                                                          \
    complex t[R];                                                                                  \
    { const uint step = Q; [[unroll]] for (uint start = 0; start < Q; ++start) DFT_##P; }          \
    [[unroll]] for (uint a = 1; a < P; ++a)                                                        \
        [[unroll]] for (uint b = 1; b < Q; ++b) v[at + Q * a + b] = TURN(v[at + Q * a + b], a * b * (16 / R)); \
    { const uint step = 1; [[unroll]] for (uint start = 0; start < R; start += Q) DFT_##Q; }       \
    [[unroll]] for (uint a = 0; a < P; ++a)                                                        \
        [[unroll]] for (uint b = 0; b < Q; ++b) t[a + P * b] = v[at + Q * a + b];                  \
    [[unroll]] for (uint k = 0; k < R; ++k) v[at + k] = t[k];

void dft8(uint at) { DFT_TWO(2, 4, turn16) }
void dft16(uint at) { DFT_TWO(4, 4, turn16) }

// There is one function per stage, so that each branch depends only on specialization constants. The
// host decides such branches before a driver sees them (src/engine/gpu/gpu_fold.h).
#define DFT_STAGE(S)                                                                               \
    void dft_of_stage_##S(uint at) {                                                               \
        if (RADIX_##S == 2) dft2(at, at + 1);                                                      \
        if (RADIX_##S == 3) dft3(at, at + 1, at + 2);                                              \
        if (RADIX_##S == 4) dft4(at, at + 1, at + 2, at + 3);                                      \
        if (RADIX_##S == 5) dft5(at, at + 1, at + 2, at + 3, at + 4);                              \
        if (RADIX_##S == 6) dft6(at);                                                              \
        if (RADIX_##S == 7) dft7(at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6);              \
        if (RADIX_##S == 8) dft8(at);                                                              \
        if (RADIX_##S == 9) dft9(at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7, at + 8); \
        if (RADIX_##S == 10) dft10(at);                                                            \
        if (RADIX_##S == 12) dft12(at);                                                            \
        if (RADIX_##S == 14) dft14(at);                                                            \
        if (RADIX_##S == 15) dft15(at);                                                            \
        if (RADIX_##S == 16) dft16(at);                                                            \
        if (RADIX_##S == 18) dft18(at);                                                            \
        if (RADIX_##S == 20) dft20(at);                                                            \
    }                                                                                              \
    void dft_stage_##S() {                                                                         \
        [[unroll]] for (uint i = 0; i < EACH_##S; ++i) dft_of_stage_##S(i * RADIX_##S);            \
    }
DFT_STAGE(0)
DFT_STAGE(1)
DFT_STAGE(2)
DFT_STAGE(3)

// --- twiddles and exchanges -------------------------------------------------------------------

void twist(const uint R, uint at, complex2 w) { // v[at + r] *= w^r
    complex w1 = w.xy, w4 = w.zw, w2 = mul(w1, w1), w3 = mul(w2, w1), high = w4;
    v[at + 1] = mul(v[at + 1], w1);
    if (R > 2) v[at + 2] = mul(v[at + 2], w2);
    if (R > 3) v[at + 3] = mul(v[at + 3], w3);
    [[unroll]] for (uint r = 4; r < 20; r += 4) {
        if (R > r) v[at + r] = mul(v[at + r], high);
        if (R > r + 1) v[at + r + 1] = mul(v[at + r + 1], mul(high, w1));
        if (R > r + 2) v[at + r + 2] = mul(v[at + r + 2], mul(high, w2));
        if (R > r + 3) v[at + r + 3] = mul(v[at + r + 3], mul(high, w3));
        high = mul(high, w4);
    }
}

void twist_stage(const uint s, const uint copy) {
    uint count = each(s), R = radix(s), tables = copy + table(s), period = rest(s);
    [[unroll]] for (uint i = 0; i < count; ++i) {
        uint n = butterfly_of(s, i).j % period;
        twist(R, i * R, twiddle[tables + n]);
    }
}

// Returns the address of a butterfly's first number; the others follow at address_step.
uint address_of(const uint s, butterfly b) {
    uint a;
    if (s == LAST && BY_FREQUENCY) {
        a = b.j % RADIX_0 * STRIDE_0 + b.j / RADIX_0 % RADIX_1 * STRIDE_1 + b.j / (RADIX_0 * RADIX_1) * STRIDE_2;
        if (STAGES == 1) a = 0;
        if (STAGES == 2) a = b.j * STRIDE_0;
        if (STAGES == 3) a = b.j % RADIX_0 * STRIDE_0 + b.j / RADIX_0 * STRIDE_1;
    } else {
        uint p = place_of(s, b.j);
        a = p / REST_0 * STRIDE_0 + p / REST_1 % RADIX_1 * STRIDE_1 + p / REST_2 % RADIX_2 * STRIDE_2 + p % REST_2;
        if (STAGES == 2) a = p / REST_0 * STRIDE_0 + p % REST_0;
        if (STAGES == 3) a = p / REST_0 * STRIDE_0 + p % REST_0 / REST_1 * STRIDE_1 + p % REST_1;
    }
    return a * LINES + b.line;
}
uint address_step(const uint s) { return stride(s) * LINES; }

// Writes component c, or with WHOLE both, to shared memory. The numbers of the stage are computed once,
// outside the loops, since a compiler unrolls loops before it simplifies their content.
void write_part(const uint s, const uint c) {
    uint count = each(s), R = radix(s), step = address_step(s);
    [[unroll]] for (uint i = 0; i < count; ++i) {
        butterfly b = butterfly_of(s, i);
        uint a = address_of(s, b), at = i * R;
        if (b.on)
            [[unroll]] for (uint r = 0; r < R; ++r)
                if (WHOLE) exchange_whole[a + r * step] = v[at + r];
                else exchange_part[a + r * step] = v[at + r][c];
    }
}

void read_part(const uint s, const uint c) {
    uint count = each(s), R = radix(s), step = address_step(s);
    [[unroll]] for (uint i = 0; i < count; ++i) {
        butterfly b = butterfly_of(s, i);
        uint a = address_of(s, b), at = i * R;
        if (b.on)
            [[unroll]] for (uint r = 0; r < R; ++r)
                if (WHOLE) v[at + r] = exchange_whole[a + r * step];
                else v[at + r][c] = exchange_part[a + r * step];
    }
}

// Moves v[] from the places of stage `from` to those of stage `to`.
void exchange(const uint from, const uint to) {
    write_part(from, 0);
    barrier();
    read_part(to, 0);
    if (WHOLE) return;
    barrier();
    write_part(from, 1);
    barrier();
    read_part(to, 1);
}

void leave_stage(const uint s) {
    twist_stage(s, 0);
    exchange(s, s + 1);
}

void fft_forward() {
    dft_stage_0();
    if (STAGES > 1) { leave_stage(0); dft_stage_1(); }
    if (STAGES > 2) { leave_stage(1); dft_stage_2(); }
    if (STAGES > 3) { leave_stage(2); dft_stage_3(); }
}

// The inverse reads its twiddles from a copy of the tables. With the same tables, a compiler keeps all
// powers in registers from the forward transform to the inverse: 113 registers instead of 62 in
// convolve.comp on an H200, and a quarter more time.
//
// The inverse works on numbers with their components swapped: swap(conj(w) z) = w swap(z), and
// the forward butterfly of swapped numbers is the inverse one. The caller swaps going in and out.
void enter_stage(const uint s) {
    exchange(s + 1, s);
    twist_stage(s, COPY);
}

void fft_inverse() {
    if (STAGES > 3) { dft_stage_3(); enter_stage(2); }
    if (STAGES > 2) { dft_stage_2(); enter_stage(1); }
    if (STAGES > 1) { dft_stage_1(); enter_stage(0); }
    dft_stage_0();
}
