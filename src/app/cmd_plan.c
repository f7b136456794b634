/* cmd_plan.c - `fftbloom plan`: what a run would do, in numbers; no device work. */
#include "app/cli.h"
#include "app/describe.h"
#include "app/frames.h"
#include "base/mem.h"
#include "image/format.h"

#include <stdio.h>

/* The input, or the first frame of its pattern. */
static char *first_input(const char *input, err *e) {
    frame_pattern p = {0};
    frame_list l = {0};
    if (!frame_pattern_is(input)) return mem_str(input, e);
    char *path = NULL;
    if (frame_pattern_parse(&p, input, e) && frame_list_scan(&l, &p, e))
        path = frame_path(&p, l.number[0], e);
    frame_list_free(&l);
    frame_pattern_free(&p);
    return path;
}

static void tell(const cli *c, const char *input, const plan *p, const engine_device *d) {
    text out = {0};
    if (c->s.json) {
        text_add(&out, "{\n  \"version\": 1,\n  \"input\": ");
        text_add_json(&out, input);
        text_add(&out, ",\n  \"kernel\": ");
        text_add_json(&out, c->s.kernel);
        text_add(&out, ",\n  \"device\": ");
        describe_device_json(d, -1, &out);
        text_add(&out, ",\n  \"plan\": ");
        describe_plan_json(p, 1, &out);
        text_add(&out, "\n}\n");
    } else {
        text_add(&out, "device   %s (%s)\n", d->name, describe_class(d->class));
        describe_plan(p, &out);
    }
    fputs(out.s, stdout);
    text_free(&out);
}

static void plan_input(const cli *c, par *threads, err *e) {
    plan p;
    engine_device d;
    char *input = first_input(c->s.input, e);
    image_reader *r = input ? image_open(input, NULL, threads, e) : NULL;
    bloom *b = r ? bloom_open(&c->s.bloom, c->s.kernel, threads, e) : NULL;
    if (b && bloom_plan(b, image_reader_header(r), &p, &d, e)) tell(c, input, &p, &d);
    bloom_close(&b);
    image_close(&r);
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
