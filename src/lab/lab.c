#include "lab/lab.h"

#include "base/mem.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <assert.h>

static bool lab_takes_power(uint32_t n) {
    return n >= LAB_LEAST && n <= LAB_MOST && !(n & (n - 1));
}

bool lab_takes_smooth(uint32_t n) {
    return n >= LAB_LEAST && n <= LAB_MOST && length_is_smooth(n);
}

/* The definition takes n^3 steps. */
static bool lab_takes_small(uint32_t n) {
    return lab_takes_smooth(n) && n <= 512;
}

/* Rows for lengths that are powers of two. */
#define CPU(name, form, about) \
    { name, "CPU: " about, lab_takes_power, &form, NULL, false }
#define GPU(name, program, about) \
    { name, about, lab_takes_power, NULL, program, false }

/* clang-format off */
const lab_transform LAB_TRANSFORMS[] = {
    {"dft", "CPU: the definition", lab_takes_small, &LAB_DFT, NULL, false},
    CPU("ct2-recursive", LAB_CT2_RECURSIVE, "Cooley-Tukey radix 2, recursive"),
    CPU("ct2-dit", LAB_CT2_DIT, "Cooley-Tukey radix 2, decimation in time, in place"),
    CPU("ct2-dif", LAB_CT2_DIF, "Cooley-Tukey radix 2, decimation in frequency, in place"),
    {"lanes", "CPU: one line in each SIMD lane, in two levels of the caches", lab_takes_smooth,
     &LAB_LANES, NULL, true},
    GPU("ct2-stages", lab_ct2_stages, "Cooley-Tukey radix 2, one dispatch per stage"),
    GPU("ct2-axis", lab_ct2_axis, "Cooley-Tukey radix 2, one dispatch per axis"),
    GPU("stockham2", lab_stockham2, "Stockham radix 2, one dispatch per axis"),
    GPU("stockham2-wide", lab_stockham2_wide, "Stockham radix 2, four butterflies a thread"),
    GPU("stockham4", lab_stockham4, "Stockham radix 4, one dispatch per axis"),
    GPU("stockham2-shared", lab_stockham2_shared,
        "Stockham radix 2, in shared memory between the stages"),
    GPU("stockham4-shared", lab_stockham4_shared,
        "Stockham radix 4, in shared memory between the stages"),
    GPU("stockham4-shared-wide", lab_stockham4_shared_wide,
        "the same with four butterflies a thread"),
    GPU("nabla", lab_nabla, "the article's: radix 2 in registers, one number traded per butterfly, "
        "by shuffles where the partner is near"),
    GPU("nabla-shared", lab_nabla_shared, "the same, all trades through shared memory"),
    {"ours", "the transform of this program: mixed radices up to 20, in registers",
     lab_takes_smooth, NULL, lab_ours, true},
};
/* clang-format on */
const int LAB_TRANSFORM_COUNT = (int)(sizeof LAB_TRANSFORMS / sizeof LAB_TRANSFORMS[0]);

/* --- programs -------------------------------------------------------------------------------- */

uint32_t lab_add_shader(lab_program *p, gpu_shader code) {
    assert(p->shaders < LAB_SHADERS);
    p->shader[p->shaders] = (lab_shader){.code = code};
    return p->shaders++;
}

void lab_add_constant(lab_program *p, uint32_t id, uint32_t value) {
    lab_shader *s = &p->shader[p->shaders - 1];
    assert(s->constants < LAB_CONSTANTS);
    s->id[s->constants] = id;
    s->value[s->constants++] = value;
}

uint32_t lab_add_buffer(lab_program *p, uint64_t bytes, void *value) {
    assert(p->buffers < LAB_BUFFERS);
    p->buffer[p->buffers] = (lab_buffer){bytes, value};
    return p->buffers++;
}

uint32_t lab_add_step(lab_program *p, int way, const lab_step *s) {
    assert(p->steps[way] < LAB_STEPS);
    p->step[way][p->steps[way]] = *s;
    return p->steps[way]++;
}

bool lab_add_images(lab_program *p, void *table, size_t bytes) {
    uint64_t image = sizeof(lab_complex) * (uint64_t)p->n * p->n;
    lab_add_buffer(p, image, NULL);
    lab_add_buffer(p, image, NULL);
    lab_add_buffer(p, bytes, table);
    p->bindings = LAB_BINDINGS;
    p->sets = 2;
    for (uint32_t back = 0; back < 2; back++) {
        p->set[back][LAB_FROM] = back ? LAB_B : LAB_A;
        p->set[back][LAB_TO] = back ? LAB_A : LAB_B;
        p->set[back][LAB_TABLE] = LAB_ROOTS;
    }
    return table != NULL;
}

void lab_put_root(float *to, uint64_t m, uint64_t n) {
    double re, im;
    fft_root(m, n, &re, &im);
    to[0] = (float)re;
    to[1] = (float)im;
}

float *lab_roots(uint32_t n, err *e) {
    float *to = mem_raw(n, sizeof(lab_complex), "roots of unity", e);
    for (uint32_t m = 0; to && m < n; m++) lab_put_root(to + 2 * m, m, n);
    return to;
}

void lab_program_free(lab_program *p) {
    for (uint32_t i = 0; i < p->buffers; i++) mem_free(p->buffer[i].value);
    mem_free(p->frequency);
    *p = (lab_program){0};
}
