// bits.glsl - halfs and floats as they lie in memory. Vulkan allows a device to take subnormal numbers for zeros,
// and to round halfs as it likes; integer operations do neither. Infinities and NaN do not occur here.

real of_half(uint bits) {
    uint m = bits & 0x7fffu;
    float v = m < 0x400u ? float(m) * 5.9604644775390625e-8 : uintBitsToFloat((m << 13) + (112u << 23));
    return real((bits & 0x8000u) != 0u ? -v : v);
}

// The nearest half, of two the even one; |v| is 65504 at most.
uint half_of(float v) {
    uint bits = floatBitsToUint(v), m = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (m < 0x38800000u) return sign | uint(roundEven(uintBitsToFloat(m) * 16777216.0));
    return sign | (m + 0xfffu + (m >> 13 & 1u) - 0x38000000u) >> 13;
}

#ifdef FLOAT64
real of_float(uint bits) {
    if ((bits & 0x7f800000u) != 0u) return real(uintBitsToFloat(bits));
    real v = real(bits & 0x7fffffu) * 1.40129846432481707092373e-45LF; // 2^-149
    return (bits & 0x80000000u) != 0u ? -v : v;
}
uint float_of(real v) {
    if (abs(v) >= 1.17549435082228750796874e-38LF) return floatBitsToUint(float(v)); // 2^-126
    uint sign = v < 0 ? 0x80000000u : 0u;
    return sign | uint(roundEven(abs(v) * 7.13623846352979940529143e+44LF)); // in steps of 2^-149
}
#else
real of_float(uint bits) { return uintBitsToFloat(bits); }
uint float_of(real v) { return floatBitsToUint(v); }
#endif
