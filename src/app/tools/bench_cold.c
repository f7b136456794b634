#include "app/tools/bench_cold.h"

#include "app/cli/options.h"
#include "base/clock.h"
#include "base/mem.h"
#include "image/flat/flat.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_ROOM = 4200, WORDS = 32 };

typedef struct {
    const bench_cold_job *j;
    char folder[PATH_ROOM - 64];
    char image[PATH_ROOM], kernel[PATH_ROOM], result[PATH_ROOM];
} cold;

/* --- what is bloomed -------------------------------------------------------------------------- */

static float noise(uint32_t x, uint32_t y, uint32_t size) {
    uint32_t v = (x * 2654435761u) ^ (y * 2246822519u);
    (void)size;
    v = (v ^ v >> 15) * 2654435761u;
    return (float)((v >> 8) + 1) * 0x1p-24f;
}

static float spot(uint32_t x, uint32_t y, uint32_t size) {
    double dx = (double)x - size / 2, dy = (double)y - size / 2;
    return (float)pow(dx * dx + dy * dy + 1, -1.5);
}

static bool save(const char *path, uint32_t w, uint32_t h,
                 float (*at)(uint32_t x, uint32_t y, uint32_t size), par *threads, err *e) {
    static const image_limits LIMITS = {.side = 65536, .samples = UINT64_C(1) << 28};
    image_header head = {.format = "exr"};
    image *img = flat_header(&head, w, h, 3, false, &LIMITS, e) ? image_new(&head, e) : NULL;
    for (int c = 0; img && c < 3; c++) {
        float *plane = img->plane[0][c];
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++) plane[(size_t)y * w + x] = at(x, y, w);
    }
    bool ok = img && image_save(path, img, threads, e);
    image_free(&img);
    image_header_free(&head);
    return ok;
}

static bool make_inputs(cold *c, err *e) {
    const bench_cold_job *j = c->j;
    snprintf(c->image, sizeof c->image, "%s/image.exr", c->folder);
    snprintf(c->kernel, sizeof c->kernel, "%s/kernel.exr", c->folder);
    snprintf(c->result, sizeof c->result, "%s/result.exr", c->folder);
    if (!save(c->image, j->w, j->h, noise, j->threads, e)) return false;
    if (j->kernel[strspn(j->kernel, "0123456789")]) { /* a file */
        snprintf(c->kernel, sizeof c->kernel, "%s", j->kernel);
        return true;
    }
    unsigned long size = strtoul(j->kernel, NULL, 10);
    if (size < 1 || size > 16384)
        return err_set(e, ERR_USAGE, "--kernel %s: a size from 1 to 16384, or a file", j->kernel);
    return save(c->kernel, (uint32_t)size, (uint32_t)size, spot, j->threads, e);
}

/* --- folders ---------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f) {
    (void)s, (void)kind, (void)f;
    return remove(path);
}

static void remove_all(const char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool make_folder(cold *c, err *e) {
    const char *tmp = getenv("TMPDIR");
    snprintf(c->folder, sizeof c->folder, "%.4000s/fftbloom-bench-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(c->folder)) return true;
    err_errno(e, ERR_CANT_CREATE, "a folder for --cold-start, '%s'", c->folder);
    c->folder[0] = 0;
    return false;
}

/* --- one run ---------------------------------------------------------------------------------- */

/* Where Mesa and NVIDIA keep compiled programs; others go by XDG_CACHE_HOME. */
static const char *const DRIVER_CACHE[] = {"XDG_CACHE_HOME=",      "MESA_SHADER_CACHE_DIR=",
                                           "MESA_GLSL_CACHE_DIR=", "__GL_SHADER_DISK_CACHE_PATH=",
                                           "FFTBLOOM_CACHE_DIR=",  "FFTBLOOM_CACHE_RO="};
enum { CACHES = sizeof DRIVER_CACHE / sizeof DRIVER_CACHE[0], FOLDERS = CACHES - 1 };

/* This process's variables, but with all caches below `folder`. The list is the caller's to free,
 * and so are the values, which it points to. */
static char **child_environment(const char *folder, text values[FOLDERS], err *e) {
    size_t n = 0, k = 0;
    while (environ[n]) n++;
    char **env = mem_new(n + CACHES + 1, sizeof *env, "environment", e);
    if (!env) return NULL;
    for (size_t i = 0; i < n; i++) {
        bool cache = false;
        for (int c = 0; c < CACHES; c++)
            cache |= strncmp(environ[i], DRIVER_CACHE[c], strlen(DRIVER_CACHE[c])) == 0;
        if (!cache) env[k++] = environ[i];
    }
    for (int c = 0; c < FOLDERS; c++) {
        text_add(&values[c], "%s%s/cache", DRIVER_CACHE[c], folder);
        env[k++] = values[c].s;
    }
    return env;
}

/* The command line: the options that decide what is computed, as they were given. */
static void command_line(const cold *c, char *word[WORDS], text flags[]) {
    static const char *const HANDED_ON[] = {"device",   "jobs",    "precision",  "axis",
                                            "spectrum", "padding", "vram_limit", "tolerance"};
    const setting *value = c->j->s->value;
    int n = 0;
    word[n++] = (char *)"fftbloom";
    word[n++] = (char *)"apply";
    word[n++] = (char *)c->image;
    word[n++] = (char *)c->kernel;
    word[n++] = (char *)"-o";
    word[n++] = (char *)c->result;
    word[n++] = (char *)"--quiet";
    for (size_t i = 0; i < sizeof HANDED_ON / sizeof HANDED_ON[0]; i++) {
        const option *o = option_find(HANDED_ON[i], FOR_BENCH);
        char flag[OPTION_NAME_ROOM];
        if (!value[o - OPTIONS].text) continue;
        text_add(&flags[i], "%s=%s", option_flag(o, flag), value[o - OPTIONS].text);
        word[n++] = flags[i].s;
    }
    word[n] = NULL;
}

