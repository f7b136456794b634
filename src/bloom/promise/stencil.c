#include "bloom/promise/stencil.h"

#include "base/vector.h"

/* The same sums in the same order, with vectors of each length. */
#define VEC     vec8f
#define VEC_ANY vec8f_any
#define WIDE    VECTOR_WIDE
#define NAME(x) x##_8
#define VECTORS 2
#include "bloom/promise/stencil.inc"

#if defined(__x86_64__)
typedef float vec16f __attribute__((vector_size(64)));
typedef float vec16f_any __attribute__((vector_size(64), aligned(4), may_alias));
#define VEC     vec16f
#define VEC_ANY vec16f_any
#define WIDE    __attribute__((target("avx512f,avx2")))
#define NAME(x) x##_16
#define VECTORS 4
#include "bloom/promise/stencil.inc"
static bool has_16(void) {
    return __builtin_cpu_supports("avx512f");
}
#else
#define add_16 add_8
static bool has_16(void) {
    return false;
}
#endif

static void add_plain(const stencil *s) {
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint32_t x = 0; x < s->n; x++) {
            float sum = 0;
            for (uint32_t k = 0; k < s->taps; k++) sum += s->tap[i][k] * s->row[x + k];
            s->to[i][x] += sum;
        }
}

void stencil_add(const stencil *s) {
    if (has_16())
        add_16(s);
    else if (vector_wide())
        add_8(s);
    else
        add_plain(s);
}
