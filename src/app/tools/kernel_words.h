/* kernel_words.h - what a linter of kernels has to say, from its numbers. */
#ifndef APP_KERNEL_WORDS_H
#define APP_KERNEL_WORDS_H

#include "base/text.h"
#include "kernel/lint.h"

typedef struct {
    bool warning;    /* else a remark: worth knowing, nothing to mend */
    const char *key; /* for scripts: "centre", "tail", ... */
    char words[400]; /* a sentence, and what to do about it */
} kernel_finding;

enum { KERNEL_FINDINGS = 24 };

/* Returns how many; the warnings come first. */
int kernel_findings(kernel_finding to[KERNEL_FINDINGS], const lint *l);

/* Adds the report to read. `verbose` has the remarks that hold for every second kernel, too. */
void kernel_words(const char *path, const lint *l, bool verbose, text *to);
void kernel_json(const char *path, const lint *l, text *to);

#endif
