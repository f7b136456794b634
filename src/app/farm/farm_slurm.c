#include "app/farm/farm.h"
#include "app/run/progress.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- Slurm's commands --- */

/* The status of a program that is not there, as a shell gives it. */
enum { NOT_FOUND = 127 };

/* Runs a program and takes all that it prints, errors included. Returns its exit status, NOT_FOUND
 * where there is no program of the name, and -1 where it could not be run or was killed. */
static int slurm_run(const char *const argv[], text *said) {
    int ends[2];
    text_add(said, "%s", "");
    if (pipe(ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(argv[0], (char *const *)argv);
        _exit(NOT_FOUND);
    }
    close(ends[1]);
    char piece[4096];
    for (ssize_t n = 1; child > 0 && n != 0;) {
        n = read(ends[0], piece, sizeof piece);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) text_add_bytes(said, piece, (size_t)n);
    }
    close(ends[0]);
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Returns the last line, cut out of `said`, without "sbatch: error: " before it: in an error of
 * several lines it is the one that says why. A hint at --help behind it is cut off. */
static const char *last_line(text *said) {
    char *hint = strstr(said->s, "Try \"sbatch");
    if (hint) said->n = (size_t)(hint - said->s);
    while (said->n && isspace((unsigned char)said->s[said->n - 1])) said->n--;
    said->s[said->n] = 0;
    const char *line = strrchr(said->s, '\n'), *word;
    line = line ? line + 1 : said->s;
    if ((word = strstr(line, "error: ")) || (word = strstr(line, "fatal: "))) line = word + 7;
    return *line ? line : "nothing";
}

/* The line of a job's or task's number, or NULL: warnings of Slurm may stand around it. */
static const char *find_number(const char *said) {
    for (; said; said = strchr(said, '\n')) {
        said += *said == '\n';
        if (isdigit((unsigned char)*said)) return said;
    }
    return NULL;
}

/* What sbatch says where the same command may succeed later; it refuses anything else for good. */
static const char TEMPORARY[] = "*imed out*,*nable to contact*,*emporarily*,*onnection refused*,"
                                "*standby mode*,*ero Bytes*";

bool slurm_submit(const char *script, char id[SLURM_ID], err *e) {
    OWN(text) said = {0};
    int status = slurm_run((const char *[]){"sbatch", "--parsable", script, NULL}, &said);
    const char *number = find_number(said.s);
    size_t digits = number ? strspn(number, "0123456789") : 0;
    bool ok = status == 0 && digits > 0 && digits < SLURM_ID;
    if (ok)
        snprintf(id, SLURM_ID, "%.*s", (int)digits, number);
    else if (status == NOT_FOUND)
        err_set(e, ERR_NO_DEVICE,
                "there is no sbatch on this machine; --dry-run prints the script");
    else if (strstr(said.s, "fatal: "))
        err_set(e, ERR_NO_DEVICE,
                "Slurm cannot be used on this machine: sbatch says '%s'; --dry-run prints the "
                "script",
                last_line(&said));
    else
        err_set(e, !said.n || text_glob_any(TEMPORARY, said.s) ? ERR_RETRY : ERR_USAGE,
                "sbatch refused '%s' with exit status %d: it says '%s'", script, status,
                last_line(&said));
    return ok;
}

bool slurm_can_wait(err *e) {
    OWN(text) said = {0};
    int status = slurm_run((const char *[]){"squeue", "--version", NULL}, &said);
    return status != NOT_FOUND ||
           err_set(e, ERR_NO_DEVICE, "--wait needs squeue, which is not on this machine");
}

typedef enum { OVER, QUEUED, UNKNOWN } answer;

/* Asks whether tasks of the job are pending or running. Slurm forgets a job some minutes after its
 * end, and squeue then fails with "Invalid job id"; any other failure says nothing of the job. */
static answer ask(const char *id, text *said) {
    text_free(said);
    int status =
        slurm_run((const char *[]){"squeue", "-h", "-r", "-o", "%i", "-j", id, NULL}, said);
    if (status == 0) return find_number(said->s) ? QUEUED : OVER;
    return strstr(said->s, "Invalid job id") ? OVER : UNKNOWN;
}

bool slurm_wait(const char *id, const slurm_waiting *w, err *e) {
    enum { LONGEST = 10 };
    OWN(text) said = {0};
    answer a = QUEUED;
    double pause = w->pause, answered = clock_now();
    bool patient = true;
    while (a != OVER && patient) {
        struct timespec left = {(time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9)};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
        pause = pause < LONGEST / 2 ? 2 * pause : LONGEST;
        answer before = a;
        a = ask(id, &said);
        if (a != UNKNOWN) answered = clock_now();
        if (a == UNKNOWN && before != UNKNOWN)
            log_warn("squeue failed and will be asked again; it says '%s'", last_line(&said));
        patient = clock_now() - answered < w->patience;
        w->asked(w->ctx);
    }
    if (a != OVER)
        err_set(e, ERR_IO,
                "job %s may still run, but Slurm has not answered for %.0f seconds: squeue says "
                "'%s'",
                id, clock_now() - answered, last_line(&said));
    return a == OVER;
}

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
           can_be_quoted("farm folder", f->folder.s, e);
}

/* The line by which the script of an earlier job of the same output is recognised. */
#define MARK "# fftbloom farm "

