/* lanes_cpu.c - the transform of the CPU engine on one thread: one line in each lane of a SIMD
 * register (math/lanes.h). Here lines are taken apart into real and imaginary parts first, and put
 * together again, which the engine's half spectrum saves. */
#include "base/mem.h"
#include "base/number.h"
#include "lab/lab.h"
#include "math/lanes.h"

typedef struct {
    lanes *f;
    const lanes_code *code;
    float *matrix, *scratch;
    size_t number; /* floats */
} lanes_lab;

static void lanes_lab_free(void *made) {
    lanes_lab *t = made;
    if (!t) return;
    lanes_free(&t->f);
    mem_free(t->matrix);
    mem_free(t->scratch);
    mem_free(t);
}

static void *lanes_lab_make(uint32_t n, err *e) {
    lanes_lab *t = mem_new(1, sizeof *t, "transform by lanes", e);
    if (!t) return NULL;
    t->code = lanes_code_of(lanes_form(), false);
    t->number = (size_t)2 * t->code->lanes;
    if ((t->f = lanes_new(n, false, e)) &&
        (t->matrix =
             mem_raw((size_t)t->f->a * t->f->pitch, t->number * sizeof(float), "lines", e)) &&
        (t->scratch =
             mem_raw(2 * (size_t)(t->f->a + t->f->b), t->number * sizeof(float), "lines", e)))
        return t;
    lanes_lab_free(t);
    return NULL;
}

/* Does all columns of the matrix, or all rows. */
static void lanes_lab_level(const lanes_lab *t, bool columns) {
    const lanes *f = t->f;
    for (uint32_t i = 0; i < (columns ? f->b : f->a); i++) {
        float *at = t->matrix + (columns ? i : (size_t)i * f->pitch) * t->number;
        t->code->line(
            &(lanes_line){.level = columns ? &f->column : &f->row,
                          .from = at,
                          .at = columns ? f->down : f->along,
                          .turns = columns ? NULL : (const float *)f->turns + (size_t)2 * i * f->b,
                          .to = at,
                          .step = columns ? f->pitch : 1,
                          .count = UINT32_MAX,
                          .scratch = {t->scratch, t->scratch + (size_t)(f->a + f->b) * t->number}});
    }
}

/* Back, real and imaginary parts are exchanged on the way in and on the way out. */
static void lanes_lab_run(void *made, lab_complex *image, int way) {
    const lanes_lab *t = made;
    uint32_t n = t->f->n, wide = t->code->lanes;
    bool back = way == LAB_BACKWARD;
    float scale = back ? 1 / (float)n : 1;
    for (int columns = 0; columns < 2; columns++)
        for (uint32_t l = 0; l < n; l += wide) {
            size_t step = columns ? n : 1, next = columns ? 1 : n;
            uint32_t count = min_u32(wide, n - l);
            lab_complex *first = image + l * next;
            for (uint32_t i = 0; i < n; i++) {
                float *to = t->matrix + t->f->seat[i] * t->number;
                for (uint32_t v = 0; v < count; v++) {
                    lab_complex z = first[i * step + v * next];
                    to[v] = back ? z.im : z.re, to[wide + v] = back ? z.re : z.im;
                }
            }
            lanes_lab_level(t, true);
            lanes_lab_level(t, false);
            for (uint32_t k = 0; k < n; k++) {
                const float *from = t->matrix + t->f->place[k] * t->number;
                for (uint32_t v = 0; v < count; v++) {
                    float re = scale * from[v], im = scale * from[wide + v];
                    first[k * step + v * next] = back ? (lab_complex){im, re}
                                                      : (lab_complex){re, im};
                }
            }
        }
}

const lab_cpu_form LAB_LANES = {lanes_lab_make, lanes_lab_run, lanes_lab_free};
