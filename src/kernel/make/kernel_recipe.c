#include "kernel/make/kernel_recipe.h"

#include "base/json.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/path.h"
#include "kernel/kernel_source.h"

/* The share of the light that taps must hold which nobody has chosen. */
static const double ENOUGH = 0.999;
/* Larger numbers for shares are a mistake. */
static const double MOST_SHARE = 1e9;

bool kernel_read_taps(uint32_t to[2], const char *from, err *e) {
    if (!text_sides(from, to))
        return err_set(e, ERR_USAGE, "--taps must be N or WxH, such as 256 or 300x200, not '%s'",
                       from);
    if (to[0] < 1 || to[1] < 1 || to[0] > PSF_SIDE || to[1] > PSF_SIDE)
        return err_set(e, ERR_USAGE, "--taps %s: a side must have 1 to %d taps", from, PSF_SIDE);
    return true;
}

static const model *find_model(const char *name, err *e) {
    const model *m = model_find(name);
    if (m) return m;
    const char *names[MODEL_NAMES];
    for (int i = 0; i < MODEL_COUNT; i++) names[i] = MODELS[i].name;
    model_no_such("there is no model or recipe", name, "the models are", names, MODEL_COUNT, e);
    return NULL;
}

static kernel_layer *add_layer(kernel_recipe *r, const model *m, err *e) {
    if (r->layers == KERNEL_LAYERS)
        return err_set(e, ERR_CONFIG, "a recipe has at most %d layers", KERNEL_LAYERS), NULL;
    kernel_layer *l = &r->layer[r->layers++];
    *l = (kernel_layer){.request = model_defaults(m), .share = 1, .tint = {1, 1, 1}};
    return l;
}

/* Remembers name=value, in place of what was set before; a value that JSON does not write as a
 * number (+1, .5, 02, 2. or 0x2) is a string. */
static void remember(kernel_layer *l, const char *name, const char *value) {
    int i = 0;
    while (i < l->settings && strcmp(l->set[i].name.s, name) != 0) i++;
    if (i == KERNEL_SETTINGS) return;
    kernel_setting *to = &l->set[i];
    if (i == l->settings) {
        text_add(&to->name, "%s", name);
        l->settings++;
    }
    text_free(&to->value);
    OWN(json_document) *d = json_parse("a value", value, strlen(value), NULL);
    if (d && json_root(d)->type == JSON_NUMBER && !strpbrk(value, " \t\r\n"))
        text_add(&to->value, "%s", value);
    else
        text_add_json(&to->value, value);
}

bool kernel_layer_set(kernel_layer *l, const char *name, const char *value, err *e) {
    if (!model_set(&l->request, name, value, e)) return false;
    remember(l, name, value);
    return true;
}

bool kernel_layer_image(kernel_layer *l, const char *path, err *e) {
    if (l->request.of->light)
        return err_set(e, ERR_USAGE, "an image is for the model aperture; the model %s takes none",
                       l->request.of->name);
    char *copy = mem_str(path, e);
    if (!copy) return false;
    mem_free(l->image);
    l->image = copy;
    remember(l, "image", path);
    return true;
}

bool kernel_recipe_set(kernel_recipe *r, const char *assignments, err *e) {
    for (text_assignment set; text_next(&assignments, &set);) {
        bool taken = false;
        for (int i = 0; i < r->layers; i++) {
            if (!set.value || !model_takes(r->layer[i].request.of, set.name)) continue;
            taken = true;
            if (!kernel_layer_set(&r->layer[i], set.name, set.value, e)) return false;
        }
        /* The first layer says what is wrong with it. */
        if (!taken && !model_set(&r->layer[0].request, set.name, set.value, e)) return false;
    }
    return true;
}

bool kernel_recipe_scale(kernel_recipe *r, double scale, err *e) {
    double w = floor(r->w * scale + 0.5), h = floor(r->h * scale + 0.5);
    bool given = r->w > 0; /* else the light decides how many taps there are */
    if (given && !(w >= 1 && h >= 1 && w <= MODEL_SIDE && h <= MODEL_SIDE)) {
        char meant[64] = "";
        if (scale >= 10) snprintf(meant, sizeof meant, "; for %g %% write %g", scale, scale / 100);
        return err_set(
            e, ERR_CONFIG,
            "kernel_scale %g of a kernel of %u x %u taps would be %.0f x %.0f, and a side "
            "may have 1 to %d%s",
            scale, r->w, r->h, w, h, MODEL_SIDE, meant);
    }
    r->w = (uint32_t)w, r->h = (uint32_t)h;
    for (int i = 0; i < r->layers; i++) model_scale(&r->layer[i].request, scale);
    return true;
}

