#include "app/farm/farm.h"

#include "app/farm/slurm.h"
#include "app/run/progress.h"
#include "app/run/report.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the script ------------------------------------------------------------------------------- */

/* A path stands between double quotes in a line that sbatch reads: nothing in it may end these. */
static bool can_be_quoted(const char *what, const char *path, err *e) {
    for (const char *p = path; *p; p++)
        if (strchr("\"\\", *p))
            return err_set(e, ERR_USAGE,
                           "the path of the %s, '%s', has a quote or a backslash, which cannot "
                           "stand in a batch script",
                           what, path);
    return true;
}

bool farm_slurm_check(const farm *f, err *e) {
    return can_be_quoted("working folder", f->here, e) &&
           can_be_quoted("farm folder", f->folder, e);
}

/* The line by which the script of an earlier job of the same output is recognised. */
#define MARK "# fftbloom farm "

/* Only a task that ends with 75 is worth another try. */
void farm_slurm_script(const farm *f, text *to) {
    text_add(to, "#!/bin/bash\n" MARK "%s\n", f->mark);
    text_add(to, "# %zu frames in %zu tasks; made by `fftbloom farm --to slurm`.\n", f->frames,
             f->chunks);
    text_add(to, "#SBATCH --job-name=");
    farm_job_name(f, to);
    text_add(to, "\n#SBATCH --array=0-%zu\n#SBATCH --chdir=\"%s\"\n", f->chunks - 1, f->here);
    /* Slurm replaces %a and its like in the name of the log; %% is a percent sign. */
    text_add(to, "#SBATCH --output=\"");
    for (const char *p = f->folder; *p; p++) text_add(to, *p == '%' ? "%%%%" : "%c", *p);
    text_add(to, "/log.%%a.txt\"\n");
    if (f->c->s.farm_args) text_add(to, "#SBATCH %s\n", f->c->s.farm_args);
    text_add(to, "frames=(\n");
    for (size_t i = 0; i < f->chunks; i++) text_add(to, "    %s\n", f->chunk[i].s);
    text_add(to, ")\ntask=${SLURM_ARRAY_TASK_ID:?submit this script with sbatch}\n"
                 "for wait in 5 30 0; do\n    ");
    text_add_quoted(to, f->program);
    text_add(to, " apply");
    for (size_t i = 0; i < f->flags; i++) {
        text_add(to, " \\\n        ");
        text_add_quoted(to, f->flag[i].s);
    }
    text_add(to, " \\\n        --frames=\"${frames[task]}\" --progress=none \\\n        --report=");
    text_add_quoted(to, f->folder);
    text_add(to, "/report.$task.json\n    status=$?\n"
                 "    [ $status -eq 75 ] && [ $wait -gt 0 ] || exit $status\n"
                 "    sleep $wait\ndone\n");
}

/* --- the farm's folder ---------------------------------------------------------------------- */

enum { REPORT_PATH = PATH_MAX + 64 };

static const char *report_path(const farm *f, size_t task, char path[REPORT_PATH]) {
    snprintf(path, REPORT_PATH, "%s/report.%zu.json", f->folder, task);
    return path;
}

static bool has_report(const farm *f, size_t task) {
    char path[REPORT_PATH];
    return access(report_path(f, task, path), F_OK) == 0;
}

static size_t count_reports(const farm *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->chunks; i++) n += has_report(f, i);
    return n;
}

/* Files of a folder may be replaced where its script has the mark of this output, or where there is
 * neither a script nor a report. */
static bool is_free(const farm *f, const char *script, err *e) {
    enum { MOST = 64 << 20 };
    char mark[sizeof MARK + HASH_TEXT];
    size_t n = 0;
    char *old = (char *)file_read_all(script, MOST, &n, NULL);
    snprintf(mark, sizeof mark, MARK "%s\n", f->mark);
    bool ours = old && strstr(old, mark);
    mem_free(old);
    return ours || (access(script, F_OK) != 0 && !count_reports(f)) ||
           err_set(e, ERR_CANT_CREATE,
                   "the farm folder '%s' has files named job.sh or report.N.json that are not of "
                   "this output's job; choose another --dir or remove them",
                   f->folder);
}

/* Writes the script, and removes the reports of an earlier submission. */
static bool write_script(const farm *f, const char *path, err *e) {
    OWN(text) script = {0};
    farm_slurm_script(f, &script);
    bool ok = file_make_dirs(f->folder, 0777, e) && is_free(f, path, e) &&
              file_write_all(path, script.s, script.n, e);
    char old[REPORT_PATH];
    for (size_t i = 0; ok && (i < f->chunks || has_report(f, i)); i++)
        unlink(report_path(f, i, old));
    return ok;
}

/* --- reports ---------------------------------------------------------------------------------- */

typedef struct {
    json_out tasks;
    size_t count[FRAME_STATES], silent;
    int status;
} gathered;

