/* cmd_apply.c - `fftbloom apply`, also `fftbloom IN KERNEL -o OUT`: files in, files out. */
#include "app/farm/farm.h"
#include "app/run/file_set.h"
#include "app/run/forecast.h"
#include "app/run/sequence.h"
#include "base/file.h"
#include "base/log.h"
#include "image/format.h"
#include "kernel/cache.h"

/* Checks before any work what would else fail at the end of the first frame; and that no output is
 * another output, or an input. */
static bool check_outputs(const settings *s, const job *j, err *e) {
    file_set files = {0};
    job_files f;
    bool ok = true;
    for (size_t i = 0; ok && i < job_count(j); i++) {
        ok = job_frame(j, i, &f, e) && (i > 0 || image_can_create(f.output, e)) &&
             file_set_add_frame(&files, i, f.input, f.output, e);
        job_files_free(&f);
    }
    ok = ok && file_set_add(&files, FILE_READ, "the kernel", s->kernel, e) &&
         file_set_add(&files, FILE_WRITTEN, "the report", s->report, e) &&
         file_set_add_configs(&files, s, e) && file_set_check(&files, s->in_place, e);
    file_set_free(&files);
    return ok && (!s->report || file_out_possible(s->report, e) || err_in(e, "report"));
}

/* Makes all frames, and writes the reports, also of a run that fails: its own error counts then. */
static int run(frame_maker *m, const cli *c, const job *j, text *out, err *e) {
    progress told;
    report r;
    err why = {0};
    if (c->s.update && !m->stamps)
        log_warn(
            "--update makes every frame, now and next time: there is no cache folder that could "
            "remember them; give --cache-dir");
    if (!report_open(&r, job_count(j), e)) return 0;
    progress_open(&told, c->s.progress, c->s.quiet, job_count(j));
    sequence_run(m, j, &told, &r, e);
    cli_blame(c);
    int skipped = r.count[FRAME_SKIPPED] ? ERR_SKIPPED : 0,
        status = e->code ? (int)e->code : skipped;
    if (c->s.report && !report_write(&r, c, status, c->s.report, &why)) {
        if (e->code)
            log_error("%s", why.msg);
        else
            *e = why;
    }
    if (c->s.json) report_text(&r, c, status, out);
    cli_print(out);
    report_close(&r);
    return skipped;
}

int cmd_apply(cli *c, text *out, err *e) {
    char folder[CACHE_PATH];
    job j = {0};
    stamps st = {0};
    int status = 0;
    bool stamped = cache_path(folder, c->s.bloom.cache_dir);
    if (job_open(&j, &c->s, e) && check_outputs(&c->s, &j, e) &&
        (!stamped || stamps_open(&st, &c->s, folder, e))) {
        frame_maker m = {&c->s, stamped ? &st : NULL, c->threads, ATOMIC_FLAG_INIT,
                         ATOMIC_FLAG_INIT};
        if (c->s.farm != FARM_NONE) {
            status = farm_run(c, &j, m.stamps, out, e);
        } else if (c->s.dry_run) {
            dry_run(&m, &j, out, e);
            cli_print(out);
        } else {
            status = run(&m, c, &j, out, e);
        }
    }
    stamps_close(&st);
    job_close(&j);
    return status;
}
