/* textbook_gpu.c - programs of the transforms that textbooks have. The shaders say what they do;
 * here is how they are dispatched, and what that costs. */
#include "base/number.h"
#include "lab/forms.h"
#include "lab/lab_shaders.h"
#include "shaders/lab/ids.h"

enum { COMPLEX = sizeof(lab_complex), GROUP = 256 };

static uint32_t log2_of(uint32_t n) {
    uint32_t l = 0;
    while (n >> (l + 1)) l++;
    return l;
}

/* Returns the bytes of reading and writing the whole image so many times. */
static uint64_t traffic(uint32_t n, uint64_t times) {
    return 2 * COMPLEX * times * n * n;
}

bool lab_ct2_stages(lab_program *to, const lab_ask *ask, err *e) {
    uint32_t n = ask->n, threads = min_u32(n / 2, min_u32(GROUP, ask->limits.invocations));
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            uint32_t shader = lab_add_shader(to, LAB_CT2_STAGES);
            lab_add_constant(to, ID_THREADS, threads);
            lab_add_constant(to, ID_LENGTH, n);
            lab_add_constant(to, LAB_COLUMNS, columns);
            lab_add_constant(to, LAB_INVERSE, way == LAB_BACKWARD);
            for (uint32_t s = 0; s < log2_of(n); s++)
                lab_add_step(to, way,
                             &(lab_step){.shader = shader,
                                         .back = columns,
                                         .push = s,
                                         .groups = {n / 2 / threads, n, 1}});
        }
    to->bytes = traffic(n, 2 * log2_of(n));
    return lab_add_roots(to, e);
}
