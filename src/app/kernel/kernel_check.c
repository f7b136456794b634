/* kernel_check.c - `fftbloom kernel check`: what is wrong with a kernel. */
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "kernel/lint.h"

int kernel_check(const cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_finder_path(path, c->word[1], &c->kernels, e)) return 0;
    lint l;
    kernel_finding found[KERNEL_FINDINGS];
    OWN(kernel_source) in = {0};
    ticker *told = ticker_open("kernel check");
    bool ok = kernel_load(&in, &l, c, path, e);
    const psf_planes taps = kernel_source_planes(&in);
    ok = ok && lint_core(&l, &taps, e);
    ticker_close(&told);
    if (!ok) return 0;
    if (c->s.json || !c->s.quiet) kernel_report(c->word[1], &l, c->s.json, out);
    return c->s.strict && kernel_findings(found, &l) && found[0].warning;
}
