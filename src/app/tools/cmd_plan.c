/* cmd_plan.c - `fftbloom plan`: shows what a run would do, in numbers; no device work. The image
 * is read whole, since its pixels decide how its promise can be kept; but not one that is too large
 * for the memory, of which the tiles are shown. */
#include "app/cli/cli.h"
#include "app/run/describe.h"
#include "app/run/forecast.h"
#include "app/run/job.h"

int cmd_plan(cli *c, text *out, err *e) {
    if (c->s.output) { /* the frames that would be made */
        c->s.dry_run = true;
        return cmd_apply(c, out, e);
    }
    forecast f = {0};
    job j = {0};
    job_files first = {0};
    bool ok = job_open(&j, &c->s, e) && job_frame(&j, 0, &first, e);
    f.input = first.input;
    f.kernel = first.kernel;
    f.images = (uint32_t)(j.views ? job_count(&j) : 0);
    const bloom_report *r = &f.predicted;
    if (ok && forecast_make(&f, &c->s, c->threads, e)) {
        const engine_device *d = &f.all.device[f.best];
        const plan *p = &f.all.each[f.best].plan;
        json_out to = told_begin(out, c->s.json);
        json_string(&to, "input", f.input);
        json_string(&to, "kernel", f.kernel);
        describe_device(&to, "device", d, d->number);
        json_uint(&to, "images", f.images);
        forecast_json(&f, &to, "forecast");
        if (f.tiles.channels) describe_tiles_json(&to, &f.tiles);
        describe_memory_json(&to, &f.memory);
        describe_plan_json(&to, "plan", p);
        describe_result_json(&to, r);
        describe_notes_json(&to, NULL, r);
        json_end(&to);
    }
    forecast_free(&f);
    job_files_free(&first);
    job_close(&j);
    return 0;
}
