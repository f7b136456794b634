/* bench_io.c - reading and writing EXR beside OpenEXR's C++ library: the same file, the same
 * threads, into and from planes in memory. Prints the best of several runs, side by side and in
 * turns, and the most memory that copies take. Files go to a folder of their own in $TMPDIR. */
#include "base/mem.h"
#include "image/format.h"
#include "unit/make_image.h"
#include "unit/ref_exr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 3840, HEIGHT = 2160, RUNS = 5 };

static par *pool;
static char theirs[300], ours[300], whole[300];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bool ok, const err *e) {
    if (ok) return;
    fprintf(stderr, "bench_io: %s\n", e->msg);
    exit(1);
}

static double megabytes(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
}

/* --- the picture: smooth noise, some grain, and highlights -------------------------------- */

static float lattice(int x, int y, int octave) {
    uint64_t seed = (uint64_t)x * 1000003u + (uint64_t)y * 7919u + (uint64_t)octave * 104729u;
    return (float)(make_random(&seed) >> 40) * 0x1p-24f;
}

static float noise_at(float x, float y, int octave) {
    int ix = (int)x, iy = (int)y;
    float u = x - (float)ix, v = y - (float)iy;
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    float top = lattice(ix, iy, octave) * (1 - u) + lattice(ix + 1, iy, octave) * u;
    float low = lattice(ix, iy + 1, octave) * (1 - u) + lattice(ix + 1, iy + 1, octave) * u;
    return top * (1 - v) + low * v;
}

static float picture_at(uint32_t x, uint32_t y, int c) {
    float sum = 0, weight = 0.5f;
    for (int octave = 0; octave < 5; octave++, weight *= 0.5f)
        sum += weight * noise_at((float)x * 0.004f * (float)(1 << octave),
                                 (float)y * 0.004f * (float)(1 << octave), octave + 10 * c);
    float grain = 0.004f * lattice((int)x, (int)y, 99 + c);
    float highlight = sum > 0.75f ? (sum - 0.75f) * 4000 : 0;
    return sum * sum + grain + highlight;
}

static bool fill_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    image *img = ctx;
    float line[WIDTH];
    for (int c = 0; c < 3; c++) {
        for (uint32_t x = 0; x < WIDTH; x++) line[x] = picture_at(x, (uint32_t)y, c);
        image_from_float(img->plane[0][c], img->head.part[0].channel[c].type, y * WIDTH, line,
                         WIDTH);
    }
    return true;
}

/* --- what is measured --------------------------------------------------------------------- */

static void write_theirs(const image *img) {
    if (!ref_exr_write(theirs, img, REF_ONE_LEVEL)) exit(1);
}

static void write_ours(const image *img) {
    err e = {0};
    must(image_save(ours, img, pool, &e), &e);
}

static void read_theirs(const image *like) {
    err e = {0};
    image *img = image_new_unset(&like->head, NULL, &e);
    must(img, &e);
    if (!ref_exr_read(theirs, 0, &img->head.part[0], img->plane[0])) exit(1);
    image_free(&img);
}

static void read_ours(const image *like) {
    (void)like;
    err e = {0};
    image *img = image_load(theirs, NULL, pool, &e);
    must(img, &e);
    image_free(&img);
}

typedef void work_fn(const image *img);

static double once(work_fn *work, const image *img) {
    double start = now();
    work(img);
    return now() - start;
}

static void compare(const char *what, const image *img, work_fn *a, work_fn *b, double wanted) {
    double best_a = 1e9, best_b = 1e9;
    for (int i = 0; i < RUNS; i++) {
        best_a = fmin(best_a, once(a, img));
        best_b = fmin(best_b, once(b, img));
    }
    printf("  %-6s %8.1f %8.1f ms   %.2f x%s\n", what, best_a * 1e3, best_b * 1e3, best_a / best_b,
           best_a / best_b < wanted ? "   (less than wanted)" : "");
}

/* --- memory ------------------------------------------------------------------------------- */

static void load_and_save(void) {
    err e = {0};
    image *img = image_load(theirs, NULL, pool, &e);
    must(img, &e);
    must(image_save(whole, img, pool, &e), &e);
}

