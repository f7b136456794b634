/* kernel_all.c - `fftbloom kernel make --all`: the shipped kernels as files for other programs,
 * each with its licence and a small picture. */
#include "app/cli/kernel_option.h"
#include "app/kernel/kernel_actions.h"
#include "app/kernel/kernel_files.h"
#include "base/file.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"
#include "image/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char LICENCE[] = {
#include "pages/LICENSE.inc"
    0};

/* The files of a folder. */
typedef struct {
    cli c; /* its output is the file at hand, which has the name `path` */
    text path;
    const char *folder;
    int status;
} kernel_set;

/* Names the next file. Returns whether it is to be written. */
static bool next_file(kernel_set *set, const char *name, const char *ending) {
    text_free(&set->path);
    text_add(&set->path, "%s/%s%s", set->folder, name, ending);
    set->c.s.output = set->path.s;
    return !kernel_is_kept(&set->c.s, &set->status);
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
    uint8_t *png = NULL;
    bool ok = preview_make(&p, img, &as, set->c.threads, e) &&
              (png = png_encode(&(png_picture){p.pixel, p.width, p.height, 3}, &bytes, e)) &&
              kernel_write(&set->c.s, png, bytes, &set->status, e);
    mem_free(png);
    mem_free(p.pixel);
    return ok;
}

/* Writes the files of one kernel, which is made and kept as for any other use. */
static bool write_kernel(kernel_set *set, const char *name, json_out *j, err *e) {
    const settings *s = &set->c.s;
    kernel_word k;
    kernel_making how = {.scale = s->bloom.kernel.size};
    char path[KERNEL_PATH];
    if (!kernel_option_find(&k, name, s, e) || !kernel_option_file(path, &k, &how, s, e))
        return false;
    if (how.scale != 1)
        return err_set(e, ERR_CONFIG,
                       "the kernel '%s' is an image, and is made at no other size; give "
                       "--kernel-scale to the run, or use 'kernel stretch'",
                       name);
    image *img = image_load(path, &(image_limits){.side = PSF_SIDE}, set->c.threads, e);
    image_part *part = img ? &img->head.part[0] : NULL;
    bool ok = part && image_set_attr(part, "license", "string", LICENCE, strlen(LICENCE), e);
    if (ok && next_file(set, name, ".exr")) ok = kernel_save(&set->c, img, &set->status, e);
    if (ok && next_file(set, name, ".png")) ok = write_picture(set, img, e);
    if (ok) {
        json_object(j, NULL);
        json_string(j, "name", name);
        json_uints(j, "size", (uint32_t[]){image_width(part), image_height(part)}, 2);
        json_close(j);
    }
    image_free(&img);
    return ok || e->code == 0;
}

int kernel_make_all(cli *c, text *out, err *e) {
    kernel_set set = {.c = *c, .folder = c->s.output};
    text names = {0};
    char *at;
    kernel_option_names(&c->s, &names);
    if (!set.folder)
        err_set(e, ERR_USAGE, "--all needs a folder for its files: -o DIR");
    else if (!names.n)
        err_set(e, ERR_NO_INPUT, "cannot find the folder of the shipped kernels");
    if (e->code || !file_make_dirs(set.folder, 0777, e)) return 0;
    json_out j = told_begin(out, c->s.json);
    json_string(&j, "folder", set.folder);
    json_list(&j, "kernels");
    bool ok = !next_file(&set, "LICENSE", ".txt") ||
              kernel_write(&set.c.s, LICENCE, strlen(LICENCE), &set.status, e);
    for (char *w = strtok_r(names.s, " ", &at); ok && w; w = strtok_r(NULL, " ", &at))
        ok = write_kernel(&set, w, &j, e);
    json_close(&j);
    json_end(&j);
    text_free(&set.path);
    text_free(&names);
    return set.status;
}
