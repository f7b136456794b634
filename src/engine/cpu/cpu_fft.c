#include "engine/cpu/cpu_fft.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* FFTW has the same functions for floats and doubles, under two prefixes. These are the ones in
 * use, so that the code below is written once. */
typedef struct {
    const char *name;
    size_t complex_bytes;
    void *(*plan)(int n, void *from, void *to, unsigned flags);
    void (*limit)(double seconds);
    void (*destroy)(void *plan);
    void (*run)(void *plan, void *from, void *to);
    int (*import)(const char *text);
    char *(*export)(void);
    void (*forget)(void);
    void (*free)(void *p);
} precision;

#define PRECISION(P, NAME)                                                    \
    static void *P##_line_plan(int n, void *from, void *to, unsigned flags) { \
        return P##_plan_dft_1d(n, from, to, FFTW_FORWARD, flags);             \
    }                                                                         \
    static void P##_line_destroy(void *plan) {                                \
        P##_destroy_plan(plan);                                               \
    }                                                                         \
    static void P##_line_run(void *plan, void *from, void *to) {              \
        P##_execute_dft(plan, from, to);                                      \
    }                                                                         \
    static const precision P##_precision = {NAME,                             \
                                            sizeof(P##_complex),              \
                                            P##_line_plan,                    \
                                            P##_set_timelimit,                \
                                            P##_line_destroy,                 \
                                            P##_line_run,                     \
                                            P##_import_wisdom_from_string,    \
                                            P##_export_wisdom_to_string,      \
                                            P##_forget_wisdom,                \
                                            P##_free};
PRECISION(fftwf, "float32")
PRECISION(fftw, "float64")

static const precision *const PRECISIONS[2] = {&fftwf_precision, &fftw_precision};

/* Const once made, so that threads may share it. */
struct cpu_fft {
    const precision *in;
    void *plan;
};

/* Guards FFTW's planner and its wisdom, which are global to the process: planning, destroying and
 * wisdom need it, and running a plan does not. Every plan begins without wisdom; otherwise an
 * earlier plan of this process could change a later one. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

/* --- wisdom: all of this runs with `planner` locked, and begins without wisdom ---------------- */

/* <cache_dir>/fftw-wisdom-float32-<16 digits>: the hash of what a measurement holds for. That is
 * this kind of CPU, and this FFTW with its codelets and threads, which the head of its empty wisdom
 * names. */
static void wisdom_path(text *path, const char *cache_dir, const precision *in) {
    static const char *const KEYS[] = {"vendor_id", "cpu family", "model",
                                       "stepping",  "cache size", "CPU "};
    char machine[HASH_TEXT], *head = in->export();
    text id = {0};
    text_add(&id, "%s\n%s\n", fftwf_version, head ? head : "");
    in->free(head);
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (f && fgets(line, sizeof line, f) && line[0] != '\n')
        for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
            if (strncmp(line, KEYS[i], strlen(KEYS[i])) == 0) {
                text_add(&id, "%s", line);
                break;
            }
    if (f) fclose(f);
    hash_text(hash_bytes(id.s, id.n), machine);
    text_add(path, "%s/fftw-wisdom-%s-%.16s", cache_dir, in->name, machine);
    text_free(&id);
}

/* Returns whether FFTW can read the text without ending the program, which it does for a number
 * that has more bits than it keeps. After the head come lines of (solver registration #flags #flags
 * #impatience #hash #hash #hash #hash) with 20 bits of flags and 9 of impatience. The first flags
 * must be among the second ones. */
static bool is_harmless(const char *body) {
    const char *at = strchr(body, '\n');
    for (; at; at = strchr(at + 1, '\n')) {
        unsigned low, high, impatience, sum[4];
        int id, end = 0;
        const char *line = at + strspn(at, " \n");
        if (*line != '(') break;
        if (sscanf(line, "(%*64[a-zA-Z0-9_] %d #x%8x #x%8x #x%8x #x%8x #x%8x #x%8x #x%8x)%n", &id,
                   &low, &high, &impatience, &sum[0], &sum[1], &sum[2], &sum[3], &end) != 8 ||
            !end || low >> 20 || high >> 20 || impatience >> 9 || (low & high) != low)
            return false;
    }
    return at && strcmp(at + strspn(at, " \n"), ")\n") == 0;
}

/* Reads a file: one line with the hash of the rest, and FFTW's text. */
static bool import_file(const char *path, const precision *in, err *e) {
    size_t bytes;
    uint8_t *data = file_read_all(path, (size_t)16 << 20, &bytes, e);
    if (!data) return false;
    char sum[HASH_TEXT];
    const char *all = (const char *)data, *body = memchr(data, '\n', bytes);
    bool whole = body && body - all == HASH_TEXT - 1;
    if (whole) {
        body++;
        hash_text(hash_bytes(body, bytes - HASH_TEXT), sum);
        whole = memcmp(sum, all, HASH_TEXT - 1) == 0;
    }
    if (!whole)
        err_set(e, ERR_DATA, "'%s' is damaged: its first line is not the hash of the rest", path);
    else if (!is_harmless(body) || !in->import(body))
        whole = err_set(e, ERR_DATA, "'%s' is not wisdom of %s", path, fftwf_version);
    mem_free(data);
    return whole;
}

static void save_file(const char *path, const char *cache_dir, const precision *in) {
    err e = {0};
    char sum[HASH_TEXT];
    text all = {0};
    /* Another process may have written its results meanwhile; they are joined. */
    import_file(path, in, NULL);
    char *body = in->export();
    if (body) {
        hash_text(hash_bytes(body, strlen(body)), sum);
        text_add(&all, "%s\n%s", sum, body);
    }
    if (!body || !file_make_dirs(cache_dir, &e) || !file_write_all(path, all.s, all.n, &e))
        log_warn("FFTW wisdom is not kept: %s", body ? e.msg : "out of memory");
    in->free(body);
    text_free(&all);
}

/* --- plans ----------------------------------------------------------------------------------- */

static void *measured_plan(const cpu_fft_request *r, const precision *in, void *from, void *to) {
    unsigned flags = FFTW_DESTROY_INPUT;
    int n = (int)r->length;
    text path = {0};
    err e = {0};
    if (r->cache_dir) wisdom_path(&path, r->cache_dir, in);
    if (path.s && !import_file(path.s, in, &e) && e.code != ERR_NO_INPUT)
        log_warn("FFTW wisdom is not used: %s", e.msg);
    void *plan = in->plan(n, from, to, flags | FFTW_PATIENT | FFTW_WISDOM_ONLY);
    /* A measurement that ran out of time has left the result of a shorter one. */
    if (!plan) plan = in->plan(n, from, to, flags | FFTW_MEASURE | FFTW_WISDOM_ONLY);
    if (!plan) {
        in->limit(r->patience);
        plan = in->plan(n, from, to, flags | FFTW_PATIENT);
        in->limit(FFTW_NO_TIMELIMIT);
        if (plan && path.s) save_file(path.s, r->cache_dir, in);
    }
    text_free(&path);
    return plan;
}

cpu_fft *cpu_fft_new(const cpu_fft_request *r, err *e) {
    cpu_fft *f = mem_new(1, sizeof *f, "a transform", e);
    if (!f) return NULL;
    const precision *in = f->in = PRECISIONS[r->float64];
    void *from = mem_new(r->length, in->complex_bytes, "a line to plan with", e);
    void *to = mem_new(r->length, in->complex_bytes, "a line to plan with", e);
    bool lines = from && to;
    pthread_mutex_lock(&planner);
    mem_may_abort = true; /* as FFTW's planner does */
    in->forget();
    if (lines && r->patience > 0) f->plan = measured_plan(r, in, from, to);
    /* FFTW may overwrite its input, which is scratch memory; that leaves it more choices. */
    if (lines && !f->plan)
        f->plan = in->plan((int)r->length, from, to, FFTW_DESTROY_INPUT | FFTW_ESTIMATE);
    mem_may_abort = false;
    pthread_mutex_unlock(&planner);
    mem_free(from);
    mem_free(to);
    if (!f->plan) {
        if (lines) err_set(e, ERR_INTERNAL, "FFTW has no plan for a length of %u", r->length);
        cpu_fft_free(&f);
    }
    return f;
}

void cpu_fft_free(cpu_fft **f) {
    if (!*f) return;
    pthread_mutex_lock(&planner);
    if ((*f)->plan) (*f)->in->destroy((*f)->plan);
    pthread_mutex_unlock(&planner);
    mem_free(*f);
    *f = NULL;
}

void cpu_fft_run(const cpu_fft *f, void *from, void *to) {
    f->in->run(f->plan, from, to);
}

const char *cpu_fft_version(void) {
    return fftwf_version;
}
