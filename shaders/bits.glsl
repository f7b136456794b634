// bits.glsl - halfs and floats as they lie in memory. Vulkan allows a device to take subnormal numbers for zeros,
// and to round halfs as it likes; integer operations do neither. Infinities and NaN do not occur here.

// So do a device's own conversions of halfs, if that is asked for (NATIVE_HALFS).

layout(constant_id = ID_NATIVE_HALFS) const bool NATIVE_HALFS = false;

// A subnormal half is what its bits add to 2^-14.
float half_by_bits(uint bits) {
    uint m = (bits & 0x7fffu) << 13;
    float v = m < 0x800000u ? uintBitsToFloat(m + (113u << 23)) - 6.103515625e-5 : uintBitsToFloat(m + (112u << 23));
    return uintBitsToFloat(floatBitsToUint(v) | (bits & 0x8000u) << 16);
}
real of_half(uint bits) {
    if (NATIVE_HALFS) return real(unpackHalf2x16(bits).x);
    return real(half_by_bits(bits));
}

// The nearest half, of two the even one; |v| is 65504 at most. A sum whose last bit is 2^-24 rounds to one.
uint half_of(float v) {
    uint bits = floatBitsToUint(v), m = bits & 0x7fffffffu;
    precise float small = uintBitsToFloat(m) + 0.5;
    uint half_bits = m < 0x38800000u ? floatBitsToUint(small) - 0x3f000000u
                                     : (m + 0xfffu + (m >> 13 & 1u) - 0x38000000u) >> 13;
    return half_bits | bits >> 16 & 0x8000u;
}
uint halfs_of(vec2 v) {
    if (NATIVE_HALFS) return packHalf2x16(v);
    return half_of(v.x) | half_of(v.y) << 16;
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
