/* article_bench.h - `fftbloom bench --engine article`: the bloom of the article beside ours, on one
 * device, with one image and one kernel. docs/fft.md names the keys of the JSON.
 *
 * The image is noise with a few very bright pixels, as frames have them. Both are held to the
 * definition in double, at some of the pixels. */
#ifndef LAB_ARTICLE_BENCH_H
#define LAB_ARTICLE_BENCH_H

#include "lab/article.h"
#include "lab/lab_run.h"

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

/* Measures all rows: the frame without stamps between the passes, and the passes with them. */
bool article_compare(lab_row to[ARTICLE_ROWS], const article_request *r, err *e);

#endif
