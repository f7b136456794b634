/* article_bench.h - `fftbloom bench --engine article`: the bloom of the article beside ours, on one
 * device, with one image and one kernel. docs/fft.md names the keys of the JSON.
 *
 * The image is noise with a few very bright pixels, as frames have them. Both are held to the
 * definition in double, at some of the pixels. */
#ifndef LAB_ARTICLE_BENCH_H
#define LAB_ARTICLE_BENCH_H

#include "lab/article.h"
#include "lab/lab_run.h"
#include "lab/lab_table.h"

/* What is timed: per frame, without stamps between the passes; per pass, with them; and copies on
 * the device that move as many bytes. */
enum {
    ARTICLE_FRAME,
    ARTICLE_PASS,
    ARTICLE_COPY = ARTICLE_PASS + ARTICLE_PASSES,
    ARTICLE_COPY_PASS,
    ARTICLE_TIMES = ARTICLE_COPY_PASS + ARTICLE_PASSES
};

typedef struct {
    const char *bloom; /* "article" or "fftbloom" */
    uint32_t first;    /* PLAN_X or PLAN_Y */
    uint32_t length[2];
    uint64_t bytes[ARTICLE_PASSES]; /* read and written */
    measure_spread time[ARTICLE_TIMES];
    double worst; /* of the relative errors of the pixels that are compared */
    double rms;   /* of the errors, relative to that of the pixels */
} article_row;

enum { ARTICLE_X, ARTICLE_Y, ARTICLE_OURS, ARTICLE_ROWS };

typedef struct {
    const engine_device *device; /* a Vulkan device */
    const psf *kernel;           /* of one or three channels */
    uint32_t size[PLAN_AXES];
    uint32_t rounds, queue; /* rounds, each of `queue` frames back to back */
    double warm_up;         /* seconds of rounds that are not counted, at least one round */
    const char *cache_dir;  /* of our engine; NULL: none */
    par *threads;
} article_request;

/* Measures all rows. */
bool article_compare(article_row to[ARTICLE_ROWS], const article_request *r, err *e);

/* The columns of the table, and one row of it for each of a request. */
enum { ARTICLE_COLUMNS = 26 };
extern const lab_column ARTICLE_COLUMN[ARTICLE_COLUMNS];
void article_show(lab_table *t, const article_request *r, const article_row row[ARTICLE_ROWS]);

#endif
