#include "bloom/sampler.h"

#include "base/mem.h"

typedef struct {
    const sampler *s;
    const sampler_rows *r;
} adding;

static bool add_rows(void *ctx, size_t index, int worker, err *e) {
    const adding *a = ctx;
    sampler_pixel *p = &a->s->pixel[index];
    uint32_t c = p->channel - a->r->first;
    return c >= a->r->channels || definition_add(&p->defined, &a->r->rows[c], &a->r->kernel, c, e);
}

bool sampler_add(const sampler *s, const sampler_rows *r, par *threads, err *e) {
    return par_for(threads, s->count, add_rows, &(adding){s, r}, e);
}

double sampler_want(double *rounding, const sampler_pixel *p, pixel_type type,
                    const definition_kernel *kernel, const definition_gain *gain) {
    double want = definition_within(type, definition_value(&p->defined, gain));
    *rounding = definition_rounds(type, want) + definition_rounding(&p->defined, kernel, gain);
    return want;
}

void sampler_free(sampler *s) {
    mem_free(s->pixel);
    *s = (sampler){0};
}
