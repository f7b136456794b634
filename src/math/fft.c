#include "math/fft.h"

#include "base/mem.h"
#include "math/lanes.h"

/* One level of math/lanes.h takes lines of any length. */
struct fft {
    lanes_level level;
    uint32_t *along; /* 0, 1, 2, .. */
    const lanes_code *code;
};

fft *fft_new(uint32_t n, err *e) {
    OWN(fft) *f = mem_new(1, sizeof *f, "transform", e);
    if (!f) return NULL;
    f->code = lanes_code_of(lanes_form() ? 1 : 0, true);
    if (lanes_level_make(&f->level, n, true, e) &&
        (f->along = mem_raw(n, sizeof *f->along, "transform", e))) {
        for (uint32_t i = 0; i < n; i++) f->along[i] = i;
        return GIVE(f);
    }
    return NULL;
}

void fft_free(fft **f) {
    if (!*f) return;
    lanes_level_free(&(*f)->level);
    mem_free((*f)->along);
    mem_free(*f);
    *f = NULL;
}

double *fft_forward(const fft *f, double *a, double *b) {
    double *to = f->level.stages % 2 ? b : a;
    f->code->line(&(lanes_line){.level = &f->level,
                                .from = a,
                                .at = f->along,
                                .to = to,
                                .step = 1,
                                .count = UINT32_MAX,
                                .scratch = {b, a}});
    return to;
}

static void conjugate(double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < FFT_LINES; v++) a[i * FFT_STEP + FFT_LINES + v] *= -1;
}

double *fft_backward(const fft *f, double *a, double *b) {
    conjugate(a, f->level.n);
    double *result = fft_forward(f, a, b);
    conjugate(result, f->level.n);
    return result;
}

/* Two passes, as an engine does it: lines that are not zero, two real ones to a complex one; then
 * across, FFT_LINES frequencies at a time. `middle` lies between: [line][k1], complex. */
struct fft_halves {
    fft_plane plane; /* `fill` and `ctx` are valid while it is made */
    fft *along, *across;
    size_t halves;
    double *middle;
};

/* One of the passes: scratch of every worker. */
typedef struct {
    const fft_halves *h;
    double *scratch;
    size_t step;
    void *to;
} half_job;

static bool run_pass(half_job *j, size_t pieces, par_fn *pass, par *threads, err *e) {
    const fft_plane *p = &j->h->plane;
    size_t longest = p->first > p->second ? p->first : p->second;
    j->step = longest * (2 * FFT_STEP + 1) + FFT_STEP;
    j->step -= j->step % FFT_STEP; /* each worker's part stays aligned */
    j->scratch = mem_raw((size_t)par_workers(threads), j->step * sizeof(double), "lines", e);
    bool ok = j->scratch && par_for(threads, pieces, pass, j, e);
    mem_free(j->scratch);
    return ok;
}

static bool lines_pass(void *ctx, size_t piece, int worker, err *e) {
    const half_job *j = ctx;
    const fft_halves *h = j->h;
    const fft_plane *p = &h->plane;
    size_t n = p->first;
    double *a = j->scratch + (size_t)worker * j->step, *b = a + n * FFT_STEP,
           *line = b + n * FFT_STEP;
    memset(a, 0, n * FFT_STEP * sizeof *a);
    uint32_t from = (uint32_t)piece * 2 * FFT_LINES, left = p->lines - from;
    uint32_t count = left < 2 * FFT_LINES ? left : 2 * FFT_LINES;
    for (uint32_t v = 0; v < count; v++) {
        memset(line, 0, n * sizeof *line);
        p->fill(p->ctx, from + v, line);
        double *to = a + v / 2 + v % 2 * FFT_LINES;
        for (size_t i = 0; i < n; i++) to[i * FFT_STEP] = line[i];
    }
    const double *z = fft_forward(h->along, a, b);
    /* z = Z(even line) + i Z(odd line), and each of the two is its own mirrored conjugate. */
    for (uint32_t v = 0; v < count; v++) {
        double *to = h->middle + (from + v) * h->halves * 2;
        const double *re = z + v / 2, *im = re + FFT_LINES;
        for (size_t k = 0; k < h->halves; k++) {
            size_t f = k * FFT_STEP, g = (k ? n - k : 0) * FFT_STEP;
            to[2 * k] = v % 2 ? (im[f] + im[g]) / 2 : (re[f] + re[g]) / 2;
            to[2 * k + 1] = v % 2 ? (re[g] - re[f]) / 2 : (im[f] - im[g]) / 2;
        }
    }
    return true;
}

