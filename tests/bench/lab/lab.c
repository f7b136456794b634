#include "lab/lab.h"
#include "base/steady.h"

#include "base/mem.h"
#include "lab/shaders/all.inc" /* an array of words for each shader, by the name of its file */
#include "math/fft.h"
#include "math/lengths.h"

#include <assert.h>

#define CODE(name) \
    { name, sizeof name }

const gpu_shader LAB_OURS = CODE(ours), LAB_OCEAN = CODE(ocean);
const gpu_shader LAB_NABLA[2] = {CODE(nabla_shared), CODE(nabla)};
const gpu_shader LAB_ARTICLE[2][3] = {
    {CODE(article_forward_shared), CODE(article_convolve_shared), CODE(article_inverse_shared)},
    {CODE(article_forward), CODE(article_convolve), CODE(article_inverse)}};

/* --- the table ------------------------------------------------------------------------------- */

#define BY_AXIS .program = lab_by_axis, .code

/* clang-format off */
const lab_transform LAB_TRANSFORMS[] = {
    {"dft", "CPU: the definition", .cpu = textbook_dft, .smooth = true,
     .most = 512}, /* it takes n^3 steps */
    {"ct2-recursive", "CPU: Cooley-Tukey radix 2, recursive", .cpu = textbook_recursive},
    {"ct2-dit", "CPU: Cooley-Tukey radix 2, decimation in time, in place",
     .cpu = textbook_dit},
    {"ct2-dif", "CPU: Cooley-Tukey radix 2, decimation in frequency, in place",
     .cpu = textbook_dif},
    {"ct2-stages", "Cooley-Tukey radix 2, one dispatch per stage", .program = lab_by_stage,
     .code = CODE(ct2_stages)},
    {"ct2-axis", "Cooley-Tukey radix 2, one dispatch per axis", BY_AXIS = CODE(ct2_axis),
     .radix = 2, .wide = 1, .in_place = true},
    {"stockham2", "Stockham radix 2, one dispatch per axis", BY_AXIS = CODE(stockham2),
     .radix = 2, .wide = 1},
    {"stockham2-wide", "Stockham radix 2, four butterflies a thread", BY_AXIS = CODE(stockham2),
     .radix = 2, .wide = 4},
    {"stockham4", "Stockham radix 4, one dispatch per axis", BY_AXIS = CODE(stockham4),
     .radix = 4, .wide = 1},
    {"stockham2-shared", "Stockham radix 2, in shared memory between the stages",
     BY_AXIS = CODE(stockham2_shared), .radix = 2, .wide = 1, .in_shared = true},
    {"stockham4-shared", "Stockham radix 4, in shared memory between the stages",
     BY_AXIS = CODE(stockham4_shared), .radix = 4, .wide = 1, .in_shared = true},
    {"stockham4-shared-wide", "the same with four butterflies a thread",
     BY_AXIS = CODE(stockham4_shared), .radix = 4, .wide = 4, .in_shared = true},
    {"nabla", "the article's: radix 2 in registers, one number traded per butterfly, by shuffles "
     "where the partner is near", .program = lab_nabla},
    {"nabla-shared", "the same, all trades through shared memory", .program = lab_nabla,
     .in_shared = true},
    {"ours", "the transform of this program: mixed radices up to 20, in registers",
     .program = lab_ours, .smooth = true, .own = true},
};
/* clang-format on */
const int LAB_TRANSFORM_COUNT = (int)(sizeof LAB_TRANSFORMS / sizeof LAB_TRANSFORMS[0]);

bool lab_takes(const lab_transform *t, uint32_t n) {
    return n >= LAB_LEAST && n <= (t->most ? t->most : LAB_MOST) &&
           (t->smooth ? length_is_smooth(n) : !(n & (n - 1)));
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
    steady_root(m, n, &re, &im);
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
