/* lab_bench.h - the benchmarks of the lab: transforms, a sea that they make (ocean.h), and the
 * article's bloom beside ours (article.h). One way to time and to check, one row, one table, one
 * plot; docs/inside/fft.md names the columns. */
#ifndef LAB_LAB_BENCH_H
#define LAB_LAB_BENCH_H

#include "base/json_out.h"
#include "device/device_measure.h"
#include "kernel/psf.h"
#include "lab/lab_gpu.h"

/* --- rows ------------------------------------------------------------------------------------ */

typedef enum { LAB_FFT = 1, LAB_SEA = 2, LAB_BLOOM = 4, LAB_ALL = 7 } lab_kind;

/* Times of what is repeated, and of its parts. Of a transform, forward is the first and inverse the
 * last. */
enum { LAB_PARTS = 3 };

/* Numbers that do not exist are NaN. */
typedef struct {
    const char *name, *about, *device, *first;
    bool cpu, own; /* it runs on the CPU; it is this program's */
    double size[2], length[2], kernel, rounds, queue, pixels;
    measure_spread part[LAB_PARTS];
    measure_spread seconds; /* of a bloom, of a frame of the sea, the mean of both transforms */
    double bytes;           /* that it reads and writes */
    double copies;          /* seconds, in the time in which plain copies move as many bytes */
    double worst, rms;      /* errors, relative to the root mean square of what should be */
    double dispatches, barriers, shared;
} lab_row;

/* --- timing and checking --------------------------------------------------------------------- */

/* Fills frame and pass[] with the seconds of a repetition and of its parts, each the mean of
 * `count` repetitions. */
typedef bool lab_round(void *of, engine_repeat *r, err *e);

typedef struct {
    uint32_t rounds; /* at most */
    uint32_t count;  /* repetitions of a round; 0: as many as fill some milliseconds, and no more
                      * rounds than fit into some seconds */
    double warm_up;  /* s of rounds that do not count: a GPU's clock takes that long */
    uint32_t frames; /* in a repetition */
} lab_pace;

/* Enters the times of rounds, and how many rounds there was time for. */
bool lab_rounds(lab_row *to, const lab_pace *p, lab_round *round, void *of, err *e);
/* Enters how many copies the row takes: of `bytes` each, scaled to those of the whole row. */
bool lab_copies(lab_row *to, const lab_gpu *g, const uint64_t *bytes, uint32_t count, err *e);
/* Enters the errors of numbers, where they are larger than those before. */
void lab_compare(lab_row *to, const float *got, const double *want, size_t count);

/* Noise of n x n and its spectrum, pairs of doubles: value[way] is what a transform of that way
 * makes of the other one. All transforms of a size are held to it. */
typedef struct {
    double *value[LAB_WAYS];
} lab_truth;

/* Makes it from a zeroed one; the caller frees it after a failure, too. */
bool lab_truth_make(lab_truth *t, uint32_t n, err *e);
void lab_truth_free(lab_truth *t);

/* Transforms n x n complex doubles in place, forward. */
bool lab_transform_double(double *image, size_t n, err *e);

typedef struct {
    const lab_transform *t;
    uint32_t n;
    const lab_truth *truth;  /* NULL: the transform makes a sea, */
    const struct ocean *sea; /* this one */
    const lab_gpu *gpu;      /* for a program */
    uint32_t rounds;         /* at most; 0: it is only checked */
    double warm_up;
} lab_request;

/* Runs a transform and fills a row, all but its device; a result that is wrong is no failure: the
 * errors say so. */
bool lab_run(lab_row *to, const lab_request *r, err *e);

/* --- the benchmarks --------------------------------------------------------------------------- */

typedef struct {
    lab_kind kind;
    const char *sizes;        /* "128..1024,1080" (".." doubles the first up to the second); NULL:
                               * the benchmark's own. Of transforms and the sea */
    const char *algorithms;   /* "all", or names with commas between; likewise */
    const engine_device *gpu; /* NULL: only those of the CPU */
    uint32_t rounds, queue;   /* of a bloom, each round has `queue` frames back to back */
    double warm_up;           /* see lab_pace */
    bool json;
    const char *plot;      /* the SVG file to write with the times; NULL: none */
    const char *picture;   /* of the sea: the image file to write with a view of it; NULL: none */
    const char *cache_dir; /* of our engine, beside the article's bloom; NULL: none */
    par *threads;          /* for what is compared with; what is timed has one thread, or the GPU */
} lab_bench_request;

enum { LAB_ROWS = 1024 }; /* that the plot can show */

typedef struct {
    const lab_bench_request *r;
    lab_gpu gpu;
    text *to;
    json_out json;
    lab_row *row;
    uint32_t rows;
} lab_bench;

/* Opens the device and begins the output; the caller closes it after a failure, too. Refuses at
 * once what cannot be written, or needs a GPU. */
bool lab_bench_open(lab_bench *b, text *to, const lab_bench_request *r, err *e);
/* Times all transforms that were asked for, or the sea by them, at all sizes. Each size must be
 * one that some of them takes. Without a GPU, those of a GPU must not be asked for by name. */
bool lab_bench_transforms(lab_bench *b, err *e);
/* Times the article's bloom of an image of this size, in both orders of the axes, and ours. The
 * kernel has one or three channels. */
bool lab_bench_article(lab_bench *b, const uint32_t size[PLAN_AXES], const psf *kernel, err *e);
/* Ends the output, and with `ok` draws the plot. Returns `ok`, unless that fails. */
bool lab_bench_close(lab_bench *b, bool ok, err *e);

/* Adds a row to the output, with the names of the columns before the first one. */
void lab_add_row(lab_bench *b, const lab_row *row);
/* Appends a picture of times against sizes, log-log, as an SVG that a browser shows and a printer
 * prints; there must be at least one row, and rows are sorted by size. */
void lab_plot(text *svg, lab_bench *b);

#endif
