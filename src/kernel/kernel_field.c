#include "kernel/kernel_field.h"

#include "base/mem.h"
#include "image/format.h"
#include "kernel/spectrum_file.h"

/* Where a part's node is: at x and y, or everywhere. */
typedef struct {
    double at[PLAN_AXES];
    double common; /* its share of the light; 0: it is at a place */
} node_place;

static bool read_place(node_place *to, const image_part *p, int part, err *e) {
    char place[64], end;
    image_attr_text(p, KERNEL_NODE_ATTR, place, sizeof place);
    *to = (node_place){.common = 0};
    if (sscanf(place, "%lf %lf%c", &to->at[PLAN_X], &to->at[PLAN_Y], &end) == 2 &&
        isfinite(to->at[PLAN_X]) && isfinite(to->at[PLAN_Y]))
        return true;
    if (sscanf(place, "everywhere %lf%c", &to->common, &end) == 1 && to->common > 0 &&
        to->common < 1)
        return true;
    return err_set(e, ERR_DATA,
                   "part %d: the attribute " KERNEL_NODE_ATTR " is '%s', and must be the node's x "
                   "and y in shares of the frame, such as '0.5 1', or 'everywhere' and its share "
                   "of the light, between 0 and 1",
                   part, place);
}

/* Adds a place to those of an axis, which increase. Returns false if there are too many. */
static bool add_place(field_grid *g, uint32_t axis, double at) {
    uint32_t *n = &g->nodes[axis], i = 0;
    while (i < *n && g->at[axis][i] < at) i++;
    if (i < *n && g->at[axis][i] == at) return true;
    if (*n == FIELD_SIDE) return false;
    memmove(&g->at[axis][i + 1], &g->at[axis][i], (*n - i) * sizeof at);
    g->at[axis][i] = at;
    return ++*n;
}

static uint32_t find_place(const field_grid *g, uint32_t axis, double at) {
    uint32_t i = 0;
    while (g->at[axis][i] != at) i++;
    return i;
}

static bool read_grid(field_grid *g, const image *img, err *e) {
    node_place place;
    *g = (field_grid){.nodes = {0}};
    for (int i = 0; i < img->head.parts; i++) {
        if (!read_place(&place, &img->head.part[i], i, e)) return false;
        if (place.common > 0) g->common = place.common;
        for (uint32_t a = 0; a < PLAN_AXES && !(place.common > 0); a++)
            if (!add_place(g, a, place.at[a]))
                return err_set(e, ERR_DATA, "the nodes have more than %d places along %c",
                               FIELD_SIDE, "xy"[a]);
    }
    if (field_nodes(g) == (uint32_t)img->head.parts && g->nodes[PLAN_X]) return true;
    return err_set(e, ERR_DATA,
                   "%d parts are no grid: their nodes have %u places along x and %u along y, which "
                   "are %u nodes",
                   img->head.parts, g->nodes[PLAN_X], g->nodes[PLAN_Y], field_nodes(g));
}

static bool read_node(kernel_field *f, const char *name, const image *img, int part, err *e) {
    node_place place;
    const field_grid *g = &f->grid;
    image one = {.head = {img->head.format, &img->head.part[part], 1, 0},
                 .plane = &img->plane[part]};
    if (!read_place(&place, &img->head.part[part], part, e)) return false;
    const uint32_t number = place.common > 0
                                ? g->nodes[PLAN_X] * g->nodes[PLAN_Y]
                                : find_place(g, PLAN_Y, place.at[PLAN_Y]) * g->nodes[PLAN_X] +
                                      find_place(g, PLAN_X, place.at[PLAN_X]);
    if (f->node[number].path)
        return place.common > 0 ? err_set(e, ERR_DATA, "two parts have their node everywhere")
                                : err_set(e, ERR_DATA, "two parts have their node at %g %g",
                                          place.at[PLAN_X], place.at[PLAN_Y]);
    return kernel_source_image(&f->node[number], name, &one, e) || err_in(e, "part %d", part);
}

