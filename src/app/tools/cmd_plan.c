/* cmd_plan.c - `fftbloom plan`: what a run would do, in numbers; no device work. The image is read
 * whole, since its pixels decide how its promise can be kept. */
#include "app/cli/cli.h"
#include "app/run/account.h"
#include "app/run/describe.h"
#include "app/run/forecast.h"
#include "app/run/frames.h"
#include "base/mem.h"

#include <stdio.h>

/* The input, or the first frame of its pattern, and how many there are. */
static char *first_input(const char *input, uint32_t *images, err *e) {
    frame_pattern p = {0};
    frame_list l = {0};
    *images = 1;
    if (!frame_pattern_is(input)) return mem_str(input, e);
    char *path = NULL;
    if (frame_pattern_parse(&p, input, e) && frame_list_scan(&l, &p, e)) {
        path = frame_path(&p, l.number[0], e);
        *images = (uint32_t)l.count;
    }
    frame_list_free(&l);
    frame_pattern_free(&p);
    return path;
}

static void tell(const cli *c, const char *input, uint32_t images, const forecast *f) {
    text out = {0};
    const engine_device *d = &f->device[f->best];
    const plan *p = &f->each[f->best].plan;
    if (c->s.json) {
        json_out json = json_begin(&out);
        json_string(&json, "input", input);
        json_string(&json, "kernel", c->s.kernel);
        describe_device_json(d, d->number, json_here(&json, "device"));
        json_uint(&json, "images", images);
        describe_forecast_json(f->each, f->device, f->devices, json.depth,
                               json_here(&json, "forecast"));
        describe_plan_json(p, json.depth, json_here(&json, "plan"));
        account_json(&f->predicted, &json);
        json_array(&json, "notes");
        for (uint32_t i = 0; i < f->predicted.notes; i++)
            json_string(&json, NULL, f->predicted.note[i]);
        json_close(&json);
        json_end(&json);
    } else {
        text_add(&out, "device   %s (%s)\n", d->name, describe_class(d->class));
        describe_plan(p, &out);
        account_prediction(&f->predicted, &out);
        for (uint32_t i = 0; i < f->predicted.notes; i++)
            text_add(&out, "note     %s\n", f->predicted.note[i]);
        describe_forecast(f->each, f->device, f->devices, f->best, images, &out);
    }
    fputs(out.s, stdout);
    text_free(&out);
}

static void plan_input(const cli *c, par *threads, err *e) {
    forecast f = {0};
    uint32_t images;
    char *input = first_input(c->s.input, &images, e);
    if (input && forecast_make(&f, &c->s, input, images, threads, e)) tell(c, input, images, &f);
    forecast_free(&f);
    mem_free(input);
}

int cmd_plan(int argc, char **argv, err *e) {
    cli c;
    if (cli_open(&c, argc, argv, e)) {
        par *threads = par_open((int)c.s.jobs, e);
        if (threads) {
            plan_input(&c, threads, e);
            par_close(&threads);
        }
    }
    cli_close(&c);
    return (int)e->code;
}
