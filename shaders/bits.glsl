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
layout(constant_id = ID_TINY_DOUBLES) const bool TINY_DOUBLES = false; // the device keeps subnormal doubles

// By the bits, for any float: a branch for subnormal ones would let each pixel wait for the one before, and
// devices are slow at conversions between floats and doubles. The bits of a float, moved, are a double that is 2^896
// times too small, and subnormal where the float is. Or a subnormal float is what its bits add to 2^-126.
real of_float(uint bits) {
    if (TINY_DOUBLES) {
        uint upper = uint(int(bits) >> 3) & 0x8fffffffu;
        return packDouble2x32(uvec2(bits << 29, upper)) * 5.28294531135665246352339784917e269LF; // 2^896
    }
    uint m = bits & 0x7fffffffu;
    bool small = m < 0x800000u;
    uint normal = m | mix(0u, 0x800000u, small);
    real v = packDouble2x32(uvec2(normal << 29, (normal >> 3) + (896u << 20)));
    v -= mix(real(0), 1.17549435082228750796874e-38LF, small); // 2^-126
    uvec2 words = unpackDouble2x32(v);
    return packDouble2x32(uvec2(words.x, words.y | bits & 0x80000000u));
}
// The last bits of a sum with 2^-97 are steps of 2^-149.
uint float_of(real v) {
    real size = abs(v);
    uint small = unpackDouble2x32(size + 6.31088724176809444329383e-30LF).x;
    uint bits = mix(floatBitsToUint(float(size)), small, size < 1.17549435082228750796874e-38LF); // 2^-126
    return bits | unpackDouble2x32(v).y & 0x80000000u;
}
#else
real of_float(uint bits) { return uintBitsToFloat(bits); }
uint float_of(real v) { return floatBitsToUint(v); }
#endif
real of_half(uint bits) { // which is no subnormal float
    if (NATIVE_HALFS) return real(unpackHalf2x16(bits).x);
    return real(half_by_bits(bits));
}
