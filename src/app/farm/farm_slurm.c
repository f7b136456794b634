#include "app/farm/farm.h"

#include "app/cli/json.h"
#include "app/run/progress.h"
#include "app/run/report.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the script ------------------------------------------------------------------------------- */

static void add_flag(void *ctx, const char *flag) {
    text_add(ctx, " \\\n        ");
    farm_quote(flag, ctx);
}

/* A task that ends with 75 is worth trying again; all others are not. */
void farm_slurm_script(const farm *f, text *to) {
    const char *name = strrchr(f->folder, '/') + 1;
    text_add(to, "#!/bin/bash\n# %zu frames in %zu tasks; made by `fftbloom apply --farm slurm`.\n",
             f->frames, f->chunks);
    text_add(to, "#SBATCH --job-name=fftbloom-%s\n#SBATCH --array=0-%zu\n", name, f->chunks - 1);
    text_add(to, "#SBATCH --chdir=\"%s\"\n#SBATCH --output=\"%s/log.%%a.txt\"\n", f->here,
             f->folder);
    if (f->c->s.farm_args) text_add(to, "#SBATCH %s\n", f->c->s.farm_args);
    text_add(to, "frames=(\n");
    for (size_t i = 0; i < f->chunks; i++) text_add(to, "    %s\n", f->chunk[i].s);
    text_add(to, ")\ntask=${SLURM_ARRAY_TASK_ID:?to be submitted with sbatch}\n"
                 "for wait in 5 30 0; do\n    ");
    farm_quote(f->program, to);
    text_add(to, " apply");
    farm_flags(f, add_flag, to);
    text_add(to, " \\\n        --frames=\"${frames[task]}\" --progress=none \\\n        --report=");
    farm_quote(f->folder, to);
    text_add(to, "/report.$task.json\n    status=$?\n"
                 "    [ $status -eq 75 ] && [ $wait -gt 0 ] || exit $status\n"
                 "    sleep $wait\ndone\n");
}

static char *place(const farm *f, err *e, const char *fmt, size_t number) {
    text t = {0};
    text_add(&t, "%s/", f->folder);
    text_add(&t, fmt[0] == 'r' ? "report.%zu.json" : "job.sh", number);
    char *path = mem_str(t.s, e);
    text_free(&t);
    return path;
}

/* --- Slurm's commands ------------------------------------------------------------------------- */

/* Runs a program and takes what it prints; returns its status, 127 where there is none of the name
 * and -1 where it could not be run. */
