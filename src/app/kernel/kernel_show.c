/* kernel_show.c - `fftbloom kernel show`: the page of a kernel, or of a field. */
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "app/run/file_set.h"
#include "base/path.h"
#include "image/format.h"
#include "kernel/kernel_field.h"
#include "kernel/lint.h"
#include "kernel/make/kernel_recipe.h"

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
        const model_parameter *parameter = &m->parameter[i];
        char attr[96];
        double v = NAN;
        snprintf(attr, sizeof attr, KERNEL_ATTR "%s", parameter->name);
        const image_attr *a = image_find_attr(p, attr);
        if (a && strcmp(a->type, "double") == 0 && a->bytes == sizeof v)
            memcpy(&v, a->data, sizeof v);
        text_add(words, "%s%s %.4g", i ? ", " : ": ", parameter->name,
                 v >= parameter->min && v <= parameter->max ? v : parameter->preset);
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

static bool show_kernel(const kernel_source *in, const cli *c, const image_header *h, text *page,
                        text *out, err *e) {
    lint l;
    char name[256];
    OWN(text) words = {0};
    OWN(kernel_page) k = {0};
    const psf_planes taps = kernel_source_planes(in);
    if (!lint_kernel(&l, &taps, e) || !kernel_page_take(&k, in, &l, e)) return false;
    text_clean(name, sizeof name, path_name(c->word[1]));
    k.name = name;
    add_origin(&k, &h->part[in->part], &words);
    if (!kernel_page_svg(&k, c->threads, page, e)) return false;
    if (!c->s.json) return true;
    json_out j = json_begin(out);
    json_string(&j, "kernel", c->word[1]);
    json_string(&j, "output", c->s.output);
    kernel_page_json(&k, &j);
    json_end(&j);
    return true;
}

static int show(const cli *c, const char *path, text *out, err *e) {
    int status = 0;
    OWN(text) page = {0}, told = {0};
    OWN(kernel_source) in = {0};
    if (!kernel_field_load(&in, path, c->threads, e) || (!in.field && !kernel_source_taps(&in, e)))
        return 0;
    OPEN(image_reader) *reader = image_open(path, NULL, c->threads, e);
    if (!reader) return 0;
    if (path_ends_in(c->s.output, "html"))
        text_add(&page, "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                        "content=\"width=device-width\">\n");
    const image_header *h = image_reader_header(reader);
    if ((in.field ? kernel_field_page : show_kernel)(&in, c, h, &page, &told, e) &&
        kernel_write(&c->s, page.s, page.n, &status, e) && told.n)
        text_add_bytes(out, told.s, told.n);
    return status;
}

int kernel_show(const cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_finder_path(path, c->word[1], &c->kernels, e)) return 0;
    const settings *s = &c->s;
    int status = 0;
    const file_set_file FILES[] = {{FILE_READ, "the kernel", path},
                                   {FILE_WRITTEN, "the output", s->output}};
    OPEN(ticker) *told = ticker_open("kernel show");
    if (!s->output)
        err_set(e, ERR_USAGE, "show needs an output: -o PAGE.svg or -o PAGE.html");
    else if (!path_ends_in(s->output, "svg") && !path_ends_in(s->output, "html"))
        err_set(e, ERR_USAGE, "show writes an .svg or an .html page, not '%s'", s->output);
    else if (file_set_apart(FILES, 2, NULL, e))
        status = show(c, path, out, e);
    return status;
}
