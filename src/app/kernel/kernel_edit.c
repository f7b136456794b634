/* kernel_edit.c - the actions of `fftbloom kernel` that make one kernel of others: reads the words
 * FILE[:AMOUNT][@X,Y], runs the edit of the action's name, writes the result and what changed. */
#include "app/cli/kernel_option.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "app/run/file_set.h"
#include "base/log.h"
#include "base/path.h"
#include "colour/primaries.h"
#include "image/format.h"
#include "kernel/edit/edit.h"
#include "kernel/make/kernel_recipe.h"

#include <unistd.h>

/* An edit while it is made. */
typedef struct {
    const edit *of;
    edit_request r;
    edit_account told;
    edit_kernel made;
    char path[EDIT_INPUTS][KERNEL_PATH];
    int part; /* of the first file: the part that has the kernel */
    edit_colour colour;
    double light, lost, faded;
} editing;

/* --- words ------------------------------------------------------------------------------------ */

/* Takes FILE:AMOUNT@X,Y apart. A word that is the name of a file has no amount. */
static bool read_word(editing *w, int i, const char *word, const kernel_finder *f, err *e) {
    edit_input *in = &w->r.input[i];
    char file[KERNEL_PATH], *path = w->path[i];
    in->amount = NAN;
    if (snprintf(path, sizeof w->path[i], "%s", word) >= (int)sizeof w->path[i])
        return err_set(e, ERR_USAGE, "a path of %zu characters is too long", strlen(word));
    char *at = access(path, F_OK) != 0 ? strrchr(path, '@') : NULL;
    if (at) {
        if (!w->of->moves)
            return err_set(e, ERR_USAGE, "'%s': this action moves nothing, so it takes no @X,Y",
                           word);
        double *to = in->offset;
        const char *comma = text_leading(at + 1, &to[0]);
        if (!comma || *comma != ',' || !text_number(comma + 1, &to[1]) ||
            !(fabs(to[0]) <= PSF_SIDE && fabs(to[1]) <= PSF_SIDE))
            return err_set(e, ERR_USAGE,
                           "'%s': an offset must be @X,Y in taps, such as @3,-1.5, of %d at most",
                           word, PSF_SIDE);
        *at = 0;
    }
    char *colon = access(path, F_OK) != 0 ? strrchr(path, ':') : NULL;
    if (colon && strchr(path, ',') < colon && strchr(path, ','))
        return err_set(e, ERR_USAGE,
                       "'%s' is not a file; separate several kernels by blanks: %.*s %s", word,
                       (int)(strchr(path, ',') - path), path, strchr(path, ',') + 1);
    if (colon) {
        if (!w->of->amount || !text_fraction(colon + 1, &in->amount) || !(in->amount > 0) ||
            in->amount > EDIT_MOST)
            return err_set(
                e, ERR_USAGE, "'%s' is not a file, and '%s' is not %s, above 0 and at most %g",
                word, colon + 1, w->of->amount ? w->of->amount : "something that this action takes",
                EDIT_MOST);
        *colon = 0;
    }
    text_clean(in->name, sizeof in->name, path_name(path));
    return kernel_finder_path(file, path, f, e) &&
           snprintf(path, sizeof w->path[i], "%s", file) > 0;
}

static bool set_parameter(editing *w, int i, const char *value, err *e) {
    const edit_parameter *p = &w->of->parameter[i];
    double v;
    if (!text_number(value, &v) || !(v >= p->min && v <= p->max))
        return err_set(e, ERR_USAGE, "%s of %s must be a number from %g to %g, not '%s'", p->name,
                       w->of->name, p->min, p->max, value);
    w->r.value[i] = v;
    return true;
}

/* Reads the inputs; "15" or "2x1" as the first parameters; and --param. */
static bool read_words(editing *w, const cli *c, err *e) {
    const settings *s = &c->s;
    const edit *of = w->of = edit_find(c->action->name);
    const int count = edit_parameters(of);
    const char *names[EDIT_PARAMETERS], *param = s->param,
                                        *last = of->last_word ? c->word[c->words - 1] : "";
    if (of->apply == edit_crop && s->taps && param)
        return err_set(e, ERR_USAGE, "--param keep has no effect with --taps: both set the size");
    w->r.threads = c->threads;
    w->r.inputs = c->words - 1 - of->last_word;
    for (int i = 0; i < count; i++)
        w->r.value[i] = of->parameter[i].preset, names[i] = of->parameter[i].name;
    for (int i = 0; i < w->r.inputs; i++)
        if (!read_word(w, i, c->word[1 + i], &c->kernels, e)) return false;
    for (int i = 0; *last; i++) {
        char one[64];
        size_t n = strcspn(last, "x");
        snprintf(one, sizeof one, "%.*s", (int)n, last);
        if (i == count)
            return err_set(e, ERR_USAGE, "'%s' is one number too many for %s", one, of->name);
        if (!set_parameter(w, i, one, e)) return false;
        last += n + (last[n] == 'x');
    }
    for (text_assignment set; param && text_next(&param, &set);) {
        int i = 0;
        while (i < count && strcmp(names[i], set.name) != 0) i++;
        if (i == count || !set.value)
            return err_set(
                e, ERR_USAGE, "%s has no parameter '%s'%s; see 'fftbloom help kernel %s'", of->name,
                set.name, text_meant((char[TEXT_MEANT]){0}, set.name, names, count, '\''),
                of->name);
        if (!set_parameter(w, i, set.value, e)) return false;
    }
    return !s->taps || kernel_read_taps(w->r.taps, s->taps, e);
}

