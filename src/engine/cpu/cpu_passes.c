#include "engine/cpu/cpu_passes.h"

#include "base/half.h"
#include "base/number.h"

#include <string.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* Lines of the half spectrum in one piece of the second pass: enough that handing them out costs
 * nothing, few enough that two workers finish together. */
enum { BLOCK_LINES = 8 };

size_t cpu_passes_batches(const cpu_job *j) {
    return ceil_div_size(j->p->axis[1].extent, CPU_LINES);
}

size_t cpu_passes_blocks(const cpu_job *j) {
    return ceil_div_size(j->p->halves, BLOCK_LINES);
}

/* Whole cache lines of complex numbers, in both precisions. */
static size_t round_pitch(size_t n) {
    return (n + 7) / 8 * 8;
}

size_t cpu_passes_block(const cpu_job *j, const cpu_passes *k) {
    size_t batch = 2 * CPU_PAIRS * j->line_pitch;
    size_t line = (2 + BLOCK_LINES) * /* the last are the kernel's */
                  round_pitch(j->p->axis[1].length + CPU_LINES);
    return max_size(batch, line) * k->complex_bytes;
}

/* Numbers too small for a normalised float cost some CPUs a hundred cycles each, and a transform
 * of a nearly black frame can be full of them. They are far below the rounding error of the
 * transform, so while it runs they count as zero. */
static unsigned fpu_fast(void) {
    unsigned was = 0;
#if defined(__SSE__)
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40 };
    was = _mm_getcsr();
    _mm_setcsr(was | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
#endif
    return was;
}

static void fpu_restore(unsigned was) {
    (void)was;
#if defined(__SSE__)
    _mm_setcsr(was);
#endif
}

#define REAL    float
#define NAME(x) x##_float32
#define PASSES  CPU_PASSES_FLOAT32
#include "engine/cpu/cpu_passes.inc"
#undef REAL
#undef NAME
#undef PASSES

#define REAL    double
#define NAME(x) x##_float64
#define PASSES  CPU_PASSES_FLOAT64
#include "engine/cpu/cpu_passes.inc"
