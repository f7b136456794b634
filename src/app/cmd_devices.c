/* cmd_devices.c - `fftbloom devices`: what this machine has. */
#include "app/cli.h"
#include "app/describe.h"
#include "base/log.h"

#include <stdio.h>

static void as_json(const engine_device *d, uint32_t n, text *to) {
    text_add(to, "{\n  \"version\": 1,\n  \"devices\": [");
    for (uint32_t i = 0; i < n; i++) {
        text_add(to, "%s\n    ", i ? "," : "");
        describe_device_json(&d[i], (int)i, to);
    }
    text_add(to, "%s]\n}\n", n ? "\n  " : "");
}

int cmd_devices(int argc, char **argv, err *e) {
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e)) {
        engine_device d[ENGINE_DEVICES];
        uint32_t n = engine_devices(d, ENGINE_DEVICES);
        if (c.s.json) {
            as_json(d, n, &out);
        } else {
            for (uint32_t i = 0; i < n; i++) describe_device(&d[i], (int)i, &out);
        }
        if (out.s) fputs(out.s, stdout);
        if (n == 0)
            err_set(
                e, ERR_NO_DEVICE,
                "no device: install a Vulkan driver (Debian: mesa-vulkan-drivers), or build with "
                "FFTW (Debian: libfftw3-dev) for the CPU engine");
    }
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}
