/* cmd_apply.c - `fftbloom apply`, also `fftbloom IN KERNEL -o OUT`: files in, files out. */
#include "app/account.h"
#include "app/cli.h"
#include "app/describe.h"
#include "app/job.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/stamp.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/cache.h"
#include "image/format.h"

#include <stdio.h>
#include <unistd.h>

typedef struct {
    const settings *s;
    size_t frames;
    par *threads;
    bloom *bloom; /* opened at the first frame that needs it */
    stamps stamps;
    bool stamped; /* there is a cache folder for stamps */
    progress progress;
    report report;
} runner;

/* --- one frame ----------------------------------------------------------------------------- */

static void say_frame(const frame_result *f) {
    text line = {0};
    const bloom_report *m = f->made;
    text_add(&line, "%s -> %s: ", f->input, f->output);
    if (m->groups) {
        describe_plan_line(&m->plan, &line);
        text_add(&line, ", on %s; ", m->device.name);
    }
    text_add(&line, "load %.3f s, bloom %.3f s, save %.3f s", f->load, f->bloom, f->save);
    log_info("%s", line.s);
    text_free(&line);
}

/* Also of a frame that failed: what led to it. */
static void say_notes(const frame_result *f) {
    const bloom_report *m = f->made;
    for (uint32_t i = 0; i < m->notes; i++) log_info("%s: %s", f->input, m->note[i]);
    if (!m->verified.found.pixels) return;
    text line = {0};
    account_verified(m, &line);
    log_info("%s: %s", f->input, line.s);
    text_free(&line);
}

static void note_clamped(bloom_report *made, uint64_t clamped) {
    if (!clamped || made->notes == BLOOM_NOTES) return;
    snprintf(made->note[made->notes++], sizeof made->note[0],
             "%llu values beyond 65504 were clamped to it", (unsigned long long)clamped);
}

static bool open_bloom(runner *r, err *e) {
    bloom_settings s = r->s->bloom;
    s.half = r->s->pixels == PIXELS_HALF;
    s.images = r->frames > UINT32_MAX ? UINT32_MAX : (uint32_t)r->frames;
    if (!r->bloom) r->bloom = bloom_open(&s, r->s->kernel, r->threads, e);
    return r->bloom != NULL;
}

/* Reads, blooms and writes. The times are those of the frame; `made` is what bloom says. */
static bool make_frame(runner *r, frame_result *f, bloom_report *made, err *e) {
    double t[4] = {progress_clock()};
    uint64_t clamped = 0;
    if (!open_bloom(r, e)) return false;
    image *img = image_load(f->input, NULL, r->threads, e);
    t[1] = progress_clock();
    bool ok = img && output_prepare(img, r->s, e) && bloom_image(r->bloom, img, made, e) &&
              output_finish(img, r->s, &clamped, e);
    if (img && !ok) err_in(e, "%s", f->input);
    t[2] = progress_clock();
    ok = ok && output_save(f->output, img, r->threads, e);
    t[3] = progress_clock();
    image_free(&img);
    if (!ok) return false;
    note_clamped(made, clamped);
    f->load = t[1] - t[0];
    f->bloom = t[2] - t[1];
    f->save = t[3] - t[2];
    err why = {0};
    if (r->stamped && !stamp_write(&r->stamps, f->input, f->output, &why))
        log_info("--update will not know '%s': %s", f->output, why.msg);
    return true;
}

/* Why a frame needs no work, or must not be done; FRAME_DONE: neither. */
static frame_state look_at(const runner *r, const frame_result *f, const char **why) {
    if (access(f->input, F_OK) != 0 && r->s->missing == MISSING_SKIP) {
        *why = "the input is not there";
        return FRAME_SKIPPED;
    }
    if (r->s->update && r->stamped && stamp_is_current(&r->stamps, f->input, f->output)) {
        *why = "the output is up to date";
        return FRAME_CURRENT;
    }
    if (!r->s->clobber && access(f->output, F_OK) == 0) {
        *why = "the output exists";
        return FRAME_SKIPPED;
    }
    return FRAME_DONE;
}

