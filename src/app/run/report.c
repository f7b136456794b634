#include "app/run/report.h"

#include "app/cli/options.h"
#include "app/run/describe.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#include <string.h>

enum { FRAME_DEPTH = 2 }; /* objects and arrays around a frame */

const char *const REPORT_STATE[FRAME_STATES] = {"done", "current", "skipped", "failed"};

bool report_open(report *r, size_t frames, err *e) {
    *r = (report){.start = clock_now(), .frames = frames};
    return (r->frame = mem_new(frames, sizeof *r->frame, "report", e)) != NULL;
}

void report_close(report *r) {
    for (size_t i = 0; r->frame && i < r->frames; i++) text_free(&r->frame[i]);
    text_free(&r->devices);
    mem_free(r->frame);
    *r = (report){0};
}

void report_frame_json(json_out *j, const frame_result *f, const char *state) {
    if (f->number) json_int(j, "frame", *f->number);
    if (f->view) json_string(j, "view", f->view);
    json_string(j, "state", state);
    json_string(j, "input", f->input);
    json_string(j, "output", f->output);
    if (f->why) json_string(j, "why", f->why);
}

static void keep_text(report *r, size_t index, const frame_result *f) {
    const bloom_report *m = f->made;
    json_out j = {.to = &r->frame[index], .depth = FRAME_DEPTH};
    json_block(&j, NULL);
    report_frame_json(&j, f, REPORT_STATE[f->state]);
    if (m) {
        json_object(&j, "seconds");
        json_fixed(&j, "load", 6, f->load);
        json_fixed(&j, "bloom", 6, f->bloom);
        json_fixed(&j, "save", 6, f->save);
        json_fixed(&j, "spectrum", 6, m->sum.spectrum_seconds);
        json_fixed(&j, "contract", 6, m->sum.contract_seconds);
        json_close(&j);
        json_bool(&j, "spectrum_cached", m->sum.spectrum_cached);
        json_uint(&j, "groups", m->groups);
        describe_made_json(&j, m);
        describe_notes_json(&j, NULL, m);
    }
    json_close(&j);
}

void report_add(report *r, size_t index, const frame_result *f) {
    const bloom_report *m = f->made;
    if (!r->brief) keep_text(r, index, f);
    r->count[f->state]++;
    r->missing += f->missing;
    if (f->state != FRAME_DONE || !m || !m->groups) return;
    const char *name = m->sum.device.class == ENGINE_CPU ? "CPU" : m->sum.device.name;
    if (r->devices.s && strstr(r->devices.s, name)) return;
    text_add(&r->devices, "%s%s", r->devices.n ? " + " : "", name);
}

void report_counts_json(json_out *j, const size_t count[FRAME_STATES]) {
    for (int i = 0; i < FRAME_STATES; i++) json_uint(j, REPORT_STATE[i], count[i]);
}

void report_text(const report *r, const cli *c, int status, text *to) {
    json_out j = json_begin(to);
    json_string(&j, "program", "fftbloom " VERSION);
    json_int(&j, "exit_status", status);
    cli_error_json(&j, c->e);
    json_fixed(&j, "seconds", 6, clock_now() - r->start);
    report_counts_json(&j, r->count);
    json_block(&j, "settings");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].on & c->cmd->bit && !OPTIONS[i].flag_only)
            settings_json(&c->s, &OPTIONS[i], &j, OPTIONS[i].name);
    json_close(&j);
    json_list(&j, "frames");
    for (size_t i = 0; i < r->frames; i++)
        if (r->frame[i].n) json_raw(&j, NULL, r->frame[i].s);
    json_close(&j);
    json_end(&j);
}

bool report_write(const report *r, const cli *c, int status, const char *path, err *e) {
    OWN(text) out = {0};
    report_text(r, c, status, &out);
    bool ok = file_write_all(path, out.s, out.n, e);
    return ok || err_in(e, "report");
}
