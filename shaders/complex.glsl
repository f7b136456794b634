// complex.glsl - complex numbers as two-vectors: (real part, imaginary part).
complex mul(complex a, complex b) { return complex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
complex conj(complex a) { return complex(a.x, -a.y); }
complex times_i(complex a) { return complex(-a.y, a.x); }
complex times_minus_i(complex a) { return complex(a.y, -a.x); }
