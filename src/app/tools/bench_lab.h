/* bench_lab.h - the actions of `fftbloom bench` that the lab does. Each returns 0, or sets the
 * error. */
#ifndef APP_BENCH_LAB_H
#define APP_BENCH_LAB_H

#include "app/cli/cli.h"

int bench_fft(cli *c, text *out, err *e);

#endif
