#include "lab/article.h"

#include "base/mem.h"
#include "base/number.h"
#include "lab/shaders/nabla.h"
#include "math/fft.h"

enum { CHANNELS = ARTICLE_CHANNELS, PIXEL = 4 /* floats */ };

/* --- sizes ------------------------------------------------------------------------------------ */

bool article_plan_make(article_plan *to, const uint32_t size[PLAN_AXES], uint32_t k, uint32_t first,
                       const lab_ask *limits, err *e) {
    article_plan p = {.kernel = k, .first = first, .extent = {size[first], size[!first]}};
    if (k < 4 || k & (k - 1))
        return err_set(
            e, ERR_USAGE,
            "the article's bloom needs a kernel whose side is a power of two, at least 4; "
            "this one has %u",
            k);
    for (int a = 0; a < 2; a++) {
        uint32_t length = 1;
        while (length < p.extent[a] + k - 1) length *= 2;
        if (!nabla_choose(&p.line[a], length, limits, e)) return false;
    }
    uint64_t pixels = (uint64_t)p.extent[0] * p.extent[1];
    p.image_bytes = pixels * PIXEL * sizeof(float);
    p.pair_bytes = NABLA_NUMBER * CHANNELS * (uint64_t)ceil_div_u32(p.extent[1], 2) *
                   p.line[0].length;
    p.half_bytes = NABLA_NUMBER * CHANNELS * (uint64_t)p.extent[1] * (p.line[0].length / 2 + 1);
    p.spectrum_bytes = NABLA_NUMBER * CHANNELS * (uint64_t)k * (k / 2 + 1);
    p.bytes[ARTICLE_FORWARD] = p.image_bytes + p.pair_bytes;
    p.bytes[ARTICLE_CONVOLVE] = p.pair_bytes + p.spectrum_bytes + p.half_bytes;
    p.bytes[ARTICLE_INVERSE] = p.half_bytes + p.image_bytes;
    *to = p;
    return true;
}

/* --- the kernel's spectrum -------------------------------------------------------------------- */

/* A channel of the kernel, in the orientation of the first axis. */
typedef struct {
    const psf *k;
    const float *tap;
    double scale;
    bool x_first;
} kernel_plane;

/* Writes one line of the kernel with its centre at 0, so that the spectrum is smooth enough to
 * interpolate. */
static void article_fill_line(const void *ctx, uint32_t i, double *to) {
    const kernel_plane *p = ctx;
    uint32_t n = p->k->w, centre = p->x_first ? p->k->cx : p->k->cy;
    for (uint32_t j = 0; j < n; j++)
        to[(j + n - centre) % n] = p->scale * (double)p->tap[p->x_first ? i * n + j : j * n + i];
}

/* The spectrum has the factors that the passes leave out: 1 / (L1 L2) of the inverse transforms,
 * and 1/2 of parting the pairs. */
static bool article_make_spectrum(article *a, const lab_gpu *g, const psf *k, par *threads,
                                  err *e) {
    const article_plan *p = &a->plan;
    uint32_t n = k->w;
    bool x_first = p->first == PLAN_X, ok = true;
    double lengths = 2.0 * p->line[0].length * p->line[1].length;
    size_t layer = (size_t)n * n * 2; /* of which n / 2 + 1 rows are not zero */
    if (n != p->kernel || k->h != n)
        return err_set(e, ERR_USAGE,
                       "the article's bloom needs a square kernel; this one is %u x %u", n, k->h);
    float *host = mem_new(CHANNELS * layer, sizeof *host, "the kernel's spectrum", e);
    if (!host) return false;
    for (uint32_t c = 0; ok && c < CHANNELS; c++) {
        uint32_t from = k->channels == 1 ? 0 : c;
        kernel_plane plane = {k, k->tap + (size_t)from * n * n, k->scale[from] / lengths, x_first};
        fft_plane f = {.first = n,
                       .second = n,
                       .lines = n,
                       .origin = (n - (x_first ? k->cy : k->cx)) % n,
                       .fill = article_fill_line,
                       .ctx = &plane};
        ok = fft_half_spectrum(host + c * layer, &f, threads, e);
    }
    ok = ok && lab_texture_make(&a->spectrum, &g->g, host, n, CHANNELS, e);
    mem_free(host);
    return ok;
}

