/* cmd_devices.c - `fftbloom devices`: what this machine has, and what would be chosen. */
#include "app/cli/cli.h"
#include "app/run/describe.h"
#include "base/json_out.h"
#include "base/log.h"
#include "kernel/cache.h"

#include <stdio.h>

enum { ONE = 1, MANY = 1000 };

/* Returns the number of the device that --device auto takes for that many images of 1920 x 1080 and
 * a kernel of 256; -1 for none. */
static int chosen(device_list *l, uint32_t images) {
    device_decision d;
    device_request r = {.images = images,
                        .ask = {.size = {1920, 1080},
                                .reach_lo = {128, 128},
                                .reach_hi = {127, 127},
                                .channels = 3,
                                .spectra = 3,
                                .tapless = true}};
    device_decide(&d, l, &r);
    const device_choice *c = &d.way[WAY_FLOAT32];
    return c->possible ? c->device.number : -1;
}

static void as_json(const engine_device *d, uint32_t n, int one, int many, text *to) {
    json_out j = json_begin(to);
    json_list(&j, "devices");
    for (uint32_t i = 0; i < n; i++) describe_device_json(&d[i], (int)i, json_here(&j, NULL));
    json_close(&j);
    json_object(&j, "auto");
    json_int(&j, "image", one);
    json_int(&j, "sequence", many);
    json_close(&j);
    json_end(&j);
}

static void as_words(const engine_device *d, uint32_t n, int one, int many, text *to) {
    for (uint32_t i = 0; i < n; i++) describe_device(&d[i], (int)i, to);
    if (n)
        text_add(to, "auto takes %d for one image of 1920 x 1080, %d for a thousand; see plan\n",
                 one, many);
}

static void list(const cli *c, err *e) {
    char folder[CACHE_PATH];
    text out = {0};
    par *threads = par_open((int)c->s.jobs, e);
    if (!threads) return;
    device_list l = {.threads = par_threads(threads),
                     .cache_dir = cache_path(folder, c->s.bloom.cache_dir) ? folder : NULL};
    device_list_fill(&l, NULL);
    const engine_device *d = l.device;
    uint32_t n = l.count;
    int one = chosen(&l, ONE), many = chosen(&l, MANY);
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
