/* bench_lab.h - the actions of `fftbloom bench` that the lab does. Each returns 0, or sets the
 * error. */
#ifndef APP_BENCH_LAB_H
#define APP_BENCH_LAB_H

#include "app/cli/cli.h"
#include "device/device_choice.h"
#include "lab/article_bench.h"

int bench_fft(cli *c, text *out, err *e);
int bench_ocean(cli *c, text *out, err *e);

/* Where the article's bloom and ours are shown. */
typedef struct {
    const settings *s; /* --json, --device */
    text *out;
    json_out *json; /* an array that is open, with --json */
    bool first;     /* nothing was shown before */
} bench_article_out;

/* Times both on the first Vulkan device that is wanted, and adds their rows. The request's device
 * does not count. */
bool bench_article(const bench_article_out *to, const article_request *ask, device_list *devices,
                   err *e);

#endif