const char *kernel_recipe_names_image(const kernel_recipe *r) {
    for (int i = 0; i < r->layers; i++)
        if (r->layer[i].image) return r->layer[i].image;
    return NULL;
}

void kernel_recipe_free(kernel_recipe *r) {
    for (int i = 0; i < r->layers; i++) {
        mem_free(r->layer[i].image);
        mem_free(r->layer[i].mask);
        for (int k = 0; k < r->layer[i].settings; k++) {
            text_free(&r->layer[i].set[k].name);
            text_free(&r->layer[i].set[k].value);
        }
    }
    mem_free(r->about);
    *r = (kernel_recipe){0};
}

/* Returns a copy of a string that is not empty; a path starts in the folder of the file. */
static char *copy_string(const json_value *v, bool path, err *e) {
    const char *file = json_name(v->of);
    OWN(text) t = {0};
    if (v->type != JSON_STRING || !*v->text)
        return json_err(v, e, "%s must be a string that is not empty", v->key), NULL;
    if (path && v->text[0] != '/') text_add_bytes(&t, file, (size_t)(path_name(file) - file));
    text_add(&t, "%s", v->text);
    return text_check(&t, e) ? mem_str(t.s, e) : NULL;
}

/* Reads how much of a layer's share each colour gets: [R, G, B]. */
static bool read_tint(double to[MODEL_CHANNELS], const json_value *v, err *e) {
    const json_value *at = v->type == JSON_ARRAY ? v->child : NULL;
    int n = 0;
    for (; at && n < MODEL_CHANNELS && at->type == JSON_NUMBER; at = at->next) {
        to[n] = at->number;
        if (!(at->number >= 0 && at->number <= MOST_SHARE)) break;
        n++;
    }
    return (n == MODEL_CHANNELS && !at) ||
           json_err(v, e, "tint must be three numbers from 0 to %g, for R, G and B", MOST_SHARE);
}

static bool set_member(kernel_layer *l, const json_value *v, err *e) {
    static const char *const KEYS[] = {"model", "share", "tint", "image"};
    char meant[TEXT_MEANT];
    err why = {0};
    if (strcmp(v->key, "model") == 0) return true;
    if (strcmp(v->key, "tint") == 0) return read_tint(l->tint, v, e);
    if (strcmp(v->key, "share") == 0) {
        l->share = v->number;
        return (v->type == JSON_NUMBER && v->number > 0 && v->number <= MOST_SHARE) ||
               json_err(v, e, "share must be a number above 0 and at most %g", MOST_SHARE);
    }
    if (strcmp(v->key, "image") == 0) {
        OWN_MEM char *path = copy_string(v, true, e);
        return path && (kernel_layer_image(l, path, &why) || json_err_key(v, e, "%s", why.msg));
    }
    if (!model_takes(l->request.of, v->key) && *text_meant(meant, v->key, KEYS, COUNT(KEYS), '"'))
        return json_err_key(v, e, "unknown key \"%s\"%s", v->key, meant);
    if (v->type != JSON_NUMBER && v->type != JSON_STRING)
        return json_err(v, e, "%s must be a number or a string, not %s", v->key,
                        json_type_name(v->type));
    return kernel_layer_set(l, v->key, v->text, &why) || json_err_key(v, e, "%s", why.msg);
}

/* Sets in all layers what stands in "common" and has an effect on them. */
static bool set_common(kernel_recipe *r, const json_value *common, err *e) {
    for (const json_value *v = common ? common->child : NULL; v; v = v->next) {
        bool taken = false;
        for (int i = 0; i < r->layers; i++) {
            if (!model_takes(r->layer[i].request.of, v->key)) continue;
            taken = true;
            if (!set_member(&r->layer[i], v, e)) return false;
        }
        if (!taken) return json_err_key(v, e, "no layer has a parameter '%s'", v->key);
    }
    return true;
}

static bool is_frame(const char *key) {
    static const char *const KEYS[] = {"version", "$schema", "about",  "is",     "taps",
                                       "fade",    "bits",    "common", "layers", "field"};
    for (size_t i = 0; i < COUNT(KEYS); i++)
        if (strcmp(key, KEYS[i]) == 0) return true;
    return false;
}

