/* kernel_make.c - `fftbloom kernel make`, `models` and `list`: kernels by formula and by
 * diffraction, and those that are shipped with the program. */
#include "app/cli/kernel_option.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "app/run/file_set.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "image/flat/png.h"
#include "image/format.h"
#include "kernel/make/kernel_recipe.h"

#include <unistd.h>

/* --- models ----------------------------------------------------------------------------------- */

void kernel_model_names(text *to) {
    for (int i = 0; i < MODEL_COUNT; i++) text_add(to, "%s%s", i ? " " : "", MODELS[i].name);
}

static void add_parameter(const model_parameter *p, bool preset, json_out *j) {
    json_object(j, NULL);
    json_string(j, "name", p->name);
    if (preset) json_real(j, "default", 6, p->preset);
    JSON_EACH(j, json_real, 6, {"min", p->min}, {"max", p->max});
    json_string(j, "help", p->help);
    json_close(j);
}

static void add_model(const model *m, json_out *j) {
    json_block(j, NULL);
    json_string(j, "name", m->name);
    json_int(j, "channels", m->spectrum == MODEL_GREY ? 1 : MODEL_CHANNELS);
    json_string(j, "help", m->help);
    json_list(j, "parameters");
    for (int i = 0; i < model_parameters(m); i++) add_parameter(&m->parameter[i], true, j);
    json_close(j);
    json_close(j);
}

int kernel_models(const cli *c, text *out, err *e) {
    (void)e;
    json_out j = told_begin(out, c->s.json);
    json_list(&j, "models");
    for (int i = 0; i < MODEL_COUNT; i++) add_model(&MODELS[i], &j);
    json_close(&j);
    json_list(&j, "common"); /* what is not of one model: the camera, the light, the primaries */
    for (int i = 0; i < MODEL_SETUPS; i++) add_parameter(&MODEL_SETUP[i], false, &j);
    json_close(&j);
    json_array(&j, "lights");
    for (int i = 0; i < LAMP_COUNT; i++) json_string(&j, NULL, LAMPS[i].name);
    json_close(&j);
    if (j.words)
        json_string(&j, "primaries", "what R, G and B mean: rec709, rec2020, ap1, ... [rec709]");
    json_end(&j);
    return 0;
}

/* --- what is asked for ------------------------------------------------------------------------ */

/* Attributes of the OpenEXR standard, and what they are here. */
static const struct {
    const char *attribute;
    int setup;
} CAMERA[] = {{"aperture", SETUP_FNUMBER},           {"sensorPhotositePitch", SETUP_PITCH},
              {"effectiveFocalLength", SETUP_FOCAL}, {"pinholeFocalLength", SETUP_FOCAL},
              {"nominalFocalLength", SETUP_FOCAL},   {"sensorOverallDimensions", SETUP_SENSOR}};

/* Sets what the plate's header says of its camera, where nothing else was said. A pixel of the
 * image need not be a photosite: where the sensor's width is known, it decides. */
static bool set_plate(kernel_recipe *r, const char *path, par *threads, err *e) {
    OPEN(image_reader) *in = image_open(path, NULL, threads, e);
    if (!in) return false;
    const image_part *p = &image_reader_header(in)->part[0];
    double found[MODEL_SETUPS] = {0};
    found[SETUP_WIDTH] = (double)image_box_width(&p->display);
    for (size_t i = 0; i < sizeof CAMERA / sizeof CAMERA[0]; i++) {
        const image_attr *a = image_find_attr(p, CAMERA[i].attribute);
        float v;
        if (!a || a->bytes < sizeof v || found[CAMERA[i].setup] > 0) continue;
        memcpy(&v, a->data, sizeof v);
        if (isfinite(v) && v > 0) found[CAMERA[i].setup] = (double)v;
    }
    if (found[SETUP_SENSOR] > 0) found[SETUP_PITCH] = 0;
    bool ok = true;
    for (int k = 0; k < MODEL_SETUPS; k++)
        for (int i = 0; ok && found[k] > 0 && i < r->layers; i++) {
            kernel_layer *l = &r->layer[i];
            char value[32];
            bool ring = k == SETUP_FNUMBER && l->request.given[0];
            if (l->request.setup[k] > 0 || ring || !model_takes(l->request.of, MODEL_SETUP[k].name))
                continue;
            snprintf(value, sizeof value, "%.9g", found[k]);
            ok = kernel_layer_set(l, MODEL_SETUP[k].name, value, e);
        }
    return ok || err_in(e, "'%s'", path);
}

