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

static lab_bench_request lab_request_of(const cli *c) {
    const settings *s = &c->s;
    return (lab_bench_request){.sizes = settings_given(s, "size", FOR_BENCH) ? s->size : NULL,
                               .algorithms = s->algorithm,
                               .rounds = s->rounds,
                               .warm_up = s->warm_up,
                               .json = s->json,
                               .plot = s->plot,
                               .picture = s->output,
                               .threads = c->threads};
}

int bench_fft(cli *c, text *out, err *e) {
    device_list devices = {.threads = par_threads(c->threads)};
    lab_bench_request r = lab_request_of(c);
    if (find_gpu(&r.gpu, &devices, c->s.bloom.device, e)) lab_bench_fft(out, &r, e);
    return 0;
}

int bench_ocean(cli *c, text *out, err *e) {
    device_list devices = {.threads = par_threads(c->threads)};
    lab_bench_request r = lab_request_of(c);
    if (find_gpu(&r.gpu, &devices, c->s.bloom.device, e)) lab_bench_ocean(out, &r, e);
    return 0;
}

bool bench_article(const bench_article_out *to, const article_request *ask, device_list *devices,
                   err *e) {
    article_request r = *ask;
    article_row row[ARTICLE_ROWS];
    if (!find_gpu(&r.device, devices, to->s->bloom.device, e)) return false;
    if (!r.device)
        return err_set(e, ERR_NO_DEVICE, "--engine article needs a GPU, or --device software");
    if (!article_compare(row, &r, e)) return false;
    lab_table table = {ARTICLE_COLUMN, ARTICLE_COLUMNS, to->out, to->s->json ? to->json : NULL,
                       !to->first};
    article_show(&table, &r, row);
    return true;
}