/* --- files ------------------------------------------------------------------------------------ */

static bool read_input(editing *w, const cli *c, int i, err *e) {
    edit_input *in = &w->r.input[i];
    edit_kernel *to = &in->kernel;
    OWN(kernel_source) k = {0};
    lint l;
    double at[2];
    bool ok = kernel_load(&k, &l, c, w->path[i], e) &&
              edit_take(in, &k, &w->colour, w->of->from_photo, &w->told, e);
    /* The tap that is asked for, where a lamp's picture has its centre. */
    w->r.centred = w->of->from_photo && settings_given(&c->s, "kernel_center", FOR_KERNEL);
    if (ok && w->r.centred) {
        const psf_doubles taps = {to->w, to->h, to->channels, to->tap};
        ok = psf_find_center(at, &taps, &c->s.bloom.kernel, e);
        for (int a = 0; ok && a < 2; a++) w->r.at[a] = (uint32_t)floor(at[a] + 0.5);
    }
    if (ok &&
        l.eight_bit) { /* the darkest light is a step there; above black, codes are left out */
        in->quantum = l.not_decoded ? 1 / 255.0 : 1 / (12.92 * 255);
        for (size_t t = 0, n = (size_t)to->w * to->h * to->channels; t < n; t++)
            if (to->tap[t] > 0) in->quantum = fmin(in->quantum, to->tap[t]);
    }
    if (ok && i == 0) w->part = k.part;
    if (ok) w->light += edit_light(to) / k.channels / w->r.inputs;
    return ok;
}

/* --- the result ------------------------------------------------------------------------------- */

/* Copies the attributes of an input whose picture stays the same: what its model says of it, and
 * what was done to it before. */
static bool keep_attributes(const editing *w, par *threads, image_part *p, err *e) {
    OPEN(image_reader) *r = image_open(w->path[0], NULL, threads, e);
    const image_part *from = r ? &image_reader_header(r)->part[w->part] : NULL;
    bool ok = r != NULL;
    for (int i = 0; ok && i < from->attrs; i++) {
        const image_attr *a = &from->attr[i];
        if (strncmp(a->name, KERNEL_ATTR, strlen(KERNEL_ATTR)) == 0)
            ok = image_set_attr(p, a->name, a->type, a->data, a->bytes, e);
    }
    return ok;
}

/* Adds what was done, after what was done before. */
static bool add_history(const editing *w, const cli *c, image_part *p, err *e) {
    const image_attr *before = image_find_attr(p, KERNEL_ATTR "edit");
    OWN(text) t = {0};
    if (before) text_add(&t, "%.*s; ", (int)before->bytes, before->data);
    text_add(&t, "%s", w->of->name);
    for (int i = 1; i < c->words; i++) text_add(&t, " %s", path_name(c->word[i]));
    for (int i = 0; i < edit_parameters(w->of); i++)
        text_add(&t, " %s=%.9g", w->of->parameter[i].name, w->r.value[i]);
    return image_set_text(p, KERNEL_ATTR "edit", t.s, e);
}

static image *to_image(const editing *w, const cli *c, err *e) {
    image *img = edit_image(&w->made, &w->colour, e);
    image_part *p = img ? img->head.part : NULL;
    if (img &&
        ((w->of->same_shape && !keep_attributes(w, c->threads, p, e)) || !add_history(w, c, p, e)))
        image_free(&img);
    return img;
}

/* --- what is said ----------------------------------------------------------------------------- */

