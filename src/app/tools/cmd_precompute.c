/* cmd_precompute.c - `fftbloom precompute`: a kernel's half spectrum as a portable file. */
#include "app/cli/cli.h"
#include "app/run/file_set.h"
#include "base/file.h"
#include "base/json_out.h"
#include "base/log.h"
#include "kernel/cache.h"
#include "kernel/kernel_source.h"
#include "kernel/spectrum_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_spectrum(spectrum *to, const settings *s, par *threads, bool *hit, err *e) {
    kernel_source in = {0};
    kernel_use use = bloom_kernel_use(&s->bloom);
    psf k = {0};
    if (s->bloom.kernel_relative)
        return err_set(e, ERR_CONFIG,
                       "kernel_scale in heights of the image needs an image; precompute takes a "
                       "factor, such as 1.5");
    cache_place place = {s->bloom.cache_dir, s->bloom.cache_size};
    bool ok = kernel_source_load(&in, s->kernel, threads, e);
    kernel_need need = {in.channels, PSF_SIDE, PSF_SIDE, in.h};
    ok = ok && kernel_source_psf(&k, &in, &use, &need, NULL, e) &&
         cache_spectrum(to, &k, &place, threads, hit, e);
    psf_free(&k);
    kernel_source_free(&in);
    return ok;
}

static void tell(const settings *s, const spectrum *k, bool hit) {
    struct stat st = {0};
    char size[32];
    stat(s->output, &st);
    if (s->json) {
        text out = {0};
        json_out j = {.to = &out};
        json_object(&j, NULL);
        json_int(&j, "version", 1);
        json_string(&j, "output", s->output);
        json_uint(&j, "bytes", (uint64_t)st.st_size);
        json_bool(&j, "cached", hit);
        json_uints(&j, "kernel", (uint32_t[]){k->kernel.w, k->kernel.h}, 2);
        json_uint(&j, "channels", k->kernel.channels);
        json_uints(&j, "grid", (uint32_t[]){k->m[0], k->m[1]}, 2);
        json_end(&j);
        fputs(out.s, stdout);
        text_free(&out);
    }
    log_info("%s: kernel of %u x %u, %u channels, %s%s", s->output, k->kernel.w, k->kernel.h,
             k->kernel.channels, text_bytes((double)st.st_size, size),
             hit ? ", from the cache" : "");
}

static bool check_files(const settings *s, err *e) {
    file_set files = {0};
    bool ok = file_set_add(&files, FILE_READ, "the kernel", s->kernel, e) &&
              file_set_add(&files, FILE_WRITTEN, "the output", s->output, e) &&
              file_set_add_configs(&files, s, e) && file_set_check(&files, false, e);
    file_set_free(&files);
    return ok;
}

static int skip(const settings *s) {
    log_note("%s skipped: the output exists", s->output);
    return ERR_SKIPPED;
}

static int precompute(const settings *s, err *e) {
    const char *dot = strrchr(s->output, '.');
    if (!dot || strcasecmp(dot, ".spectrum") != 0) {
        err_set(e, ERR_USAGE, "precompute writes a .spectrum file, not '%s'", s->output);
        return (int)e->code;
    }
    if (!check_files(s, e)) return (int)e->code;
    if (!s->clobber && access(s->output, F_OK) == 0) return skip(s);
    if (!file_out_possible(s->output, e)) return (int)e->code;
    spectrum k = {0};
    bool hit = false;
    par *threads = par_open((int)s->jobs, e);
    file_out *f = NULL;
    bool ok = threads && make_spectrum(&k, s, threads, &hit, e) &&
              (f = file_out_open(s->output, s->clobber, e)) && spectrum_file_write_to(f, &k, e);
    if (ok) tell(s, &k, hit);
    spectrum_free(&k);
    if (threads) par_close(&threads);
    if (e->code != ERR_SKIPPED) return (int)e->code;
    *e = (err){0};
    return skip(s); /* it appeared meanwhile */
}

int cmd_precompute(int argc, char **argv, err *e) {
    cli c;
    int status = 0;
    if (cli_open(&c, argc, argv, e)) status = precompute(&c.s, e);
    cli_close(&c);
    return e->code ? (int)e->code : status;
}
