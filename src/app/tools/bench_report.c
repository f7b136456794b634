#include "app/tools/bench_report.h"

#include "app/run/describe.h"

#include <inttypes.h>
#include <math.h>

/* Read and written by all passes. */
static uint64_t bytes_of(const plan *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->passes; i++) sum += p->pass[i].bytes;
    return sum;
}

/* --- words ----------------------------------------------------------------------------------- */

/* copy: seconds that a copy of as many bytes takes; 0: there is none to compare with. */
static void line(text *to, const char *name, const measure_spread *s, double bytes, double copy) {
    text_add(to, "  %-10s %10.4f ms  %10.4f  %7.4f - %7.4f", name, s->median * 1e3, s->least * 1e3,
             s->low * 1e3, s->high * 1e3);
    if (bytes > 0)
        text_add(to, "  %9.1f MB %8.1f GB/s", bytes * 1e-6, bytes / fmax(s->median, 1e-9) * 1e-9);
    if (copy > 0) text_add(to, "  %3.0f %%", 100 * copy / fmax(s->median, 1e-9));
    text_add(to, "\n");
}

static void words(const bench_row *r, text *to) {
    const plan *p = &r->plan;
    const measure_result *m = &r->m;
    double image = device_image_bytes(p), input = 2 * device_travel_bytes(p) - image;
    text_add(to, "%s, kernel %u x %u: ", r->device->name, r->kernel[0], r->kernel[1]);
    describe_plan_line(p, to);
    text_add(to, "\n  %u rounds of %u frame%s%s", r->rounds, r->queue, r->queue > 1 ? "s" : "",
             r->queue > 1 ? " back to back, the data on the device" : " with its transfers");
    if (r->in_flight > 1) text_add(to, ", %u in flight", r->in_flight);
    text_add(to, "\n");
    text_add(to, "  %-10s %13s  %10s  %17s  %12s %13s  of a copy's\n", "", "median", "least",
             "quartiles", "moved", "speed");
    bool transfers = r->queue == 1 && r->device->class != ENGINE_CPU;
    if (transfers) line(to, "upload", &m->times.upload, input, 0);
    for (uint32_t i = 0; i < p->passes; i++)
        line(to, plan_pass_name(p->pass[i].kind), &m->times.pass[i], (double)p->pass[i].bytes,
             m->copy_pass[i]);
    if (transfers) line(to, "download", &m->times.download, image, 0);
    if (r->queue == 1)
        line(to, "frame", &m->frame, 0, 0);
    else
        line(to, "frame", &m->frame, (double)bytes_of(p), m->copy);
    text_add(to, "  once: spectrum %.1f ms, open %.1f ms, prepare %.1f ms\n", r->spectrum * 1e3,
             m->open * 1e3, m->prepare * 1e3);
}

/* --- JSON ------------------------------------------------------------------------------------ */

void bench_report_spread(const measure_spread *s, text *to) {
    text_add(to,
             "{\"least\": %.9f, \"low\": %.9f, \"median\": %.9f, \"high\": %.9f, \"most\": %.9f}",
             s->least, s->low, s->median, s->high, s->most);
}

static void json(const bench_row *r, text *to) {
    const plan *p = &r->plan;
    const measure_result *m = &r->m;
    engine_times medians = measure_medians(&m->times);
    text_add(to, "\n    {\n      \"device\": ");
    describe_device_json(r->device, r->device->number, to);
    text_add(to, ",\n      \"kernel\": [%u, %u],\n      \"plan\": ", r->kernel[0], r->kernel[1]);
    describe_plan_json(p, 3, to);
    text_add(to,
             ",\n      \"rounds\": %u, \"queue\": %u, \"in_flight\": %u, \"spectrum\": %.9f, "
             "\"open\": %.9f, "
             "\"prepare\": %.9f,\n      \"frame\": %.9f, \"least\": %.9f, \"times\": ",
             r->rounds, r->queue, r->in_flight, r->spectrum, m->open, m->prepare, m->frame.median,
             m->frame.least);
    describe_times_json(&medians, p, to);
    text_add(to, ",\n      \"spread\": ");
    bench_report_spread(&m->frame, to);
    text_add(to, ",\n      \"bytes\": %" PRIu64 ", \"copy\": %.9f,\n      \"passes\": [",
             bytes_of(p), m->copy);
    for (uint32_t i = 0; i < p->passes; i++) {
        text_add(to,
                 "%s\n        {\"pass\": \"%s\", \"bytes\": %" PRIu64 ", \"copy\": %.9f, "
                 "\"spread\": ",
                 i ? "," : "", plan_pass_name(p->pass[i].kind), p->pass[i].bytes, m->copy_pass[i]);
        bench_report_spread(&m->times.pass[i], to);
        text_add(to, "}");
    }
    text_add(to, "\n      ]\n    }");
}

/* --- CSV ------------------------------------------------------------------------------------- */

/* Seconds; the passes of a plan share a field, since a plan may have more than three. */
static void csv(const bench_row *r, text *to) {
    const plan *p = &r->plan;
    const measure_result *m = &r->m;
    text_add(to, "\"%s\",%s,%u,%u,%u,%u,%c,%u,%u,%u,", r->device->name,
             describe_class(r->device->class), p->ask.size[0], p->ask.size[1], r->kernel[0],
             r->kernel[1], "xy"[p->first], p -> axis[0].length, p->axis[1].length, r->rounds);
    text_add(to, "%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,", r->spectrum, m->open, m->prepare,
             m->frame.median, m->frame.least, m->times.upload.median);
    for (uint32_t i = 0; i < p->passes; i++)
        text_add(to, "%s%.9f", i ? " " : "", m->times.pass[i].median);
    text_add(to, ",%.9f,%u,%.9f,%.9f,%.9f,%" PRIu64 ",%.9f,", m->times.download.median, r->queue,
             m->frame.low, m->frame.high, m->frame.most, bytes_of(p), m->copy);
    for (uint32_t i = 0; i < p->passes; i++) text_add(to, "%s%.9f", i ? " " : "", m->copy_pass[i]);
    text_add(to, ",%s,%u\n", p->input_bytes ? "half" : "float", r->in_flight);
}

static const char CSV_HEAD[] =
    "device,class,width,height,kernel_width,kernel_height,first,length_1,length_2,rounds,spectrum,"
    "open,prepare,frame,least,upload,passes,download,queue,low,high,most,bytes,copy,copy_passes,"
    "pixels,in_flight\n";

void bench_report_row(const bench_row *r, bench_form form, uint32_t count, text *to) {
    static void (*const ROW[])(const bench_row *, text *) = {
        [BENCH_WORDS] = words, [BENCH_JSON] = json, [BENCH_CSV] = csv};
    if (form == BENCH_CSV && !count) text_add(to, "%s", CSV_HEAD);
    if (form == BENCH_JSON && count) text_add(to, ",");
    ROW[form](r, to);
}
