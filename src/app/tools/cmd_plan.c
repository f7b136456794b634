/* cmd_plan.c - `fftbloom plan`: what a run would do, in numbers; no device work. The image is read
 * whole, since its pixels decide how its promise can be kept. */
#include "app/cli/cli.h"
#include "app/run/account.h"
#include "app/run/describe.h"
#include "app/run/frames.h"
#include "app/run/sequence.h"
#include "base/mem.h"
#include "image/format.h"

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

/* What was asked, and what would be done: how the promise would be kept, the forecasts of all
 * devices for that, and the one to be taken. */
typedef struct {
    const cli *c;
    const char *input;
    uint32_t images;
    const engine_device *device;
    bloom_report predicted;
    device_forecast *forecast;
    uint32_t devices;
    int best;
} answer;

static void tell(const answer *a) {
    text out = {0};
    const engine_device *d = &a->device[a->best];
    const plan *p = &a->forecast[a->best].plan;
    if (a->c->s.json) {
        text_add(&out, "{\n  \"version\": 1,\n  \"input\": ");
        text_add_json(&out, a->input);
        text_add(&out, ",\n  \"kernel\": ");
        text_add_json(&out, a->c->s.kernel);
        text_add(&out, ",\n  \"device\": ");
        describe_device_json(d, d->number, &out);
        text_add(&out, ",\n  \"images\": %u,\n  \"forecast\": ", a->images);
        describe_forecast_json(a->forecast, a->device, a->devices, 1, &out);
        text_add(&out, ",\n  \"plan\": ");
        describe_plan_json(p, 1, &out);
        account_json(&a->predicted, 1, &out);
        text_add(&out, ",\n  \"notes\": [");
        for (uint32_t i = 0; i < a->predicted.notes; i++) {
            text_add(&out, i ? ", " : "");
            text_add_json(&out, a->predicted.note[i]);
        }
        text_add(&out, "]\n}\n");
    } else {
        text_add(&out, "device   %s (%s)\n", d->name, describe_class(d->class));
        describe_plan(p, &out);
        account_prediction(&a->predicted, &out);
        for (uint32_t i = 0; i < a->predicted.notes; i++)
            text_add(&out, "note     %s\n", a->predicted.note[i]);
        describe_forecast(a->forecast, a->device, a->devices, a->best, a->images, &out);
    }
    fputs(out.s, stdout);
    text_free(&out);
}

static void plan_input(const cli *c, par *threads, err *e) {
    answer a = {.c = c, .best = -1};
    char *input = first_input(c->s.input, &a.images, e);
    bloom_settings s = c->s.bloom;
    s.images = a.images;
    s.slots = sequence_lanes(&c->s, a.images);
    image *img = input ? image_load(input, NULL, threads, e) : NULL;
    bloom *b = img ? bloom_open(&s, c->s.kernel, threads, e) : NULL;
    a.forecast = b ? mem_new(ENGINE_DEVICES, sizeof *a.forecast, "forecasts", e) : NULL;
    a.input = input;
    if (a.forecast && bloom_predict(b, img, &a.predicted, e))
        a.best = bloom_forecast(b, &img->head, a.predicted.promise.method.precision, &a.device,
                                a.forecast, &a.devices, e);
    if (a.best >= 0) tell(&a);
    mem_free(a.forecast);
    bloom_close(&b);
    image_free(&img);
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
