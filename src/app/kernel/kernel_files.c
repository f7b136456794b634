#include "app/kernel/kernel_files.h"

#include "app/kernel/kernel_picture.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"

#include <stdio.h>
#include <unistd.h>

bool kernel_load(kernel_source *in, lint *l, const cli *c, const char *path, err *e) {
    if (!kernel_source_load(in, path, c->threads, e)) return false;
    if (in->is_spectrum)
        return err_set(e, ERR_DATA, "'%s' is a spectrum; give the kernel that it was made from",
                       path);
    const psf_planes planes = kernel_source_planes(in);
    return lint_kernel(l, &planes, e);
}

static bool skip(const settings *s, int *status) {
    log_note("%s skipped: the output exists", s->output);
    *status = ERR_SKIPPED;
    return false;
}

bool kernel_is_kept(const settings *s, int *status) {
    return !s->clobber && access(s->output, F_OK) == 0 && !skip(s, status);
}

bool kernel_may_write(const settings *s, int *status, err *e) {
    if (!s->output) return err_set(e, ERR_USAGE, "there is no output; give one with -o OUT");
    return !kernel_is_kept(s, status) && image_can_create(s->output, e);
}

bool kernel_write(const settings *s, const void *bytes, size_t n, err *e) {
    file_out *f = file_out_open(s->output, s->clobber, e);
    if (f && file_out_write(f, 0, bytes, n, e)) return file_out_commit(&f, e);
    file_out_discard(&f);
    return false;
}

/* Writes false colours with their scale, as kernel show does. */
static bool save_picture(const settings *s, const image *img, err *e) {
    static const char *const NAME[] = {"R", "G", "B"};
    const image_part *p = &img->head.part[0];
    kernel_page k = {.name = "", .origin = "", .decades = s->decades};
    lint l;
    k.w = image_width(p), k.h = image_height(p);
    k.channels = image_find_channel(p, "R") >= 0 ? PAGE_CHANNELS : 1;
    for (uint32_t c = 0; c < k.channels; c++) {
        int at = k.channels > 1 ? image_find_channel(p, NAME[c]) : 0;
        k.plane[c] = at >= 0 && p->channel[at].type == PIXEL_FLOAT ? img->plane[0][at] : NULL;
        if (!k.plane[c]) return err_set(e, ERR_INTERNAL, "a kernel without a plane of floats");
    }
    const psf_planes planes = {.w = k.w, .h = k.h, .channels = k.channels, .plane = k.plane};
    size_t bytes = 0;
    uint8_t *png = NULL;
    k.figures = &l;
    bool ok = lint_kernel(&l, &planes, e) && kernel_page_measure(&k, e) &&
              (png = kernel_picture_png(&k, &bytes, e)) && kernel_write(s, png, bytes, e);
    mem_free(png);
    kernel_page_free(&k);
    if (ok)
        log_note("'%s' is a picture of the kernel on a logarithmic scale of six decades, not a "
                 "kernel: write .exr for that",
                 s->output);
    return ok;
}

bool kernel_save(const cli *c, const image *img, bool picture, int *status, err *e) {
    const settings *s = &c->s;
    bool ok;
    if (picture) {
        ok = save_picture(s, img, e);
    } else {
        ok = image_save_to(image_create(s->output, &img->head, s->clobber, c->threads, e), img, e);
    }
    if (ok || e->code != ERR_SKIPPED) return ok;
    *e = (err){0};
    return skip(s, status);
}
