/* bench_lab.c - the actions of `fftbloom bench` that the lab does (lab/lab.h). It is built only
 * where the lab is there. */
#include "app/tools/bench_lab.h"
#include "app/cli/cli.h"
#include "app/cli/options.h"
#include "device/device_choice.h"
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

static int bench_lab(cli *c, bool sea, text *out, err *e) {
    const settings *s = &c->s;
    device_list devices = {.threads = par_threads(c->threads)};
    lab_bench_request r = {.sizes = settings_given(s, "size", FOR_BENCH) ? s->size : NULL,
                           .algorithms = s->algorithm,
                           .rounds = s->rounds,
                           .warm_up = s->warm_up,
                           .json = s->json,
                           .sea = sea,
                           .plot = s->plot,
                           .picture = s->output,
                           .threads = c->threads};
    if (find_gpu(&r.gpu, &devices, s->bloom.device, e)) lab_bench(out, &r, e);
    return 0;
}

int bench_fft(cli *c, text *out, err *e) {
    return bench_lab(c, false, out, e);
}

int bench_ocean(cli *c, text *out, err *e) {
    return bench_lab(c, true, out, e);
}

bool bench_article(const bench_article_out *to, const article_request *ask, device_list *devices,
                   err *e) {
    article_request r = *ask;
    lab_row row[ARTICLE_ROWS];
    if (!find_gpu(&r.device, devices, to->s->bloom.device, e)) return false;
    if (!r.device)
        return err_set(e, ERR_NO_DEVICE, "--engine article needs a GPU, or --device software");
    if (!article_compare(row, &r, e)) return false;
    lab_table table = {LAB_ARTICLE_COLUMN, to->out, to->s->json ? to->json : NULL, !to->first};
    for (int i = 0; i < ARTICLE_ROWS; i++) lab_table_row(&table, &row[i]);
    return true;
}