static void report(const editing *w, const cli *c, text *out) {
    const edit_kernel *k = &w->made;
    json_out j = told_begin(out, c->s.json);
    json_string(&j, "output", c->s.output);
    json_string(&j, "edit", w->of->name);
    if (!j.words) json_list(&j, "inputs");
    for (int i = 0; !j.words && i < w->r.inputs; i++) {
        json_object(&j, NULL);
        json_string(&j, "path", w->path[i]);
        json_uints(&j, "size", (uint32_t[]){w->r.input[i].kernel.w, w->r.input[i].kernel.h}, 2);
        if (isfinite(w->r.input[i].amount)) json_real(&j, "amount", 15, w->r.input[i].amount);
        if (w->of->moves) json_reals(&j, "offset", 15, w->r.input[i].offset, 2);
        json_close(&j);
    }
    if (!j.words) json_close(&j);
    json_object(&j, "parameters");
    for (int i = 0; i < edit_parameters(w->of); i++)
        if (w->of->apply != edit_crop || !w->r.taps[0]) /* which then decide the size */
            json_real(&j, w->of->parameter[i].name, 15, w->r.value[i]);
    json_close(&j);
    json_uints(&j, "size", (uint32_t[]){k->w, k->h}, 2);
    if (!j.words) json_uints(&j, "centre", (uint32_t[]){k->w / 2, k->h / 2}, 2);
    json_uint(&j, "channels", k->channels);
    JSON_EACH(&j, json_real, 15, {"light_before", w->light},
              {"light", edit_light(k) / k->channels});
    JSON_EACH(&j, json_real, 9, {"lost", w->lost}, {"faded", w->faded});
    json_list(&j, "changed");
    for (const edit_saying *said = w->told.saying; said < w->told.saying + w->told.sayings;
         said++) {
        if (j.words) {
            json_string(&j, NULL, said->words);
            continue;
        }
        json_object(&j, NULL);
        json_string(&j, "key", said->key);
        json_real_or_word(&j, "value", 9, said->value);
        json_string(&j, "words", said->words);
        json_close(&j);
    }
    json_end(&j);
}

/* Brings the result to the size and the fade that were asked for. */
static bool finish(editing *w, const cli *c, err *e) {
    edit_kernel *k = &w->made;
    if (w->r.taps[0] && !edit_fit(k, w->r.taps[0], w->r.taps[1], &w->lost, e)) return false;
    if (w->r.taps[0]) edit_say(&w->told, "fitted", w->lost, "brought to %u x %u taps", k->w, k->h);
    if (w->lost > 0)
        log_warn("%s: %.3g %% of the light lay outside %u x %u taps and is lost", c->s.output,
                 100 * w->lost, k->w, k->h);
    if (settings_given(&c->s, "fade", FOR_KERNEL)) w->faded = edit_fade(k, c->s.fade);
    if (w->of->from_photo) edit_normalize(k);
    return true;
}

/* Refuses a photograph that loses more than half of its light: it shows more than a lamp. */
static bool check_cut(const editing *w, const settings *s, err *e) {
    double kept = 1 - w->faded;
    for (const edit_saying *said = w->told.saying; said < w->told.saying + w->told.sayings; said++)
        if (strcmp(said->key, "cut") == 0) kept *= 1 - said->value;
    return !w->of->from_photo || s->force || kept >= 0.5 ||
           err_set(
               e, ERR_DATA,
               "%.3g %% of the light of '%s' would be cut, around its centre and by --fade: is it "
               "a picture of one lamp in darkness? --kernel-center X,Y names the lamp, and "
               "--force writes the kernel all the same",
               100 * (1 - kept), w->r.input[0].name);
}

static bool run(editing *w, const cli *c, int *status, err *e) {
    file_set_file file[EDIT_INPUTS + 1];
    if (!read_words(w, c, e)) return false;
    const int inputs = w->r.inputs;
    OPEN(ticker) *told = ticker_open("the kernel"); /* each kernel that was made told of itself */
    for (int i = 0; i < inputs; i++) file[i] = (file_set_file){FILE_READ, "the kernel", w->path[i]};
    file[inputs] = (file_set_file){FILE_WRITTEN, "the output", c->s.output};
    if (!file_set_apart(file, (size_t)inputs + 1, NULL, e) || !kernel_may_write(&c->s, status, e))
        return false;
    for (int i = 0; i < inputs; i++)
        if (!read_input(w, c, i, e)) return false;
    if (!w->of->apply(&w->made, &w->r, &w->told, e) || !finish(w, c, e) || !check_cut(w, &c->s, e))
        return false;
    OWN(image) *img = to_image(w, c, e);
    return img && kernel_save(&c->s, img, c->threads, status, e);
}

int kernel_edit(const cli *c, text *out, err *e) {
    int status = 0;
    OWN_MEM editing *w = mem_new(1, sizeof *w, "an edit", e);
    if (!w) return 0;
    bool ok = run(w, c, &status, e);
    if (ok && (c->s.json || !c->s.quiet)) report(w, c, out);
    for (int i = 0; i < w->r.inputs; i++) edit_kernel_free(&w->r.input[i].kernel);
    edit_kernel_free(&w->made);
    return status;
}

void kernel_edit_details(const command_action *a, text *to) {
    const edit *d = edit_find(a->name);
    for (int i = 0; i < edit_parameters(d); i++) {
        const edit_parameter *p = &d->parameter[i];
        text_add(to, "%s\t%s; %g to %g [%g]\n", p->name, p->help, p->min, p->max, p->preset);
    }
}