static void copy_bands(void) {
    err e = {0};
    image_reader *r = image_open(theirs, NULL, pool, &e);
    must(r, &e);
    image_header h;
    must(image_header_copy(&h, image_reader_header(r), &e), &e);
    h.part[0].packing = COMPRESSION_ZIPS; /* another packing: through pixels */
    image_writer *w = image_create(whole, &h, true, pool, &e);
    must(w, &e);
    must(image_copy_part(w, 0, r, 0, &e), &e);
    must(image_commit(&w, &e), &e);
}

/* The most memory of a process of its own that does nothing else. */
static double peak_of(void (*work)(void), int threads) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        err e = {0};
        pool = par_open(threads, &e); /* threads do not come through fork */
        must(pool, &e);
        work();
        _exit(0);
    }
    int status;
    struct rusage use;
    if (child < 0 || wait4(child, &status, 0, &use) != child || status != 0) exit(1);
    return (double)use.ru_maxrss * 1024 / 1e6;
}

static void nothing(void) {}

static void show_memory(const image *img, int threads) {
    double pixels = 0, base = peak_of(nothing, threads);
    for (int c = 0; c < 3; c++)
        pixels += (double)WIDTH * HEIGHT * (double)pixel_bytes(img->head.part[0].channel[c].type);
    double all = peak_of(load_and_save, threads) - base,
           bands = peak_of(copy_bands, threads) - base;
    printf("  memory of a copy: whole %.0f MB (%.2f x the pixels), in bands %.0f MB\n", all,
           all * 1e6 / pixels, bands);
}

/* --- the table ---------------------------------------------------------------------------- */

static void bench(pixel_type type, compression packing, int threads) {
    static const char *const LIST[] = {
        [PIXEL_HALF] = "R:half G:half B:half", [PIXEL_FLOAT] = "R:float G:float B:float"};
    err e = {0};
    make_part part = PART(LIST[type], 0, 0, WIDTH, HEIGHT, .packing = packing);
    image *img = make_image(&part, 1);
    must(par_for(pool, HEIGHT, fill_row, img, &e), &e);
    printf("%d x %d R G B, %s, %s, %d threads\n  %-6s %8s %8s\n", WIDTH, HEIGHT, pixel_name(type),
           compression_name(packing), threads, "", "OpenEXR", "fftbloom");
    bool zip = packing == COMPRESSION_ZIP;
    compare("write", img, write_theirs, write_ours, zip ? 2 : 0);
    compare("read", img, read_theirs, read_ours, zip ? 1.3 : 0);
    double a = megabytes(theirs), b = megabytes(ours);
    printf("  %-6s %8.2f %8.2f MB%s\n", "size", a, b, zip && b > a ? "   (more than wanted)" : "");
    image_free(&img);
    if (zip) {
        img = make_image(&(make_part)PART(LIST[type], 0, 0, 1, 1), 1);
        show_memory(img, threads);
        image_free(&img);
    }
}

int main(int argc, char **argv) {
    err e = {0};
    pool = par_open(argc > 1 ? atoi(argv[1]) : 0, &e);
    must(pool, &e);
    int threads = par_threads(pool);
    ref_exr_threads(threads);
    const char *base = getenv("TMPDIR");
    char folder[200];
    snprintf(folder, sizeof folder, "%.100s/bench_io.XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) return 1;
    snprintf(theirs, sizeof theirs, "%s/theirs.exr", folder);
    snprintf(ours, sizeof ours, "%s/ours.exr", folder);
    snprintf(whole, sizeof whole, "%s/copy.exr", folder);
    static const compression PACKING[] = {COMPRESSION_ZIP, COMPRESSION_ZIPS, COMPRESSION_PIZ,
                                          COMPRESSION_DWAA, COMPRESSION_NONE};
    for (size_t i = 0; i < sizeof PACKING / sizeof *PACKING; i++)
        for (int t = PIXEL_HALF; t <= PIXEL_FLOAT; t++) bench((pixel_type)t, PACKING[i], threads);
    unlink(theirs);
    unlink(ours);
    unlink(whole);
    rmdir(folder);
    par_close(&pool);
    return 0;
}
