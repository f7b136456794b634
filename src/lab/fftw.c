/* fftw.c - FFTW on one thread, planned by measuring. FFTW does not scale, so the inverse has a pass
 * that divides. */
#include "base/mem.h"
#include "lab/forms.h"

#include <fftw3.h>

/* Seconds for finding a plan, of each direction. */
static const double PATIENCE = 5;

typedef struct {
    uint32_t n;
    fftwf_plan plan[LAB_WAYS];
} fftw;

static void fftw_free_plans(void *made) {
    fftw *f = made;
    for (int way = 0; f && way < LAB_WAYS; way++)
        if (f->plan[way]) fftwf_destroy_plan(f->plan[way]);
    mem_free(f);
}

static void *fftw_make(uint32_t n, err *e) {
    fftw *f = mem_new(1, sizeof *f, "plans of FFTW", e);
    fftwf_complex *image = mem_raw((size_t)n * n, sizeof *image, "image", e);
    if (f && image) {
        f->n = n;
        fftwf_set_timelimit(PATIENCE);
        for (int way = 0; way < LAB_WAYS; way++)
            f->plan[way] = fftwf_plan_dft_2d((int)n, (int)n, image, image,
                                             way == LAB_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD,
                                             FFTW_MEASURE);
        fftwf_set_timelimit(FFTW_NO_TIMELIMIT);
    }
    bool ok = f && image && f->plan[LAB_FORWARD] && f->plan[LAB_BACKWARD];
    if (f && image && !ok) err_set(e, ERR_INTERNAL, "FFTW has no plan for %u x %u", n, n);
    mem_free(image);
    if (ok) return f;
    fftw_free_plans(f);
    return NULL;
}

static void fftw_run(void *made, lab_complex *image, int way) {
    const fftw *f = made;
    fftwf_execute_dft(f->plan[way], (fftwf_complex *)image, (fftwf_complex *)image);
    size_t count = (size_t)f->n * f->n;
    float scale = 1 / (float)count;
    for (size_t i = 0; way == LAB_BACKWARD && i < count; i++)
        image[i].re *= scale, image[i].im *= scale;
}

const lab_cpu_form LAB_FFTW = {fftw_make, fftw_run, fftw_free_plans};
