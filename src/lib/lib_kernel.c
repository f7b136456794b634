#include "kernel/kernel_field.h"
#include "kernel/lint.h"
#include "kernel/make/kernel_recipe.h"
#include "kernel/make/kernel_word.h"
#include "lib/lib.h"

#include <dlfcn.h>
#include <float.h>

void lib_kernel_give(fb_kernel *k) {
    if (!k || atomic_fetch_sub(&k->users, 1) != 1) return;
    fb_context *c = k->context;
    kernel_source_free(&k->source);
    mem_free(k);
    lib_context_give(c);
}

static fb_kernel *new_kernel(fb_context *c, err *e) {
    fb_kernel *k = mem_new(1, sizeof *k, "kernel", e);
    if (!k) return NULL;
    atomic_fetch_add(&c->users, 1);
    k->users = 1;
    k->context = c;
    return k;
}

/* Loads the kernel that a word means: of a recipe one that is kept where there is a cache. Shipped
 * ones are in the folder of the context, or in one near this library. side: of the frame for which
 * a recipe is made; 0: it is made as it is. */
static fb_kernel *open_word(fb_context *c, const char *word, uint32_t side, err *e) {
    const kernel_making how = {.scale = side ? kernel_word_scale(side) : 1};
    char folder[KERNEL_PATH];
    kernel_word k;
    Dl_info here;
    const bool near = !c->kernels && dladdr((void *)(uintptr_t)fb_kernel_open, &here) &&
                      kernel_word_folder(folder, here.dli_fname);
    const kernel_places in = {.shipped = near ? folder : c->kernels, .cache = c->cache_dir};
    if (!kernel_word_find(&k, word, &in, e)) return NULL;
    if (side && !k.recipe)
        return err_set(e, ERR_CONFIG,
                       "kernel '%s' has taps of one size, and cannot be made for a frame; open it "
                       "without one",
                       k.path),
               NULL;
    fb_kernel *to = new_kernel(c, e);
    if (to && !kernel_word_load(&to->source, &k, &how, &in, c->threads, e))
        lib_kernel_give(to), to = NULL;
    return to;
}

static fb_kernel *open_recipe(fb_context *c, const char *json, err *e) {
    fb_kernel *k = new_kernel(c, e);
    OWN(kernel_recipe) r = {0};
    OWN(image) *img = k && kernel_recipe_text(&r, json, e) ? kernel_recipe_make(&r, c->threads, e)
                                                           : NULL;
    if (k && !(img && kernel_source_image(&k->source, "recipe", img, e)))
        lib_kernel_give(k), k = NULL;
    return k;
}

int32_t fb_kernel_open(fb_kernel **to, fb_context *context, const char *name, fb_error *error) {
    lib_call l;
    if (to) *to = NULL;
    if (lib_enter(&l, to && name ? context : NULL, "fb_kernel_open", error))
        *to = open_word(context, name, 0, &l.e);
    return lib_leave(&l);
}

int32_t fb_kernel_open_for(fb_kernel **to, fb_context *context, const char *name, uint32_t width,
                           uint32_t height, fb_error *error) {
    lib_call l;
    if (to) *to = NULL;
    if (!lib_enter(&l, to && name ? context : NULL, "fb_kernel_open_for", error))
        return lib_leave(&l);
    if (width && height)
        *to = open_word(context, name, max_u32(width, height), &l.e);
    else
        err_set(&l.e, ERR_CONFIG, "the frame is %u x %u pixels, and needs 1 x 1 or more", width,
                height);
    return lib_leave(&l);
}

int32_t fb_kernel_make(fb_kernel **to, fb_context *context, const char *json, fb_error *error) {
    lib_call l;
    if (to) *to = NULL;
    if (lib_enter(&l, to && json ? context : NULL, "fb_kernel_make", error)) {
        l.data = true;
        *to = open_recipe(context, json, &l.e);
    }
    return lib_leave(&l);
}

/* --- fields ----------------------------------------------------------------------------------- */

static bool take_places(field_grid *g, const fb_field *f, err *e) {
    for (uint32_t a = 0; a < PLAN_AXES; a++) {
        const double *at = a == PLAN_X ? f->x : f->y;
        const uint32_t count = a == PLAN_X ? f->across : f->down;
        g->nodes[a] = count;
        if (!at || count < 1 || count > FIELD_SIDE)
            return err_set(e, ERR_USAGE, "a field has 1 to %d nodes along %c, with places, not %u",
                           FIELD_SIDE, "xy"[a], count);
        for (uint32_t i = 0; i < g->nodes[a]; i++)
            if (!isfinite(g->at[a][i] = at[i]) || (i && at[i] <= at[i - 1]))
                return err_set(e, ERR_USAGE,
                               "the places of nodes along %c must increase: number %u"
                               " is %g",
                               "xy"[a], i, at[i]);
    }
    g->common = f->common ? f->share : 0;
    return !f->common || (f->share > 0 && f->share < 1) ||
           err_set(e, ERR_USAGE, "the common kernel's share is %g; it can be between 0 and 1",
                   f->share);
}

