// mirror.glsl - trading Z(k) with Z(L - k) inside a workgroup.
//
// It needs BY_FREQUENCY: butterfly f of the last stage holds the frequencies f + BLOCKS q. The lower
// half of them (q < R/2, R even) stays. Their partners L - k are in the upper half of butterfly
// BLOCKS - f, at place (BLOCKS - f) + BLOCKS (R/2 - 1 - q) of the half line of upper frequencies. The
// formula holds for f = 0, too, except for k = 0, which is its own partner. Place 0 of f = 0 is the
// frequency L/2, which is also its own partner.
//
// Half a line of complex numbers fits where a whole line of one component does, so both components go
// at once.

// exp(-2 pi i k / L) for rows of L samples that go by themselves (ALONE).
layout(constant_id = ID_LINE_TWIDDLES) const uint LINE_TWIDDLES = 0; // where they begin, in complex numbers
layout(std430, set = 0, binding = BIND_TWIDDLES) readonly buffer line_tables { complex line_twiddle[]; };
complex line_root(uint k) { return line_twiddle[LINE_TWIDDLES + k]; }

const uint HALF_RADIX = LAST_RADIX / 2;
const uint UPPER = LENGTH / 2 * LINES; // numbers: x components, then y components

uint upper_of(butterfly b, uint q) { return (b.j + BLOCKS * q) * LINES + b.line; }
uint partner_of(butterfly b, uint q) {
    return ((BLOCKS - b.j) + BLOCKS * (HALF_RADIX - 1 - q)) * LINES + b.line;
}
bool is_zero(butterfly b, uint q) { return b.j == 0 && q == 0; }

void give(uint at, complex z) {
    exchange_part[at] = z.x;
    exchange_part[UPPER + at] = z.y;
}
complex take(uint at) { return complex(exchange_part[at], exchange_part[UPPER + at]); }
