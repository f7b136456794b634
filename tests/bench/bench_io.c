/* bench_io.c - reading and writing EXR beside OpenEXR's C++ library: the same file, the same
 * threads, into and from planes in memory, in turns.
 *
 *     bench_io [THREADS [FILE.exr...]]
 *
 * Without files it takes pictures of several kinds. It prints megabytes of pixels per second
 * (medians), the median of the ratios of each turn, of wall time and of CPU time (which other
 * programs on the machine disturb less), and the most memory that copies take. The last line has
 * the means over all images. Its files go to a folder of their own in $TMPDIR. */
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

enum { RUNS = 5 };

static par *pool;
static char theirs[300], ours[300], whole[300];

typedef struct {
    double wall, cpu; /* seconds */
} cost;

static cost now(void) {
    struct timespec t;
    struct rusage use;
    clock_gettime(CLOCK_MONOTONIC, &t);
    getrusage(RUSAGE_SELF, &use);
    return (cost){(double)t.tv_sec + 1e-9 * (double)t.tv_nsec,
                  (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                      1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec)};
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

/* --- pictures ----------------------------------------------------------------------------- */

static float lattice(int x, int y, int octave) {
    uint64_t seed = (uint64_t)x * 1000003u + (uint64_t)y * 7919u + (uint64_t)octave * 104729u;
    return (float)make_chance(&seed);
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

/* Smooth noise with highlights and grain. `levels` cuts the smooth part into flat areas. */
typedef struct {
    const char *name;
    uint32_t w, h;
    pixel_type type;
    float grain;
    int levels;
} picture;

static const picture PICTURE[] = {
    {"photograph", 1920, 1080, PIXEL_HALF, 0.004f, 0},
    {"photograph", 1920, 1080, PIXEL_FLOAT, 0.004f, 0},
    {"noise", 1920, 1080, PIXEL_HALF, 0.1f, 0},
    {"noise", 3840, 2160, PIXEL_FLOAT, 0.1f, 0},
    {"smooth", 1920, 1080, PIXEL_HALF, 0, 0},
    {"smooth", 1920, 1080, PIXEL_FLOAT, 0, 0},
    {"flat areas", 1920, 1080, PIXEL_HALF, 0, 6},
};

static float picture_at(const picture *p, uint32_t x, uint32_t y, int c) {
    float sum = 0, weight = 0.5f;
    for (int octave = 0; octave < 5; octave++, weight *= 0.5f)
        sum += weight * noise_at((float)x * 0.004f * (float)(1 << octave),
                                 (float)y * 0.004f * (float)(1 << octave), octave + 10 * c);
    if (p->levels) sum = floorf(sum * (float)p->levels) / (float)p->levels;
    float grain = p->grain * lattice((int)x, (int)y, 99 + c);
    float highlight = sum > 0.75f ? (sum - 0.75f) * 4000 : 0;
    return sum * sum + grain + highlight;
}

typedef struct {
    const picture *p;
    image *img;
} fill_job;

static bool fill_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    fill_job *j = ctx;
    static _Thread_local float line[3840];
    for (int c = 0; c < 3; c++) {
        for (uint32_t x = 0; x < j->p->w; x++) line[x] = picture_at(j->p, x, (uint32_t)y, c);
        image_from_float(j->img->plane[0][c], j->p->type, y * j->p->w, line, j->p->w);
    }
    return true;
}

static const char *const LIST[] = {
    [PIXEL_HALF] = "R:half G:half B:half", [PIXEL_FLOAT] = "R:float G:float B:float"};

static image *paint(const picture *p) {
    err e = {0};
    image *img = make_image(&(make_part)PART(LIST[p->type], 0, 0, p->w, p->h), 1);
    must(par_for(pool, p->h, fill_row, &(fill_job){p, img}, &e), &e);
    return img;
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
    for (int p = 0; p < img->head.parts; p++)
        if (!ref_exr_read(theirs, p, &img->head.part[p], img->plane[p])) exit(1);
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

static cost once(work_fn *work, const image *img) {
    cost start = now();
    work(img);
    cost end = now();
    return (cost){end.wall - start.wall, end.cpu - start.cpu};
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double v[RUNS]) {
    qsort(v, RUNS, sizeof *v, by_size);
    return v[RUNS / 2];
}

static cost compare(const char *what, const image *img, work_fn *a, work_fn *b) {
    double theirs_s[RUNS], ours_s[RUNS], wall[RUNS], cpu[RUNS], pixels = 0;
    for (int p = 0; p < img->head.parts; p++)
        pixels += (double)image_bytes(&img->head.part[p]) / 1e6;
    for (int i = 0; i < RUNS; i++) {
        cost x = once(a, img), y = once(b, img);
        theirs_s[i] = x.wall;
        ours_s[i] = y.wall;
        wall[i] = y.wall / x.wall;
        cpu[i] = y.cpu / x.cpu;
    }
    cost ratio = {median(wall), median(cpu)};
    printf("  %-6s %8.0f %8.0f MB/s   wall time %.3f, CPU time %.3f\n", what,
           pixels / median(theirs_s), pixels / median(ours_s), ratio.wall, ratio.cpu);
    return ratio;
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
    const image_part *p = &h.part[0];
    uint32_t some = 64 * image_writer_rows(w, 0);
    void *plane[64] = {NULL};
    for (int c = 0; c < p->channels; c++)
        plane[c] = malloc((size_t)image_width(p) * some * pixel_bytes(p->channel[c].type));
    for (uint32_t y = 0; y < image_height(p); y += some) {
        uint32_t n = image_height(p) - y < some ? image_height(p) - y : some;
        must(image_read(r, 0, y, n, plane, &e), &e);
        must(image_write(w, 0, y, n, (const void *const *)plane, &e), &e);
    }
    for (int c = 0; c < p->channels; c++) free(plane[c]);
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
    double pixels = (double)image_bytes(&img->head.part[0]) / 1e6, base = peak_of(nothing, threads);
    write_theirs(img);
    double all = peak_of(load_and_save, threads), bands = peak_of(copy_bands, threads);
    printf("  memory of a copy: whole %.0f MB (%.2f x the pixels), in bands %.0f MB\n", all - base,
           (all - base) / pixels, bands - base);
}

/* --- the table ---------------------------------------------------------------------------- */

static struct {
    int images;
    double write, read, size, largest;
} sum;

static void bench(const char *name, image *img, compression packing, int threads) {
    const image_part *p = &img->head.part[0];
    for (int i = 0; i < img->head.parts; i++) {
        err e = {0};
        uint8_t number = (uint8_t)packing; /* OpenEXR goes by the attribute, where there is one */
        img->head.part[i].packing = packing;
        must(image_set_attr(&img->head.part[i], "compression", "compression", &number, 1, &e), &e);
    }
    printf("%s, %u x %u, %d channels, first %s; %s, %d threads\n  %-6s %8s %8s\n", name,
           image_width(p), image_height(p), p->channels, pixel_name(p->channel[0].type),
           compression_name(packing), threads, "", "OpenEXR", "fftbloom");
    cost write = compare("write", img, write_theirs, write_ours);
    cost read = compare("read", img, read_theirs, read_ours);
    double a = megabytes(theirs), b = megabytes(ours);
    printf("  %-6s %8.2f %8.2f MB     ratio %.4f\n", "size", a, b, b / a);
    if (packing != COMPRESSION_ZIP && packing != COMPRESSION_ZIPS) return;
    sum.images++;
    sum.write += write.cpu;
    sum.read += read.cpu;
    sum.size += b / a;
    sum.largest = fmax(sum.largest, b / a);
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
    for (int i = 2; i < argc; i++)
        for (int c = COMPRESSION_ZIP; c >= COMPRESSION_ZIPS; c--) {
            image *img = image_load(argv[i], NULL, pool, &e);
            must(img, &e);
            const char *slash = strrchr(argv[i], '/');
            bench(slash ? slash + 1 : argv[i], img, (compression)c, threads);
            image_free(&img);
        }
    for (size_t i = 0; argc <= 2 && i < sizeof PICTURE / sizeof *PICTURE; i++) {
        image *img = paint(&PICTURE[i]);
        for (int c = COMPRESSION_ZIP; c >= COMPRESSION_ZIPS; c--)
            bench(PICTURE[i].name, img, (compression)c, threads);
        if (i < 2) {
            static const compression OTHER[] = {COMPRESSION_PIZ, COMPRESSION_DWAA,
                                                COMPRESSION_NONE};
            for (int c = 0; c < 3; c++) bench(PICTURE[i].name, img, OTHER[c], threads);
            show_memory(img, threads);
        }
        image_free(&img);
    }
    printf("ZIP and ZIPS, means of %d: CPU time of writing %.3f, of reading %.3f; size %.4f, at "
           "most %.4f\n",
           sum.images, sum.write / sum.images, sum.read / sum.images, sum.size / sum.images,
           sum.largest);
    unlink(theirs);
    unlink(ours);
    unlink(whole);
    rmdir(folder);
    par_close(&pool);
    return 0;
}
