#include "app/farm/farm.h"

#include "app/cli/options.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/cache.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- frames ---------------------------------------------------------------------------------- */

/* How many of the n numbers from `number` on are equally far apart; one alone and two neighbours
 * that are far apart are written one by one. */
static size_t run_length(const int *number, size_t n) {
    if (n < 2) return 1;
    size_t k = 2;
    while (k < n && number[k] - number[k - 1] == number[1] - number[0]) k++;
    return k == 2 && number[1] - number[0] > 1 ? 1 : k;
}

void farm_ranges(const int *number, size_t n, text *to) {
    for (size_t i = 0, k; i < n; i += k) {
        k = run_length(number + i, n - i);
        text_add(to, "%s%d", i ? "," : "", number[i]);
        if (k > 1) text_add(to, "-%d", number[i + k - 1]);
        if (k > 1 && number[i + 1] - number[i] > 1) text_add(to, "x%d", number[i + 1] - number[i]);
    }
}

static bool is_current(const job *j, size_t index, const stamps *st, bool *current, err *e) {
    char *input = NULL, *output = NULL;
    const int *number;
    if (!job_frame(j, index, &input, &output, &number, e)) return false;
    *current = st && stamp_is_current(st, input, output);
    mem_free(input);
    mem_free(output);
    return true;
}

enum { USUAL_CHUNK = 10 };

static bool make_chunks(farm *f, const stamps *st, err *e) {
    size_t count = job_count(f->j), size = f->c->s.chunk ? f->c->s.chunk : USUAL_CHUNK;
    int *left = mem_new(count + 1, sizeof *left, "frames", e);
    bool ok = left != NULL, current;
    for (size_t i = 0; ok && i < count; i++) {
        ok = is_current(f->j, i, st, &current, e);
        if (ok && current) f->current++;
        if (ok && !current) left[f->frames++] = f->j->frames.number[i];
    }
    ok = ok && (f->chunk = mem_new(f->frames / size + 1, sizeof *f->chunk, "chunks", e));
    for (size_t i = 0; ok && i < f->frames; i += size)
        farm_ranges(left + i, f->frames - i < size ? f->frames - i : size, &f->chunk[f->chunks++]);
    mem_free(left);
    return ok;
}

/* --- places ---------------------------------------------------------------------------------- */

/* `path` from the root, without slashes at its end. */
static char *absolute(const char *here, const char *path, err *e) {
    text t = {0};
    text_add(&t, "%s%s%s", path[0] == '/' ? "" : here, path[0] == '/' ? "" : "/", path);
    while (t.n > 1 && t.s[t.n - 1] == '/') t.s[--t.n] = 0;
    char *copy = mem_str(t.s, e);
    text_free(&t);
    return copy;
}

/* Fills `mark` with a hash of the output's absolute path, whatever links lead to its folder. */
static void mark_output(farm *f) {
    char folder[PATH_MAX], real[PATH_MAX];
    const char *output = f->j->output, *slash = strrchr(output, '/');
    int n = slash ? snprintf(folder, sizeof folder, "%.*s", (int)(slash - output) + 1, output)
                  : snprintf(folder, sizeof folder, "%s", f->here);
    text whole = {0};
    if (n > 0 && (size_t)n < sizeof folder && realpath(folder, real))
        text_add(&whole, "%s/%s", real, slash ? slash + 1 : output);
    else /* a folder that holds the frame's number, say */
        text_add(&whole, "%s/%s", output[0] == '/' ? "" : f->here, output);
    hash_text(hash_bytes(whole.s, whole.n), f->mark);
    text_free(&whole);
}

/* Letters, digits and .-_ of a name; any other character becomes an underscore. */
static void add_plain(text *to, const char *name) {
    enum { LONGEST = 100 };
    for (int i = 0; name[i] && i < LONGEST; i++)
        text_add(to, "%c",
                 isalnum((unsigned char)name[i]) || strchr(".-_", name[i]) ? name[i] : '_');
}

/* fftbloom-farm/<the output's name>-<its mark>: each output has a folder of its own. */
static char *usual_folder(const farm *f, err *e) {
    text t = {0};
    const char *slash = strrchr(f->j->output, '/');
    text_add(&t, "%s/fftbloom-farm/", f->here);
    add_plain(&t, slash ? slash + 1 : f->j->output);
    text_add(&t, "-%.8s", f->mark);
    char *copy = mem_str(t.s, e);
    text_free(&t);
    return copy;
}

void farm_job_name(const farm *f, text *to) {
    text_add(to, "fftbloom-");
    add_plain(to, strrchr(f->folder, '/') + 1);
}

