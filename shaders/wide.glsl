// wide.glsl - numbers in which terms may cancel: doubles; or where a pass has floats, pairs of these.
//
// A pair stands for its sum; its second float has what rounding has taken from the first. Sums and
// products of pairs are right to 2^-44, with floats alone (Knuth's sum, Dekker's product). `precise` forbids
// the compiler to fuse or to reorder them. docs/inside/math.md, "The last pass of a GPU".

#ifdef FLOAT64
#define wide double
real leading(wide a) { return a; } // has the sign of the whole
wide wide_of(real v) { return v; }
wide minus(wide a, wide b) { return a - b; }
wide plus(wide a, wide b) { return a + b; }
wide times(wide a, wide b) { return a * b; }
wide product(real a, real b) { return a * b; }
real difference(wide a, wide b) { return a - b; }
#else
#define wide vec2
real leading(wide a) { return a.x; }
wide wide_of(real v) { return vec2(v, 0); }

wide plus(wide a, wide b) {
    precise float sum = a.x + b.x, part = sum - a.x;
    precise float lost = (a.x - (sum - part)) + (b.x - part) + (a.y + b.y);
    precise float first = sum + lost;
    precise float second = lost - (first - sum);
    return vec2(first, second);
}
wide minus(wide a, wide b) { return plus(a, -b); }
// a - b as a float, right to 2^-23 of itself: where a and b are near each other, the first difference is exact.
real difference(wide a, wide b) {
    precise float first = a.x - b.x, second = a.y - b.y, both = first + second;
    return both;
}

float upper_half(float v) { return uintBitsToFloat(floatBitsToUint(v) & 0xfffff000u); }
// a * b, exactly, unless its second float would be subnormal.
wide product(real a, real b) {
    precise float first = a * b, ah = upper_half(a), bh = upper_half(b), al = a - ah, bl = b - bh;
    precise float lost = ((ah * bh - first) + ah * bl + al * bh) + al * bl;
    return vec2(first, lost);
}
wide times(wide a, wide b) {
    wide whole = product(a.x, b.x);
    precise float lost = whole.y + (a.x * b.y + a.y * b.x), first = whole.x + lost;
    precise float second = lost - (first - whole.x);
    return vec2(first, second);
}
#endif
