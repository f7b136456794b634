/* textbook_cpu.c - the transforms that textbooks have, on one thread of the CPU.
 *
 * Each is a function of one line; rows come first, then columns, which are copied to a line and
 * back. All read the same roots of unity, w(m) = exp(-2 pi i m / n), or with `inverse` their
 * conjugates. */
#include "base/mem.h"
#include "lab/lab.h"

#include <string.h>

typedef struct textbook textbook;

struct textbook {
    uint32_t n;
    bool inverse;
    lab_complex *root, *line, *spare; /* n numbers each */
    /* Transforms `line`, which it may destroy, into `to`. */
    void (*form)(const textbook *t, lab_complex *to, lab_complex *line);
};

static lab_complex textbook_add(lab_complex a, lab_complex b) {
    return (lab_complex){a.re + b.re, a.im + b.im};
}
static lab_complex sub(lab_complex a, lab_complex b) {
    return (lab_complex){a.re - b.re, a.im - b.im};
}
static lab_complex mul(lab_complex a, lab_complex b) {
    return (lab_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static lab_complex w(const textbook *t, uint32_t m) {
    lab_complex r = t->root[m];
    if (t->inverse) r.im = -r.im;
    return r;
}

/* --- the forms ------------------------------------------------------------------------------- */

/* The definition: X[k] = sum of x[i] w(i k). */
static void dft(const textbook *t, lab_complex *to, lab_complex *line) {
    for (uint32_t k = 0; k < t->n; k++) {
        lab_complex sum = {0, 0};
        for (uint32_t i = 0, m = 0; i < t->n; i++, m += k, m -= m >= t->n ? t->n : 0)
            sum = textbook_add(sum, mul(line[i], w(t, m)));
        to[k] = sum;
    }
}

/* Transforms from[0], from[step], from[2 step] .. into m neighbours: the even ones, then the odd
 * ones, and then X[j] = E[j] + w(j) O[j], X[j + m/2] = E[j] - w(j) O[j]. */
static void recurse(const textbook *t, lab_complex *to, const lab_complex *from, uint32_t step) {
    uint32_t m = t->n / step, h = m / 2;
    if (m == 1) {
        *to = *from;
        return;
    }
    recurse(t, to, from, 2 * step);
    recurse(t, to + h, from + step, 2 * step);
    for (uint32_t j = 0; j < h; j++) {
        lab_complex e = to[j], o = mul(to[j + h], w(t, j * step));
        to[j] = textbook_add(e, o);
        to[j + h] = sub(e, o);
    }
}

static void ct2_recursive(const textbook *t, lab_complex *to, lab_complex *line) {
    recurse(t, to, line, 1);
}

/* Copies a line to the order of reversed bits. */
static void reverse_bits(lab_complex *to, const lab_complex *from, uint32_t n) {
    for (uint32_t i = 0, r = 0; i < n; i++) {
        to[r] = from[i];
        uint32_t bit = n / 2; /* add 1 to r from the left */
        while (bit && (r & bit)) r ^= bit, bit /= 2;
        r |= bit;
    }
}

/* Decimation in time: the input in the order of reversed bits, then stages that join transforms of
 * h numbers to transforms of 2h, in place: X[j] = E[j] + w(j) O[j], X[j + h] = E[j] - w(j) O[j]. */
static void ct2_dit(const textbook *t, lab_complex *to, lab_complex *line) {
    uint32_t n = t->n;
    reverse_bits(to, line, n);
    for (uint32_t h = 1; h < n; h *= 2)
        for (uint32_t start = 0; start < n; start += 2 * h)
            for (uint32_t j = 0; j < h; j++) {
                lab_complex e = to[start + j], o = mul(to[start + j + h], w(t, j * (n / (2 * h))));
                to[start + j] = textbook_add(e, o);
                to[start + j + h] = sub(e, o);
            }
}

/* Decimation in frequency, the mirror image: stages that part a transform of 2h numbers into two of
 * h, in place: (a + b) and (a - b) w(j); at the end the order of reversed bits is put right. */
static void ct2_dif(const textbook *t, lab_complex *to, lab_complex *line) {
    uint32_t n = t->n;
    for (uint32_t h = n / 2; h > 0; h /= 2)
        for (uint32_t start = 0; start < n; start += 2 * h)
            for (uint32_t j = 0; j < h; j++) {
                lab_complex a = line[start + j], b = line[start + j + h];
                line[start + j] = textbook_add(a, b);
                line[start + j + h] = mul(sub(a, b), w(t, j * (n / (2 * h))));
            }
    reverse_bits(to, line, n);
}

/* --- rows, then columns ---------------------------------------------------------------------- */

static void textbook_free(void *made) {
    textbook *t = made;
    if (!t) return;
    mem_free(t->root);
    mem_free(t->line);
    mem_free(t->spare);
    mem_free(t);
}

static void *textbook_make(uint32_t n, err *e,
                           void (*form)(const textbook *, lab_complex *, lab_complex *)) {
    textbook *t = mem_new(1, sizeof *t, "textbook transform", e);
    if (!t) return NULL;
    t->n = n, t->form = form;
    if ((t->root = (lab_complex *)lab_roots(n, e)) &&
        (t->line = mem_raw(n, sizeof *t->line, "line", e)) &&
        (t->spare = mem_raw(n, sizeof *t->spare, "line", e)))
        return t;
    textbook_free(t);
    return NULL;
}

static void textbook_run(void *made, lab_complex *image, int way) {
    textbook *t = made;
    uint32_t n = t->n;
    float scale = way == LAB_BACKWARD ? 1 / (float)n : 1;
    t->inverse = way == LAB_BACKWARD;
    for (int columns = 0; columns < 2; columns++)
        for (uint32_t l = 0; l < n; l++) {
            lab_complex *first = columns ? image + l : image + (size_t)l * n;
            size_t step = columns ? n : 1;
            for (uint32_t i = 0; i < n; i++) t->line[i] = first[i * step];
            t->form(t, t->spare, t->line);
            for (uint32_t i = 0; i < n; i++)
                first[i * step] = (lab_complex){scale * t->spare[i].re, scale * t->spare[i].im};
        }
}

#define FORM(NAME, form)                           \
    static void *make_##form(uint32_t n, err *e) { \
        return textbook_make(n, e, form);          \
    }                                              \
    const lab_cpu_form NAME = {make_##form, textbook_run, textbook_free}

FORM(LAB_DFT, dft);
FORM(LAB_CT2_RECURSIVE, ct2_recursive);
FORM(LAB_CT2_DIT, ct2_dit);
FORM(LAB_CT2_DIF, ct2_dif);
