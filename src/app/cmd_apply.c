/* cmd_apply.c - `fftbloom apply`, also `fftbloom IN KERNEL -o OUT`: files in, files out; and
 * `fftbloom farm`, which hands the same work on. */
#include "app/commands.h"
#include "app/farm/farm.h"
#include "app/run/file_set.h"
#include "app/run/output.h"
#include "app/run/pace.h"
#include "app/run/picture.h"
#include "app/run/sequence.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"

#include <unistd.h>

/* Returns whether a file may stay as it is, so that it may be protected. */
static bool may_stay(const settings *s, const char *path) {
    return s->existing != EXISTING_REPLACE && access(path, F_OK) == 0;
}

/* Checks before any work what would else fail at the end of the first frame. */
static bool check_outputs(const job *j, err *e) {
    const settings *s = j->run->s;
    const char *told = j->run->report;
    OWN(job_files) f = {0};
    bool ok = job_frame(j, 0, &f, e);
    static const char *const EXTENSION[JOB_PATHS] = {[JOB_BEFORE] = "png", [JOB_EMITTED] = "exr"};
    const bool shown = ok && output_is_picture(f.output);
    ok = ok && (may_stay(s, f.output) || image_can_create(f.output, e));
    for (int k = JOB_BEFORE; ok && k < JOB_PATHS; k++) {
        ok = !f.path[k] || path_ends_in(f.path[k], EXTENSION[k]) ||
             (shown && path_ends_in(f.path[k], "png")) ||
             err_set(e, ERR_USAGE, "%s, '%s', must be a .%s file%s", JOB_ROLE[k], f.path[k],
                     EXTENSION[k], k == JOB_EMITTED ? ", or a .png beside a .png output" : "");
        ok = ok && (!f.path[k] || may_stay(s, f.path[k]) || file_out_possible(f.path[k], e));
    }
    return ok && (!told || file_out_possible(told, e) || err_in(e, "report") ||
                  err_blame(e, FAULT_REPORT));
}

/* Writes the reports. The run's own error counts, if it has one. */
static void write_reports(const report *r, const cli *c, int status, text *out, err *e) {
    err why = {0};
    if (r->run->report && !report_write(r, c, status, &why)) {
        if (!e->code)
            *e = why;
        else if (e->fault != FAULT_REPORT) /* else it is known to be out of reach */
            log_error("%s", why.msg);
    }
    if (c->s.json) report_text(r, c, e->code ? err_status(e->code) : status, out);
    *c->answered = true;
    cli_print(out);
}

/* Adds "; 3 up to date, 1 failed", or nothing. */
static void add_others(const report *r, text *to) {
    static const char *const WORD[FRAME_STATES] = {NULL, "up to date", "skipped", "failed"};
    for (int i = FRAME_CURRENT, any = 0; i < FRAME_STATES; i++)
        if (r->count[i]) text_add(to, "%s %zu %s", any++ ? "," : ";", r->count[i], WORD[i]);
    if (r->missing) text_add(to, " (%zu input%s missing)", r->missing, r->missing == 1 ? "" : "s");
}

/* Keeps how long a run took, where one device made all of it. */
static void keep_pace(const report *r, const frame_maker *m) {
    const pace_kind kind = {&r->by[0], par_threads(m->threads), r->count[FRAME_DONE] > 1,
                            r->fields};
    if (r->makers == 1 && !r->count[FRAME_FAILED])
        pace_keep(m->run->cache, &kind, r->work, clock_now() - r->start);
}

/* Tells people how a run ended: an image on a terminal; a sequence after failures always, else
 * where a person has seen the progress.
 *
 *   24 frames in 12.1 s (2.0/s) -> b.1001-1024.exr, CPU; 2 failed
 *   b.exr: 0.51 s, CPU */
static void ending_say(const job *j, const report *r, const progress *p) {
    bool seen = p->mode == PROGRESS_AUTO && (p->terminal || p->seen);
    size_t done = r->count[FRAME_DONE];
    double time = clock_now() - r->start, rate = time > 0 ? (double)done / time : 0;
    OWN(text) line = {0};
    if (job_count(j) == 1 ? !p->terminal || !done : !seen && !r->count[FRAME_FAILED]) return;
    if (job_count(j) == 1) {
        job_outputs(j, &line);
        text_add(&line, ": %.2f s", time);
        if (r->devices.n) text_add(&line, ", %s", r->devices.s);
    } else if (done) {
        text_add(&line, "%zu frame%s in %.1f s (%.*f/s) -> ", done, done == 1 ? "" : "s", time,
                 rate < 1 ? 2 : 1, rate);
        job_outputs(j, &line);
        if (r->devices.n) text_add(&line, ", %s", r->devices.s);
    } else {
        text_add(&line, "no frame was made");
    }
    add_others(r, &line);
    log_note("%s", line.s);
}