static int run(char *const argv[], text *out) {
    int pipe_of[2];
    if (pipe(pipe_of) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(pipe_of[1], STDOUT_FILENO);
        close(pipe_of[0]);
        close(pipe_of[1]);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(pipe_of[1]);
    char piece[4096];
    for (ssize_t n; child > 0;) {
        n = read(pipe_of[0], piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        text_add_bytes(out, piece, (size_t)n);
    }
    close(pipe_of[0]);
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool submit(const farm *f, char *script, char id[32], err *e) {
    (void)f;
    text out = {0};
    char *argv[] = {(char[]){"sbatch"}, (char[]){"--parsable"}, script, NULL};
    int status = run(argv, &out);
    size_t digits = out.s ? strspn(out.s, "0123456789") : 0;
    bool ok = status == 0 && digits > 0 && digits < 32;
    if (ok)
        snprintf(id, 32, "%.*s", (int)digits, out.s);
    else if (status == 127)
        err_set(e, ERR_NO_DEVICE,
                "there is no sbatch on this machine; --dry-run prints the script");
    else
        err_set(e, ERR_RETRY, "sbatch did not take '%s': exit status %d", script, status);
    text_free(&out);
    return ok;
}

/* Tasks of the job that are waiting or running; squeue forgets a job some time after its end, and
 * then fails. -1: squeue cannot be asked. */
static int still_queued(char *id) {
    text out = {0};
    char *argv[] = {(char[]){"squeue"},
                    (char[]){"-h"},
                    (char[]){"-r"},
                    (char[]){"-o"},
                    (char[]){"%i"},
                    (char[]){"-j"},
                    id,
                    NULL};
    int status = run(argv, &out), n = 0;
    for (size_t i = 0; i < out.n; i++) n += out.s[i] == '\n';
    text_free(&out);
    return status == 127 || status < 0 ? -1 : status == 0 ? n : 0;
}

/* Reports are written once, at a task's end. */
static size_t reported(const farm *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->chunks; i++) {
        char *path = place(f, NULL, "report", i);
        n += path && access(path, F_OK) == 0;
        mem_free(path);
    }
    return n;
}

static bool wait_for(const farm *f, char *id, err *e) {
    progress p;
    progress_open(&p, f->c->s.progress, f->c->s.quiet, f->chunks);
    size_t seen = 0;
    int left = 1;
    for (unsigned pause = 1; left > 0; pause += pause < 10) {
        sleep(pause);
        left = still_queued(id);
        for (size_t now = reported(f); seen < now; seen++)
            progress_step(&p, f->chunk[seen].s, true);
    }
    progress_clear(&p);
    return left == 0 || err_set(e, ERR_RETRY,
                                "job %s is submitted, but squeue cannot be run to wait for it", id);
}

/* --- reports ---------------------------------------------------------------------------------- */

typedef struct {
    text tasks;
    size_t count[FRAME_STATES], silent;
    int status;
} gathered;

static void count_report(gathered *g, const json_value *root) {
    static const char *const NAME[FRAME_STATES] = {"done", "current", "skipped", "failed"};
    const json_value *status = json_get(root, "exit_status");
    int s = status ? (int)status->number : ERR_INTERNAL;
    /* A failure hides that frames were skipped, not the other way round. */
    if (s && (!g->status || g->status == ERR_SKIPPED)) g->status = s;
    for (int i = 0; i < FRAME_STATES; i++) {
        const json_value *v = json_get(root, NAME[i]);
        if (v && v->number > 0) g->count[i] += (size_t)v->number;
    }
}

static void gather_one(gathered *g, const char *path, size_t task) {
    enum { MOST = 64 << 20 };
    err why = {0};
    size_t n;
    char *bytes = (char *)file_read_all(path, MOST, &n, &why);
    json_document *d = bytes ? json_parse(path, bytes, n, &why) : NULL;
    if (d) {
        while (n && isspace((unsigned char)bytes[n - 1])) n--;
        count_report(g, json_root(d));
        text_add(&g->tasks, g->tasks.n ? ",\n" : "\n");
        text_add_bytes(&g->tasks, bytes, n);
    } else {
        log_error("task %zu left no report: %s", task, why.msg);
        g->silent++;
    }
    json_free(&d);
    mem_free(bytes);
}

static bool write_gathered(const farm *f, const gathered *g, err *e) {
    text out = {0};
    text_add(&out,
             "{\n  \"version\": 1,\n  \"program\": \"fftbloom " VERSION "\",\n"
             "  \"exit_status\": %d,\n  \"done\": %zu, \"current\": %zu, \"skipped\": %zu, "
             "\"failed\": %zu, \"silent\": %zu,\n  \"tasks\": [",
             g->status, g->count[FRAME_DONE], g->count[FRAME_CURRENT] + f->current,
             g->count[FRAME_SKIPPED], g->count[FRAME_FAILED], g->silent);
    text_add(&out, "%s\n  ]\n}\n", g->tasks.s ? g->tasks.s : "");
    bool ok = !f->c->s.report || file_write_all(f->c->s.report, out.s, out.n, e) ||
              err_in(e, "report");
    if (ok && f->c->s.json) fputs(out.s, stdout);
    text_free(&out);
    return ok;
}

int farm_slurm_gather(const farm *f, err *e) {
    gathered g = {0};
    for (size_t i = 0; i < f->chunks; i++) {
        char *path = place(f, e, "report", i);
        if (path) gather_one(&g, path, i);
        mem_free(path);
    }
    /* A task without a report was killed, or its node is gone: the same command does it again. */
    if (g.silent && (!g.status || g.status == ERR_SKIPPED)) g.status = ERR_RETRY;
    bool ok = write_gathered(f, &g, e);
    if (ok && g.status)
        log_note("%zu frames failed, %zu were skipped, %zu tasks left no report; logs are in '%s'",
                 g.count[FRAME_FAILED], g.count[FRAME_SKIPPED], g.silent, f->folder);
    text_free(&g.tasks);
    return ok ? g.status : (int)e->code;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Reports of an earlier submission would be taken for this one's. */
static void remove_reports(const farm *f) {
    for (size_t i = 0;; i++) {
        char *path = place(f, NULL, "report", i);
        bool was = path && unlink(path) == 0;
        mem_free(path);
        if (!was && i >= f->chunks) return;
    }
}

static bool write_script(const farm *f, const char *path, err *e) {
    text script = {0};
    farm_slurm_script(f, &script);
    bool ok = file_make_dirs(f->folder, e) && file_write_all(path, script.s, script.n, e);
    text_free(&script);
    return ok;
}

int farm_slurm_submit(const farm *f, err *e) {
    char *script = place(f, e, "job", 0), id[32];
    bool ok = script && write_script(f, script, e);
    if (ok) remove_reports(f);
    ok = ok && submit(f, script, id, e);
    mem_free(script);
    if (!ok) return (int)e->code;
    log_note("job %s: %zu frames in %zu tasks; script, logs and reports in '%s'", id, f->frames,
             f->chunks, f->folder);
    if (!f->c->s.wait) {
        printf("%s\n", id);
        return 0;
    }
    if (!wait_for(f, id, e)) return (int)e->code;
    return farm_slurm_gather(f, e);
}
