/* load_loop.c LIBRARY TIMES: loads the library, blooms, and unloads it, again and again. Fails
 * where memory, mappings, threads or descriptors grow. */
#include "lib/fftbloom.h"

#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls of the library, found by their names. */
#define CALL(name) __typeof__(&name) call_##name = (__typeof__(&name))dlsym(l, #name)

static int count(const char *folder) {
    int n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static int lines(const char *path) {
    int n = 0, c;
    FILE *f = fopen(path, "r");
    while (f && (c = getc(f)) != EOF) n += c == '\n';
    if (f) fclose(f);
    return n;
}

static void once(const char *library) {
    enum { N = 24 };
    static float in[N][N], out[N][N], tap[5][5];
    void *l = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!l) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    CALL(fb_context_open);
    CALL(fb_context_close);
    CALL(fb_kernel_copy);
    CALL(fb_kernel_close);
    CALL(fb_session_open);
    CALL(fb_session_close);
    CALL(fb_bloom);
    fb_context *c;
    fb_kernel *k;
    fb_session *s;
    fb_error e = {0};
    const fb_context_options o = {.size = sizeof o, .threads = 2, .device = "cpu"};
    const fb_plane taps = {tap, 4, sizeof tap[0], FB_FLOAT, 0};
    const fb_plane from = {in, 4, sizeof in[0], FB_FLOAT, 0},
                   to = {out, 4, sizeof in[0], FB_FLOAT, 0};
    const fb_image is = {
        .size = sizeof is, .width = N, .height = N, .channels = 1, .in = &from, .out = &to};
    for (int i = 0; i < 25; i++) tap[i / 5][i % 5] = (float)(1 + i);
    in[N / 2][N / 2] = 100;
    if (call_fb_context_open(&c, &o, &e) || call_fb_kernel_copy(&k, c, 5, 5, 1, &taps, &e) ||
        call_fb_session_open(&s, k, NULL, &e) || call_fb_bloom(s, &is, NULL, &e)) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    call_fb_session_close(s);
    call_fb_kernel_close(k);
    call_fb_context_close(c);
    dlclose(l);
}

int main(int argc, char **argv) {
    int times = argc > 2 ? atoi(argv[2]) : 1000;
    for (int i = 0; i < 20; i++) once(argv[1]); /* what is made once in a process */
    int files = count("/proc/self/fd"), threads = count("/proc/self/task");
    int maps = lines("/proc/self/maps");
    size_t used = mallinfo2().uordblks;
    for (int i = 0; i < times; i++) once(argv[1]);
    long grown = (long)mallinfo2().uordblks - (long)used;
    int more_maps = lines("/proc/self/maps") - maps;
    printf("%d times: %ld bytes, %d mappings, %d files, %d threads more\n", times, grown, more_maps,
           count("/proc/self/fd") - files, count("/proc/self/task") - threads);
    return grown > 24L * times || more_maps > 8 || count("/proc/self/fd") != files ||
           count("/proc/self/task") != threads;
}
