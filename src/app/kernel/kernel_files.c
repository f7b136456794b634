/* kernel_files.c - the files that actions read and write. */
#include "app/kernel/kernel_actions.h"
#include "app/run/output.h"
#include "app/run/record.h"
#include "base/file.h"
#include "base/log.h"
#include "image/format.h"

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
    return record_is_kept(s, s->output) && !skip(s, status);
}

bool kernel_may_write(const settings *s, int *status, err *e) {
    if (!s->output) return err_set(e, ERR_USAGE, "there is no output; give one with -o OUT");
    if (output_is_picture(s->output))
        return err_set(e, ERR_USAGE,
                       "'%s' would be a picture, black but for the middle: write the kernel as "
                       ".exr, and draw it with 'kernel show'",
                       s->output);
    return !kernel_is_kept(s, status) && image_can_create(s->output, e);
}

/* Returns whether the output was written; one that is kept is no failure. */
static bool written(bool ok, const settings *s, int *status, err *e) {
    if (ok || e->code != ERR_SKIPPED) return ok;
    *e = (err){0};
    return skip(s, status);
}

bool kernel_write(const settings *s, const void *bytes, size_t n, int *status, err *e) {
    OWN(file_out) *f = file_out_open(s->output, s->existing != EXISTING_SKIP, e);
    const bool ok = f && file_out_write(f, 0, bytes, n, e) && file_out_commit(&f, e);
    return written(ok, s, status, e);
}

bool kernel_save(const settings *s, const image *img, par *threads, int *status, err *e) {
    const bool replace = s->existing != EXISTING_SKIP;
    image_writer *w = image_create(s->output, &img->head, replace, threads, e);
    return written(image_save_to(w, img, e), s, status, e);
}