static int make_frames(frame_maker *m, const cli *c, const job *j, text *out, err *e) {
    progress told;
    report r;
    if (c->s.existing == EXISTING_UPDATE && !m->records->cache)
        log_warn("every frame is made, now and next time: there is no cache folder that could "
                 "remember them; give --cache-dir");
    if (!progress_open(&told, &c->s, job_count(j), e) ||
        !report_open(&r, m->run, &m->look, job_count(j), e))
        return 0;
    r.brief = !m->run->report && !c->s.json;
    /* Whether people read the end. */
    bool seen = !c->s.quiet && !c->s.json && c->s.progress != PROGRESS_OPENJD &&
                c->s.progress != PROGRESS_JSON;
    /* Without records an update makes all frames again. */
    if (seen && job_count(j) > 1)
        progress_promise(&told, !m->records->cache ? ""
                                : c->s.existing == EXISTING_UPDATE
                                    ? "; run the same command again to continue"
                                    : "; run the same command with --existing update to "
                                      "continue");
    const job_source frames = job_frames(j);
    bool finished = sequence_run(m, &frames, &told, &r, e);
    if (finished && j->left_out) {
        log_error("%zu more inputs cannot be found", j->left_out);
        r.missing += j->left_out;
        r.count[FRAME_FAILED] += j->left_out;
    }
    if (finished && seen) ending_say(j, &r, &told);
    if (finished) keep_pace(&r, m);
    /* The messages of a run that went on after failures are in the log already. */
    bool said = finished && r.failure.code;
    if (said) *e = r.failure;
    int skipped = r.count[FRAME_SKIPPED] || r.missing ? ERR_SKIPPED : 0,
        status = e->code ? err_status(e->code) : skipped;
    write_reports(&r, c, status, out, e);
    if (said) *e = (err){0};
    report_close(&r);
    return status;
}

/* Tells of a run that failed before its first frame: writes the report, which has none.
 * `apart`: no other file of the command is known to have the report's name. */
static void report_early(const cli *c, const report *early, bool apart, text *out, err *e) {
    const run_choice *run = early->run;
    const settings *s = run->s;
    run_choice told = *run;
    report r = *early;
    const file_set_file files[] = {
        {FILE_READ, "the input", s->input},
        {FILE_READ, "the kernel", run->kernel->file},
        {FILE_READ, "the kernel's recipe", run->kernel->recipe},
        {FILE_READ, "the mask", s->bloom.mask_file ? s->bloom.mask : NULL},
        {FILE_READ, "the output", s->output},
        {FILE_WRITTEN, "the report", run->report}};
    err clash = {0};
    if (!apart || !file_set_apart(files, sizeof files / sizeof files[0], s, &clash))
        told.report = NULL;
    r.run = &told;
    progress_fail(&(progress){.mode = s->progress}, e->msg);
    write_reports(&r, c, err_status(e->code), out, e);
}

int cmd_apply(const cli *c, text *out, err *e) {
    if (pipe_is(&c->s)) return pipe_run(c, e), 0;
    const run_choice run = run_choice_of(c);
    report early = {.run = &run, .look = picture_look_asked(run.s), .start = clock_now()};
    OPEN(job) j = {0};
    record_run runs = {0};
    int status = 0;
    bool opened = job_open(&j, &run, e);
    /* Of frames that are not known, a report with the extension of an image may be one. */
    bool apart = opened ? file_set_check_job(&j, e)
                        : !run.report || !image_can_create(run.report, NULL);
    if (opened && apart && check_outputs(&j, e) &&
        picture_look_of(&early.look, &j, c->threads, e) &&
        record_run_open(&runs, &j, &early.look, true, e)) {
        frame_maker m = {.run = &run,
                         .look = early.look,
                         .records = &runs,
                         .threads = c->threads,
                         .told = &(light_told){0},
                         .forgets = ATOMIC_FLAG_INIT};
        const bool pictures = output_is_picture(run.s->output);
        OPEN(screen) *shown = pictures ? screen_open(m.look.view, e) : NULL;
        m.screen = shown;
        if (pictures && !shown) {
            status = err_status(e->code);
        } else if (run.farms) {
            status = farm_run(c, &j, &runs, out, e);
        } else if (run.dry) {
            sequence_list(&m, &j, out, e);
            *c->answered = out->n > 0;
            cli_print(out);
        } else {
            status = make_frames(&m, c, &j, out, e);
        }
    }
    bool end_is_seen = !run.dry && (!run.farms || run.s->wait);
    if (e->code && !*c->answered && end_is_seen) report_early(c, &early, apart, out, e);
    return status;
}
