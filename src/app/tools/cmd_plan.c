/* cmd_plan.c - `fftbloom plan`: shows what a run would do, in numbers; no device work. The image
 * is read whole, since its pixels decide how its promise can be kept. */
#include "app/cli/cli.h"
#include "app/run/describe.h"
#include "app/run/forecast.h"
#include "base/mem.h"

/* Returns the input, or the first frame of its pattern, and how many there are. */
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

int cmd_plan(cli *c, text *out, err *e) {
    forecast f = {0};
    char *input = first_input(c->s.input, &f.images, e);
    f.input = input;
    const bloom_report *r = &f.predicted;
    if (input && forecast_make(&f, &c->s, c->threads, e)) {
        const engine_device *d = &f.all.device[f.best];
        const plan *p = &f.all.each[f.best].plan;
        if (c->s.json) {
            json_out j = json_begin(out);
            json_string(&j, "input", input);
            json_string(&j, "kernel", c->s.kernel);
            describe_device_json(&j, "device", d, d->number);
            json_uint(&j, "images", f.images);
            forecast_json(&f, &j, "forecast");
            describe_plan_json(&j, "plan", p);
            describe_result_json(&j, r);
            describe_notes_json(&j, NULL, r);
            json_end(&j);
        } else {
            text_add(out, "device   %s (%s)\n", d->name, describe_class(d->class));
            describe_plan(p, out);
            describe_promise(r, out);
            for (uint32_t i = 0; i < r->notes; i++) text_add(out, "note     %s\n", r->note[i]);
            forecast_words(&f, out);
        }
    }
    forecast_free(&f);
    mem_free(input);
    return 0;
}
