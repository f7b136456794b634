/* cmd_devices.c - `fftbloom devices`: lists what this machine has, and what would be chosen. */
#include "app/cli/cli.h"
#include "app/run/describe.h"

enum { ONE = 1, MANY = 1000 };

/* Returns the number of the device that --device auto takes for that many images of 1920 x 1080 and
 * a kernel of 256; -1 for none. */
static int chosen(device_list *l, uint32_t images) {
    device_decision d;
    device_request r = {.images = images,
                        .ask = {
                            .size = {1920, 1080},
                            .reach_lo = {128, 128},
                            .reach_hi = {127, 127},
                            .channels = 3,
                            .spectra = 3,
                        }};
    device_decide(&d, l, &r);
    const device_choice *c = &d.way[WAY_FLOAT32];
    return c->possible ? c->device.number : -1;
}

int cmd_devices(cli *c, text *out, err *e) {
    (void)e;
    device_list l = {.count = 0};
    device_list_fill(&l, NULL);
    int one = chosen(&l, ONE), many = chosen(&l, MANY);
    json_out j = told_begin(out, c->s.json);
    json_list(&j, "devices");
    for (uint32_t i = 0; i < l.count; i++) describe_device(&j, NULL, &l.device[i], (int)i);
    json_close(&j);
    if (c->s.json) {
        json_object(&j, "auto");
        json_int(&j, "image", one);
        json_int(&j, "sequence", many);
        json_close(&j);
    } else if (l.count) {
        text_add(out,
                 "\n--device auto takes %d for one image of 1920 x 1080 and %d for a thousand; "
                 "'fftbloom plan' says why",
                 one, many);
    }
    json_end(&j);
    cli_print(out);
    c->answered = true;
    return 0;
}
