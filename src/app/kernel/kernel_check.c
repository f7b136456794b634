/* kernel_check.c - `fftbloom kernel check`: what is wrong with a kernel. */
#include "app/cli/kernel_option.h"
#include "app/cli/ticker.h"
#include "app/kernel/kernel_actions.h"
#include "app/kernel/kernel_files.h"
#include "kernel/lint_words.h"

int kernel_check(cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_option_path(path, c->word[1], &c->s, e)) return 0;
    lint l;
    kernel_finding found[KERNEL_FINDINGS];
    kernel_source in = {0};
    ticker *told = ticker_open("kernel check");
    bool ok = kernel_load(&in, &l, c, path, e);
    ticker_close(&told);
    kernel_source_free(&in);
    if (!ok) return 0;
    if (c->s.json)
        kernel_json(c->word[1], &l, out);
    else if (!c->s.quiet)
        kernel_words(c->word[1], &l, out);
    return c->s.strict && kernel_findings(found, &l) && found[0].warning;
}
