/* cmd_apply.c - `fftbloom apply`, also `fftbloom IN KERNEL -o OUT`: files in, files out. */
#include "app/cli/cli.h"
#include "app/farm/farm.h"
#include "app/run/file_set.h"
#include "app/run/forecast.h"
#include "app/run/sequence.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"
#include "kernel/cache.h"

#include <stdio.h>

/* Everything that a run owns; closed by close_runner, however far it was opened. */
typedef struct {
    par *threads;
    stamps stamps;
    bool stamped; /* there is a cache folder for stamps */
    progress progress;
    report report;
} runner;

static bool check_frame(file_set *files, const job *j, size_t index, err *e) {
    char *input = NULL, *output = NULL;
    const int *number;
    bool ok = job_frame(j, index, &input, &output, &number, e) &&
              (index > 0 || image_can_create(output, e)) &&
              file_set_add_frame(files, index, input, output, e);
    mem_free(input);
    mem_free(output);
    return ok;
}

/* What would fail at the end of the first frame can fail before it starts; and no output may be
 * another output, or an input. */
static bool check_outputs(const settings *s, const job *j, err *e) {
    file_set files = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < job_count(j); i++) ok = check_frame(&files, j, i, e);
    ok = ok && file_set_add(&files, FILE_READ, "the kernel", s->kernel, e) &&
         file_set_add(&files, FILE_WRITTEN, "the report", s->report, e) &&
         file_set_add_configs(&files, s, e) && file_set_check(&files, s->in_place, e);
    file_set_free(&files);
    return ok && (!s->report || file_out_possible(s->report, e) || err_in(e, "report"));
}

static bool open_runner(runner *r, const cli *c, size_t frames, err *e) {
    char folder[CACHE_PATH];
    if (!report_open(&r->report, frames, e)) return false;
    progress_open(&r->progress, c->s.progress, c->s.quiet, frames);
    r->stamped = cache_path(folder, c->s.bloom.cache_dir);
    if (r->stamped && !stamps_open(&r->stamps, &c->s, folder, e)) return false;
    return (r->threads = par_open((int)c->s.jobs, e)) != NULL;
}

static void close_runner(runner *r) {
    if (r->threads) par_close(&r->threads);
    stamps_close(&r->stamps);
    report_close(&r->report);
}

/* Writes the reports, also of a run that failed, whose own error is then the one that counts. */
static void tell(const runner *r, const cli *c, err *e) {
    cli_blame(c);
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

static int hand_over(const cli *c, const job *j, err *e) {
    char folder[CACHE_PATH];
    stamps st = {0};
    bool stamped = cache_path(folder, c->s.bloom.cache_dir);
    int status = stamped && !stamps_open(&st, &c->s, folder, e)
                     ? (int)e->code
                     : farm_run(c, j, stamped ? &st : NULL, e);
    stamps_close(&st);
    return status;
}

static int run(runner *r, const cli *c, const job *j, err *e) {
    frame_maker m = {&c->s, r->stamped ? &r->stamps : NULL, r->threads, ATOMIC_FLAG_INIT,
                     ATOMIC_FLAG_INIT};
    if (c->s.dry_run) {
        text out = {0};
        dry_run(&m, j, &out, e);
        if (out.s) fputs(out.s, stdout);
        text_free(&out);
        return 0;
    }
    if (c->s.update && !r->stamped)
        log_warn("--update knows no frames and will remember none: there is no cache folder; give "
                 "--cache-dir");
    sequence_run(&m, j, &r->progress, &r->report, e);
    tell(r, c, e);
    return r->report.count[FRAME_SKIPPED] ? ERR_SKIPPED : 0;
}

int cmd_apply(int argc, char **argv, err *e) {
    cli c;
    job j = {0};
    runner r = {0};
    int status = 0;
    if (cli_open(&c, argc, argv, e) && job_open(&j, &c.s, e) && check_outputs(&c.s, &j, e)) {
        if (c.s.farm != FARM_NONE)
            status = hand_over(&c, &j, e);
        else if (open_runner(&r, &c, job_count(&j), e))
            status = run(&r, &c, &j, e);
        close_runner(&r);
    }
    job_close(&j);
    cli_close(&c);
    return e->code ? (int)e->code : status;
}
