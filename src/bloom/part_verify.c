#include "base/mem.h"
#include "base/number.h"
#include "bloom/part_work.h"

#include <stdio.h>
#include <string.h>

/* The kernels of all groups, as the whole part needs them. */
typedef struct {
    const part_plan *p;
    psf of[VIEW_CHANNELS + 1]; /* of[n]: of groups of n channels */
} kernels;

static bool make_kernels(kernels *k, const part_plan *p, err *e) {
    bool ok = true;
    *k = (kernels){.p = p};
    for (int i = 0; ok && i < p->m.groups; i++) {
        uint32_t n = p->group[i].count;
        const kernel_need need = part_need(p->j, n, 0);
        ok = k->of[n].tap || part_psf(&k->of[n], p->j, &need, NULL, e);
    }
    return ok;
}

static void free_kernels(kernels *k) {
    for (int i = 0; i <= VIEW_CHANNELS; i++) psf_free(&k->of[i]);
}

/* Adds rows of a group to the pixels. plane: of each of its channels. */
static bool add_group(sampler *s, const kernels *k, const part_group *g, void *const plane[],
                      const float *mask, uint32_t row, uint32_t rows, err *e) {
    const part_plan *p = k->p;
    const psf *is = &k->of[g->count];
    definition_rows r[VIEW_CHANNELS];
    definition_kernel kernel[VIEW_CHANNELS];
    for (uint32_t c = 0; c < g->count; c++) {
        r[c] = (definition_rows){plane[c],
                                 p->channel[g->first + c].type,
                                 {g->light.threshold, g->light.knee, mask},
                                 p->w,
                                 p->h,
                                 row,
                                 rows};
        kernel[c] = (definition_kernel){
            is, is->channels == 1 ? 0 : c, {p->j->s->border[PLAN_X], p->j->s->border[PLAN_Y]}};
    }
    return sampler_add(s, &(sampler_rows){g->first, g->count, r, kernel}, p->j->threads, e);
}

bool part_verify_came(sampler *s, const part_plan *p, uint32_t group, void *const came[],
                      const float *mask, err *e) {
    kernels k;
    bool ok = make_kernels(&k, p, e) && add_group(s, &k, &p->group[group], came, mask, 0, p->h, e);
    free_kernels(&k);
    return ok;
}

/* Reads the part once more, from its source, so that mistakes in margins, seams and rows show. */
static bool read_all(sampler *s, const kernels *k, const part_measured *seen, err *e) {
    const part_plan *p = k->p;
    uint32_t some = rows_some(p->p, 1);
    part_held h = {0};
    bool ok = part_held_open(&h, p, some, false, e);
    h.seen = seen;
    for (uint32_t row = 0; ok && row < p->h; row += some) {
        uint32_t rows = min_u32(some, p->h - row);
        h.from = h.to = 0;
        ok = part_hold(&h, row, (int64_t)row + rows, e);
        for (int i = 0; ok && i < p->m.groups; i++)
            ok =
                add_group(s, k, &p->group[i], h.plane + p->group[i].first, h.mask[i], row, rows, e);
    }
    part_held_free(&h);
    return ok;
}

static void judge(bloom_verified *to, const sampler_pixel *is, const kernels *k,
                  const pixel_type *type, const double *dark) {
    const part_plan *p = k->p;
    const part_group *g = p->group;
    while (is->channel >= g->first + g->count) g++;
    const sampler_promise by = {&k->of[g->count], g->light.sharpen, dark[is->channel],
                                p->j->s->tolerance, type[is->channel]};
    const verify_pixel before = to->found.worst;
    sampler_judge(&to->found, is, &by);
    if (memcmp(&before, &to->found.worst, sizeof before) == 0) return;
    to->x = p->p->data.x0 + (int32_t)is->is.x;
    to->y = p->p->data.y0 + (int32_t)is->is.y;
    snprintf(to->channel, sizeof to->channel, "%s",
             p->p->channel[p->channel[is->channel].index].name);
}

bool part_verify(bloom_verified *to, sampler *s, const part_plan *p, bool read,
                 const pixel_type *type, const double *dark, const part_measured *seen, err *e) {
    kernels k = {0};
    bool ok = !s->count || (make_kernels(&k, p, e) && (!read || read_all(s, &k, seen, e)));
    for (size_t i = 0; ok && i < s->count; i++) judge(to, &s->pixel[i], &k, type, dark);
    free_kernels(&k);
    return ok;
}
