#include "base/text.h"
#include "bloom/part_work.h"

/* Return the number of channels of a group that are bloomed, and each of them. */
static uint32_t count_channels(const bloom_settings *s, const layer_group *g) {
    return (uint32_t)g->channels + (s->alpha == ALPHA_CONVOLVE && g->alpha >= 0);
}
static int channel_of(const layer_group *g, uint32_t c) {
    return c < (uint32_t)g->channels ? g->channel[c] : g->alpha;
}

bool part_header(image_part *p, const bloom_settings *s, err *e) {
    OWN(layer_map) m = {0};
    OWN(text) names = {0}; /* of the channels to add: a new one moves the others */
    bool ok = layer_map_make(&m, p, s->layers, s->exclude, e);
    for (int i = 0; ok && i < m.groups; i++)
        for (uint32_t c = 0; c < count_channels(s, &m.group[i]); c++) {
            image_channel *channel = &p->channel[channel_of(&m.group[i], c)];
            channel->type = bloom_stored(s, channel->wide, channel->type);
            if (bloom_emits(s))
                text_add(&names, "%c%s.%s\n", '0' + channel->type, s->emit_layer, channel->name);
        }
    ok = ok && text_check(&names, e);
    for (char *at = names.s; ok && at && *at;) {
        char *end = strchr(at, '\n');
        *end = 0;
        ok = image_add_channel(p, at + 1, (pixel_type)(*at - '0'), e) ||
             err_in(e, "layer '%s'", s->emit_layer);
        const char *of = at + strlen(s->emit_layer) + 2; /* the channel whose glare it is */
        if (ok)
            p->channel[image_find_channel(p, at + 1)].wide =
                p->channel[image_find_channel(p, of)].wide;
        at = end + 1;
    }
    return ok;
}

kernel_need part_need(const part_job *j, uint32_t channels, double sharpen) {
    const image_part *p = &j->in->head->part[j->part];
    kernel_need need = {.channels = channels,
                        .w = image_width(p),
                        .h = image_height(p),
                        .height = j->height,
                        .aspect = (double)p->aspect,
                        .sharpen = sharpen};
    primaries gamut;
    if (image_primaries(p, &gamut)) primaries_to_floats(need.primaries, &gamut);
    double luminance[3];
    image_luminance(p, luminance);
    bloom_tint(need.tint, j->s, channels, luminance);
    if (j->session && session_kernel(j->session)->field)
        need.frame = (field_frame){
            .from = {(int64_t)p->data.x0 - p->display.x0, (int64_t)p->data.y0 - p->display.y0},
            .size = {(uint32_t)image_box_width(&p->display),
                     (uint32_t)image_box_height(&p->display)}};
    return need;
}

void part_place(field_frame *f, const part_plan *p, const tiling *t, const int64_t first[PLAN_AXES],
                const uint32_t kept[PLAN_AXES]) {
    const uint32_t size[] = {p->w, p->h};
    for (int a = 0; a < PLAN_AXES && f->size[PLAN_X]; a++) {
        if (!t->cut[a]) continue;
        f->first[a] = first[a], f->extent[a] = size[a], f->border[a] = p->j->s->border[a];
        f->kept[a][0] = t->before[a], f->kept[a][1] = t->before[a] + kept[a];
    }
}

view part_view(const part_plan *p, const part_group *g, image *img, const float *mask) {
    const part_job *j = p->j;
    view v = {.s = j->s,
              .threads = j->threads,
              .img = img,
              .layer = g->group->name,
              .channels = g->count,
              .need = part_need(j, g->count, g->light.sharpen),
              .sharpen = g->light.sharpen,
              .spread = {g->light.threshold, g->light.knee, mask},
              .emits = bloom_emits(j->s)};
    v.all_spread = join_spreads_all(&v.spread);
    for (uint32_t c = 0; c < v.channels; c++) v.type[c] = g->head.part[0].channel[c].type;
    return v;
}

bool part_psf(psf *k, const part_job *j, const kernel_need *need, double *full, err *e) {
    const kernel_use use = bloom_kernel_use(j->s);
    return kernel_source_psf(k, session_kernel(j->session), &use, need, full, e);
}

