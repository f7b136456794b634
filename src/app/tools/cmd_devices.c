/* cmd_devices.c - `fftbloom devices`: what this machine has, and what would be chosen. */
#include "app/cli/cli.h"
#include "app/run/describe.h"
#include "base/log.h"
#include "kernel/cache.h"

#include <stdio.h>

enum { ONE = 1, MANY = 1000 };

/* The device that --device auto takes for so many images of 1920 x 1080 and a kernel of 256. */
static int chosen(const engine_device *d, uint32_t n, uint32_t images, par *threads) {
    char folder[CACHE_PATH];
    device_speed speed[ENGINE_DEVICES];
    device_forecast f[ENGINE_DEVICES];
    bool kept = cache_path(folder, NULL);
    for (uint32_t i = 0; i < n; i++)
        speed[i] = device_speed_load(&d[i], par_threads(threads), kept ? folder : NULL);
    plan_request ask = {.size = {1920, 1080},
                        .reach_lo = {128, 128},
                        .reach_hi = {127, 127},
                        .channels = 3,
                        .spectra = 3,
                        .tapless = true};
    device_wish wish = {.images = images};
    return device_choose(f, &wish, d, speed, n, &ask, NULL);
}

static void as_json(const engine_device *d, uint32_t n, int one, int many, text *to) {
    text_add(to, "{\n  \"version\": 1,\n  \"devices\": [");
    for (uint32_t i = 0; i < n; i++) {
        text_add(to, "%s\n    ", i ? "," : "");
        describe_device_json(&d[i], (int)i, to);
    }
    text_add(to, "%s],\n  \"auto\": {\"image\": %d, \"sequence\": %d}\n}\n", n ? "\n  " : "", one,
             many);
}

static void as_words(const engine_device *d, uint32_t n, int one, int many, text *to) {
    for (uint32_t i = 0; i < n; i++) describe_device(&d[i], (int)i, to);
    if (n)
        text_add(to, "auto takes %d for one image of 1920 x 1080, %d for a thousand; see plan\n",
                 one, many);
}

static void list(const cli *c, err *e) {
    engine_device d[ENGINE_DEVICES];
    text out = {0};
    uint32_t n = engine_devices(d, ENGINE_DEVICES);
    par *threads = par_open((int)c->s.jobs, e);
    if (!threads) return;
    int one = chosen(d, n, ONE, threads), many = chosen(d, n, MANY, threads);
    (c->s.json ? as_json : as_words)(d, n, one, many, &out);
    if (out.s) fputs(out.s, stdout);
    if (n == 0)
        err_set(e, ERR_NO_DEVICE,
                "no device: install a Vulkan driver (Debian: mesa-vulkan-drivers), or build with "
                "FFTW (Debian: libfftw3-dev) for the CPU engine");
    par_close(&threads);
    text_free(&out);
}

int cmd_devices(int argc, char **argv, err *e) {
    cli c;
    if (cli_open(&c, argc, argv, e)) list(&c, e);
    cli_close(&c);
    return (int)e->code;
}
