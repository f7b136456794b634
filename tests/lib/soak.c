/* soak.c CALLS THREADS: calls of the library from several threads at once, good and bad ones, on
 * handles that they share and on handles of their own. Every result must be that of the same call
 * made alone, and every refusal must say why. Memory, descriptors, threads and mappings must stay
 * what they were after the first 1000.
 *
 * With THREADS 0 it makes the calls alone, any of which may fail for want of something
 * (tests/faults): the status is then 1, and all is said. */
#include "lib/fftbloom.h"

#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZES = 3, SESSIONS = 3, MOST = 40, ROUNDS = 10, FIRST = 1000, MANY = 64 };
enum { ENGINES = 1 << 20 }; /* bytes of those that more threads at the same moment need */
static const uint32_t WIDE[SIZES] = {40, 17, 31}, HIGH[SIZES] = {24, 33, 5};

static fb_context *context;
static fb_kernel *kernel;
static fb_session *session[SESSIONS];
static float want[SESSIONS][SIZES][MOST * MOST];
static int may_fail;
static atomic_long left, refusals;

static void die(const char *what, const char *text) {
    fprintf(stderr, "%s: %s\n", what, text);
    exit(may_fail ? 1 : 2);
}

/* What may be missing ends a run where nothing may fail, and is said where it may. */
static int went_well(int32_t code, const fb_error *e) {
    if (!code) return 1;
    if (code != e->code || !e->text[0]) die("a refusal says nothing", e->text);
    if (!may_fail || (code != FB_NO_MEMORY && code != FB_TRY_AGAIN && code != FB_IO))
        die("refused", e->text);
    return 0;
}

static void must_refuse(int32_t got, int32_t code, const fb_error *e) {
    if (got == FB_NO_MEMORY && may_fail) return;
    if (got != code || e->code != code || !e->text[0]) die("another answer", e->text);
    atomic_fetch_add(&refusals, 1);
}

static int stop(void *user, double done) {
    (void)user, (void)done;
    return 1;
}

/* The same pixels for the same size, with a lamp. */
static void fill(float *to, int size) {
    uint32_t w = WIDE[size], n = w * HIGH[size];
    for (uint32_t i = 0; i < n; i++) to[i] = (float)(1 + i * 7 % 13) / 16;
    to[n / 2 + 3] = 900;
}

static fb_plane plane(float *data, int size) {
    return (fb_plane){data, 4, 4 * (ptrdiff_t)WIDE[size], FB_FLOAT, 0};
}

typedef int32_t call(fb_session *s, const fb_image *i, fb_report *r, fb_error *e);

static int bloom(call *f, fb_session *s, float *out, int size, fb_error *e) {
    float in[MOST * MOST];
    const fb_plane from = plane(in, size), to = plane(out, size);
    const fb_image is = {.size = sizeof is,
                         .width = WIDE[size],
                         .height = HIGH[size],
                         .channels = 1,
                         .in = &from,
                         .out = &to};
    fill(in, size);
    return went_well(f(s, &is, NULL, e), e);
}

static void same(const float *got, int which, int size) {
    if (memcmp(got, want[which][size], 4 * WIDE[size] * HIGH[size]) != 0)
        die("another result", "than that of the same call alone");
}

static void bloom_shared(unsigned n) {
    float out[MOST * MOST];
    int which = (int)(n % SESSIONS), size = (int)(n / 3 % SIZES);
    fb_error e;
    if (bloom(fb_bloom, session[which], out, size, &e)) same(out, which, size);
}

static void bloom_two(unsigned n) {
    float in[MOST * MOST], out[2][MOST * MOST];
    int size = (int)(n % SIZES);
    const fb_plane from = plane(in, size), to[2] = {plane(out[0], size), plane(out[1], size)};
    fb_image is[2];
    fb_error e;
    fill(in, size);
    for (int i = 0; i < 2; i++)
        is[i] = (fb_image){.size = sizeof is[0],
                           .width = WIDE[size],
                           .height = HIGH[size],
                           .channels = 1,
                           .in = &from,
                           .out = &to[i]};
    if (!went_well(fb_bloom_all(session[0], is, 2, NULL, &e), &e)) return;
    for (int i = 0; i < 2; i++) same(out[i], 0, size);
}

/* Closes the kernel before its session is used. */
static void bloom_own(unsigned n) {
    float tap[25], out[MOST * MOST];
    fb_kernel *k;
    fb_session *s;
    fb_error e;
    fb_settings set;
    for (int i = 0; i < 25; i++) tap[i] = (float)(1 + (n + (unsigned)i) % 5);
    const fb_plane taps = {tap, 4, 20, FB_FLOAT, 0};
    fb_settings_init(&set, sizeof set);
    set.amount = 0.5;
    int32_t code = n % 2
                       ? fb_kernel_copy(&k, context, 5, 5, 1, &taps, &e)
                       : fb_kernel_make(&k, context, "{\"model\": \"gaussian\", \"taps\": 9}", &e);
    if (!went_well(code, &e)) return;
    char said[100];
    went_well(fb_kernel_check(k, said, sizeof said, &e), &e);
    int opened = went_well(fb_session_open(&s, k, &set, &e), &e);
    fb_kernel_close(k);
    if (opened) bloom(n % 3 ? fb_bloom : fb_apply_adjoint, s, out, (int)(n % SIZES), &e);
    if (opened) fb_session_close(s);
}

