/* cmd_check.c - `fftbloom check SUITE.json`: runs a regression suite, for build servers. */
#include "app/check/report/suite_report.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"
#include "app/run/file_set.h"
#include "app/run/progress.h"
#include "image/format.h"

#include <unistd.h>

typedef struct {
    const settings *s;
    bool words; /* lines for people go to standard output */
    progress progress;
} teller;

static void tell_case(void *ctx, const case_result *c) {
    teller *t = ctx;
    text line = {0};
    terminal_status(NULL);
    if (t->words) suite_text_case(c, t->s->verbose, &line);
    cli_print(&line);
    progress_step(&t->progress, &(progress_event){.what = c->c->name,
                                                  .state = case_state_key(c->state),
                                                  .worked = c->state != CASE_SKIP});
}

/* Runs the cases and writes all reports. The lines of the cases are progress enough. */
static void check_run(suite_run *r, const settings *s, bool words, err *e) {
    teller t = {.s = s, .words = words};
    text end = {0};
    bool seen = s->progress == PROGRESS_AUTO && words && isatty(STDOUT_FILENO);
    if (!progress_open(&t.progress, s, r->count, e)) return;
    if (seen) t.progress.mode = PROGRESS_NONE;
    suite_run_all(r, tell_case, &t);
    if (words) suite_text_end(r, &end);
    cli_print(&end);
    suite_reports_write(r, e);
}

/* Refuses a report or a reference that would replace another file of the suite. */
static bool check_files(const suite_run *r, err *e) {
    file_set files = {0};
    bool ok = suite_reports_add(r->asked, &files, e);
    ok = ok && file_set_add(&files, FILE_READ, "the suite", r->s->path, e);
    for (size_t i = 0; ok && i < r->count; i++) {
        const suite_case *c = r->item[i].c;
        ok = file_set_add(&files, FILE_READ, "the input of a case", c->s.input, e) &&
             file_set_add(&files, FILE_READ, "the kernel of a case", c->s.kernel, e) &&
             file_set_add_configs(&files, &c->s, e);
        /* --bless writes the first reference for each class of device. */
        for (int k = 0; ok && k < SUITE_CLASSES; k++)
            for (size_t n = 0; ok && n < c->reference[k].count; n++)
                ok = file_set_add(&files,
                                  r->asked->bless && n == 0 ? FILE_WRITTEN_AGAIN : FILE_READ,
                                  "a reference", c->reference[k].path[n], e);
    }
    ok = ok && file_set_check(&files, e);
    file_set_free(&files);
    return ok;
}

int cmd_check(cli *c, text *out, err *e) {
    suite s = {0};
    suite_run r = {0};
    bool taken;
    if (image_can_create(c->word[0], NULL))
        err_set(e, ERR_USAGE,
                "'%s' is an image, and check takes a suite, a JSON file of cases (docs/suites.md); "
                "two images are compared by 'fftbloom diff A B'",
                c->word[0]);
    if (!e->code && suite_reports_check(&c->s, &taken, e) &&
        suite_load(&s, c->word[0], c->s.set, e) && suite_run_open(&r, &s, c, e) &&
        check_files(&r, e)) {
        for (size_t i = 0; c->s.list && i < r.count; i++) suite_add_line(out, r.item[i].c->name);
        if (!c->s.list) check_run(&r, &c->s, !taken && !c->s.quiet, e);
    }
    int status = r.status;
    suite_run_close(&r);
    suite_free(&s);
    return status;
}
