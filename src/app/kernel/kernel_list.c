/* kernel_list.c - `fftbloom kernel list`: the kernels that are shipped with the program. */
#include "app/cli/library.h"
#include "app/kernel/kernel_actions.h"
#include "base/json_out.h"
#include "base/log.h"
#include "image/format.h"

#include <stdio.h>
#include <string.h>

static void tell(const char *folder, const char *name, par *threads, json_out *j, text *out) {
    char path[LIBRARY_PATH + 300], about[400] = "";
    err why = {0};
    snprintf(path, sizeof path, "%s/%s.exr", folder, name);
    image_reader *in = image_open(path, NULL, threads, &why);
    if (!in) {
        log_warn("%s", why.msg);
        return;
    }
    const image_part *p = &image_reader_header(in)->part[0];
    const image_attr *a = image_find_attr(p, "comments");
    if (a) snprintf(about, sizeof about, "%.*s", (int)a->bytes, (const char *)a->data);
    if (j) {
        json_object(j, NULL);
        json_string(j, "name", name);
        json_string(j, "about", about);
        json_uints(j, "size", (uint32_t[]){image_width(p), image_height(p)}, 2);
        json_string(j, "path", path);
        json_close(j);
    } else {
        char shown[sizeof path];
        text_clean(shown, sizeof shown, name);
        text_add(out, "%-18s", shown);
        text_add_clean(out, about);
        text_add(out, "\n");
    }
    image_close(&in);
}

int kernel_list(cli *c, text *out, err *e) {
    char folder[LIBRARY_PATH], *at;
    text names = {0};
    json_out j;
    if (!library_folder(folder, &c->s)) {
        err_set(e, ERR_NO_INPUT,
                "cannot find the folder of the shipped kernels; give it with --kernels DIR");
        return 0;
    }
    if (c->s.json) {
        j = json_begin(out);
        json_string(&j, "folder", folder);
        json_list(&j, "kernels");
    }
    library_names(&c->s, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        tell(folder, w, c->threads, c->s.json ? &j : NULL, out);
    if (c->s.json) {
        json_close(&j);
        json_end(&j);
    }
    text_free(&names);
    return 0;
}