/* Reads a layer: the recipe itself where it has a single one. */
static bool read_layer(kernel_recipe *r, const json_value *object, bool is_recipe, err *e) {
    err why = {0};
    const json_value *name = object->type == JSON_OBJECT ? json_get(object, "model") : NULL;
    if (!name || name->type != JSON_STRING)
        return json_err(object, e, "a layer is an object with a \"model\"");
    const model *m = find_model(name->text, &why);
    kernel_layer *l = m ? add_layer(r, m, &why) : NULL;
    if (!l) return json_err(name, e, "%s", why.msg);
    for (const json_value *v = object->child; v; v = v->next) {
        bool of_recipe = is_frame(v->key);
        if (of_recipe && !is_recipe)
            return json_err_key(v, e, "'%s' belongs to the whole recipe, not into a layer", v->key);
        if (!of_recipe && !set_member(l, v, e)) return false;
    }
    return true;
}

static bool read_layers(kernel_recipe *r, const json_value *root, err *e) {
    const json_value *layers = json_get(root, "layers"), *common = json_get(root, "common");
    for (const json_value *v = root->child; layers && v; v = v->next)
        if (!is_frame(v->key)) return json_err_key(v, e, "'%s' belongs into a layer", v->key);
    if (layers && (layers->type != JSON_ARRAY || !layers->child))
        return json_err(layers, e, "layers must be an array with at least one layer");
    if (!layers && !read_layer(r, root, true, e)) return false;
    for (const json_value *v = layers ? layers->child : NULL; v; v = v->next)
        if (!read_layer(r, v, false, e)) return false;
    if (common && common->type != JSON_OBJECT)
        return json_err(common, e, "common must be an object");
    return set_common(r, common, e);
}

static bool read_number(double *to, const json_value *v, double low, double high, err *e) {
    if (!v) return true;
    *to = v->number;
    return (v->type == JSON_NUMBER && v->number >= low && v->number <= high) ||
           json_err(v, e, "%s must be a number from %g to %g", v->key, low, high);
}

static bool read_size(kernel_recipe *r, const json_value *v, err *e) {
    uint32_t taps[2];
    err why = {0};
    if (!v || strcmp(v->text ? v->text : "", "auto") == 0) return true;
    if ((v->type != JSON_NUMBER && v->type != JSON_STRING) ||
        !kernel_read_taps(taps, v->text, &why))
        return json_err(v, e, "taps must be a number, \"WxH\" or \"auto\"");
    r->w = taps[0], r->h = taps[1];
    return true;
}

static bool read_root(kernel_recipe *r, const json_value *root, err *e) {
    *r = (kernel_recipe){.fade = KERNEL_FADE, .bits = 24};
    double bits = r->bits, whole = 0;
    if (!root) return false;
    if (root->type != JSON_OBJECT) return json_err(root, e, "a recipe is an object");
    const json_value *about = NULL, *version = json_get(root, "version");
    if (version && !(version->type == JSON_NUMBER && version->number == 1))
        return json_err(version, e, "version is %s; this program reads version 1 of recipes",
                        version->text ? version->text : json_type_name(version->type));
    if (!read_layers(r, root, e) || !read_size(r, json_get(root, "taps"), e) ||
        !read_number(&r->fade, json_get(root, "fade"), 0, 1, e) ||
        !read_number(&bits, json_get(root, "bits"), 4, 24, e))
        return false;
    r->bits = (uint32_t)bits;
    if ((about = json_get(root, "about")) && !(r->about = copy_string(about, false, e)))
        return false;
    for (int i = 0; i < r->layers; i++) whole += r->layer[i].share;
    for (int i = 0; i < r->layers; i++) r->layer[i].share /= whole;
    return true;
}

bool kernel_recipe_file(kernel_recipe *r, const char *path, err *e) {
    OWN(json_document) *d = json_read(path, e);
    return read_root(r, d ? json_root(d) : NULL, e);
}

bool kernel_recipe_everywhere(kernel_recipe *r, const char *path, err *e) {
    static const char *const WAY[] = {"field", "common", "kernel"};
    OWN(json_document) *d = json_read(path, e);
    const json_value *at = d ? json_root(d) : NULL;
    for (size_t i = 0; at && i < COUNT(WAY); i++) at = json_get(at, WAY[i]);
    return read_root(r, at, e);
}

bool kernel_recipe_text(kernel_recipe *r, const char *json, err *e) {
    OWN(json_document) *d = json_parse("recipe", json, strlen(json), e);
    const json_value *field = d ? json_get(json_root(d), "field") : NULL;
    *r = (kernel_recipe){0};
    if (field)
        return json_err_key(field, e, "a kernel that varies over the frame is opened as a file");
    return read_root(r, d ? json_root(d) : NULL, e);
}