/* Reads the recipe that a word means: a file, a model, or a recipe that is shipped. */
static bool read_word(kernel_recipe *r, const char *word, const kernel_finder *f, err *e) {
    kernel_word k;
    if (strpbrk(word, "./") || (!model_find(word) && access(word, F_OK) == 0))
        return kernel_recipe_file(r, word, e);
    if (!model_find(word) && kernel_word_find(&k, word, &f->in, NULL) && k.recipe && !k.mix)
        return kernel_recipe_file(r, k.path, e);
    return kernel_recipe_model(r, word, e);
}

/* Reads the recipe that a word means. Options of the command line win over its file. */
static bool read_recipe(kernel_recipe *r, const cli *c, err *e) {
    const settings *s = &c->s;
    uint32_t taps[2] = {0};
    if (!read_word(r, c->word[1], &c->kernels, e)) return false;
    if (s->bloom.kernel.size != 1 && !kernel_recipe_scale(r, s->bloom.kernel.size, e)) return false;
    if (settings_given(s, "fade", FOR_KERNEL)) r->fade = s->fade;
    if (s->image && !kernel_layer_image(&r->layer[0], s->image, e)) return false;
    if (!kernel_recipe_set(r, s->param ? s->param : "", e) ||
        (s->plate && !set_plate(r, s->plate, c->threads, e)))
        return false;
    if (!s->taps) return true;
    if (strcmp(s->taps, "auto") != 0 && !kernel_read_taps(taps, s->taps, e)) return false;
    r->w = taps[0], r->h = taps[1];
    return true;
}

/* --- make ------------------------------------------------------------------------------------- */

/* Warns of a layer of which less than this falls on its taps: it is not what was asked for. Of taps
 * that were chosen here, which only the largest size can fail, the limit is told as a note. */
static void tell_loss(const kernel_recipe *r, par *threads) {
    static const double POOR = 0.8;
    for (int i = 0; i < r->layers && r->layers == 1; i++) {
        model_request q = r->layer[i].request;
        uint32_t side;
        double kept;
        q.w = r->w, q.h = r->h, q.fade = r->fade;
        if (!model_kept(&kept, &side, &q, POOR, threads, NULL)) return;
        char larger[64] = ": the pattern is too large for any kernel";
        if (side)
            snprintf(larger, sizeof larger, "; --taps %u would keep %.0f %%", side, 100 * POOR);
        if (kept < POOR)
            log_warn("%u x %u taps keep only %.2g %% of this %s's light%s", r->w, r->h, 100 * kept,
                     q.of->name, larger);
        else if (r->fits && r->w == MODEL_AUTO && kept < 0.995)
            log_note("%u x %u taps keep %.1f %% of this %s's light; --taps sets another size", r->w,
                     r->h, 100 * kept, q.of->name);
    }
}

static void add_parameters(json_out *j, const model_request *q) {
    double p[MODEL_PARAMETERS] = {0};
    model_resolve(p, q, NULL);
    json_string(j, "model", q->of->name);
    json_object(j, "parameters");
    for (int i = 0; i < model_parameters(q->of); i++)
        json_real(j, q->of->parameter[i].name, 15, p[i]);
    json_close(j);
}

static void tell_json(const cli *c, const kernel_recipe *r, int channels, text *out) {
    json_out j = json_begin(out);
    json_string(&j, "output", c->s.output);
    if (r->layers == 1) add_parameters(&j, &r->layer[0].request);
    if (r->layers > 1) json_list(&j, "layers");
    for (int i = 0; r->layers > 1 && i < r->layers; i++) {
        json_object(&j, NULL);
        json_real(&j, "share", 9, r->layer[i].share);
        add_parameters(&j, &r->layer[i].request);
        json_close(&j);
    }
    if (r->layers > 1) json_close(&j);
    json_uints(&j, "size", (uint32_t[]){r->w, r->h}, 2);
    json_uints(&j, "centre", (uint32_t[]){r->w / 2, r->h / 2}, 2);
    json_int(&j, "channels", channels);
    json_real(&j, "fade", 15, r->fade);
    json_end(&j);
}

/* --- make --all: every shipped kernel, with its licence and a small picture --- */

static const char LICENCE[] = {
#include "pages/LICENSE.inc"
    0};

