/* vec.h - vectors, for the programs that make pictures. */
#ifndef TESTDATA_VEC_H
#define TESTDATA_VEC_H

typedef struct {
    double x, y, z;
} vec;

static inline vec v(double x, double y, double z) {
    return (vec){x, y, z};
}
static inline vec add(vec a, vec b) {
    return v(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline vec sub(vec a, vec b) {
    return v(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline vec mul(vec a, vec b) {
    return v(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline vec scale(vec a, double s) {
    return v(a.x * s, a.y * s, a.z * s);
}
static inline vec mix(vec a, vec b, double t) {
    return add(scale(a, 1 - t), scale(b, t));
}
static inline double dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

#endif