/* Only a task that ends with 75 is worth another try. */
void farm_slurm_script(const farm *f, text *to) {
    text_add(to, "#!/bin/bash\n" MARK "%s\n", f->mark);
    text_add(to, "# %zu frames in %zu tasks; made by `fftbloom farm --to slurm`.\n", f->frames,
             f->chunks);
    text_add(to, "#SBATCH --job-name=");
    text_add(to, "%s", f->name.s);
    text_add(to, "\n#SBATCH --array=0-%zu\n#SBATCH --chdir=\"%s\"\n", f->chunks - 1, f->here);
    /* Slurm replaces %a and its like in the name of the log; %% is a percent sign. */
    text_add(to, "#SBATCH --output=\"");
    for (const char *p = f->folder.s; *p; p++) text_add(to, *p == '%' ? "%%%%" : "%c", *p);
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
    text_add_quoted(to, f->folder.s);
    text_add(to, "/report.$task.json\n    status=$?\n"
                 "    [ $status -eq 75 ] && [ $wait -gt 0 ] || exit $status\n"
                 "    sleep $wait\ndone\n");
}

/* --- the farm's folder ---------------------------------------------------------------------- */

enum { REPORT_PATH = PATH_MAX + 64 };

static const char *report_path(const farm *f, size_t task, char path[REPORT_PATH]) {
    snprintf(path, REPORT_PATH, "%s/report.%zu.json", f->folder.s, task);
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
    OWN_MEM char *old = (char *)file_read_all(script, MOST, &n, NULL);
    snprintf(mark, sizeof mark, MARK "%s\n", f->mark);
    return (old && strstr(old, mark)) || (access(script, F_OK) != 0 && !count_reports(f)) ||
           err_set(e, ERR_CANT_CREATE,
                   "the farm folder '%s' has files named job.sh or report.N.json that are not of "
                   "this output's job; choose another --dir or remove them",
                   f->folder.s);
}

/* Writes the script, and removes the reports of an earlier submission. */
static bool write_script(const farm *f, const char *path, err *e) {
    OWN(text) script = {0};
    farm_slurm_script(f, &script);
    bool ok = file_make_dirs(f->folder.s, 0777, e) && is_free(f, path, e) &&
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
    if (v && (v->type != JSON_NUMBER || !(v->number >= 0 && v->number <= (double)most) ||
              v->number != floor(v->number)))
        return false;
    if (v) *to = (size_t)v->number;
    return true;
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
    OWN_MEM char *bytes = (char *)file_read_all(path, MOST, &n, &why);
    OWN(json_document) *d = bytes ? json_parse(path, bytes, n, &why) : NULL;
    if (d && count_report(g, json_root(d))) {
        while (n && isspace((unsigned char)bytes[n - 1])) bytes[--n] = 0;
        json_raw(&g->tasks, NULL, bytes);
    } else {
        log_error("task %zu left no report: %s%s", task, d ? path : why.msg,
                  d ? " has numbers that no report has" : "");
        g->silent++;
    }
}

int farm_slurm_gather(const farm *f, text *out, err *e) {
    OWN(text) tasks = {0}, whole = {0};
    gathered g = {.tasks = {.to = &tasks, .depth = 1}, .count = {[FRAME_CURRENT] = f->current}};
    json_list(&g.tasks, NULL);
    char path[REPORT_PATH];
    for (size_t i = 0; i < f->chunks; i++) gather_one(&g, report_path(f, i, path), i);
    json_close(&g.tasks);
    /* A task without a report was killed, or its node is gone: the same command does it again. */
    if (g.silent && (!g.status || g.status == ERR_SKIPPED)) g.status = ERR_RETRY;
    json_out j = json_begin(&whole);
    json_string(&j, "program", "fftbloom " VERSION);
    json_int(&j, "exit_status", g.status);
    report_counts_json(&j, g.count);
    json_uint(&j, "silent", g.silent);
    json_raw(&j, "tasks", tasks.s);
    json_end(&j);
    bool ok = !f->c->s.report || file_write_all(f->c->s.report, whole.s, whole.n, e) ||
              err_in(e, "report");
    if (ok && f->c->s.json) text_add_bytes(out, whole.s, whole.n);
    if (ok && g.status)
        log_note("%zu frames failed, %zu were skipped, %zu tasks left no report; logs are in '%s'",
                 g.count[FRAME_FAILED], g.count[FRAME_SKIPPED], g.silent, f->folder.s);
    return g.status;
}

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
    char id[SLURM_ID], script[REPORT_PATH];
    snprintf(script, sizeof script, "%s/job.sh", f->folder.s);
    if ((s->wait && !slurm_can_wait(e)) || !write_script(f, script, e) ||
        !slurm_submit(script, id, e))
        return 0;
    log_note("job %s: %zu frames in %zu tasks; script, logs and reports in '%s'", id, f->frames,
             f->chunks, f->folder.s);
    if (!s->wait) return text_add(out, "%s\n", id), 0;
    watcher w = {.f = f};
    const slurm_waiting how = {.pause = 0.1, .patience = 900, .asked = watch, .ctx = &w};
    bool ok = progress_open(&w.p, s, f->chunks, e) && slurm_wait(id, &how, e);
    progress_close(&w.p);
    return ok ? farm_slurm_gather(f, out, e) : 0;
}
