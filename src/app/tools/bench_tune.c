#include "app/tools/bench_tune.h"

#include "app/run/describe.h"

/* --- results --------------------------------------------------------------------------------- */

static void words(const bench_tune_job *j, const search_result *r, text *to) {
    text_add(to, "%s: ", j->device->name);
    describe_plan_line(&r->own, to);
    text_add(to, "\n");
    for (uint32_t i = 0; i < r->steps; i++)
        text_add(to, "  %-22s %3u tried  %10.4f ms%s\n", r->step[i].name, r->step[i].tried,
                 r->step[i].seconds * 1e3, r->step[i].better ? "  better" : "");
    text_add(to, "  %u tried in %.1f s: %.4f ms", r->tried, r->spent, r->shape.before * 1e3);
    if (!r->better) {
        text_add(to, ", and nothing is faster\n");
        return;
    }
    text_add(to, " -> %.4f ms, %.2f times as fast; kept:\n  ", r->shape.after * 1e3,
             r->shape.before / r->shape.after);
    device_tune_text(&r->shape, to);
    text_add(to, "\n");
}

static void json(const bench_tune_job *j, const search_result *r, text *to) {
    text_add(to, "\n    {\n      \"device\": ");
    describe_device_json(j->device, j->index, to);
    text_add(to,
             ",\n      \"better\": %s, \"before\": %.9f, \"after\": %.9f, \"tried\": %u, "
             "\"spent\": %.3f,\n      \"shape\": ",
             r->better ? "true" : "false", r->shape.before, r->shape.after, r->tried, r->spent);
    text shape = {0};
    device_tune_text(&r->shape, &shape);
    text_add_json(to, shape.s);
    text_free(&shape);
    text_add(to, ",\n      \"steps\": [");
    for (uint32_t i = 0; i < r->steps; i++)
        text_add(
            to,
            "%s\n        {\"choice\": \"%s\", \"tried\": %u, \"seconds\": %.9f, \"better\": %s}",
            i ? "," : "", r->step[i].name, r->step[i].tried, r->step[i].seconds,
            r->step[i].better ? "true" : "false");
    text_add(to, "\n      ],\n      \"plan\": ");
    describe_plan_json(&r->best, 3, to);
    text_add(to, "\n    }");
}

static void csv(const bench_tune_job *j, const search_result *r, text *to) {
    const plan *p = &r->own;
    text_add(to, "\"%s\",%u,%u,%c,%u,%u,%u,%.3f,%.9f,%.9f,%d,\"", j->device->name, p->ask.size[0],
             p->ask.size[1], "xy"[p->first], p -> axis[0].length, p->axis[1].length, r->tried,
             r->spent, r->shape.before, r->shape.after, r->better);
    device_tune_text(&r->shape, to);
    text_add(to, "\"\n");
}

/* --- work ------------------------------------------------------------------------------------ */

bool bench_tune(const bench_tune_job *j, bench_form form, uint32_t count, text *to, err *e) {
    static void (*const FORM[])(const bench_tune_job *, const search_result *, text *) = {
        [BENCH_WORDS] = words, [BENCH_JSON] = json, [BENCH_CSV] = csv};
    search_result r;
    if (!device_search_on(&r, j->device, j->ask, j->patience, j->threads, e))
        return err_in(e, "%s", j->device->name);
    (r.better ? device_tune_put : device_tune_drop)(j->known, &r.shape);
    if (form == BENCH_CSV && !count)
        text_add(to, "device,width,height,first,length_1,length_2,tried,spent,before,after,better,"
                     "shape\n");
    if (form == BENCH_JSON && count) text_add(to, ",");
    FORM[form](j, &r, to);
    return device_tune_save(j->known, j->device, j->folder, e);
}
