/* textbook_gpu.c - programs of the transforms that textbooks have. The shaders say what they do;
 * here is how they are dispatched, and what that costs. */
#include "base/number.h"
#include "lab/lab.h"

enum { COMPLEX = sizeof(lab_complex), GROUP = 256 };

/* Adds a shader with the constants that all of these have. */
static uint32_t textbook_shader(lab_program *to, gpu_shader code, uint32_t threads, int way,
                                uint32_t columns) {
    uint32_t shader = lab_add_shader(to, code);
    lab_add_constant(to, ID_THREADS, threads);
    lab_add_constant(to, ID_LENGTH, to->n);
    lab_add_constant(to, LAB_COLUMNS, columns);
    lab_add_constant(to, LAB_INVERSE, way == LAB_BACKWARD);
    return shader;
}

/* Adds images and roots; the image is read and written `times` times. */
static bool textbook_end(lab_program *to, uint64_t times, err *e) {
    to->bytes = 2 * COMPLEX * times * to->n * to->n;
    return lab_add_images(to, lab_roots(to->n, e), COMPLEX * to->n);
}

bool lab_by_stage(lab_program *to, const lab_ask *ask, const lab_transform *t, err *e) {
    uint32_t n = ask->n, threads = min_u32(n / 2, min_u32(GROUP, ask->limits.invocations));
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            uint32_t shader = textbook_shader(to, t->code, threads, way, columns);
            for (uint32_t s = 0; s < lab_log2(n); s++)
                lab_add_step(to, way,
                             &(lab_step){.shader = shader,
                                         .set = columns,
                                         .push = s,
                                         .groups = {n / 2 / threads, n, 1}});
        }
    return textbook_end(to, 2 * lab_log2(n), e);
}

/* A workgroup has a line. */
bool lab_by_axis(lab_program *to, const lab_ask *ask, const lab_transform *t, err *e) {
    uint32_t n = ask->n, butterflies = n / t->radix;
    uint32_t stages = ceil_div_u32(lab_log2(n), lab_log2(t->radix));
    /* As many threads as one butterfly each needs, or as a subgroup has, or as the device
     * allows. */
    uint32_t threads =
        min_u32(max_u32(butterflies / t->wide, min_u32(butterflies, 32)), ask->limits.invocations);
    /* In global memory, the stages go to and fro; an odd number of them ends in B. */
    bool swaps = t->in_place || t->in_shared || stages % 2;
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            uint32_t shader = textbook_shader(to, t->code, threads, way, columns);
            lab_add_constant(to, LAB_EACH, butterflies / threads);
            lab_add_step(
                to, way,
                &(lab_step){.shader = shader, .set = columns && swaps, .groups = {n, 1, 1}});
        }
    to->barriers = 2 * (t->in_shared ? 2 : 1) * (stages - 1);
    to->shared = t->in_shared ? COMPLEX * n : 0;
    return textbook_end(to, 2 * (t->in_shared ? 1 : stages), e);
}
