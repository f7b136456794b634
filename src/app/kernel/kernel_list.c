/* kernel_list.c - `fftbloom kernel list`: the kernels that are shipped with the program. */
#include "app/cli/kernel_option.h"
#include "app/kernel/kernel_actions.h"
#include "base/json_out.h"
#include "base/log.h"
#include "image/format.h"
#include "kernel/make/kernel_recipe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the list says of a kernel. */
typedef struct {
    char path[KERNEL_PATH + 300], about[400];
    uint32_t w, h;
} listed;

/* Reads what a kernel's image or recipe says of itself. */
static bool look_at(listed *l, bool is_image, par *threads, err *e) {
    kernel_recipe r = {0};
    if (!is_image) {
        bool ok = kernel_recipe_file(&r, l->path, e);
        if (ok) snprintf(l->about, sizeof l->about, "%s", r.about ? r.about : "");
        l->w = r.w, l->h = r.h;
        kernel_recipe_free(&r);
        return ok;
    }
    image_reader *in = image_open(l->path, NULL, threads, e);
    if (!in) return false;
    const image_part *p = &image_reader_header(in)->part[0];
    const image_attr *a = image_find_attr(p, "comments");
    if (a) snprintf(l->about, sizeof l->about, "%.*s", (int)a->bytes, (const char *)a->data);
    l->w = image_width(p), l->h = image_height(p);
    image_close(&in);
    return true;
}

static void tell(const char *folder, const char *name, par *threads, json_out *j) {
    listed l = {.w = 0};
    err why = {0};
    snprintf(l.path, sizeof l.path, "%s/%s.exr", folder, name);
    bool is_image = access(l.path, F_OK) == 0;
    if (!is_image) snprintf(l.path, sizeof l.path, "%s/%s.json", folder, name);
    if (!look_at(&l, is_image, threads, &why)) {
        log_warn("%s", why.msg);
        return;
    }
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "about", l.about);
    if (!j->words) {
        json_uints(j, "size", (uint32_t[]){l.w, l.h}, 2);
        json_string(j, "path", l.path);
    }
    json_close(j);
}

int kernel_list(cli *c, text *out, err *e) {
    char folder[KERNEL_PATH], *at;
    text names = {0};
    if (!kernel_option_folder(folder, &c->s)) {
        err_set(e, ERR_NO_INPUT,
                "cannot find the folder of the shipped kernels; give it with --kernels DIR");
        return 0;
    }
    json_out j = told_begin(out, c->s.json);
    if (c->s.json) json_string(&j, "folder", folder);
    json_list(&j, "kernels");
    kernel_option_names(&c->s, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        tell(folder, w, c->threads, &j);
    json_close(&j);
    json_end(&j);
    text_free(&names);
    return 0;
}