bool kernel_recipe_model(kernel_recipe *r, const char *name, err *e) {
    *r = (kernel_recipe){.fade = KERNEL_FADE, .bits = 24};
    const model *m = find_model(name, e);
    return m && add_layer(r, m, e);
}

static bool is_tinted(const kernel_layer *l) {
    return l->tint[0] != l->tint[1] || l->tint[1] != l->tint[2];
}

static bool is_coloured(const kernel_layer *l) {
    return is_tinted(l) || l->request.of->spectrum != MODEL_GREY;
}

void kernel_recipe_json(const kernel_recipe *r, text *to) {
    char taps[32];
    json_out j = {.to = to};
    snprintf(taps, sizeof taps, "%ux%u", r->w, r->h);
    json_object(&j, NULL);
    if (r->about) json_string(&j, "about", r->about);
    json_string(&j, "taps", taps);
    json_real(&j, "fade", 9, r->fade);
    json_uint(&j, "bits", r->bits);
    json_array(&j, "layers");
    for (int i = 0; i < r->layers; i++) {
        const kernel_layer *l = &r->layer[i];
        json_object(&j, NULL);
        json_string(&j, "model", l->request.of->name);
        json_real(&j, "share", 9, l->share);
        if (is_tinted(l)) json_reals(&j, "tint", 9, l->tint, MODEL_CHANNELS);
        for (int k = 0; k < l->settings; k++) json_raw(&j, l->set[k].name.s, l->set[k].value.s);
        json_close(&j);
    }
    json_close(&j);
    json_close(&j);
}

static bool load_opening(kernel_layer *l, par *threads, err *e) {
    OWN(kernel_source) in = {0};
    if (!kernel_source_load(&in, l->image, threads, e)) return false;
    if (in.is_spectrum) return err_set(e, ERR_DATA, "'%s' is a spectrum", l->image);
    size_t n = (size_t)in.w * in.h;
    float *mask = mem_new(n, sizeof *mask, "the opening", e);
    for (size_t i = 0; mask && i < n; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < in.channels; c++)
            sum += (double)in.plane[c][i] * (in.channels == 3 ? in.luminance[c] : 1);
        mask[i] = (float)clamp_double(sum, 0, 1);
    }
    l->request.mask = l->mask = mask;
    l->request.mask_w = in.w, l->request.mask_h = in.h;
    return mask != NULL;
}

/* Takes the largest of the sizes that the layers need. */
static bool choose_taps(kernel_recipe *r, par *threads, err *e) {
    r->fits = true;
    for (int i = 0; i < r->layers; i++) {
        model_request *q = &r->layer[i].request;
        q->fade = r->fade;
        /* A layer with little light may lose more of its own. */
        double loss = (1 - ENOUGH) / (r->layer[i].share * r->layers);
        if (!model_fit(q, 1 - fmin(loss, 0.5), threads, e)) return false;
        r->w = r->h = max_u32(r->w, q->w);
    }
    return true;
}

/* Rounds to the nearest number with `bits` bits. The few taps that hold much light keep all. */
static double rounded(double v, uint32_t bits) {
    static const double MUCH = 1e-4;
    uint64_t total, step = (uint64_t)1 << (53 - bits);
    if (v > MUCH) return v;
    memcpy(&total, &v, sizeof total);
    total = (total + step / 2) & ~(step - 1);
    memcpy(&v, &total, sizeof v);
    return v;
}

typedef struct {
    double *of[MODEL_CHANNELS]; /* taps */
    uint32_t channels;
} sums;

static void sums_free(sums *s) {
    for (int c = 0; c < MODEL_CHANNELS; c++) mem_free(s->of[c]);
}

/* Adds a layer; the first one sets the sums. */
typedef struct {
    const sums *to;
    const model_taps *from;
    double share[MODEL_CHANNELS];
    uint32_t w, channels; /* of the layer */
    bool sets;
} adder;

static bool add_row(void *ctx, size_t row, int worker, err *e) {
    const adder *a = ctx;
    for (uint32_t c = 0; c < a->to->channels; c++) {
        const uint32_t of = a->channels > 1 ? c : 0;
        float *taps = a->from->plane[of] + row * a->w;
        double *sum = a->to->of[c] + row * a->w;
        if (a->sets) memset(sum, 0, a->w * sizeof *sum);
        if (a->from->rows[of][row] == 0) continue;
        for (uint32_t i = 0; c == of && i < a->w; i++)
            taps[i] = (float)((double)taps[i] / a->from->sum[of]);
        for (uint32_t i = 0; i < a->w; i++) sum[i] += a->share[c] * (double)taps[i];
    }
    return true;
}