static bool run_frame(runner *r, frame_result *f, err *e) {
    bloom_report made = {0};
    f->state = look_at(r, f, &f->why);
    bool ok = true;
    if (f->state == FRAME_SKIPPED) {
        log_note("%s skipped: %s", f->input, f->why);
    } else if (f->state == FRAME_CURRENT) {
        log_info("%s: %s", f->output, f->why);
    } else {
        f->made = &made;
        ok = make_frame(r, f, &made, e);
        if (ok) say_frame(f);
        say_notes(f);
    }
    if (!ok) {
        f->state = FRAME_FAILED;
        f->why = e->msg;
    }
    report_add(&r->report, f);
    return ok;
}

/* --- all frames ---------------------------------------------------------------------------- */

static bool run_frames(runner *r, const job *j, err *e) {
    bool ok = true;
    for (size_t i = 0; ok && i < job_count(j); i++) {
        frame_result f = {0};
        char *input = NULL, *output = NULL;
        ok = job_frame(j, i, &input, &output, &f.number, e);
        if (ok) {
            f.input = input;
            f.output = output;
            ok = run_frame(r, &f, e);
            if (ok) progress_step(&r->progress, output, f.state == FRAME_DONE);
        }
        mem_free(input);
        mem_free(output);
    }
    if (!ok) progress_fail(&r->progress, e->msg);
    progress_clear(&r->progress);
    return ok;
}

/* What would fail at the end of the first frame can fail before it starts. */
static bool check_outputs(const settings *s, const job *j, err *e) {
    char *input = NULL, *output = NULL;
    const int *number;
    bool ok = job_frame(j, 0, &input, &output, &number, e) && image_can_create(output, e);
    mem_free(input);
    mem_free(output);
    return ok && (!s->report || file_out_possible(s->report, e) || err_in(e, "report"));
}

static bool open_runner(runner *r, const cli *c, size_t frames, err *e) {
    char folder[CACHE_PATH];
    *r = (runner){.s = &c->s, .frames = frames};
    report_open(&r->report);
    progress_open(&r->progress, c->s.progress, c->s.quiet, frames);
    r->stamped = cache_path(folder, c->s.bloom.cache_dir);
    if (r->stamped && !stamps_open(&r->stamps, &c->s, folder, e)) return false;
    return (r->threads = par_open((int)c->s.jobs, e)) != NULL;
}

static void close_runner(runner *r) {
    bloom_close(&r->bloom);
    if (r->threads) par_close(&r->threads);
    stamps_close(&r->stamps);
    report_close(&r->report);
}

/* Writes the reports also of a run that failed; its error stays the one that is told. */
static void tell(const runner *r, const cli *c, err *e) {
    err why = {0};
    int status = e->code ? (int)e->code : r->report.count[FRAME_SKIPPED] ? ERR_SKIPPED : 0;
    if (c->s.report && !report_write(&r->report, c, status, c->s.report, &why)) {
        if (e->code) {
            log_error("%s", why.msg);
        } else {
            *e = why;
        }
    }
    if (c->s.json) {
        text out = {0};
        report_text(&r->report, c, status, &out);
        fputs(out.s, stdout);
        text_free(&out);
    }
}

int cmd_apply(int argc, char **argv, err *e) {
    cli c;
    job j = {0};
    runner r = {0};
    int status = 0;
    if (cli_open(&c, argc, argv, e) && job_open(&j, &c.s, e) && check_outputs(&c.s, &j, e)) {
        if (open_runner(&r, &c, job_count(&j), e)) {
            run_frames(&r, &j, e);
            tell(&r, &c, e);
            if (r.report.count[FRAME_SKIPPED]) status = ERR_SKIPPED;
        }
        close_runner(&r);
    }
    job_close(&j);
    cli_close(&c);
    return e->code ? (int)e->code : status;
}
