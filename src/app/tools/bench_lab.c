/* bench_lab.c - the actions of `fftbloom bench` that the lab does (lab/lab_bench.h). It is built
 * only where the lab is there. */
#include "app/cli/options.h"
#include "app/tools/bench.h"
#include "device/device_choice.h"
#include "kernel/cache.h"
#include "lab/lab_bench.h"

/* Sets *gpu to the Vulkan device that --device names, or the first one; to NULL where only the CPU
 * is wanted, or there is no other. */
static bool find_gpu(const engine_device **gpu, device_list *devices, const char *want, err *e) {
    bool some = false;
    *gpu = NULL;
    device_list_fill(devices, want);
    for (uint32_t i = 0; i < devices->count; i++) {
        const engine_device *d = &devices->device[i];
        if (!device_is_wanted(want, d, i)) continue;
        some = true;
        if (d->class == ENGINE_GPU || (d->class == ENGINE_SOFTWARE && !*gpu)) *gpu = d;
        if (d->class == ENGINE_GPU) break;
    }
    return some || err_set(e, ERR_NO_DEVICE,
                           "unknown device '%s'; 'fftbloom devices' lists the devices", want);
}

static bool article_one(void *bench, const uint32_t size[PLAN_AXES], const psf *k, err *e) {
    return lab_bench_article(bench, size, k, e);
}

static int bench_lab(cli *c, lab_kind kind, text *out, err *e) {
    const settings *s = &c->s;
    char folder[CACHE_PATH];
    device_list devices = {.threads = par_threads(c->threads)};
    lab_bench b;
    lab_bench_request r = {.kind = kind,
                           .sizes = settings_given(s, "size", FOR_BENCH) ? s->size : NULL,
                           .algorithms = s->algorithm,
                           .rounds = s->rounds,
                           .queue = s->queue,
                           .warm_up = s->warm_up,
                           .json = s->json,
                           .plot = s->plot,
                           .picture = s->output,
                           .cache_dir = cache_path(folder, s->bloom.cache_dir) ? folder : NULL,
                           .threads = c->threads};
    if (!find_gpu(&r.gpu, &devices, s->bloom.device, e)) return 0;
    bool ok = lab_bench_open(&b, out, &r, e) &&
              (kind == LAB_BLOOM ? bench_each(c, article_one, &b, e) : lab_bench_transforms(&b, e));
    lab_bench_close(&b, ok, e);
    return 0;
}

int bench_fft(cli *c, text *out, err *e) {
    return bench_lab(c, LAB_FFT, out, e);
}

int bench_ocean(cli *c, text *out, err *e) {
    return bench_lab(c, LAB_SEA, out, e);
}

int bench_article(cli *c, text *out, err *e) {
    return bench_lab(c, LAB_BLOOM, out, e);
}