/* Adds the layers, each with the sum 1, by shares and tints; each channel sums to 1 again. Each
 * layer is made in the planes of `scratch`, as many as there are sums. */
static bool add_layers(sums *s, float *const *scratch, const kernel_recipe *r, par *threads,
                       err *e) {
    double total[MODEL_CHANNELS] = {1, 1, 1}; /* exactly, where no layer has a tint */
    model_taps taps = {0};
    OWN_MEM double *rows = mem_raw((size_t)r->h * MODEL_CHANNELS, sizeof *rows, "taps", e);
    if (!rows) return false;
    for (int i = 0; i < r->layers; i++)
        for (int c = 0; c < MODEL_CHANNELS; c++)
            total[c] += r->layer[i].share * (r->layer[i].tint[c] - 1);
    for (uint32_t c = 0; c < s->channels; c++) {
        if (!(total[c] > 1e-9))
            return err_set(e, ERR_CONFIG, "no layer of the recipe has light in %c: its tints are 0",
                           "RGB"[c]);
        if (!(s->of[c] = mem_raw((size_t)r->w * r->h, sizeof(double), "taps", e))) return false;
        taps.plane[c] = scratch[c], taps.rows[c] = rows + c * r->h;
    }
    for (int i = 0; i < r->layers; i++) {
        model_request q = r->layer[i].request;
        adder a = {s, &taps, .w = r->w, .channels = model_channels(q.of), .sets = i == 0};
        q.w = r->w, q.h = r->h, q.fade = r->fade, q.draft = r->draft;
        for (uint32_t c = 0; c < s->channels; c++)
            a.share[c] = r->layer[i].share * r->layer[i].tint[c] / total[c];
        if (!model_make(&taps, &q, threads, e) || !par_for(threads, r->h, add_row, &a, e))
            return false;
    }
    return true;
}

/* Adds how the kernel was made: the recipe, and of a single model each parameter. */
static bool add_attributes(image_part *part, const kernel_recipe *r, uint32_t channels, err *e) {
    const model_request *q = &r->layer[0].request;
    const primaries_row *colours = NULL;
    double p[MODEL_PARAMETERS];
    OWN(text) json = {0};
    kernel_recipe_json(r, &json);
    if (!image_set_text(part, KERNEL_ATTR "recipe", json.s, e) ||
        !image_set_text(part, "software", "fftbloom " VERSION, e) ||
        (r->about && !image_set_text(part, "comments", r->about, e)) || !model_resolve(p, q, e) ||
        !image_set_attr(part, KERNEL_ATTR "fade", "double", &r->fade, sizeof r->fade, e) ||
        (r->layers == 1 && !image_set_text(part, KERNEL_ATTR "model", q->of->name, e)))
        return false;
    for (int i = 0; r->layers == 1 && i < model_parameters(q->of); i++) {
        char name[64];
        snprintf(name, sizeof name, KERNEL_ATTR "%s", q->of->parameter[i].name);
        if (!image_set_attr(part, name, "double", &p[i], sizeof p[i], e)) return false;
    }
    for (int i = 0; i < r->layers; i++)
        if (is_coloured(&r->layer[i])) colours = r->layer[i].request.colours;
    return channels == 1 || image_set_primaries(part, &colours->gamut, e);
}

image *kernel_recipe_make(kernel_recipe *r, par *threads, err *e) {
    /* Layers need blocks of the same sizes, one after the other. */
    enum { KEEP = 256 << 20 };
    OWN(sums) s = {.channels = 1};
    for (int i = 0; i < r->layers; i++)
        if (r->layer[i].image && !r->layer[i].mask && !load_opening(&r->layer[i], threads, e))
            return NULL;
    for (int i = 0; i < r->layers; i++)
        if (is_coloured(&r->layer[i])) s.channels = MODEL_CHANNELS;
    if (!r->w && !choose_taps(r, threads, e)) return NULL;
    OWN(image) *img = image_plain(r->w, r->h, (int)s.channels, PIXEL_FLOAT, e);
    if (!img) return NULL;
    mem_keep(KEEP);
    const bool ok = add_layers(&s, (float *const *)img->plane[0], r, threads, e);
    mem_keep(-KEEP);
    if (!ok || !add_attributes(&img->head.part[0], r, s.channels, e)) return NULL;
    for (uint32_t c = 0; c < s.channels; c++) { /* B, G, R: by their names */
        float *to = img->plane[0][s.channels - 1 - c];
        for (size_t t = 0; t < (size_t)r->w * r->h; t++)
            to[t] = (float)rounded(s.of[c][t], r->bits);
    }
    return GIVE(img);
}
