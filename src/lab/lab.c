#include "lab/lab.h"

#include "base/mem.h"
#include "lab/forms.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <assert.h>

/* The definition takes n^3 steps. */
static bool takes_small(uint32_t n) {
    return lab_takes_smooth(n) && n <= 512;
}

const lab_transform LAB_TRANSFORMS[] = {
    {.name = "dft", .about = "CPU: the definition", .takes = takes_small, .cpu = &LAB_DFT},
    {.name = "ct2-recursive",
     .about = "CPU: Cooley-Tukey radix 2, recursive",
     .takes = lab_takes_power,
     .cpu = &LAB_CT2_RECURSIVE},
    {.name = "ct2-dit",
     .about = "CPU: Cooley-Tukey radix 2, decimation in time, in place",
     .takes = lab_takes_power,
     .cpu = &LAB_CT2_DIT},
    {.name = "ct2-dif",
     .about = "CPU: Cooley-Tukey radix 2, decimation in frequency, in place",
     .takes = lab_takes_power,
     .cpu = &LAB_CT2_DIF},
#if WITH_FFTW
    {.name = "fftw",
     .about = "CPU: FFTW, one thread, planned by measuring",
     .takes = lab_takes_smooth,
     .cpu = &LAB_FFTW},
#endif
    {.name = "ct2-stages",
     .about = "Cooley-Tukey radix 2, one dispatch per stage",
     .takes = lab_takes_power,
     .program = lab_ct2_stages},
    {.name = "ct2-axis",
     .about = "Cooley-Tukey radix 2, one dispatch per axis",
     .takes = lab_takes_power,
     .program = lab_ct2_axis},
    {.name = "stockham2",
     .about = "Stockham radix 2, one dispatch per axis",
     .takes = lab_takes_power,
     .program = lab_stockham2},
    {.name = "stockham2-wide",
     .about = "Stockham radix 2, four butterflies a thread",
     .takes = lab_takes_power,
     .program = lab_stockham2_wide},
    {.name = "stockham4",
     .about = "Stockham radix 4, one dispatch per axis",
     .takes = lab_takes_power,
     .program = lab_stockham4},
    {.name = "stockham2-shared",
     .about = "Stockham radix 2, in shared memory between the stages",
     .takes = lab_takes_power,
     .program = lab_stockham2_shared},
    {.name = "stockham4-shared",
     .about = "Stockham radix 4, in shared memory between the stages",
     .takes = lab_takes_power,
     .program = lab_stockham4_shared},
    {.name = "stockham4-shared-wide",
     .about = "the same with four butterflies a thread",
     .takes = lab_takes_power,
     .program = lab_stockham4_shared_wide},
    {.name = "nabla",
     .about = "the article's: radix 2 in registers, one number traded per butterfly, by shuffles "
              "where the partner is near",
     .takes = lab_takes_power,
     .program = lab_nabla},
    {.name = "nabla-shared",
     .about = "the same, all trades through shared memory",
     .takes = lab_takes_power,
     .program = lab_nabla_shared},
    {.name = "ours",
     .own = true,
     .about = "the transform of this program: mixed radices up to 20, in registers",
     .takes = lab_takes_smooth,
     .program = lab_ours},
    {.name = "ours-pow2",
     .own = true,
     .about = "the same at the next power of two",
     .takes = lab_takes_smooth,
     .program = lab_ours,
     .length = lab_next_power},
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
