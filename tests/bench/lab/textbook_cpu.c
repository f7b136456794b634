/* textbook_cpu.c - the transforms that textbooks have, on one thread of the CPU.
 *
 * Each is a function of one line; rows come first, then columns, which are copied to a line and
 * back. All read the same roots of unity, w(m) = exp(-2 pi i m / n), or on the way back their
 * conjugates. */
#include "lab/lab.h"

static lab_complex mul(lab_complex a, lab_complex b) {
    return (lab_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static lab_complex w(const textbook *t, uint32_t m) {
    lab_complex r = t->root[m];
    if (t->way == LAB_BACKWARD) r.im = -r.im;
    return r;
}

static void butterfly(lab_complex *sum, lab_complex *difference, lab_complex a, lab_complex b) {
    *sum = (lab_complex){a.re + b.re, a.im + b.im};
    *difference = (lab_complex){a.re - b.re, a.im - b.im};
}

/* The definition: X[k] = sum of x[i] w(i k). */
void textbook_dft(const textbook *t) {
    for (uint32_t k = 0; k < t->n; k++) {
        lab_complex sum = {0, 0};
        for (uint32_t i = 0, m = 0; i < t->n; i++, m += k, m -= m >= t->n ? t->n : 0) {
            lab_complex term = mul(t->line[i], w(t, m));
            sum.re += term.re;
            sum.im += term.im;
        }
        t->spare[k] = sum;
    }
}

/* Joins the transforms E and O of h numbers each, which are neighbours, to one of 2h:
 * X[j] = E[j] + w(j) O[j], X[j + h] = E[j] - w(j) O[j]. */
static void join_halves(const textbook *t, lab_complex *at, uint32_t h) {
    for (uint32_t j = 0; j < h; j++)
        butterfly(&at[j], &at[j + h], at[j], mul(at[j + h], w(t, j * (t->n / (2 * h)))));
}

/* Transforms from[0], from[step], from[2 step] .. into neighbours: the even ones, then the odd
 * ones, and then both together. */
static void recurse(const textbook *t, lab_complex *to, const lab_complex *from, uint32_t step) {
    uint32_t h = t->n / step / 2;
    *to = *from;
    if (!h) return;
    recurse(t, to, from, 2 * step);
    recurse(t, to + h, from + step, 2 * step);
    join_halves(t, to, h);
}

void textbook_recursive(const textbook *t) {
    recurse(t, t->spare, t->line, 1);
}

/* Copies the line to the order of reversed bits. */
static void reverse_bits(const textbook *t) {
    for (uint32_t i = 0, r = 0; i < t->n; i++) {
        t->spare[r] = t->line[i];
        uint32_t bit = t->n / 2; /* add 1 to r from the left */
        while (bit && (r & bit)) r ^= bit, bit /= 2;
        r |= bit;
    }
}

/* Decimation in time: the input in the order of reversed bits, then stages that join transforms in
 * place. */
void textbook_dit(const textbook *t) {
    reverse_bits(t);
    for (uint32_t h = 1; h < t->n; h *= 2)
        for (uint32_t start = 0; start < t->n; start += 2 * h) join_halves(t, t->spare + start, h);
}

/* Decimation in frequency, the mirror image: stages that part a transform of 2h numbers into two of
 * h, in place: (a + b) and (a - b) w(j); at the end the order of reversed bits is put right. */
void textbook_dif(const textbook *t) {
    for (uint32_t h = t->n / 2; h > 0; h /= 2)
        for (uint32_t start = 0; start < t->n; start += 2 * h)
            for (uint32_t j = 0; j < h; j++) {
                lab_complex *a = &t->line[start + j], *b = a + h;
                butterfly(a, b, *a, *b);
                *b = mul(*b, w(t, j * (t->n / (2 * h))));
            }
    reverse_bits(t);
}

void textbook_run(textbook *t, textbook_form *form, lab_complex *image, int way) {
    uint32_t n = t->n;
    float scale = way == LAB_BACKWARD ? 1 / (float)n : 1;
    t->way = way;
    for (int columns = 0; columns < 2; columns++)
        for (uint32_t l = 0; l < n; l++) {
            lab_complex *first = columns ? image + l : image + (size_t)l * n;
            size_t step = columns ? n : 1;
            for (uint32_t i = 0; i < n; i++) t->line[i] = first[i * step];
            form(t);
            for (uint32_t i = 0; i < n; i++)
                first[i * step] = (lab_complex){scale * t->spare[i].re, scale * t->spare[i].im};
        }
}
