/* kernel_show.c - `fftbloom kernel check`: what is wrong with a kernel; and `show`: its page. */
#include "app/cli/kernel_option.h"
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "app/kernel/kernel_files.h"
#include "app/kernel/kernel_page.h"
#include "app/run/file_set.h"
#include "base/json_out.h"
#include "base/path.h"
#include "image/format.h"
#include "kernel/lint_words.h"
#include "kernel/make/kernel_recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int kernel_check(cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_option_path(path, c->word[1], &c->s, e)) return 0;
    lint l;
    kernel_finding found[KERNEL_FINDINGS];
    kernel_source in = {0};
    ticker *told = ticker_open("kernel check");
    bool ok = kernel_load(&in, &l, c, path, e);
    const psf_planes taps = kernel_source_planes(&in);
    ok = ok && lint_core(&l, &taps, e);
    ticker_close(&told);
    kernel_source_free(&in);
    if (!ok) return 0;
    if (c->s.json || !c->s.quiet) kernel_report(c->word[1], &l, c->s.json, out);
    return c->s.strict && kernel_findings(found, &l) && found[0].warning;
}

/* --- how the kernel was made --- */

/* Says how the kernel was made: by the parameters that the file has, if they are possible; the
 * others have their presets. */
static void add_origin(kernel_page *k, const image_part *p, text *words) {
    enum { LINE = 104 }; /* bytes that fit the page */
    char name[64], edit[256], about[512];
    image_attr_text(p, "comments", about, sizeof about);
    image_attr_text(p, KERNEL_ATTR "model", name, sizeof name);
    image_attr_text(p, KERNEL_ATTR "edit", edit, sizeof edit);
    const model *m = *name ? model_find(name) : NULL;
    if (*about) text_add(words, "%s%s", about, *name ? "; " : "");
    if (*name) text_add(words, "model %s", name);
    for (int i = 0; m && i < model_parameters(m); i++) {
        const model_parameter *is = &m->parameter[i];
        char attr[96];
        double v = NAN;
        snprintf(attr, sizeof attr, KERNEL_ATTR "%s", is->name);
        const image_attr *a = image_find_attr(p, attr);
        if (a && strcmp(a->type, "double") == 0 && a->bytes == sizeof v)
            memcpy(&v, a->data, sizeof v);
        text_add(words, "%s%s %.4g", i ? ", " : ": ", is->name,
                 v >= is->min && v <= is->max ? v : is->preset);
    }
    if (*edit) text_add(words, "%s%s", words->n ? "; " : "", edit);
    if (words->n > LINE) {
        char cut[LINE];
        text_clean(cut, sizeof cut, words->s);
        text_free(words);
        text_add(words, "%s \xe2\x80\xa6", cut);
    }
    k->origin = words->n ? words->s : "";
}

/* --- output --- */

static void add_json(const kernel_page *k, const cli *c, const char *path, text *out) {
    json_out j = json_begin(out);
    json_string(&j, "kernel", path);
    json_string(&j, "output", c->s.output);
    json_list(&j, "rings");
    for (uint32_t r = 0; r < k->rings; r++) {
        double mean[PAGE_CHANNELS], within[PAGE_CHANNELS];
        for (uint32_t i = 0; i < k->channels; i++)
            mean[i] = k->mean[i][r], within[i] = k->within[i][r];
        json_object(&j, NULL);
        json_uint(&j, "radius", r);
        json_reals(&j, "light", 9, mean, k->channels);
        json_reals(&j, "within", 9, within, k->channels);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
}

static int show(cli *c, const kernel_source *in, const lint *l, text *out, err *e) {
    int status = 0;
    kernel_page k = {.figures = l, .w = in->w, .h = in->h, .colour = in->is};
    char name[256];
    OWN(text) words = {0};
    text_clean(name, sizeof name, path_name(c->word[1]));
    k.name = name;
    k.channels = in->channels >= PAGE_CHANNELS ? PAGE_CHANNELS : 1;
    for (uint32_t i = 0; i < k.channels; i++) k.plane[i] = in->plane[i];
    image_reader *reader = image_open(in->path, NULL, c->threads, e);
    bool ok = reader && kernel_page_measure(&k, e);
    if (ok) {
        const image_part *p = &image_reader_header(reader)->part[in->part];
        add_origin(&k, p, &words);
    }
    image_close(&reader);
    OWN(text) page = {0};
    ok = ok && kernel_page_svg(&k, c->threads, &page, e) &&
         kernel_write(&c->s, page.s, page.n, &status, e);
    if (ok && c->s.json) add_json(&k, c, c->word[1], out);
    kernel_page_free(&k);
    return status;
}

int kernel_show(cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_option_path(path, c->word[1], &c->s, e)) return 0;
    const settings *s = &c->s;
    int status = 0;
    const file_set_file FILES[] = {{FILE_READ, "the kernel", path},
                                   {FILE_WRITTEN, "the output", s->output}};
    kernel_source in = {0};
    lint l;
    ticker *told = ticker_open("kernel show");
    if (!s->output)
        err_set(e, ERR_USAGE, "show needs an output: -o PAGE.svg");
    else if (!path_ends_in(s->output, "svg"))
        err_set(e, ERR_USAGE, "show writes an .svg page, not '%s'", s->output);
    else if (file_set_apart(FILES, 2, NULL, e) && kernel_load(&in, &l, c, path, e))
        status = show(c, &in, &l, out, e);
    ticker_close(&told);
    kernel_source_free(&in);
    return status;
}
