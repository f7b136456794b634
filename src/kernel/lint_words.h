/* lint_words.h - turns the numbers of the kernel linter into findings: what is wrong, what it
 * will do to a picture, and what to do about it. It looks at no taps. */
#pragma once

#include "base/text.h"
#include "kernel/lint.h"

typedef struct {
    bool warning;    /* else a note: worth knowing, nothing to mend */
    const char *key; /* for scripts: "centre", "tail", ... */
    char words[400]; /* a sentence, and what to do about it */
} kernel_finding;

enum { KERNEL_FINDINGS = 10 };

/* Fills in the findings, the warnings first, and returns how many there are. */
int kernel_findings(kernel_finding to[KERNEL_FINDINGS], const lint *l);

/* Adds the figures and the findings. */
void kernel_report(const char *path, const lint *l, bool as_json, text *to);
