#include "engine/cpu/cpu_passes.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

const cpu_passes *cpu_passes_of(int form, bool float64) {
    static const cpu_passes *const PASSES[LANES_FORMS][2] = {
        {&CPU_PASSES_ANY_FLOAT32, &CPU_PASSES_ANY_FLOAT64},
#if defined(__x86_64__)
        {&CPU_PASSES_AVX2_FLOAT32, &CPU_PASSES_AVX2_FLOAT64},
        {&CPU_PASSES_AVX512_FLOAT32, &CPU_PASSES_AVX512_FLOAT64},
#endif
    };
    return PASSES[form][float64];
}

cpu_cut cpu_cut_of(size_t pieces, size_t threads) {
    size_t rest = pieces % threads;
    if (2 * rest > threads) rest = 0;
    return (cpu_cut){pieces - rest, 2 * rest};
}

/* A batch of CPU_LINES lines is CPU_PAIRS / lanes pieces; in the last one, each begins with one of
 * the first CPU_PAIRS lines. */
size_t cpu_passes_batches(const cpu_job *j) {
    size_t whole = j->p->axis[1].extent / CPU_LINES, rest = j->p->axis[1].extent % CPU_LINES;
    return whole * (CPU_PAIRS / j->lanes) + ceil_div_size(min_size(rest, CPU_PAIRS), j->lanes);
}

size_t cpu_passes_blocks(const cpu_job *j) {
    return ceil_div_size(j->p->halves, j->lanes);
}

static size_t matrix(const lanes *f) {
    return (size_t)f->a * f->pitch;
}

/* In numbers. */
typedef struct {
    size_t matrix, level;
} sizes;

static sizes sizes_of(const cpu_job *j) {
    const lanes *f = j->fft[0], *g = j->fft[1];
    size_t of_f = max_size(f->a, f->b), of_g = max_size(g->a, g->b);
    return (sizes){max_size(matrix(f), matrix(g)), max_size(of_f, of_g) + 1};
}

/* Rows of the image lie a few cache lines more than their length apart, so that the same place of
 * all of them does not fall into one set of the cache. */
size_t cpu_passes_row_room(const cpu_job *j) {
    return j->p->first == PLAN_X ? (ceil_div_size(j->p->axis[0].extent, 16) | 1) * 16 : 16;
}

/* Rows of the image, 2 * lanes of them, are cpu_passes_row_room numbers of every lane. */
static size_t before_transform(const cpu_job *j, const cpu_passes *k) {
    sizes s = sizes_of(j);
    return (s.matrix + 5 * s.level + cpu_passes_row_room(j)) * k->number;
}

/* A kernel that is made by lines has two for each number of every lane. */
size_t cpu_passes_room(const cpu_job *j, const cpu_passes *k) {
    bool doubles = j->p->sample_bytes == sizeof(double);
    return before_transform(j, k) + (doubles ? 2 * j->p->axis[1].length * k->number : 0);
}

cpu_room cpu_passes_room_of(const cpu_job *j, const cpu_passes *k, int worker) {
    sizes s = sizes_of(j);
    char *at = j->room + (size_t)worker * j->room_bytes, *level = at + s.matrix * k->number;
    size_t step = s.level * k->number;
    return (cpu_room){.matrix = at,
                      .scratch = {level, level + step},
                      .row = level + 2 * step,
                      .kernel = level + 3 * step,
                      .lines = level + 4 * step,
                      .rows = level + 5 * step,
                      .transform = (double *)(void *)(at + before_transform(j, k))};
}

unsigned cpu_flush_denormals(void) {
#if defined(__SSE__)
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40 };
    unsigned was = _mm_getcsr();
    _mm_setcsr(was | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return was;
#elif defined(__aarch64__)
    const uint64_t flush = (uint64_t)1 << 24;
    uint64_t was;
    __asm__ volatile("mrs %0, fpcr" : "=r"(was));
    __asm__ volatile("msr fpcr, %0" : : "r"(was | flush));
    return (unsigned)was;
#else
    return 0;
#endif
}

void cpu_restore(unsigned was) {
#if defined(__SSE__)
    _mm_setcsr(was);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)was));
#else
    (void)was;
#endif
}