/* Returns whether two nodes have the same taps in the same colours and shape of pixels; else what
 * differs that all nodes must share, in *what; NULL: nothing that must be. */
static bool same_node(const kernel_source *a, const kernel_source *b, const char **what) {
    *what = a->channels != b->channels                                      ? "channels"
            : a->aspect != b->aspect                                        ? "pixel aspects"
            : a->known && b->known && !primaries_same(&a->gamut, &b->gamut) ? "primaries"
                                                                            : NULL;
    const size_t bytes = (size_t)a->w * a->h * sizeof(float);
    bool same = !*what && a->known == b->known && a->w == b->w && a->h == b->h &&
                !a->rest[0] == !b->rest[0];
    for (uint32_t c = 0; same && c < a->channels; c++)
        same = memcmp(a->plane[c], b->plane[c], bytes) == 0 &&
               (!a->rest[c] || memcmp(a->rest[c], b->rest[c], bytes) == 0);
    return same;
}

/* The source of a field has the name and the colours of its nodes, and the largest one's size.
 * Where all nodes are alike it is the first one's. */
static bool gather(kernel_source *k, err *e) {
    kernel_source *first = k->field->node;
    const char *differs;
    bool alike = !(k->field->grid.common > 0);
    for (uint32_t i = 0; i < field_nodes(&k->field->grid); i++) {
        const kernel_source *source = &k->field->node[i];
        alike = same_node(first, source, &differs) && alike;
        if (differs) return err_set(e, ERR_DATA, "its nodes have different %s", differs);
        k->w = max_u32(k->w, source->w), k->h = max_u32(k->h, source->h);
    }
    k->channels = first->channels, k->aspect = first->aspect;
    k->gamut = first->gamut, k->known = first->known;
    memcpy(k->luminance, first->luminance, sizeof k->luminance);
    if (!alike) return true;
    kernel_source one = *first;
    *first = (kernel_source){.path = NULL};
    kernel_source_free(k);
    *k = one;
    return true;
}

/* Begins a field, whose nodes are to be filled in; and ends it, whether they could be or not. */
static bool begin(kernel_source *k, const char *name, const field_grid *g, err *e) {
    *k = (kernel_source){.path = mem_str(name, e),
                         .field = mem_new(1, sizeof *k->field, "field", e)};
    if (!k->path || !k->field) return false;
    k->field->grid = *g;
    return (k->field->node = mem_new(field_nodes(g), sizeof *k->field->node, "field", e));
}

static bool finish(kernel_source *k, const char *name, bool ok, err *e) {
    if (ok && gather(k, e)) return true;
    kernel_source_free(k);
    return err_in(e, "the field '%s'", name) || err_blame(e, FAULT_KERNEL);
}

bool kernel_field_image(kernel_source *k, const char *name, const image *img, err *e) {
    field_grid g;
    if (!image_find_attr(&img->head.part[0], KERNEL_NODE_ATTR))
        return kernel_source_image(k, name, img, e);
    *k = (kernel_source){.path = NULL};
    bool ok = read_grid(&g, img, e) && begin(k, name, &g, e);
    for (int i = 0; ok && i < img->head.parts; i++) ok = read_node(k->field, name, img, i, e);
    return finish(k, name, ok, e);
}

bool kernel_field_of(kernel_source *k, const char *name, const field_grid *g,
                     const kernel_source *const node[], err *e) {
    bool ok = begin(k, name, g, e);
    for (uint32_t i = 0; ok && i < field_nodes(g); i++)
        ok = kernel_source_copy(&k->field->node[i], node[i], e) || err_in(e, "node %u", i);
    return finish(k, name, ok, e);
}

bool kernel_field_load(kernel_source *k, const char *path, par *threads, err *e) {
    if (spectrum_file_is(path)) return kernel_source_load(k, path, threads, e);
    OWN(image) *img = image_load(path, &(image_limits){.side = PSF_SIDE}, threads, e);
    return img ? kernel_field_image(k, path, img, e)
               : err_in(e, "kernel") || err_blame(e, FAULT_KERNEL);
}