/* Reads a member that must be a whole number from 0 to `most`, or absent; *to stays then. */
static bool read_count(const json_value *root, const char *key, size_t most, size_t *to) {
    const json_value *v = json_get(root, key);
    if (!v) return true;
    bool ok = v->type == JSON_NUMBER && v->number >= 0 && v->number <= (double)most &&
              v->number == (double)(size_t)v->number;
    if (ok) *to = (size_t)v->number;
    return ok;
}

/* Adds a task's report. Returns false, and adds nothing, where its numbers are none of a report. */
static bool count_report(gathered *g, const json_value *root) {
    size_t status = ERR_INTERNAL, count[FRAME_STATES] = {0};
    bool ok = read_count(root, "exit_status", 255, &status);
    for (int i = 0; ok && i < FRAME_STATES; i++)
        ok = read_count(root, REPORT_STATE[i], INT_MAX, &count[i]);
    for (int i = 0; ok && i < FRAME_STATES; i++) g->count[i] += count[i];
    /* A failure hides that frames were skipped, not the other way round. */
    if (ok && status && (!g->status || g->status == ERR_SKIPPED)) g->status = (int)status;
    return ok;
}

static void gather_one(gathered *g, const char *path, size_t task) {
    enum { MOST = 64 << 20 };
    err why = {0};
    size_t n;
    char *bytes = (char *)file_read_all(path, MOST, &n, &why);
    json_document *d = bytes ? json_parse(path, bytes, n, &why) : NULL;
    if (d && count_report(g, json_root(d))) {
        while (n && isspace((unsigned char)bytes[n - 1])) bytes[--n] = 0;
        json_raw(&g->tasks, NULL, bytes);
    } else {
        log_error("task %zu left no report: %s%s", task, d ? path : why.msg,
                  d ? " has numbers that no report has" : "");
        g->silent++;
    }
    json_free(&d);
    mem_free(bytes);
}

int farm_slurm_gather(const farm *f, text *out, err *e) {
    OWN(text) tasks = {0}, all = {0};
    gathered g = {.tasks = {.to = &tasks, .depth = 1}, .count = {[FRAME_CURRENT] = f->current}};
    json_list(&g.tasks, NULL);
    char path[REPORT_PATH];
    for (size_t i = 0; i < f->chunks; i++) gather_one(&g, report_path(f, i, path), i);
    json_close(&g.tasks);
    /* A task without a report was killed, or its node is gone: the same command does it again. */
    if (g.silent && (!g.status || g.status == ERR_SKIPPED)) g.status = ERR_RETRY;
    json_out j = json_begin(&all);
    json_string(&j, "program", "fftbloom " VERSION);
    json_int(&j, "exit_status", g.status);
    report_counts_json(&j, g.count);
    json_uint(&j, "silent", g.silent);
    json_raw(&j, "tasks", tasks.s);
    json_end(&j);
    bool ok = !f->c->s.report || file_write_all(f->c->s.report, all.s, all.n, e) ||
              err_in(e, "report");
    if (ok && f->c->s.json) text_add_bytes(out, all.s, all.n);
    if (ok && g.status)
        log_note("%zu frames failed, %zu were skipped, %zu tasks left no report; logs are in '%s'",
                 g.count[FRAME_FAILED], g.count[FRAME_SKIPPED], g.silent, f->folder);
    return g.status;
}

/* --- the job ---------------------------------------------------------------------------------- */

typedef struct {
    const farm *f;
    progress p;
    size_t seen; /* reports */
} watcher;

static void watch(void *ctx) {
    watcher *w = ctx;
    for (size_t now = count_reports(w->f); w->seen < now; w->seen++)
        progress_step(&w->p, &(progress_event){.what = w->f->chunk[w->seen].s,
                                               .state = REPORT_STATE[FRAME_DONE],
                                               .worked = true});
}

int farm_slurm_submit(const farm *f, text *out, err *e) {
    const settings *s = &f->c->s;
    char id[SLURM_ID];
    char script[REPORT_PATH];
    snprintf(script, sizeof script, "%s/job.sh", f->folder);
    if ((s->wait && !slurm_can_wait(e)) || !write_script(f, script, e) ||
        !slurm_submit(script, id, e))
        return 0;
    log_note("job %s: %zu frames in %zu tasks; script, logs and reports in '%s'", id, f->frames,
             f->chunks, f->folder);
    if (!s->wait) {
        text_add(out, "%s\n", id);
        return 0;
    }
    watcher w = {.f = f};
    const slurm_waiting how = {.pause = 0.1, .patience = 900, .asked = watch, .ctx = &w};
    bool ok = progress_open(&w.p, s, f->chunks, e) && slurm_wait(id, &how, e);
    progress_close(&w.p);
    return ok ? farm_slurm_gather(f, out, e) : 0;
}