/* The files of a folder. */
typedef struct {
    const cli *of;
    settings s; /* its, but for the output: the file at hand, which has the name `path` */
    text path;
    const char *folder;
    int status;
} kernel_set;

/* Names the next file. Returns whether it is to be written. */
static bool next_file(kernel_set *set, const char *name, const char *ending) {
    text_free(&set->path);
    text_add(&set->path, "%s/%s%s", set->folder, name, ending);
    set->s.output = set->path.s;
    return !kernel_is_kept(&set->s, &set->status);
}

/* Writes what the middle of the kernel makes of a small lamp, with 32768 times the light of a white
 * pixel where the kernel has its usual size. */
static bool write_picture(kernel_set *set, image *img, err *e) {
    enum { SIDE = 256, STOPS = 13 };
    image_box *shown = &img->head.part[0].display;
    const int32_t w = shown->x1 + 1, h = shown->y1 + 1;
    const float by = (float)w / 2 / SIDE;
    const preview_options as = {.width = SIDE, .exposed = true, .stops = STOPS + 2 * log2f(by)};
    *shown = (image_box){w / 4, h / 4, w / 4 + w / 2 - 1, h / 4 + h / 2 - 1};
    preview_picture p = {0};
    size_t bytes = 0;
    bool ok = preview_make(&p, img, &as, set->of->threads, e);
    OWN_MEM uint8_t *png = ok ? png_encode(&(png_picture){p.pixel, p.width, p.height, 3}, &bytes, e)
                              : NULL;
    mem_free(p.pixel);
    return png && kernel_write(&set->s, png, bytes, &set->status, e);
}

/* Writes the files of one kernel, which is made and kept as for any other use. */
static bool write_kernel(kernel_set *set, const char *name, json_out *j, err *e) {
    const kernel_finder *f = &set->of->kernels;
    kernel_word k;
    kernel_making how = {.scale = set->s.bloom.kernel.size};
    char path[KERNEL_PATH];
    if (!kernel_word_find(&k, name, &f->in, e)) return false;
    if (k.field) return true; /* no other program takes it */
    if (!kernel_finder_file(path, &k, &how, f, e)) return false;
    if (how.scale != 1)
        return err_set(e, ERR_CONFIG,
                       "the kernel '%s' is an image, and is made at no other size; give "
                       "--kernel-scale to the run, or use 'kernel stretch'",
                       name);
    OWN(image) *img = image_load(path, &(image_limits){.side = PSF_SIDE}, set->of->threads, e);
    image_part *part = img ? &img->head.part[0] : NULL;
    bool ok = part && image_set_attr(part, "license", "string", LICENCE, strlen(LICENCE), e);
    if (ok && next_file(set, name, ".exr"))
        ok = kernel_save(&set->s, img, set->of->threads, &set->status, e);
    if (ok && next_file(set, name, ".png")) ok = write_picture(set, img, e);
    if (ok) {
        json_object(j, NULL);
        json_string(j, "name", name);
        json_uints(j, "size", (uint32_t[]){image_width(part), image_height(part)}, 2);
        json_close(j);
    }
    return ok || e->code == 0;
}

static int make_all(const cli *c, text *out, err *e) {
    kernel_set set = {.of = c, .s = c->s, .folder = c->s.output};
    OWN(text) names = {0};
    char *at;
    kernel_finder_names(&c->kernels, &names);
    if (!set.folder)
        err_set(e, ERR_USAGE, "--all needs a folder for its files: -o DIR");
    else if (!names.n)
        err_set(e, ERR_NO_INPUT, "cannot find the folder of the shipped kernels");
    if (e->code || !file_make_dirs(set.folder, 0777, e)) return 0;
    json_out j = told_begin(out, c->s.json);
    json_string(&j, "folder", set.folder);
    json_list(&j, "kernels");
    bool ok = !next_file(&set, "LICENSE", ".txt") ||
              kernel_write(&set.s, LICENCE, strlen(LICENCE), &set.status, e);
    for (char *w = strtok_r(names.s, " ", &at); ok && w; w = strtok_r(NULL, " ", &at))
        ok = write_kernel(&set, w, &j, e);
    json_end(&j);
    text_free(&set.path);
    return set.status;
}

