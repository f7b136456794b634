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

static void spread_json(const measure_spread *s, json_out *j) {
    json_object(j, "spread");
    json_fixed(j, "least", 9, s->least);
    json_fixed(j, "low", 9, s->low);
    json_fixed(j, "median", 9, s->median);
    json_fixed(j, "high", 9, s->high);
    json_fixed(j, "most", 9, s->most);
    json_close(j);
}

void bench_report_json(const bench_row *r, json_out *j) {
    const plan *p = &r->plan;
    const measure_result *m = &r->m;
    engine_times medians = measure_medians(&m->times);
    json_block(j, NULL);
    describe_device_json(r->device, r->device->number, json_here(j, "device"));
    json_uints(j, "kernel", r->kernel, 2);
    describe_plan_json(p, j->depth, json_here(j, "plan"));
    json_uint(j, "rounds", r->rounds);
    json_beside(j);
    json_uint(j, "queue", r->queue);
    json_beside(j);
    json_uint(j, "in_flight", r->in_flight);
    json_beside(j);
    json_fixed(j, "spectrum", 9, r->spectrum);
    json_beside(j);
    json_fixed(j, "open", 9, m->open);
    json_beside(j);
    json_fixed(j, "prepare", 9, m->prepare);
    json_fixed(j, "frame", 9, m->frame.median);
    json_beside(j);
    json_fixed(j, "least", 9, m->frame.least);
    json_beside(j);
    describe_times_json(&medians, p, json_here(j, "times"));
    spread_json(&m->frame, j);
    json_uint(j, "bytes", bytes_of(p));
    json_beside(j);
    json_fixed(j, "copy", 9, m->copy);
    json_list(j, "passes");
    for (uint32_t i = 0; i < p->passes; i++) {
        json_object(j, NULL);
        json_string(j, "pass", plan_pass_name(p->pass[i].kind));
        json_uint(j, "bytes", p->pass[i].bytes);
        json_fixed(j, "copy", 9, m->copy_pass[i]);
        spread_json(&m->times.pass[i], j);
        json_close(j);
    }
    json_close(j);
    json_close(j);
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

void bench_report_row(const bench_row *r, bool as_csv, uint32_t count, text *to) {
    if (as_csv && !count) text_add(to, "%s", CSV_HEAD);
    (as_csv ? csv : words)(r, to);
}
