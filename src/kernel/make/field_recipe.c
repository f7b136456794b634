#include "kernel/make/field_recipe.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "kernel/edit/edit.h"
#include "kernel/make/kernel_word.h"

#include <unistd.h>

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_places(field_grid *g, uint32_t axis, const json_value *field, bool mirrored,
                        err *e) {
    const char name[] = {"xy"[axis], 0};
    const json_value *at = json_get(field, name);
    double *to = g->at[axis];
    if (!at || at->type != JSON_ARRAY || !at->child || at->children > FIELD_SIDE)
        return json_err(at ? at : field, e,
                        "\"%s\" must be an array of 1 to %d places, in shares of the frame, such "
                        "as [0, 0.5, 1]",
                        name, FIELD_SIDE);
    for (const json_value *v = at->child; v; v = v->next) {
        const uint32_t n = g->nodes[axis]++;
        if (v->type != JSON_NUMBER || !isfinite(v->number) || (n && v->number <= to[n - 1]))
            return json_err(v, e, "the places of \"%s\" must be numbers that increase", name);
        to[n] = v->number;
    }
    return !mirrored || to[g->nodes[axis] - 1] <= 0.5 || to[0] >= 0.5 ||
           json_err(at, e,
                    "\"%s\" has places from %g to %g, on both sides of the mirror at 0.5; name "
                    "those of one side",
                    name, to[0], to[g->nodes[axis] - 1]);
}

static bool read_mirror(bool to[PLAN_AXES], const json_value *v, err *e) {
    const char *axes = v && v->type == JSON_STRING ? v->text : "";
    for (uint32_t a = 0; a < PLAN_AXES; a++) to[a] = strchr(axes, "xy"[a]) != NULL;
    return !v || (*axes && axes[strspn(axes, "xy")] == 0) ||
           json_err(v, e, "mirror must be \"x\", \"y\" or \"xy\"");
}

/* Takes the word of a node, which is a file in the folder of the recipe, a name, or a mix. */
static bool read_word(char **to, const json_value *v, err *e) {
    const char *file = json_name(v->of);
    OWN(text) folder = {0}, word = {0};
    if (v->type != JSON_STRING || !*v->text)
        return json_err(v, e, "a node must be a kernel: a file, a name, or a mix");
    text_add_bytes(&folder, file, (size_t)(path_name(file) - file));
    text_add(&word, "%s%s", *v->text == '/' || !folder.s ? "" : folder.s, v->text);
    if (!text_check(&word, e)) return false;
    if (access(word.s, F_OK) != 0) {
        text_free(&word);
        kernel_word_add_mix(&word, v->text, folder.s ? folder.s : "");
    }
    return text_check(&word, e) && (*to = mem_str(word.s, e));
}

/* Takes the value that a parameter of the recipe has at a node. */
static bool read_value(text *to, const json_value *v, const char *name, err *e) {
    if (v->type != JSON_NUMBER && v->type != JSON_STRING)
        return json_err(v, e, "a value of \"%s\" must be a number or a string", name);
    text_add(to, "%s%s=%s", to->n ? "," : "", name, v->text);
    return text_check(to, e);
}

/* Reads rows of the grid: the words of kernels, or with a name the values of a parameter. */
static bool read_rows(field_recipe *r, const json_value *rows, const char *name, err *e) {
    const uint32_t across = r->grid.nodes[PLAN_X], down = r->grid.nodes[PLAN_Y];
    const char *what = name ? name : "nodes", *are = name ? "values" : "kernels";
    uint32_t node = 0;
    if (rows->type != JSON_ARRAY || (uint32_t)rows->children != down)
        return json_err(rows, e, "\"%s\" must be an array of %u rows, one for each place of \"y\"",
                        what, down);
    for (const json_value *row = rows->child; row; row = row->next) {
        if (row->type != JSON_ARRAY || (uint32_t)row->children != across)
            return json_err(
                row, e, "a row of \"%s\" must be an array of %u %s, one for each place of \"x\"",
                what, across, are);
        for (const json_value *v = row->child; v; v = v->next, node++)
            if (!(name ? read_value(&r->set[node], v, name, e) : read_word(&r->word[node], v, e)))
                return false;
    }
    return true;
}

