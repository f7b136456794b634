/* bench.h - what the actions of `fftbloom bench` share: sizes and kernels of frames, and those
 * actions that the lab does (bench_lab.c). */
#ifndef APP_BENCH_H
#define APP_BENCH_H

#include "app/cli/cli.h"
#include "kernel/psf.h"

/* Does something with an image of this size and this kernel. */
typedef bool bench_do(void *ctx, const uint32_t size[PLAN_AXES], const psf *k, err *e);

/* Calls it for every --size with every --kernel. All are read before the first call. */
bool bench_each(const cli *c, bench_do *call, void *ctx, err *e);

int bench_fft(cli *c, text *out, err *e);
int bench_ocean(cli *c, text *out, err *e);
int bench_article(cli *c, text *out, err *e);

#endif