/* --- passes ----------------------------------------------------------------------------------- */

/* Writes the program: a shader and a step for each pass. The table has the factors of the longer
 * axis, and so those of both. */
static bool make_program(article *a, bool shuffles, err *e) {
    const article_plan *p = &a->plan;
    lab_program *to = &a->program;
    uint32_t most = max_u32(p->line[0].length, p->line[1].length);
    uint32_t pairs = ceil_div_u32(p->extent[1], 2), halves = p->line[0].length / 2 + 1;
    *to = (lab_program){.sets = 1, .bindings = ARTICLE_BINDINGS, .texture = &a->spectrum};
    const uint64_t bytes[ARTICLE_BINDINGS] = {[ARTICLE_IMAGE] = p->image_bytes,
                                              [ARTICLE_PAIRS] = p->pair_bytes,
                                              [ARTICLE_HALF] = p->half_bytes,
                                              [ARTICLE_TABLE] = (uint64_t)most * NABLA_NUMBER,
                                              [ARTICLE_RESULT] = p->image_bytes};
    float *factors = nabla_factors(most, e);
    for (uint32_t i = 0; i < ARTICLE_BINDINGS; i++)
        to->set[0][i] = lab_add_buffer(to, bytes[i], i == ARTICLE_TABLE ? factors : NULL);
    for (int i = 0; i < ARTICLE_PASSES; i++) {
        bool second = i == ARTICLE_CONVOLVE;
        uint32_t shader = lab_add_shader(to, LAB_ARTICLE[shuffles][i]);
        nabla_add_constants(to, p->line[second]);
        lab_add_constant(to, ARTICLE_EXTENT, p->extent[0]);
        lab_add_constant(to, ARTICLE_LINES, p->extent[1]);
        lab_add_constant(to, ARTICLE_X_FIRST, p->first == PLAN_X);
        lab_add_constant(to, ARTICLE_FIRST, p->line[0].length);
        lab_add_constant(to, ARTICLE_FIRST_THREADS, p->line[0].threads);
        lab_add_constant(to, ARTICLE_KERNEL, p->kernel);
        lab_add_step(to, LAB_FORWARD,
                     &(lab_step){.shader = shader,
                                 .stamp = true,
                                 .groups = {second ? halves : pairs, second ? CHANNELS : 1, 1}});
    }
    return factors != NULL;
}

bool article_open(article *a, const lab_gpu *g, const article_plan *p, const psf *kernel,
                  par *threads, err *e) {
    a->plan = *p;
    return article_make_spectrum(a, g, kernel, threads, e) && make_program(a, g->subgroup > 0, e) &&
           lab_ready_make(&a->ready, g, &a->program, e);
}

void article_close(article *a, const lab_gpu *g) {
    lab_ready_free(&a->ready);
    lab_program_free(&a->program);
    lab_texture_free(&a->spectrum, &g->g);
}

bool article_run(article *a, const float *const in[], float *const out[], err *e) {
    size_t pixels = (size_t)a->plan.extent[0] * a->plan.extent[1];
    float *image = mem_raw(pixels, PIXEL * sizeof *image, "image", e);
    for (size_t i = 0; image && i < pixels; i++) {
        for (size_t k = 0; k < CHANNELS; k++) image[i * PIXEL + k] = in[k][i];
        image[i * PIXEL + CHANNELS] = 1;
    }
    bool ok = image && lab_put(&a->ready, ARTICLE_IMAGE, image, e) &&
              lab_do(&a->ready, LAB_FORWARD, e) && lab_get(&a->ready, ARTICLE_RESULT, image, e);
    for (size_t i = 0; ok && i < pixels; i++)
        for (size_t k = 0; k < CHANNELS; k++) out[k][i] = image[i * PIXEL + k];
    mem_free(image);
    return ok;
}