/* Writes the image of a field. Its kernels have the parameters. */
static int make_field(const cli *c, const kernel_word *k, err *e) {
    static const char *const NOT[] = {"param", "taps", "fade", "image", "plate"};
    const kernel_making how = {.scale = c->s.bloom.kernel.size};
    int status = 0;
    for (size_t i = 0; i < COUNT(NOT); i++)
        if (settings_given(&c->s, NOT[i], FOR_KERNEL))
            return err_set(e, ERR_USAGE, "--%s: '%s' is a field; its kernels have parameters",
                           NOT[i], k->path);
    if (how.scale != 1 && !k->recipe)
        return err_set(e, ERR_USAGE,
                       "--kernel-scale: the kernels of '%s' are not all recipes; give it to the "
                       "run",
                       k->path);
    OWN(image) *img = kernel_may_write(&c->s, &status, e)
                          ? kernel_word_make(k, &how, &c->kernels.in, c->threads, e)
                          : NULL;
    if (img) kernel_save(&c->s, img, c->threads, &status, e);
    return status;
}

int kernel_make(const cli *c, text *out, err *e) {
    int status = 0;
    kernel_word word = {.field = false};
    err why = {0};
    OWN(kernel_recipe) r = {0};
    OWN(image) *img = NULL;
    OPEN(ticker) *told = NULL;
    const file_set_file files[] = {{FILE_READ, "the recipe", c->word[1]},
                                   {FILE_READ, "the image", c->s.image},
                                   {FILE_READ, "the plate", c->s.plate},
                                   {FILE_WRITTEN, "the output", c->s.output}};
    const psf_options *size = &c->s.bloom.kernel;
    if (c->s.bloom.kernel_relative || (size->wide != 0 && size->wide != 1))
        err_set(e, ERR_USAGE, "kernel make takes one factor as --kernel-scale, such as 2");
    else if (c->s.all_kernels == (c->words > 1))
        err_set(e, ERR_USAGE, "kernel make needs one MODEL or RECIPE, or --all");
    if (e->code) return 0;
    if (c->s.all_kernels) return make_all(c, out, e);
    told = ticker_open("kernel make");
    if (!file_set_apart(files, sizeof files / sizeof files[0], NULL, e)) return 0;
    if (!model_find(c->word[1]) && kernel_word_find(&word, c->word[1], &c->kernels.in, &why) &&
        word.field)
        return make_field(c, &word, e);
    if (word.field) *e = why;
    if (word.field || !read_recipe(&r, c, e)) return 0;
    if (kernel_may_write(&c->s, &status, e) && (img = kernel_recipe_make(&r, c->threads, e)) &&
        kernel_save(&c->s, img, c->threads, &status, e)) {
        tell_loss(&r, c->threads);
        if (c->s.json) tell_json(c, &r, img->head.part[0].channels, out);
    }
    return status;
}

/* Tells what a kernel's image or recipe says of itself. */
static void tell(const char *folder, const char *name, par *threads, json_out *j) {
    char path[KERNEL_PATH + 300], about[400] = "";
    uint32_t size[2] = {0};
    err why = {0};
    OWN(kernel_recipe) r = {0};
    snprintf(path, sizeof path, "%s/%s.exr", folder, name);
    const bool is_image = access(path, F_OK) == 0;
    if (!is_image) snprintf(path, sizeof path, "%s/%s.json", folder, name);
    OPEN(image_reader) *in = is_image ? image_open(path, NULL, threads, &why) : NULL;
    if (in) {
        const image_part *p = &image_reader_header(in)->part[0];
        image_attr_text(p, "comments", about, sizeof about);
        size[0] = image_width(p), size[1] = image_height(p);
    } else if (!is_image && kernel_recipe_file(&r, path, &why)) {
        snprintf(about, sizeof about, "%s", r.about ? r.about : "");
        size[0] = r.w, size[1] = r.h;
    }
    if (why.code) return log_warn("%s", why.msg);
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "about", about);
    if (!j->words) json_uints(j, "size", size, 2);
    if (!j->words) json_string(j, "path", path);
    json_close(j);
}

int kernel_list(const cli *c, text *out, err *e) {
    const char *folder = c->kernels.in.shipped;
    char *at;
    OWN(text) names = {0};
    if (!folder)
        return err_set(e, ERR_NO_INPUT,
                       "cannot find the folder of the shipped kernels; give it with --kernels DIR");
    json_out j = told_begin(out, c->s.json);
    if (c->s.json) json_string(&j, "folder", folder);
    json_list(&j, "kernels");
    kernel_finder_names(&c->kernels, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        tell(folder, w, c->threads, &j);
    json_end(&j);
    return 0;
}
