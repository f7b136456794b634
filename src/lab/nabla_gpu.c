/* nabla_gpu.c - the program of the transform `nabla`: two dispatches, and tables of its order. */
#include "lab/nabla_gpu.h"

#include "base/mem.h"
#include "lab/forms.h"
#include "lab/lab_shaders.h"
#include "math/fft.h"
#include "shaders/lab/ids.h"
#include "shaders/lab/nabla.h"

static uint32_t log2_of(uint32_t n) {
    uint32_t l = 0;
    while (n >> (l + 1)) l++;
    return l;
}

void nabla_add_constants(lab_program *p, nabla_line l) {
    lab_add_constant(p, ID_THREADS, l.threads);
    lab_add_constant(p, NABLA_THREAD_BITS, log2_of(l.threads));
    lab_add_constant(p, NABLA_EACH_BITS, log2_of(nabla_each(l)));
    lab_add_constant(p, NABLA_SUBGROUP, l.subgroup);
}

void nabla_fill_factors(float *to, uint32_t length) {
    to[0] = to[1] = 0; /* there is no span of 0 */
    for (uint32_t span = 1; span < length; span *= 2)
        for (uint32_t j = 0; j < span; j++) {
            double re, im;
            fft_root(j, 2 * span, &re, &im);
            to[2 * (span + j)] = (float)re;
            to[2 * (span + j) + 1] = (float)im;
        }
}

static bool add_tables(lab_program *to, nabla_line l, err *e) {
    to->frequency = mem_raw(l.length, sizeof *to->frequency, "the order of frequencies", e);
    to->table = mem_raw(l.length, NABLA_NUMBER, "factors", e);
    to->table_bytes = NABLA_NUMBER * l.length;
    for (uint32_t i = 0; to->frequency && i < l.length; i++)
        to->frequency[i] = nabla_frequency(l, i);
    if (to->table) nabla_fill_factors(to->table, l.length);
    return to->frequency && to->table;
}

static bool nabla_program(lab_program *to, const lab_ask *ask, bool shuffles, err *e) {
    nabla_limits limits = {ask->limits.invocations, ask->limits.shared_bytes,
                           shuffles ? ask->subgroup : 0};
    nabla_line l;
    if (!nabla_choose(&l, ask->n, &limits, e)) return false;
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            uint32_t shader = lab_add_shader(to, LAB_NABLA[limits.subgroup > 0]);
            lab_add_constant(to, ID_LENGTH, l.length);
            lab_add_constant(to, LAB_COLUMNS, columns);
            lab_add_constant(to, LAB_INVERSE, way == LAB_BACKWARD);
            nabla_add_constants(to, l);
            lab_add_step(
                to, way,
                &(lab_step){.shader = shader, .back = columns, .groups = {l.length, 1, 1}});
        }
    to->bytes = 2 * (uint64_t)2 * NABLA_NUMBER * l.length * l.length;
    to->barriers = 2 * nabla_barriers(l);
    to->shared = NABLA_NUMBER * l.threads;
    return add_tables(to, l, e);
}

bool lab_nabla(lab_program *to, const lab_ask *ask, err *e) {
    return nabla_program(to, ask, true, e);
}

bool lab_nabla_shared(lab_program *to, const lab_ask *ask, err *e) {
    return nabla_program(to, ask, false, e);
}
