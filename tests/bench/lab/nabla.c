#include "lab/nabla.h"

#include "base/mem.h"
#include "base/number.h"
#include "lab/shaders/nabla.h"

uint32_t nabla_each(nabla_line l) {
    return l.length / l.threads;
}

/* The lane at the end has, from the top: register / 2, thread, register % 2. */
uint32_t nabla_frequency(nabla_line l, uint32_t index) {
    uint32_t thread = index % l.threads, reg = index / l.threads, bits = lab_log2(l.length);
    uint32_t lane = (reg / 2 * l.threads + thread) * 2 + reg % 2, frequency = 0;
    for (uint32_t b = 0; b < bits; b++) frequency |= (lane >> b & 1) << (bits - 1 - b);
    return frequency;
}

uint32_t nabla_barriers(nabla_line l) {
    return 2 * (nabla_each(l) / 2) * lab_log2(l.threads / l.subgroup);
}

bool nabla_choose(nabla_line *to, uint32_t length, const lab_ask *ask, err *e) {
    const plan_limits *limits = &ask->limits;
    uint32_t most = min_u32(min_u32(limits->invocations, limits->shared_bytes / NABLA_NUMBER),
                            min_u32(NABLA_THREADS, length / 2));
    nabla_line l = {length, UINT32_C(1) << lab_log2(most), ask->subgroup};
    if (!l.subgroup || l.subgroup & (l.subgroup - 1) || l.subgroup > l.threads) l.subgroup = 1;
    if (nabla_each(l) > NABLA_EACH)
        return err_set(e, ERR_NO_DEVICE,
                       "nabla: with %u threads, a length of %u needs %u numbers a thread, and %d "
                       "is the maximum",
                       l.threads, length, nabla_each(l), NABLA_EACH);
    *to = l;
    return true;
}

void nabla_add_constants(lab_program *p, nabla_line l) {
    lab_add_constant(p, ID_LENGTH, l.length);
    lab_add_constant(p, ID_THREADS, l.threads);
    lab_add_constant(p, NABLA_THREAD_BITS, lab_log2(l.threads));
    lab_add_constant(p, NABLA_EACH_BITS, lab_log2(nabla_each(l)));
    lab_add_constant(p, NABLA_SUBGROUP, l.subgroup);
}

float *nabla_factors(uint32_t length, err *e) {
    float *to = mem_new(length, NABLA_NUMBER, "factors", e); /* there is no span of 0 */
    for (uint32_t span = 1; to && span < length; span *= 2)
        for (uint32_t j = 0; j < span; j++) lab_put_root(to + 2 * (span + j), j, 2 * span);
    return to;
}

bool lab_nabla(lab_program *to, const lab_ask *ask, const lab_transform *t, err *e) {
    nabla_line l;
    lab_ask with = *ask;
    if (t->in_shared) with.subgroup = 0;
    if (!nabla_choose(&l, ask->n, &with, e)) return false;
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            uint32_t shader = lab_add_shader(to, LAB_NABLA[with.subgroup > 0]);
            nabla_add_constants(to, l);
            lab_add_constant(to, LAB_COLUMNS, columns);
            lab_add_constant(to, LAB_INVERSE, way == LAB_BACKWARD);
            lab_add_step(to, way,
                         &(lab_step){.shader = shader, .set = columns, .groups = {l.length, 1, 1}});
        }
    to->bytes = 2 * (uint64_t)2 * NABLA_NUMBER * l.length * l.length;
    to->barriers = 2 * nabla_barriers(l);
    to->shared = NABLA_NUMBER * l.threads;
    to->frequency = mem_raw(l.length, sizeof *to->frequency, "the order of frequencies", e);
    for (uint32_t i = 0; to->frequency && i < l.length; i++)
        to->frequency[i] = nabla_frequency(l, i);
    return lab_add_images(to, nabla_factors(l.length, e), NABLA_NUMBER * l.length) && to->frequency;
}
