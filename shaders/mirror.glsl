// mirror.glsl - trading Z(k) with Z(L - k) inside a workgroup.
//
// Needs BY_FREQUENCY: butterfly f of the last stage holds the frequencies f + BLOCKS q. The lower
// half of them (q < R/2, R even) stays; the partners L - k of those stand in the upper half of
// butterfly BLOCKS - f, in the place (BLOCKS - f) + BLOCKS (R/2 - 1 - q) of the half line of upper
// frequencies. That formula holds for f = 0, too, but for k = 0, which is its own partner; and the
// place 0 of f = 0 is the frequency L/2, which is its own partner as well.
//
// Half a line of whole numbers takes the room of a line of one component: they go at once.

// exp(-2 pi i k / L), where a row alone has L samples.
layout(constant_id = ID_LINE_TWIDDLES) const uint LINE_TWIDDLES = 0; // where they begin, in numbers
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
