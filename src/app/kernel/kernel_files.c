#include "app/kernel/kernel_files.h"

#include "app/run/output.h"
#include "base/log.h"

#include <stdio.h>
#include <unistd.h>

bool kernel_read_taps(uint32_t to[2], const char *from, err *e) {
    unsigned w, h;
    char x, more;
    int n = sscanf(from, "%u%c%u%c", &w, &x, &h, &more);
    if (!(n == 1 || (n == 3 && x == 'x')) || from[0] == '-')
        return err_set(e, ERR_USAGE, "--taps must be N or WxH, such as 256 or 300x200, not '%s'",
                       from);
    to[0] = w;
    to[1] = n == 3 ? h : w;
    if (to[0] < 1 || to[1] < 1 || to[0] > PSF_SIDE || to[1] > PSF_SIDE)
        return err_set(e, ERR_USAGE, "--taps %s: a side must have 1 to %d taps", from, PSF_SIDE);
    return true;
}

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

bool kernel_may_write(const settings *s, int *status, err *e) {
    if (!s->output)
        return err_set(e, ERR_USAGE, "this needs an output (-o OUT); see 'fftbloom help kernel'");
    if (s->clobber || access(s->output, F_OK) != 0) return image_can_create(s->output, e);
    return skip(s, status);
}

bool kernel_save(const cli *c, const image *img, bool picture, int *status, err *e) {
    const settings *s = &c->s;
    bool ok;
    if (picture) {
        preview_options as = {.width = UINT32_MAX, .whole = true, .decades = 6};
        ok = output_picture(&(output){.path = s->output, .s = s, .threads = c->threads}, img, &as,
                            e);
        if (ok)
            log_note("'%s' is a picture of the kernel on a logarithmic scale of six decades, not a "
                     "kernel: write .exr for that",
                     s->output);
    } else {
        ok = image_save_parts(image_create(s->output, &img->head, s->clobber, c->threads, e), img,
                              NULL, e);
    }
    if (ok || e->code != ERR_SKIPPED) return ok;
    *e = (err){0};
    return skip(s, status);
}
