#include "bloom/part_work.h"

/* The kernels of all groups, as the whole part needs them. */
typedef struct {
    const part_plan *p;
    const float *const *lost;  /* as bloom_rows has it, where it counts; or NULL */
    psf of[VIEW_CHANNELS + 1]; /* of[n]: of groups of n channels */
    /* Of a field, the same at its size, which is taken: */
    const kernel_at *at[VIEW_CHANNELS + 1];
    definition_field field[VIEW_CHANNELS + 1];
    definition_kernel by[VIEW_CHANNELS + 1];
} kernels;

static bool make_kernels(kernels *k, const part_plan *p, err *e) {
    *k = (kernels){.p = p};
    const plan_border *border = p->j->s->border;
    const bool field = session_kernel(p->j->session)->field;
    for (int i = 0; i < p->m.groups; i++) {
        const uint32_t n = p->group[i].count;
        const kernel_need need = part_need(p->j, n, 0);
        if (k->by[n].kernel) continue;
        if (!field && !part_psf(&k->of[n], p->j, &need, NULL, e)) return false;
        if (field && !(k->at[n] = kernel_sizes_take(session_sizes(p->j->session), &need,
                                                    (plan_planes){.in = PLAN_FLOATS}, e)))
            return false;
        if (field) k->field[n] = (definition_field){k->at[n]->psf, &k->at[n]->field};
        k->by[n] = (definition_kernel){
            &k->of[n], {border[PLAN_X], border[PLAN_Y]}, field ? &k->field[n] : NULL};
    }
    return true;
}

static void free_kernels(kernels *k) {
    for (int i = 0; i <= VIEW_CHANNELS; i++) {
        psf_free(&k->of[i]);
        if (k->at[i]) kernel_sizes_give(session_sizes(k->p->j->session), k->at[i]);
    }
}

static bool add_group(sampler *s, const kernels *k, const part_group *g, void *const plane[],
                      const float *mask, uint32_t row, uint32_t rows, err *e) {
    const part_plan *p = k->p;
    definition_rows r[VIEW_CHANNELS];
    for (uint32_t c = 0; c < g->count; c++)
        r[c] = (definition_rows){plane[c],
                                 p->channel[g->first + c].type,
                                 {g->light.threshold, g->light.knee, mask},
                                 p->w,
                                 p->h,
                                 row,
                                 rows,
                                 k->lost ? k->lost[p->channel[g->first + c].index] : NULL};
    const sampler_rows add = {g->first, g->count, r, k->by[g->count]};
    return sampler_add(s, &add, p->j->threads, e);
}

bool part_verify_came(sampler *s, const part_plan *p, uint32_t group, void *const came[],
                      const float *mask, bool cpu, err *e) {
    kernels k;
    bool ok = make_kernels(&k, p, e);
    k.lost = cpu ? p->j->lost : NULL;
    ok = ok && add_group(s, &k, &p->group[group], came, mask, 0, p->h, e);
    free_kernels(&k);
    return ok;
}

/* Reads the part once more, from its source, so that mistakes in margins, seams and rows show. */
static bool read_all(sampler *s, const kernels *k, const part_measured *seen, err *e) {
    const part_plan *p = k->p;
    uint32_t some = rows_some(p->p, 1);
    OWN(part_held) h = {0};
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
    return ok;
}

/* Reads the alphas by which colours are divided before they are coded, if not bloomed. */
static bool read_alphas(sampler *s, const part_plan *p, const part_group *g, err *e) {
    const rows_source *in = p->j->in;
    uint32_t some = rows_some(p->p, 1);
    pixel_type type = p->p->channel[g->alpha].type;
    OWN_MEM void **plane = mem_new((size_t)p->p->channels, sizeof *plane, "planes", e);
    OWN_MEM void *rows = mem_raw((size_t)p->w * some, pixel_bytes(type), "rows", e);
    bool ok = plane && rows;
    if (ok) plane[g->alpha] = rows;
    for (uint32_t y = 0; ok && y < p->h; y += some) {
        uint32_t n = min_u32(some, p->h - y);
        ok = in->read(in->ctx, p->j->part, y, n, plane, e);
        for (size_t i = 0; ok && i < s->count; i++) {
            sampler_pixel *pixel = &s->pixel[i];
            float v;
            if (pixel->channel - g->first >= g->count || pixel->defined.y - y >= n) continue;
            image_to_float(&v, rows, type, (size_t)(pixel->defined.y - y) * p->w + pixel->defined.x,
                           1);
            pixel->alpha = (double)v;
        }
    }
    return ok;
}

/* Judges the pixel that begins here, and returns how many entries it has: all channels of a group
 * that is coded, colours first, or one. type, dark: of each channel of the list. */
static uint32_t judge(bloom_verified *to, const sampler_pixel *pixel, const kernels *k,
                      const pixel_type *type, const double *dark) {
    const part_plan *p = k->p;
    const part_group *g = p->group;
    verify_promise by[VIEW_CHANNELS];
    while (pixel->channel >= g->first + g->count) g++;
    uint32_t count = g->coded ? g->count : 1, colours = g->coded ? (uint32_t)g->group->channels : 1;
    const kernel_need need = part_need(p->j, g->count, g->light.sharpen);
    const definition_kernel *kernel = &k->by[g->count];
    for (uint32_t c = 0; c < count; c++) {
        const uint32_t own = pixel[c].channel - g->first;
        by[c] = (verify_promise){.kernel = kernel,
                                 .gain = definition_gain_of(kernel, own, g->light.sharpen,
                                                            kernel_need_tint(&need, own),
                                                            &pixel[c].defined),
                                 .dark = dark[pixel[c].channel],
                                 .tolerance = p->j->s->tolerance,
                                 .type = type[pixel[c].channel]};
    }
    bool spreads = count > colours; /* alpha, too */
    verify_judge(&to->found, pixel, by, (int)colours, g->coded ? &p->code : NULL,
                 spreads ? pixel[colours].got : pixel->alpha);
    if (spreads) verify_judge(&to->found, pixel + colours, by + colours, 1, NULL, 1);
    return count;
}

bool part_verify_alphas(sampler *s, const part_plan *p, err *e) {
    bool ok = true;
    for (int i = 0; ok && s->count && i < p->m.groups; i++) {
        const part_group *g = &p->group[i];
        bool stays = g->coded && g->alpha >= 0 && g->count == (uint32_t)g->group->channels;
        ok = !stays || read_alphas(s, p, g, e);
    }
    return ok;
}

bool part_verify(bloom_verified *to, sampler *s, const part_plan *p, bool read,
                 const pixel_type *type, const part_measured *seen, err *e) {
    kernels k = {0};
    if (!s->count) return true;
    bool ok = (!read || part_verify_alphas(s, p, e)) && make_kernels(&k, p, e) &&
              (!read || read_all(s, &k, seen, e));
    for (size_t i = 0; ok && i < s->count;) i += judge(to, &s->pixel[i], &k, type, seen->dark);
    const verify_pixel *worst = &to->found.worst;
    to->x = p->p->data.x0 + (int32_t)worst->x;
    to->y = p->p->data.y0 + (int32_t)worst->y;
    snprintf(to->channel, sizeof to->channel, "%s", part_name(p, worst->channel));
    free_kernels(&k);
    return ok;
}
