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

/* FFTW's float and double halves have the same functions under two prefixes; this is what we use
 * of each, so that the code below is written once. */
typedef struct {
    const char *name;
    size_t complex_bytes;
    void *(*plan)(int n, void *from, void *to, unsigned flags);
    void (*limit)(double seconds);
    void (*destroy)(void *plan);
    void (*run)(void *plan, void *from, void *to);
    int (*import)(const char *text);
    char *(*export)(void);
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
                                            P##_free};
PRECISION(fftwf, "float32")
PRECISION(fftw, "float64")

static const precision *const PRECISIONS[2] = {&fftwf_precision, &fftw_precision};

struct cpu_fft {
    const precision *in;
    void *plan;
};

/* FFTW's planner and wisdom are global, so their lock must be, too. `measured`: there is wisdom
 * that no file has. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;
static bool measured[2];

static const double LONG = 4; /* s */

static void *make_plan(int n, const precision *in, double patience, void *from, void *to) {
    /* The inputs are scratch memory, which leaves FFTW more ways to go. */
    unsigned flags = FFTW_DESTROY_INPUT;
    int which = in == PRECISIONS[1];
    pthread_mutex_lock(&planner);
    /* What a short measurement found is good enough, but for who asks for a long one. */
    unsigned level = patience < LONG ? FFTW_MEASURE : FFTW_PATIENT;
    void *plan = in->plan(n, from, to, flags | level | FFTW_WISDOM_ONLY);
    if (!plan && patience > 0) {
        in->limit(patience);
        plan = in->plan(n, from, to, flags | FFTW_PATIENT);
        measured[which] = true;
    }
    if (!plan) plan = in->plan(n, from, to, flags | FFTW_ESTIMATE);
    pthread_mutex_unlock(&planner);
    return plan;
}

cpu_fft *cpu_fft_new(uint32_t length, bool float64, double patience, err *e) {
    cpu_fft *f = mem_new(1, sizeof *f, "a transform", e);
    if (!f) return NULL;
    f->in = PRECISIONS[float64];
    void *from = mem_new(length, f->in->complex_bytes, "a line to plan with", e);
    void *to = mem_new(length, f->in->complex_bytes, "a line to plan with", e);
    bool lines = from && to;
    if (lines) f->plan = make_plan((int)length, f->in, patience, from, to);
    mem_free(from);
    mem_free(to);
    if (!f->plan) {
        if (lines) err_set(e, ERR_INTERNAL, "FFTW has no plan for a length of %u", length);
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

/* --- wisdom ------------------------------------------------------------------------------ */

/* What a measurement holds for: this FFTW on this kind of CPU. */
static void machine_hash(char out[HASH_TEXT]) {
    static const char *const KEYS[] = {"vendor_id", "cpu family", "model",
                                       "stepping",  "cache size", "CPU "};
    text id = {0};
    text_add(&id, "%s\n", fftwf_version);
    size_t bytes;
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (f && fgets(line, sizeof line, f) && line[0] != '\n')
        for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
            if (strncmp(line, KEYS[i], strlen(KEYS[i])) == 0) {
                text_add(&id, "%s", line);
                break;
            }
    if (f) fclose(f);
    bytes = id.n;
    hash_text(hash_bytes(id.s, bytes), out);
    text_free(&id);
}

/* <cache_dir>/fftw-wisdom-float32-<16 digits of the machine's hash> */
static void wisdom_path(text *path, const char *cache_dir, const precision *in) {
    char machine[HASH_TEXT];
    machine_hash(machine);
    text_add(path, "%s/fftw-wisdom-%s-%.16s", cache_dir, in->name, machine);
}

/* A file is one line with the hash of the rest, and FFTW's text. */
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
    else if (!in->import(body))
        whole = err_set(e, ERR_DATA, "'%s' is not wisdom of FFTW %s", path, fftwf_version);
    mem_free(data);
    return whole;
}

static void load_one(const char *cache_dir, const precision *in) {
    text path = {0};
    wisdom_path(&path, cache_dir, in);
    err e = {0};
    if (!import_file(path.s, in, &e) && e.code != ERR_NO_INPUT)
        log_warn("FFTW wisdom is not used: %s", e.msg);
    text_free(&path);
}

void cpu_fft_load_wisdom(const char *cache_dir) {
    pthread_mutex_lock(&planner);
    for (int i = 0; i < 2; i++) load_one(cache_dir, PRECISIONS[i]);
    pthread_mutex_unlock(&planner);
}

static void save_one(const char *cache_dir, const precision *in) {
    text path = {0};
    wisdom_path(&path, cache_dir, in);
    err e = {0};
    /* Another process may have learnt something meanwhile; what it wrote is joined. */
    import_file(path.s, in, NULL);
    char *body = in->export(), sum[HASH_TEXT];
    text file = {0};
    if (body) {
        hash_text(hash_bytes(body, strlen(body)), sum);
        text_add(&file, "%s\n%s", sum, body);
    }
    if (!body || !file_make_dirs(cache_dir, &e) || !file_write_all(path.s, file.s, file.n, &e))
        log_warn("FFTW wisdom is not kept: %s", body ? e.msg : "out of memory");
    in->free(body);
    text_free(&file);
    text_free(&path);
}

void cpu_fft_save_wisdom(const char *cache_dir) {
    pthread_mutex_lock(&planner);
    for (int i = 0; i < 2; i++) {
        if (measured[i]) save_one(cache_dir, PRECISIONS[i]);
        measured[i] = false;
    }
    pthread_mutex_unlock(&planner);
}