static fb_kernel *make_field(fb_context *c, const fb_field *f, err *e) {
    field_grid g = {.common = 0};
    const kernel_source *node[FIELD_SIDE * FIELD_SIDE + 1];
    if (!take_places(&g, f, e)) return NULL;
    const uint32_t n = g.nodes[PLAN_X] * g.nodes[PLAN_Y];
    for (uint32_t i = 0; i < field_nodes(&g); i++) {
        const fb_kernel *k = i == n ? f->common : f->nodes ? f->nodes[i] : NULL;
        if (!k || k->context != c)
            return err_set(e, ERR_USAGE, "node %u of the field %s", i,
                           k ? "is of another context" : "is NULL"),
                   NULL;
        node[i] = &k->source;
    }
    fb_kernel *k = new_kernel(c, e);
    if (k && !kernel_field_of(&k->source, "field", &g, node, e)) lib_kernel_give(k), k = NULL;
    return k;
}

int32_t fb_kernel_field(fb_kernel **to, fb_context *context, const fb_field *field,
                        fb_error *error) {
    lib_call l;
    fb_field f;
    if (to) *to = NULL;
    if (lib_enter(&l, to && field ? context : NULL, "fb_kernel_field", error) &&
        lib_struct(&f, sizeof f, sizeof f, field, "fb_field", &l.e))
        *to = make_field(context, &f, &l.e);
    return lib_leave(&l);
}

int32_t fb_kernel_node(fb_kernel **to, fb_kernel *kernel, uint32_t number, double at[3],
                       fb_error *error) {
    lib_call l;
    if (to) *to = NULL;
    if (!lib_enter(&l, to && kernel && at ? kernel->context : NULL, "fb_kernel_node", error))
        return lib_leave(&l);
    static const field_grid ONE = {.common = 1};
    const kernel_field *field = kernel->source.field;
    const field_grid *g = field ? &field->grid : &ONE;
    if (number >= field_nodes(g))
        err_set(&l.e, ERR_NO_INPUT, "kernel '%s' has no node %u; it has %u", kernel->source.path,
                number, field_nodes(g));
    else {
        fb_kernel *k = field ? new_kernel(l.c, &l.e) : kernel;
        if (!field) atomic_fetch_add(&k->users, 1);
        if (field && k && !kernel_source_copy(&k->source, &field->node[number], &l.e))
            lib_kernel_give(k), k = NULL;
        for (uint32_t a = 0; k && a < PLAN_AXES; a++) {
            const uint32_t n = field_line(g->nodes, number, a);
            at[a] = n < g->nodes[a] ? g->at[a][n] : NAN;
        }
        if (k) at[2] = field_share(g, number);
        *to = k;
    }
    return lib_leave(&l);
}

/* --- planes ----------------------------------------------------------------------------------- */

static const int32_t FLOATS[3] = {FB_FLOAT, FB_FLOAT, FB_FLOAT};

static bool take_planes(fb_kernel *k, uint32_t w, uint32_t h, uint32_t channels,
                        const fb_plane *planes, err *e) {
    static const uint32_t BACKWARDS[3] = {2, 1, 0};
    bool doubles = false;
    for (uint32_t c = 0; c < channels; c++) doubles |= planes[c].type == FB_DOUBLE;
    OWN(image) *img = image_plain(w, h, (int)channels, PIXEL_FLOAT, e);
    OWN(image) *lost = NULL;
    bool ok = img && (!doubles || (lost = image_plain(w, h, (int)channels, PIXEL_FLOAT, e)));
    if (ok) {
        lib_rows r = {.plane = planes,
                      .index = BACKWARDS + 3 - channels,
                      .own = img->plane[0],
                      .type = FLOATS,
                      .rest = lost ? (float *const *)(void *)lost->plane[0] : NULL,
                      .w = w,
                      .rows = h,
                      .channels = channels};
        ok = lib_rows_copy(&r, k->context->threads, e) &&
             kernel_source_image(&k->source, "array of taps", img, e) &&
             (!lost || kernel_source_refine(&k->source, lost, e));
    }
    return ok;
}

/* Checks the caller's planes: floats are to hold the taps of doubles, and what these lose. */
static bool check_planes(uint32_t w, uint32_t h, uint32_t channels, const fb_plane *planes,
                         par *threads, err *e) {
    double most[3], least = 0x1p-100;
    if (w < 1 || h < 1 || w > PSF_SIDE || h > PSF_SIDE)
        return err_set(e, ERR_USAGE, "a kernel has 1 to %d taps a side, not %u x %u", PSF_SIDE, w,
                       h);
    if (channels != 1 && channels != 3)
        return err_set(e, ERR_USAGE, "a kernel has 1 or 3 channels, not %u", channels);
    if (!lib_planes_check(planes, w, h, channels, false, "planes", e) ||
        !lib_planes_most(most, planes, w, h, channels, threads, e))
        return false;
    for (uint32_t c = 0; c < channels; c++)
        if (most[c] > 0 && (most[c] > FLT_MAX || most[c] < least))
            return err_set(
                e, ERR_USAGE,
                "the largest tap of plane %u of the kernel is %g; it can be %g to %g, or "
                "0: scale the kernel",
                c, most[c], least, FLT_MAX);
    return true;
}

