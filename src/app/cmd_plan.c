/* cmd_plan.c - `fftbloom plan`: shows what a run would do, in numbers; no device work. The image
 * is read whole, since its pixels decide how its promise can be kept; but not one that is too large
 * for the memory, of which the tiles are shown. */
#include "app/commands.h"
#include "app/run/forecast.h"
#include "app/run/pace.h"

/* Adds how long the run may take on a device. */
static void add_seconds(const frame_maker *m, const forecast *f, int device, double work,
                        json_out *j) {
    const double points = account_points(&f->predicted.sum);
    const pace_kind kind = {&f->by_device.device[device], par_threads(m->threads), f->images > 1,
                            points > 0};
    const pace_time time = pace_of(m->run->cache, &kind, work * fmax(points, 1));
    if (j->words) {
        pace_words(&time, json_here(j, "time"));
        return;
    }
    json_object(j, "seconds");
    JSON_EACH(j, json_fixed, 3, {"about", time.about}, {"least", time.least}, {"most", time.most});
    json_int(j, "runs", time.runs);
    json_close(j);
}

/* Adds the run's work, the rule of the choice, and the seconds, lengths and bytes on each device.
 */
static void add_devices(const frame_maker *m, const forecast *f, json_out *j) {
    const device_request request = {.images = f->images,
                                    .pixels = f->by_device.pixels,
                                    .ask = f->by_device.each[f->best].plan.ask};
    const double work = device_work(&request);
    add_seconds(m, f, f->best, work, j);
    if (!j->words) json_real(j, "work", 6, work);
    if (j->words) text_add(json_here(j, "work"), "%.3g frames of 1920 x 1080", work);
    if (j->words)
        text_add(json_here(j, "rule"),
                 "auto takes a GPU with memory of its own from %d frames of 1920 x 1080 on, else "
                 "the CPU",
                 DEVICE_WORK);
    json_list(j, "forecast");
    for (uint32_t i = 0; i < f->by_device.devices; i++) {
        const device_forecast *one = &f->by_device.each[i];
        const plan *p = &one->plan;
        json_block(j, NULL);
        describe_device(j, "device", &f->by_device.device[i], f->by_device.device[i].number);
        json_bool(j, "wanted", one->wanted);
        json_bool(j, "possible", one->possible);
        if (one->possible) {
            add_seconds(m, f, (int)i, work, j);
            json_uints(j, "lengths",
                       (uint32_t[]){p->axis[p->first != PLAN_X].length,
                                    p->axis[p->first == PLAN_X].length},
                       2);
            json_size(j, "bytes", plan_device_bytes(p));
        } else {
            json_string(j, "why", one->why);
        }
        json_close(j);
    }
    json_close(j);
}

int cmd_plan(const cli *c, text *out, err *e) {
    if (c->s.output) return cmd_apply(c, out, e); /* the frames that would be made */
    const run_choice run = run_choice_of(c);
    OWN(forecast) f = {0};
    OPEN(job) j = {0};
    OWN(job_files) first = {0};
    bool ok = job_open(&j, &run, e) && job_frame(&j, 0, &first, e);
    frame_maker m = {.run = &run,
                     .look = picture_look_asked(&c->s),
                     .threads = c->threads,
                     .told = &(light_told){0}};
    if (ok && strcmp(first.input, "-") == 0)
        ok = err_set(e, ERR_USAGE, "a plan needs a file as the input, not standard input");
    f.images = (uint32_t)(j.views ? job_count(&j) : 0);
    const bloom_report *r = &f.predicted;
    if (ok && frame_forecast(&m, &first, &f, e)) {
        const engine_device *d = &f.by_device.device[f.best];
        const plan *p = &f.by_device.each[f.best].plan;
        json_out to = told_begin(out, c->s.json);
        json_string(&to, "input", first.input);
        json_string(&to, "kernel", first.kernel);
        if (f.kernel_scale > 0) json_real(&to, "kernel_scale", 6, f.kernel_scale);
        describe_device(&to, "device", d, d->number);
        json_uint(&to, "images", f.images);
        add_devices(&m, &f, &to);
        if (f.tiles.channels) describe_tiles_json(&to, &f.tiles);
        describe_memory_json(&to, &f.memory);
        describe_plan_json(&to, "plan", p);
        describe_result_json(&to, r);
        describe_notes_json(&to, NULL, r);
        json_end(&to);
    }
    return 0;
}