static void ask_for_the_wrong(unsigned n) {
    float in[MOST * MOST];
    fb_error e = {0};
    fb_kernel *k;
    const fb_plane p = plane(in, 0);
    fb_image is = {
        .size = sizeof is, .width = 40, .height = 24, .channels = 1, .in = &p, .out = &p};
    fill(in, 0);
    switch (n % 5) {
    case 0:
        is.width = 70000;
        must_refuse(fb_bloom(session[0], &is, NULL, &e), FB_BAD_ARGUMENT, &e);
        break;
    case 1:
        in[5] = NAN;
        must_refuse(fb_bloom(session[0], &is, NULL, &e), FB_BAD_PIXELS, &e);
        break;
    case 2:
        is.progress = stop;
        must_refuse(fb_bloom(session[0], &is, NULL, &e), FB_CANCELLED, &e);
        break;
    case 3: must_refuse(fb_kernel_open(&k, context, "/none.exr", &e), FB_NOT_FOUND, &e); break;
    default: must_refuse(fb_kernel_make(&k, context, "{\"model\": 3}", &e), FB_BAD_DATA, &e);
    }
}

static void make_a_call(unsigned n) {
    switch (n % 16) {
    case 0: bloom_own(n / 16); break;
    case 1: ask_for_the_wrong(n / 16); break;
    case 2: bloom_two(n / 16); break;
    default: bloom_shared(n);
    }
}

static void *work(void *unused) {
    for (long n; (n = atomic_fetch_sub(&left, 1)) > 0;) make_a_call((unsigned)n * 2654435761u >> 7);
    return unused;
}

static void work_together(long calls, int threads) {
    pthread_t t[MANY];
    atomic_store(&left, calls);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, work, NULL)) die("no thread", "");
    for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
    if (!threads) work(NULL);
}

static void open_all(void) {
    float tap[49];
    fb_error e;
    fb_settings set;
    const fb_context_options o = {.size = sizeof o, .threads = 2, .device = "cpu"};
    const fb_plane taps = {tap, 4, 28, FB_FLOAT, 0};
    for (int i = 0; i < 49; i++) tap[i] = (float)(i == 24 ? 100 : i % 4);
    if (fb_context_open(&context, &o, &e)) die("context", e.text);
    if (fb_kernel_copy(&kernel, context, 7, 7, 1, &taps, &e)) die("kernel", e.text);
    fb_settings_init(&set, sizeof set);
    for (int i = 0; i < SESSIONS; i++) {
        set.amount = 1 - 0.25 * i;
        set.padding_x = set.padding_y = i;
        if (fb_session_open(&session[i], kernel, &set, &e)) die("session", e.text);
        for (int size = 0; size < SIZES; size++)
            if (!bloom(fb_bloom, session[i], want[i][size], size, &e)) die("bloom", e.text);
    }
}

typedef struct {
    long bytes, pages, files, threads, budget;
} held;

static long entries(const char *folder) {
    long n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static held measure(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) die("/proc/self/statm", "cannot be read");
    fclose(f);
    return (held){.bytes = (long)(mallinfo2().uordblks + mallinfo2().hblkhd),
                  .pages = pages,
                  .files = entries("/proc/self/fd"),
                  .threads = entries("/proc/self/task"),
                  .budget = (long)fb_context_used(context)};
}

int main(int argc, char **argv) {
    long calls = argc > 2 ? atol(argv[1]) : 0;
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    if (calls < 1 || threads > MANY) return 2;
    may_fail = !threads;
    open_all();
    work_together(calls < FIRST ? calls : FIRST, threads);
    held first = may_fail ? (held){0} : measure(), most = first;
    for (int i = 0; i < ROUNDS && calls > FIRST; i++) {
        work_together((calls - FIRST) / ROUNDS, threads);
        held now = may_fail ? first : measure();
        if (now.bytes > most.bytes) most.bytes = now.bytes;
        if (now.pages > most.pages) most.pages = now.pages;
        if (now.files > most.files) most.files = now.files;
        if (now.threads > most.threads) most.threads = now.threads;
        if (now.budget > most.budget) most.budget = now.budget;
    }
    for (int i = 0; i < SESSIONS; i++) fb_session_close(session[i]);
    fb_kernel_close(kernel);
    fb_context_close(context);
    printf("%ld calls, %ld refused: %ld to %ld bytes, %ld to %ld pages, %ld files, %ld threads, "
           "budget %ld to %ld\n",
           calls, atomic_load(&refusals), first.bytes, most.bytes, first.pages, most.pages,
           most.files, most.threads, first.budget, most.budget);
    return most.bytes > first.bytes + ENGINES || most.pages > first.pages + 2000 ||
           most.files > first.files || most.threads > first.threads ||
           most.budget > first.budget + ENGINES;
}
