#include "device/device_ahead.h"

#include "base/log.h"
#include "device/device_choice.h"
#include "device/device_measure.h"

enum { SIDE = 64, TAPS = 15 };

/* Opens a device, and sends a frame of this plan through it. */
static bool start(const engine_device *d, const plan *p, const psf *k, const char *cache_dir,
                  err *e) {
    spectrum source = {0};
    spectrum_lines lines = {0};
    measure_result ignored;
    const spectrum_request want = {.mode = SPECTRUM_EXACT,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length}};
    measure_request once = {.device = d,
                            .plan = p,
                            .kernel = &lines,
                            .cache_dir = cache_dir,
                            .rounds = 1,
                            .queue = 1,
                            .in_flight = 1};
    par *one = par_open(1, e);
    bool ok = one && engine_open_ahead(d, e) && psf_copy(&source.kernel, k, e) &&
              spectrum_at(&lines, &source, &want, one, e) &&
              measure_device(&ignored, &once, one, e);
    spectrum_lines_free(&lines);
    spectrum_free(&source);
    par_close(&one);
    return ok;
}

void device_ahead(const char *want, const char *cache_dir) {
    device_list list = {.count = 0};
    device_forecast f[ENGINE_DEVICES];
    psf k = {0};
    err e = {0};
    const device_request r = {.want = want,
                              .ask = {.size = {SIDE, SIDE},
                                      .reach_lo = {TAPS / 2, TAPS / 2},
                                      .reach_hi = {TAPS / 2, TAPS / 2},
                                      .channels = 1,
                                      .spectra = 1}};
    device_list_fill(&list, want);
    if (measure_kernel(&k, TAPS, 1, &e) && device_choose(f, &list, &r, &e) >= 0)
        for (uint32_t i = 0; i < list.count; i++) {
            const engine_device *d = &list.device[i];
            if (!f[i].possible || d->class == ENGINE_CPU) continue;
            err why = {0};
            if (start(d, &f[i].plan, &k, cache_dir, &why))
                log_info("opened before the sandbox: %s", d->name);
            else
                log_info("cannot be opened before the sandbox: %s", why.msg);
        }
    if (e.code) log_info("no device is opened before the sandbox: %s", e.msg);
    psf_free(&k);
}