static bool read_nodes(field_recipe *r, const json_value *field, err *e) {
    const json_value *rows = json_get(field, "nodes"), *vary = json_get(field, "vary");
    if (!rows == !vary)
        return json_err(
            field, e,
            "a field has \"nodes\", or \"vary\": the parameters of the recipe beside it "
            "that vary");
    if (rows) return read_rows(r, rows, NULL, e);
    if (vary->type != JSON_OBJECT || !vary->child)
        return json_err(vary, e, "\"vary\" must be an object with at least one parameter");
    for (const json_value *v = vary->child; v; v = v->next)
        if (!read_rows(r, v, v->key, e)) return false;
    return true;
}

static bool known_keys(const json_value *object, const char *keys, err *e) {
    for (const json_value *v = object->child; v; v = v->next)
        if (!text_glob_any(keys, v->key))
            return json_err_key(v, e, "unknown key \"%s\"; a field has: %s", v->key, keys);
    return true;
}

/* Reads {"kernel": WORD or recipe, "share": S}. */
static bool read_common(field_recipe *r, const json_value *common, err *e) {
    if (!common) return true;
    const bool object = common->type == JSON_OBJECT;
    const json_value *word = object ? json_get(common, "kernel") : NULL,
                     *share = object ? json_get(common, "share") : NULL;
    if (!word || !share || share->type != JSON_NUMBER || !(share->number > 0 && share->number < 1))
        return json_err(common, e,
                        "common must be an object with a \"kernel\" and its \"share\" of the "
                        "light, between 0 and 1");
    if (word->type == JSON_OBJECT && json_get(word, "field"))
        return json_err(word, e, "the common kernel is the same everywhere, and has no \"field\"");
    r->grid.common = share->number;
    return known_keys(common, "kernel,share", e) &&
           (word->type == JSON_OBJECT || read_word(&r->word[field_nodes(&r->grid) - 1], word, e));
}

static bool read_document(field_recipe *r, const json_value *root, err *e) {
    const json_value *field = json_get(root, "field"), *version = json_get(root, "version"),
                     *about = json_get(root, "about");
    if (!field || field->type != JSON_OBJECT)
        return json_err(root, e, "\"field\" must be an object");
    if (version && !(version->type == JSON_NUMBER && version->number == 1))
        return json_err(version, e, "this program reads version 1 of fields");
    if (about && about->type != JSON_STRING) return json_err(about, e, "about must be a string");
    bool ok = (json_get(field, "vary") || known_keys(root, "version,$schema,about,field", e)) &&
              known_keys(field, "x,y,nodes,vary,mirror,common", e) &&
              read_mirror(r->mirror, json_get(field, "mirror"), e) &&
              (!about || (r->about = mem_str(about->text, e)));
    for (uint32_t a = 0; ok && a < PLAN_AXES; a++)
        ok = read_places(&r->grid, a, field, r->mirror[a], e);
    return ok && read_nodes(r, field, e) && read_common(r, json_get(field, "common"), e);
}

bool field_recipe_is(field_recipe *r, const char *path, err *why) {
    OWN(json_document) *d = json_read(path, NULL);
    *r = (field_recipe){.about = NULL};
    if (!d || json_root(d)->type != JSON_OBJECT || !json_get(json_root(d), "field")) return false;
    read_document(r, json_root(d), why);
    return true;
}

bool field_recipe_file(field_recipe *r, const char *path, err *e) {
    OWN(json_document) *d = json_read(path, e);
    *r = (field_recipe){.about = NULL};
    return d && read_document(r, json_root(d), e);
}

void field_recipe_free(field_recipe *r) {
    for (uint32_t i = 0; i < COUNT(r->word); i++) mem_free(r->word[i]);
    for (uint32_t i = 0; i < COUNT(r->set); i++) text_free(&r->set[i]);
    mem_free(r->about);
    *r = (field_recipe){.about = NULL};
}

/* --- making ----------------------------------------------------------------------------------- */