/* Seconds from before the process starts to after its end, when its output is in its place. */
static bool run(const cold *c, double *seconds, err *e) {
    text values[FOLDERS] = {{0}}, flags[WORDS] = {{0}};
    char *word[WORDS];
    char **env = child_environment(c->folder, values, e);
    pid_t child;
    int status = 0, failed = 0;
    if (env) {
        command_line(c, word, flags);
        double start = clock_now();
        failed = posix_spawn(&child, "/proc/self/exe", NULL, NULL, word, env);
        while (!failed && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        *seconds = clock_now() - start;
    }
    bool ended = env && !failed && WIFEXITED(status), ok = ended && WEXITSTATUS(status) == 0;
    if (ended && !ok)
        err_set(e, (err_code)WEXITSTATUS(status),
                "--cold-start: 'fftbloom apply %s %s' ended with exit status %d", c->image,
                c->kernel, WEXITSTATUS(status));
    else if (env && !ok)
        err_set(e, ERR_INTERNAL, "--cold-start: 'fftbloom apply %s %s' could not be run: %s",
                c->image, c->kernel, failed ? strerror(failed) : "it was killed");
    for (int i = 0; i < FOLDERS; i++) text_free(&values[i]);
    for (int i = 0; i < WORDS; i++) text_free(&flags[i]);
    mem_free(env);
    return ok;
}

/* Cold: everything that a run has left is taken away before the next. */
static bool runs(cold *c, bool is_cold, uint32_t count, measure_spread *to, err *e) {
    char cache[PATH_ROOM];
    double seconds[COLD_RUNS];
    snprintf(cache, sizeof cache, "%s/cache", c->folder);
    for (uint32_t i = 0; i < count; i++) {
        if (is_cold) remove_all(cache);
        if (is_cold && mkdir(cache, 0777) != 0)
            return err_errno(e, ERR_CANT_CREATE, "folder '%s'", cache);
        if (!run(c, &seconds[i], e)) return false;
        remove(c->result);
    }
    *to = measure_spread_of(seconds, count);
    return true;
}

/* --- results ---------------------------------------------------------------------------------- */

typedef struct {
    const bench_cold_job *j;
    uint32_t runs;
    measure_spread cold, warm;
} cold_row;

static void words(const cold_row *r, text *to) {
    const struct {
        const char *name;
        const measure_spread *s;
    } line[] = {{"cold", &r->cold}, {"warm", &r->warm}};
    text_add(to, "%u x %u, kernel %s, device %s: from start to end of %u processes each, s\n",
             r->j->w, r->j->h, r->j->kernel, r->j->s->bloom.device, r->runs);
    text_add(to, "  %-12s %8s  %8s  %17s\n", "caches", "median", "least", "quartiles");
    for (int i = 0; i < 2; i++)
        text_add(to, "  %-12s %8.3f  %8.3f  %7.3f - %7.3f\n", line[i].name, line[i].s->median,
                 line[i].s->least, line[i].s->low, line[i].s->high);
}

static void json(const cold_row *r, text *to) {
    text_add(to, "\n    {\"size\": [%u, %u], \"kernel\": ", r->j->w, r->j->h);
    text_add_json(to, r->j->kernel);
    text_add(to, ", \"device\": ");
    text_add_json(to, r->j->s->bloom.device);
    text_add(to, ", \"runs\": %u,\n     \"cold\": ", r->runs);
    bench_report_spread(&r->cold, to);
    text_add(to, ",\n     \"warm\": ");
    bench_report_spread(&r->warm, to);
    text_add(to, "}");
}

static void csv(const cold_row *r, text *to) {
    text_add(to, "\"%s\",%u,%u,\"%s\",%u,%.6f,%.6f,%.6f,%.6f\n", r->j->s->bloom.device, r->j->w,
             r->j->h, r->j->kernel, r->runs, r->cold.median, r->cold.least, r->warm.median,
             r->warm.least);
}

bool bench_cold(const bench_cold_job *j, bench_form form, uint32_t count, text *to, err *e) {
    static void (*const FORM[])(const cold_row *, text *) = {
        [BENCH_WORDS] = words, [BENCH_JSON] = json, [BENCH_CSV] = csv};
    cold c = {.j = j};
    cold_row r = {.j = j, .runs = j->s->rounds < COLD_RUNS ? j->s->rounds : COLD_RUNS};
    bool ok = make_folder(&c, e) && make_inputs(&c, e) && runs(&c, true, r.runs, &r.cold, e) &&
              runs(&c, false, r.runs, &r.warm, e);
    if (c.folder[0]) remove_all(c.folder);
    if (!ok) return false;
    if (form == BENCH_CSV && !count)
        text_add(to, "device,width,height,kernel,runs,cold,cold_least,warm,warm_least\n");
    if (form == BENCH_JSON && count) text_add(to, ",");
    FORM[form](&r, to);
    return true;
}
