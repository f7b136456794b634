/* compare.h - how two images differ, in idiff's terms.
 *
 * A pixel is over a threshold when any of its channels is; a value is over when it differs by more
 * than the absolute threshold and, where a relative one is given, by more than that part of the
 * mean of the two magnitudes. Two NaN are equal, and so are two infinities of one sign; any other
 * value that is not finite differs without bound (idiff 2.4 lets such pixels pass).
 *
 * Channels are matched by name. Data windows of other sizes, or other channels, are not compared:
 * that is a verdict of its own. */
#ifndef IMAGE_COMPARE_H
#define IMAGE_COMPARE_H

#include "base/par.h"
#include "image/image.h"

/* What is tolerated. idiff's defaults: fail and warn 1e-6, hard limits infinite, the rest zero. */
typedef struct {
    double fail, fail_relative, fail_percent, hard_fail;
    double warn, warn_relative, warn_percent, hard_warn;
    uint32_t allow_failures;
} compare_limits;

/* The numbers are exit statuses, idiff's. */
typedef enum {
    COMPARE_MATCH = 0,
    COMPARE_WARN = 1,
    COMPARE_FAIL = 2,
    COMPARE_SIZE = 3,
    COMPARE_FILE = 4
} compare_verdict;

typedef struct {
    int a, b; /* indices in the two parts */
    double sum_a, sum_b, max;
} compare_channel;

typedef struct {
    compare_verdict verdict;
    char differs[256]; /* COMPARE_SIZE: a sentence */
    uint32_t w, h;
    int32_t x0, y0;           /* of the data window */
    compare_channel *channel; /* R G B A first, then in the order of the file */
    int channels;
    double mean, rms, psnr; /* over all values; NaN when one differs without bound */
    double max;             /* the worst value: */
    int32_t max_x, max_y;   /*   its pixel, in the coordinates of the window, */
    int max_channel;        /*   and its place in `channel` */
    uint64_t pixels, failed, warned;
} comparison;

/* Fails only when there is no memory; everything else is a verdict. */
bool compare_parts(comparison *c, const image *a, int part_a, const image *b, int part_b,
                   const compare_limits *l, par *threads, err *e);
void compare_free(comparison *c);

/* (a - b) * scale, or its absolute value, as an image of float channels. For parts that could be
 * compared. */
image *compare_difference(const comparison *c, const image *a, int part_a, const image *b,
                          int part_b, bool absolute, double scale, par *threads, err *e);

const char *compare_word(compare_verdict v); /* "PASS", "WARNING", "FAILURE" */

#endif
