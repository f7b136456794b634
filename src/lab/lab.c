#include "lab/lab.h"

#include "base/mem.h"
#include "lab/forms.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <assert.h>

const lab_transform LAB_TRANSFORMS[] = {
    {.name = "ct2-dit",
     .about = "CPU: Cooley-Tukey radix 2, decimation in time",
     .takes = lab_takes_power,
     .cpu = &LAB_CT2_DIT},
    {.name = "ct2-stages",
     .about = "Cooley-Tukey radix 2, one dispatch per stage",
     .takes = lab_takes_power,
     .program = lab_ct2_stages},
};
const int LAB_TRANSFORM_COUNT = (int)(sizeof LAB_TRANSFORMS / sizeof LAB_TRANSFORMS[0]);

bool lab_takes_power(uint32_t n) {
    return n >= LAB_LEAST && n <= LAB_MOST && !(n & (n - 1));
}

bool lab_takes_smooth(uint32_t n) {
    return n >= LAB_LEAST && n <= LAB_MOST && length_is_smooth(n);
}

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

void lab_add_step(lab_program *p, int way, const lab_step *s) {
    assert(p->steps[way] < LAB_STEPS);
    p->step[way][p->steps[way]++] = *s;
}

bool lab_add_roots(lab_program *p, err *e) {
    float *to = mem_raw(p->n, 2 * sizeof *to, "roots of unity", e);
    for (uint32_t m = 0; to && m < p->n; m++) {
        double re, im;
        fft_root(m, p->n, &re, &im);
        to[2 * m] = (float)re;
        to[2 * m + 1] = (float)im;
    }
    p->table = to;
    p->table_bytes = 2 * sizeof *to * p->n;
    return to != NULL;
}

void lab_program_free(lab_program *p) {
    mem_free(p->table);
    mem_free(p->more);
    mem_free(p->frequency);
    *p = (lab_program){0};
}