int32_t fb_kernel_copy(fb_kernel **to, fb_context *context, uint32_t width, uint32_t height,
                       uint32_t channels, const fb_plane *planes, fb_error *error) {
    lib_call l;
    if (to) *to = NULL;
    if (lib_enter(&l, to ? context : NULL, "fb_kernel_copy", error) &&
        check_planes(width, height, channels, planes, context->threads, &l.e)) {
        fb_kernel *k = *to = new_kernel(context, &l.e);
        if (k && !take_planes(k, width, height, channels, planes, &l.e))
            lib_kernel_give(k), *to = NULL;
    }
    return lib_leave(&l);
}

void fb_kernel_close(fb_kernel *kernel) {
    lib_kernel_give(kernel);
}

void fb_kernel_size(const fb_kernel *kernel, uint32_t *width, uint32_t *height,
                    uint32_t *channels) {
    const kernel_source *k = kernel ? &kernel->source : &(kernel_source){0};
    const psf *ready = &k->ready.kernel;
    if (width) *width = k->is_spectrum ? ready->w : k->w;
    if (height) *height = k->is_spectrum ? ready->h : k->h;
    if (channels) *channels = k->channels;
}

/* Writes the taps of a channel, in double where the kernel has them so. */
static bool put_taps(const kernel_source *k, uint32_t channel, const fb_plane *plane, par *threads,
                     err *e) {
    const size_t n = (size_t)k->w * k->h;
    const float *tap = k->plane[channel], *rest = k->rest[channel];
    OWN_MEM double *total = mem_raw(n, sizeof *total, "taps", e);
    for (size_t i = 0; total && i < n; i++)
        total[i] = (double)tap[i] + (rest ? (double)rest[i] : 0);
    lib_rows r = {.plane = plane,
                  .own = (void *[]){total},
                  .type = (int32_t[]){FB_DOUBLE},
                  .w = k->w,
                  .rows = k->h,
                  .channels = 1,
                  .out = true};
    return total && lib_rows_copy(&r, threads, e);
}

int32_t fb_kernel_taps(const fb_kernel *kernel, const fb_plane *planes, fb_error *error) {
    lib_call l;
    if (!lib_enter(&l, kernel ? kernel->context : NULL, "fb_kernel_taps", error))
        return lib_leave(&l);
    const kernel_source *k = &kernel->source;
    bool ok = true;
    if (k->is_spectrum)
        err_set(&l.e, ERR_USAGE, "kernel '%s' is a spectrum, and has no taps to show", k->path);
    else if (kernel_source_taps(k, &l.e) &&
             lib_planes_check(planes, k->w, k->h, k->channels, true, "planes", &l.e))
        for (uint32_t c = 0; ok && c < k->channels; c++)
            ok = put_taps(k, c, &planes[c], kernel->context->threads, &l.e);
    return lib_leave(&l);
}

/* Adds what there is to say of a kernel, or of a node of a field. */
static bool add_findings(char *to, size_t room, const kernel_source *k, const char *node, err *e) {
    lint found;
    const psf_planes taps = kernel_source_planes(k);
    kernel_finding findings[KERNEL_FINDINGS];
    if (!lint_kernel(&found, &taps, e)) return false;
    const int n = kernel_findings(findings, &found);
    for (int i = 0; i < n; i++) {
        const size_t used = strlen(to);
        if (findings[i].warning)
            snprintf(to + used, room - used, "%s%s%s", used ? "\n" : "", node, findings[i].words);
    }
    return true;
}

int32_t fb_kernel_check(const fb_kernel *kernel, char *to, size_t room, fb_error *error) {
    lib_call l;
    char node[32] = "";
    if (!lib_enter(&l, kernel && to && room ? kernel->context : NULL, "fb_kernel_check", error))
        return lib_leave(&l);
    *to = 0;
    const kernel_source *k = &kernel->source;
    if (k->is_spectrum)
        err_set(&l.e, ERR_USAGE, "kernel '%s' is a spectrum, and has no taps to check", k->path);
    else if (!k->field)
        add_findings(to, room, k, node, &l.e);
    for (uint32_t i = 0; k->field && i < field_nodes(&k->field->grid); i++) {
        snprintf(node, sizeof node, "node %u: ", i);
        if (!add_findings(to, room, &k->field->node[i], node, &l.e)) break;
    }
    return lib_leave(&l);
}
