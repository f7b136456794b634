/* kernel_files.h - reads and writes the kernels of `fftbloom kernel`, for all its actions. */
#ifndef APP_KERNEL_FILES_H
#define APP_KERNEL_FILES_H

#include "app/cli/cli.h"
#include "kernel/kernel_source.h"
#include "kernel/lint.h"

/* Reads the kernel of a file and the linter's numbers. Free `in`, also after a failure. */
bool kernel_load(kernel_source *in, lint *l, const cli *c, const char *path, err *e);

/* Returns whether the output exists and is kept; says so, and sets the status. */
bool kernel_is_kept(const settings *s, int *status);
/* Returns whether there is a kernel to write: false with no error where the output is kept. */
bool kernel_may_write(const settings *s, int *status, err *e);
/* Write the output. Return false with no error where it exists by now and is kept. */
bool kernel_write(const settings *s, const void *bytes, size_t n, int *status, err *e);
bool kernel_save(const cli *c, const image *img, int *status, err *e);

#endif