static bool make_head(part_group *g, const part_plan *of, err *e) {
    image_part *p = mem_new(1, sizeof *p, "a tile", e);
    if (!p) return false;
    g->head = (image_header){.format = of->j->in->head->format, .part = p, .parts = 1};
    p->aspect = of->p->aspect;
    if (!(p->channel = mem_new(g->count, sizeof *p->channel, "channels", e))) return false;
    for (uint32_t c = 0; c < g->count; c++) {
        const image_channel *own = &of->p->channel[of->channel[g->first + c].index];
        p->channel[p->channels++] =
            (image_channel){.name = mem_str(own->name, e), .type = own->type, .wide = own->wide};
        if (!p->channel[c].name) return false;
    }
    return true;
}

/* Finds the mask of a group. A channel of the image comes before a file of the same name. */
static bool find_mask(part_group *to, const part_job *j, err *e) {
    const char *name = to->light.mask;
    err none = {0};
    if (!*name || mask_find(&to->mask, j->in, j->part, name, &none)) return true;
    if (!j->s->mask_file || strncmp(name, j->s->mask, LAYER_MASK - 1) != 0) return *e = none, false;
    to->mask = (mask_place){j->mask, 0, j->mask ? mask_channel(j->mask->head->part) : 0};
    return true;
}

static bool make_group(part_group *to, part_plan *p, const layer_group *g, err *e) {
    const bloom_settings *s = p->j->s;
    *to = (part_group){.group = g, .first = p->channels, .count = count_channels(s, g)};
    for (uint32_t c = 0; c < to->count; c++) {
        int index = channel_of(g, c);
        const image_channel *channel = &p->p->channel[index];
        p->channel[p->channels++] =
            (part_channel){index, channel->type, bloom_stored(s, channel->wide, channel->type)};
    }
    return layer_light_of(&to->light, s, p->p, g, e) && find_mask(to, p->j, e) &&
           make_head(to, p, e);
}

/* Finds out which groups the file codes: those that it codes as one, whatever settings choose. */
static bool find_codes(part_plan *to, err *e) {
    const bloom_settings *s = to->j->s;
    OWN(layer_map) map = {0};
    if (!s->verify || !s->stored.curve) return true;
    if (!recode_to(&to->code, to->p, &s->stored, e) || !layer_map_make(&map, to->p, NULL, NULL, e))
        return false;
    for (int i = 0; i < to->m.groups; i++)
        for (int k = 0; k < map.groups; k++) {
            part_group *g = &to->group[i];
            const layer_group *group = &map.group[k];
            if (memcmp(group->channel, g->group->channel, sizeof group->channel) != 0) continue;
            g->coded = true;
            g->alpha = group->alpha;
        }
    return true;
}

bool part_plan_make(part_plan *to, const part_job *j, err *e) {
    const bloom_settings *s = j->s;
    const image_header *h = j->in->head;
    *to = (part_plan){.j = j, .p = &h->part[j->part]};
    to->w = image_width(to->p);
    to->h = image_height(to->p);
    const image_header own = {.part = &h->part[j->part], .parts = 1};
    if (!layer_map_make(&to->m, to->p, s->layers, s->exclude, e) ||
        !image_header_copy(&to->result, &own, e) || !part_header(to->result.part, s, e))
        return false;
    to->channel = mem_new((size_t)to->p->channels, sizeof *to->channel, "channels", e);
    to->group = mem_new((size_t)to->m.groups, sizeof *to->group, "layers", e);
    bool ok = to->channel && to->group;
    for (int i = 0; ok && i < to->m.groups; i++)
        ok = make_group(&to->group[i], to, &to->m.group[i], e);
    return ok && find_codes(to, e);
}

void part_plan_free(part_plan *p) {
    for (int i = 0; p->group && i < p->m.groups; i++) image_header_free(&p->group[i].head);
    mem_free(p->group);
    mem_free(p->channel);
    image_header_free(&p->result);
    layer_map_free(&p->m);
    *p = (part_plan){0};
}

bool part_first_need(kernel_need *need, plan_planes *planes, const part_job *j, err *e) {
    OWN(part_plan) p = {0};
    if (!part_plan_make(&p, j, e)) return false;
    const part_group *g = &p.group[0];
    image img = {.head = g->head};
    const float any = 0;
    const view v = part_view(&p, g, &img, g->light.mask[0] ? &any : NULL);
    *need = v.need;
    *planes = view_planes(&v);
    return true;
}