static bool find_places(farm *f, err *e) {
    char path[PATH_MAX], cache[CACHE_PATH];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) return err_errno(e, ERR_INTERNAL, "cannot find this program's own file");
    path[n] = 0;
    if (!(f->program = mem_str(path, e))) return false;
    if (!getcwd(path, sizeof path)) return err_errno(e, ERR_IO, "cannot find the working folder");
    if (!(f->here = mem_str(path, e))) return false;
    mark_output(f);
    f->folder = f->c->s.farm_dir ? absolute(f->here, f->c->s.farm_dir, e) : usual_folder(f, e);
    if (!f->folder) return false;
    if (!cache_path(cache, f->c->s.bloom.cache_dir)) return true;
    return (f->cache = absolute(f->here, cache, e)) != NULL;
}

bool farm_open(farm *f, const cli *c, const job *j, const stamps *st, err *e) {
    *f = (farm){.c = c, .j = j};
    if (!j->sequence)
        return err_set(e, ERR_USAGE, "--farm needs a sequence: a frame pattern as input, not '%s'",
                       j->input);
    for (const char *p = c->s.farm_args; p && *p; p++)
        if (iscntrl((unsigned char)*p))
            return err_set(e, ERR_USAGE,
                           "--farm-args must be one line, without control characters");
    if (find_places(f, e) && make_chunks(f, st, e)) return true;
    farm_close(f);
    return false;
}

void farm_close(farm *f) {
    for (size_t i = 0; i < f->chunks; i++) text_free(&f->chunk[i]);
    mem_free(f->chunk);
    mem_free(f->program);
    mem_free(f->here);
    mem_free(f->folder);
    mem_free(f->cache);
    *f = (farm){0};
}

/* --- the command of a task ------------------------------------------------------------------- */

/* How it is told, and what a task is told for itself. */
static bool is_own(const option *o) {
    static const char *const NAME[] = {"frames", "report", "update", "cache_dir"};
    for (size_t i = 0; i < sizeof NAME / sizeof NAME[0]; i++)
        if (strcmp(o->name, NAME[i]) == 0) return true;
    return o->flag_only || o->section == SECTION_MESSAGES || o->section == SECTION_FARM;
}

void farm_flags(const farm *f, void (*add)(void *ctx, const char *flag), void *ctx) {
    text t = {0};
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        const setting *v = &f->c->s.value[i];
        char name[OPTION_NAME_ROOM];
        if (!(o->on & FOR_APPLY) || is_own(o) || v->origin == ORIGIN_DEFAULT || !v->text) continue;
        bool no = strncmp(option_flag(o, name), "--no-", 5) == 0;
        text_add(&t, "--%s=%s", name + (no ? 5 : 2), v->text);
        add(ctx, t.s);
        text_free(&t);
    }
    if (f->cache) {
        text_add(&t, "--cache-dir=%s", f->cache);
        add(ctx, t.s);
        text_free(&t);
    }
    add(ctx, "--update");
    /* Schedulers pass the environment on, and FFTBLOOM_FARM in it would submit without end. */
    add(ctx, "--farm=none");
}

void farm_quote(const char *s, text *to) {
    text_add(to, "'");
    for (; *s; s++) text_add(to, *s == '\'' ? "'\\''" : "%c", *s);
    text_add(to, "'");
}

/* --- what is asked for ------------------------------------------------------------------------ */

static int run_slurm(const farm *f, err *e) {
    if (f->current) log_note("%zu frames are up to date", f->current);
    if (!f->chunks) {
        log_note("nothing is left to do");
        return f->c->s.report ? farm_slurm_gather(f, e) : 0;
    }
    if (!farm_slurm_check(f, e)) return (int)e->code;
    if (!f->c->s.dry_run) return farm_slurm_submit(f, e);
    text script = {0};
    farm_slurm_script(f, &script);
    fputs(script.s, stdout);
    text_free(&script);
    return 0;
}

static int run_openjd(const farm *f, err *e) {
    text out = {0};
    if (f->chunks && farm_openjd_template(f, &out, e)) fputs(out.s, stdout);
    if (!f->chunks) log_note("nothing is left to do");
    text_free(&out);
    return (int)e->code;
}

int farm_run(const cli *c, const job *j, const stamps *st, err *e) {
    static int (*const RUN[])(const farm *,
                              err *) = {[FARM_SLURM] = run_slurm, [FARM_OPENJD] = run_openjd};
    farm f;
    if (!farm_open(&f, c, j, st, e)) return (int)e->code;
    int status = RUN[c->s.farm](&f, e);
    farm_close(&f);
    return e->code ? (int)e->code : status;
}
