/* article.h - the bloom of the article, whole, on a Vulkan device: three passes with the transform
 * `nabla`, along one axis, along the other and back, and back along the first.
 *
 * Lengths are powers of two that hold image and kernel side by side. The kernel is square, its side
 * a power of two, and its spectrum is made at that size and sampled linearly, by texture
 * units; docs/inside/fft.md says what that costs. Borders are zero. Pixels are red, green, blue
 * and alpha; alpha becomes 1.
 *
 * docs/inside/fft.md says where it differs from the article's program. Factors come from a table
 * made in double, and pixels are in buffers and not in textures. */
#ifndef LAB_ARTICLE_H
#define LAB_ARTICLE_H

#include "kernel/psf.h"
#include "lab/lab_gpu.h"
#include "lab/nabla.h"

enum { ARTICLE_FORWARD, ARTICLE_CONVOLVE, ARTICLE_INVERSE, ARTICLE_PASSES };

/* Every size. */
typedef struct {
    uint32_t kernel;    /* taps along each axis */
    uint32_t first;     /* PLAN_X or PLAN_Y: the axis of passes 1 and 3 */
    nabla_line line[2]; /* of the first axis, of the other */
    uint32_t extent[2]; /* pixels along them */
    uint64_t image_bytes, pair_bytes, half_bytes, spectrum_bytes; /* of the buffers */
    uint64_t bytes[ARTICLE_PASSES];                               /* that a pass reads and writes */
} article_plan;

/* Of the limits, the length does not count. */
bool article_plan_make(article_plan *to, const uint32_t size[PLAN_AXES], uint32_t kernel,
                       uint32_t first, const lab_ask *limits, err *e);

/* Made by article_open from a zeroed one; article_close accepts a half-made one. */
typedef struct {
    article_plan plan;
    lab_program program;
    lab_ready ready;
    lab_texture spectrum;
} article;

/* Makes tables, pipelines and buffers. Only `g` must outlive it. */
bool article_open(article *a, const lab_gpu *g, const article_plan *p, const psf *kernel,
                  par *threads, err *e);
void article_close(article *a, const lab_gpu *g);

/* Blooms an image there and back: planes of packed rows, red, green and blue. */
bool article_run(article *a, const float *const in[], float *const out[], err *e);

#endif
