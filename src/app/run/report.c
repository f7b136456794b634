#include "app/run/report.h"

#include "app/cli/options.h"
#include "app/run/account.h"
#include "app/run/describe.h"
#include "app/run/progress.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

enum { FRAME_DEPTH = 2 }; /* objects and arrays around a frame */

bool report_open(report *r, size_t frames, err *e) {
    *r = (report){.start = clock_now(), .frames = frames};
    return (r->frame = mem_new(frames, sizeof *r->frame, "report", e)) != NULL;
}

void report_close(report *r) {
    for (size_t i = 0; r->frame && i < r->frames; i++) text_free(&r->frame[i]);
    mem_free(r->frame);
    *r = (report){0};
}

static void add_made(const frame_result *f, json_out *j) {
    const bloom_report *m = f->made;
    json_line(j);
    json_object(j, "seconds");
    json_fixed(j, "load", 6, f->load);
    json_fixed(j, "bloom", 6, f->bloom);
    json_fixed(j, "save", 6, f->save);
    json_fixed(j, "spectrum", 6, m->spectrum_seconds);
    json_fixed(j, "contract", 6, m->contract_seconds);
    json_close(j);
    json_line(j);
    json_bool(j, "spectrum_cached", m->spectrum_cached);
    json_uint(j, "groups", m->groups);
    if (m->groups) {
        json_line(j);
        describe_device_json(&m->device, -1, json_here(j, "device"));
        json_line(j);
        describe_times_json(&m->times, &m->plan, json_here(j, "times"));
        json_line(j);
        describe_plan_json(&m->plan, j->depth, json_here(j, "plan"));
    }
    account_json(m, j);
    json_line(j);
    json_array(j, "notes");
    for (uint32_t i = 0; i < m->notes; i++) json_string(j, NULL, m->note[i]);
    json_close(j);
}

void report_add(report *r, size_t index, const frame_result *f) {
    static const char *const STATE[FRAME_STATES] = {"done", "current", "skipped", "failed"};
    json_out j = {.to = &r->frame[index], .depth = FRAME_DEPTH};
    json_object(&j, NULL);
    if (f->number) json_int(&j, "frame", *f->number);
    json_string(&j, "state", STATE[f->state]);
    json_line(&j);
    json_string(&j, "input", f->input);
    json_string(&j, "output", f->output);
    if (f->why) {
        json_line(&j);
        json_string(&j, "why", f->why);
    }
    if (f->made) add_made(f, &j);
    json_close(&j);
    r->count[f->state]++;
}

void report_text(const report *r, const cli *c, int status, text *to) {
    json_out j = json_begin(to);
    json_string(&j, "program", "fftbloom " VERSION);
    json_int(&j, "exit_status", status);
    json_fixed(&j, "seconds", 6, clock_now() - r->start);
    json_uint(&j, "done", r->count[FRAME_DONE]);
    json_beside(&j);
    json_uint(&j, "current", r->count[FRAME_CURRENT]);
    json_beside(&j);
    json_uint(&j, "skipped", r->count[FRAME_SKIPPED]);
    json_beside(&j);
    json_uint(&j, "failed", r->count[FRAME_FAILED]);
    json_block(&j, "settings");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].on & c->cmd->bit && !OPTIONS[i].flag_only)
            settings_json(&c->s, i, json_here(&j, OPTIONS[i].name));
    json_close(&j);
    json_list(&j, "frames");
    for (size_t i = 0; i < r->frames; i++)
        if (r->frame[i].n) json_raw(&j, NULL, r->frame[i].s);
    json_close(&j);
    json_end(&j);
}

bool report_write(const report *r, const cli *c, int status, const char *path, err *e) {
    text out = {0};
    report_text(r, c, status, &out);
    bool ok = file_write_all(path, out.s, out.n, e);
    text_free(&out);
    return ok || err_in(e, "report");
}