/* Mirrors a kernel about its centre: docs/inside/math.md, "Kernels that vary over the frame". */
static bool mirror(edit_kernel *to, const edit_kernel *k, const bool axes[PLAN_AXES], err *e) {
    const size_t n = (size_t)k->w * k->h;
    if (!edit_new(to, axes[PLAN_X] ? k->w | 1 : k->w, axes[PLAN_Y] ? k->h | 1 : k->h, k->channels,
                  e))
        return false;
    for (size_t i = 0; i < n * k->channels; i++) {
        const size_t x = i % k->w, y = i % n / k->w;
        const size_t u = axes[PLAN_X] ? 2 * (size_t)(k->w / 2) - x : x,
                     v = axes[PLAN_Y] ? 2 * (size_t)(k->h / 2) - y : y;
        to->tap[(i / n * to->h + v) * to->w + u] = k->tap[i];
    }
    return true;
}

/* The image of a field as it grows. */
typedef struct {
    image *img;
    edit_colour colour;
    double aspect; /* of the node at hand */
} making;

/* Adds a part: the taps of a node at its place. */
static bool add_part(making *m, const edit_kernel *k, const char *place, err *e) {
    OWN(image) *one = edit_image(k, &m->colour, e);
    if (!one) return false;
    image_part *p = &one->head.part[0];
    p->aspect = (float)m->aspect;
    return (p->name = mem_strf(e, "node %s", place)) &&
           image_set_text(p, KERNEL_NODE_ATTR, place, e) && image_take_part(m->img, one, e);
}

/* Adds a node of the recipe, and its mirror images at their places. */
static bool add_node(making *m, const field_recipe *r, uint32_t node, const field_loader *from,
                     err *e) {
    const field_grid *g = &r->grid;
    const uint32_t n[] = {field_line(g->nodes, node, PLAN_X), field_line(g->nodes, node, PLAN_Y)};
    const bool common = n[PLAN_X] == g->nodes[PLAN_X];
    edit_input in = {.amount = 1};
    edit_account told = {0};
    OWN(kernel_source) taps = {0};
    text_clean(in.name, sizeof in.name, path_name(field_recipe_node(r, node)));
    bool ok = from->load(&taps, r, node, from->by, e) && kernel_source_taps(&taps, e) &&
              edit_take(&in, &taps, &m->colour, false, &told, e);
    m->aspect = taps.aspect;
    for (int copy = 0; ok && copy < 4; copy++) {
        const bool axes[PLAN_AXES] = {copy & 1, copy & 2};
        double at[PLAN_AXES] = {0};
        bool wanted = !common || copy == 0;
        for (uint32_t a = 0; a < PLAN_AXES && !common; a++) {
            at[a] = axes[a] ? 1 - g->at[a][n[a]] : g->at[a][n[a]];
            wanted &= !axes[a] || (r->mirror[a] && g->at[a][n[a]] != 0.5);
        }
        char place[64];
        OWN(edit_kernel) made = {0};
        snprintf(place, sizeof place, common ? "everywhere %.17g" : "%.17g %.17g",
                 common ? g->common : at[PLAN_X], at[PLAN_Y]);
        ok = !wanted || (mirror(&made, &in.kernel, axes, e) && add_part(m, &made, place, e));
    }
    edit_kernel_free(&in.kernel);
    return ok;
}

/* All parts of an EXR file have one display window. */
static void share_display(image_header *h) {
    image_box whole = h->part[0].data;
    for (int i = 1; i < h->parts; i++) whole = image_box_union(&whole, &h->part[i].data);
    for (int i = 0; i < h->parts; i++) h->part[i].display = whole;
}

image *field_recipe_make(const field_recipe *r, const field_loader *from, err *e) {
    making m = {.img = mem_new(1, sizeof *m.img, "image", e)};
    bool ok = m.img != NULL;
    if (ok) m.img->head.format = "exr";
    for (uint32_t i = 0; ok && i < field_nodes(&r->grid); i++)
        ok = add_node(&m, r, i, from, e) || err_in(e, "the node '%s'", field_recipe_node(r, i));
    if (ok) share_display(&m.img->head);
    ok = ok && (!r->about || image_set_text(&m.img->head.part[0], "comments", r->about, e)) &&
         image_set_text(&m.img->head.part[0], "software", "fftbloom " VERSION, e);
    if (!ok) image_free(&m.img);
    return m.img;
}
