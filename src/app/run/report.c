#include "app/run/report.h"

#include "app/cli/options.h"
#include "app/run/account.h"
#include "app/run/describe.h"
#include "app/run/progress.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

bool report_open(report *r, size_t frames, err *e) {
    *r = (report){.start = clock_now(), .frames = frames};
    return (r->frame = mem_new(frames, sizeof *r->frame, "report", e)) != NULL;
}

void report_close(report *r) {
    for (size_t i = 0; r->frame && i < r->frames; i++) text_free(&r->frame[i]);
    mem_free(r->frame);
    *r = (report){0};
}

static void add_made(const frame_result *f, text *to) {
    const bloom_report *m = f->made;
    text_add(to, ",\n      \"seconds\": {\"load\": %.6f, \"bloom\": %.6f, \"save\": %.6f, ",
             f->load, f->bloom, f->save);
    text_add(to, "\"spectrum\": %.6f, \"contract\": %.6f},\n", m->spectrum_seconds,
             m->contract_seconds);
    text_add(to, "      \"spectrum_cached\": %s, \"groups\": %u",
             m->spectrum_cached ? "true" : "false", m->groups);
    if (m->groups) {
        text_add(to, ",\n      \"device\": ");
        describe_device_json(&m->device, -1, to);
        text_add(to, ",\n      \"times\": ");
        describe_times_json(&m->times, &m->plan, to);
        text_add(to, ",\n      \"plan\": ");
        describe_plan_json(&m->plan, 3, to);
    }
    account_json(m, 3, to);
    text_add(to, ",\n      \"notes\": [");
    for (uint32_t i = 0; i < m->notes; i++) {
        text_add(to, i ? ", " : "");
        text_add_json(to, m->note[i]);
    }
    text_add(to, "]");
}

void report_add(report *r, size_t index, const frame_result *f) {
    static const char *const STATE[FRAME_STATES] = {"done", "current", "skipped", "failed"};
    text *to = &r->frame[index];
    text_add(to, "\n    {");
    if (f->number) text_add(to, "\"frame\": %d, ", *f->number);
    text_add(to, "\"state\": \"%s\",\n      \"input\": ", STATE[f->state]);
    text_add_json(to, f->input);
    text_add(to, ", \"output\": ");
    text_add_json(to, f->output);
    if (f->why) {
        text_add(to, ",\n      \"why\": ");
        text_add_json(to, f->why);
    }
    if (f->made) add_made(f, to);
    text_add(to, "}");
    r->count[f->state]++;
}

static void add_settings(const cli *c, text *to) {
    const char *sep = "";
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!(OPTIONS[i].on & c->cmd->bit) || OPTIONS[i].flag_only) continue;
        text_add(to, "%s\n    \"%s\": ", sep, OPTIONS[i].name);
        settings_json(&c->s, i, to);
        sep = ",";
    }
}

void report_text(const report *r, const cli *c, int status, text *to) {
    text_add(to, "{\n  \"version\": 1,\n  \"program\": \"fftbloom " VERSION "\",\n");
    text_add(to, "  \"exit_status\": %d,\n  \"seconds\": %.6f,\n", status, clock_now() - r->start);
    text_add(to, "  \"done\": %zu, \"current\": %zu, \"skipped\": %zu, \"failed\": %zu,\n",
             r->count[FRAME_DONE], r->count[FRAME_CURRENT], r->count[FRAME_SKIPPED],
             r->count[FRAME_FAILED]);
    text_add(to, "  \"settings\": {");
    add_settings(c, to);
    text_add(to, "\n  },\n  \"frames\": [");
    const char *sep = "";
    for (size_t i = 0; i < r->frames; i++) {
        if (!r->frame[i].n) continue;
        text_add(to, "%s%s", sep, r->frame[i].s);
        sep = ",";
    }
    text_add(to, "\n  ]\n}\n");
}

bool report_write(const report *r, const cli *c, int status, const char *path, err *e) {
    text out = {0};
    report_text(r, c, status, &out);
    bool ok = file_write_all(path, out.s, out.n, e);
    text_free(&out);
    return ok || err_in(e, "report");
}
