/* cmd_precompute.c - `fftbloom precompute`: writes a kernel's half spectrum to a portable file. */
#include "app/cli/terminal.h"
#include "app/run/file_set.h"
#include "app/run/hints.h"
#include "app/run/record.h"
#include "app/run/stages.h"
#include "app/tools/tools.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "kernel/cache.h"
#include "kernel/kernel_field.h"
#include "kernel/spectrum_file.h"

static bool precompute_make_spectrum(spectrum *to, lint_faults *faults, const run_choice *r,
                                     par *threads, err *e) {
    OWN(kernel_source) in = {0};
    const bloom_settings s = stages_bloom(r);
    kernel_use use = bloom_kernel_use(&s);
    OWN(psf) k = {0};
    if (s.kernel_relative)
        return err_set(e, ERR_CONFIG,
                       "kernel_scale in image heights needs an image; give precompute a factor, "
                       "such as 1.5");
    cache_place place = {s.cache_dir, s.cache_size};
    bool ok = kernel_field_load(&in, r->kernel->file, threads, e);
    if (ok && in.field)
        return err_set(
            e, ERR_CONFIG,
            "'%s' is a field of %u kernels, and a .spectrum file has one: the first frame "
            "that a field blooms puts their spectra into the cache",
            r->kernel->file, field_nodes(&in.field->grid));
    if (ok && in.channels == 3 && in.known && !primaries_same(&in.gamut, PRIMARIES_REC709))
        log_note("a .spectrum file does not say its primaries: this one is for images that have "
                 "those of the kernel");
    kernel_need need = {.channels = in.channels, .w = PSF_SIDE, .h = PSF_SIDE, .height = in.h};
    ok = ok && kernel_source_glance(faults, &in, &s.kernel, e);
    if (ok) hints_faults(r->kernel->file, faults->words);
    return ok && kernel_source_psf(&k, &in, &use, &need, NULL, e) &&
           cache_spectrum(to, &k, &place, threads, e);
}

static void precompute_tell(const settings *s, const spectrum *k, const char *faults, text *out) {
    char size[32];
    const uint64_t bytes = path_bytes(s->output);
    log_info("%s: kernel of %u x %u, %u channels, %s%s", s->output, k->kernel.w, k->kernel.h,
             k->kernel.channels, text_bytes((double)bytes, size),
             k->cached ? ", from the cache" : "");
    if (!s->json) return;
    json_out j = json_begin(out);
    json_string(&j, "output", s->output);
    json_size(&j, "bytes", bytes);
    json_bool(&j, "cached", k->cached);
    json_uints(&j, "kernel", (uint32_t[]){k->kernel.w, k->kernel.h}, 2);
    json_uint(&j, "channels", k->kernel.channels);
    json_uints(&j, "grid", (uint32_t[]){k->m[0], k->m[1]}, 2);
    json_array(&j, "notes");
    if (*faults) json_string(&j, NULL, faults);
    json_end(&j);
}

int cmd_precompute(const cli *c, text *out, err *e) {
    const settings *s = &c->s;
    const run_choice run = run_choice_of(c);
    const file_set_file FILES[] = {{FILE_READ, "the kernel", run.kernel->file},
                                   {FILE_READ, "the kernel's recipe", run.kernel->recipe},
                                   {FILE_WRITTEN, "the output", s->output}};
    if (!path_ends_in(s->output, "spectrum"))
        err_set(e, ERR_USAGE, "precompute writes a .spectrum file, not '%s'", s->output);
    if (e->code || !file_set_apart(FILES, 3, s, e)) return 0;
    bool skip = record_is_kept(s, s->output);
    if (!skip && file_out_possible(s->output, e)) {
        OWN(spectrum) k = {0};
        lint_faults faults = {0};
        file_out *f = NULL;
        OPEN(ticker) *told = ticker_open("making the spectrum");
        if (precompute_make_spectrum(&k, &faults, &run, c->threads, e) &&
            (f = file_out_open(s->output, s->existing != EXISTING_SKIP, e)) &&
            spectrum_file_write_to(f, &k, e))
            precompute_tell(s, &k, faults.words, out);
    }
    if (e->code == ERR_SKIPPED) { /* the output appeared meanwhile */
        *e = (err){0};
        skip = true;
    }
    if (skip) log_note("%s skipped: the output exists", s->output);
    return skip ? ERR_SKIPPED : 0;
}
