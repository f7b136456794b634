/* compare.h - measures how two images differ, and decides whether that is tolerated.
 *
 * The limits have idiff's names. A value is over a limit when it differs by more than the absolute
 * limit and, if a relative one is given, by more than that part of the mean of the two
 * magnitudes; a pixel is over a limit when any of its channels is. Two NaN are equal, and so are
 * two infinities of one sign. Any other value that is not finite differs without bound.
 *
 * Channels are matched by name. Images whose data windows or channels differ are not compared. */
#pragma once

#include "base/par.h"
#include "image/image.h"

/* What is tolerated. The defaults: fail and warn 1e-6, hard limits infinite, the rest zero.
 *
 * Up to `allow_failures` pixels may be over each limit, by any amount. If more are, the verdict is
 *   COMPARE_FAIL  when more than `fail_percent` of the pixels are over `fail`, or one is over
 *                 `hard_fail`; each of the two limits counts alone;
 *   COMPARE_WARN  by the same rule for `warn`, `warn_percent` and `hard_warn`. `warn` counts alone
 *                 only if `warn_given`; by default only when pixels fail, within `fail_percent`.
 * idiff 2.4 fails or warns of nothing while no pixel is over `fail`. Where pixels are, and
 * `hard_fail` is not below `fail`, its verdict is the same. */
typedef struct {
    double fail, fail_relative, fail_percent, hard_fail;
    double warn, warn_relative, warn_percent, hard_warn;
    uint32_t allow_failures;
    bool warn_given; /* warn, warn_relative or warn_percent was chosen, and is not a default */
} compare_limits;

/* The numbers are exit statuses, idiff's. */
typedef enum {
    COMPARE_MATCH,
    COMPARE_WARN,
    COMPARE_FAIL,
    COMPARE_SIZE,
    COMPARE_FILE
} compare_verdict;

typedef struct {
    const image *a, *b;
    int part; /* of both */
} compare_pair;

typedef struct {
    int a, b; /* indices in the two parts */
    double sum_a, sum_b, max;
} compare_channel;

typedef struct {
    compare_pair of; /* the caller's images; valid as long as they are */
    compare_limits limits;
    compare_verdict verdict;
    char differs[256]; /* COMPARE_SIZE: a sentence, and nothing below is set but w, h, x0, y0 */
    uint32_t w, h;
    int32_t x0, y0;           /* of the data window */
    compare_channel *channel; /* R G B A first, then in the order of the file */
    int channels;
    double mean, rms, psnr; /* over all values; NaN when one differs without bound */
    double max;             /* the worst value: */
    int32_t max_x, max_y;   /*   its pixel, in the coordinates of the window, */
    int max_channel;        /*   and its place in `channel` */
    uint64_t pixels;        /* all; and those over a limit: */
    uint64_t failed, hard_failed, warned, hard_warned;
    double limit;  /* COMPARE_FAIL, COMPARE_WARN: the limit that decided, */
    uint64_t over; /*   and the number of pixels over it */
} comparison;

/* Compares one part of two images. Fails only when there is no memory. */
bool compare_parts(comparison *c, const compare_pair *of, const compare_limits *l, par *threads,
                   err *e);
void comparison_free(comparison *c);

/* Reads row y of one of the comparison's channels from both images, as doubles. */
void compare_read_row(const comparison *c, const compare_channel *k, size_t y, double *a,
                      double *b);
/* Returns how far apart two values are: infinitely where one is not finite and the other is not the
 * same. */
double compare_distance(double a, double b);

/* Returns (a - b) * scale, or its absolute value, as an image of float channels. */
image *compare_difference(const comparison *c, bool absolute, double scale, par *threads, err *e);

const char *compare_word(compare_verdict v); /* "PASS", "WARNING", "FAILURE" */