double *fft_halves_lines(const fft_halves *h, size_t k1, double *a, double *b) {
    const fft_plane *p = &h->plane;
    size_t n = p->second, left = k1 < h->halves ? h->halves - k1 : 0,
           count = left < FFT_LINES ? left : FFT_LINES;
    memset(a, 0, n * FFT_STEP * sizeof *a);
    for (uint32_t i = 0; i < p->lines; i++) {
        const double *m = h->middle + (i * h->halves + k1) * 2;
        double *to = a + ((size_t)p->origin + i) % n * FFT_STEP;
        for (size_t v = 0; v < count; v++) to[v] = m[2 * v], to[v + FFT_LINES] = m[2 * v + 1];
    }
    return fft_forward(h->across, a, b);
}

void fft_halves_close(fft_halves **h) {
    if (!*h) return;
    mem_free((*h)->middle);
    fft_free(&(*h)->across);
    fft_free(&(*h)->along);
    mem_free(*h);
    *h = NULL;
}

fft_halves *fft_halves_open(const fft_plane *p, par *threads, err *e) {
    fft_halves *h = mem_new(1, sizeof *h, "half spectrum", e);
    if (!h) return NULL;
    *h = (fft_halves){.plane = *p, .halves = p->first / 2 + 1};
    half_job j = {.h = h};
    bool ok =
        (h->along = fft_new(p->first, e)) && (h->across = fft_new(p->second, e)) &&
        (h->middle = mem_raw(p->lines * h->halves + 1, 2 * sizeof(double), "half spectrum", e)) &&
        run_pass(&j, (p->lines + 2 * FFT_LINES - 1) / (2 * FFT_LINES), lines_pass, threads, e);
    if (!ok) fft_halves_close(&h);
    return h;
}

static void store_line(const half_job *j, size_t k, const double *from) {
    const size_t n = j->h->plane.second;
    double *doubles = (double *)j->to + k * n * 2;
    float *floats = (float *)j->to + k * n * 2;
    const bool wide = j->h->plane.float64;
    for (size_t i = 0; wide && i < n; i++, doubles += 2)
        doubles[0] = from[i * FFT_STEP], doubles[1] = from[i * FFT_STEP + FFT_LINES];
    for (size_t i = 0; !wide && i < n; i++, floats += 2)
        floats[0] = (float)from[i * FFT_STEP], floats[1] = (float)from[i * FFT_STEP + FFT_LINES];
}

static bool across_pass(void *ctx, size_t piece, int worker, err *e) {
    const half_job *j = ctx;
    double *a = j->scratch + (size_t)worker * j->step, *b = a + j->h->plane.second * FFT_STEP;
    size_t from = piece * FFT_LINES;
    const double *z = fft_halves_lines(j->h, from, a, b);
    for (size_t v = 0; v < FFT_LINES && from + v < j->h->halves; v++)
        store_line(j, from + v, z + v);
    return true;
}

bool fft_half_spectrum(void *to, const fft_plane *p, par *threads, err *e) {
    OPEN(fft_halves) *h = fft_halves_open(p, threads, e);
    half_job j = {.h = h, .to = to};
    return h && run_pass(&j, (h->halves + FFT_LINES - 1) / FFT_LINES, across_pass, threads, e);
}
