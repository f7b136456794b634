/* scan.h - what the planes of an image hold, in one parallel pass.
 *
 * Bad pixels (NaN, infinities) and where they are; sums, extremes, the sums and minima of blocks,
 * and, where it is asked for, a histogram of magnitudes, which takes as long as all the rest. Sums
 * are in double and the same whatever the number of threads. In everything but `bad`, bad pixels
 * stand for 0; extremes of planes that have some mean little.
 *
 * A histogram bin holds an eighth of an octave: bin b goes from scan_bin_floor(b) to
 * scan_bin_floor(b + 1). Bin 0 is zero and what is below 2^-129. */
#ifndef IMAGE_SCAN_H
#define IMAGE_SCAN_H

#include "base/par.h"
#include "image/image.h"

enum { SCAN_BINS = 2040, SCAN_BAD = 10, SCAN_BLOCK = 2048 };

typedef struct {
    uint32_t channel, x, y; /* channel: index in the request; x, y: from the plane's corner */
    float value;
} scan_bad;

typedef struct {
    uint64_t pixels, bad;
    double sum, squares;
    float least, greatest;
    uint64_t *count;   /* SCAN_BINS: pixels by magnitude; NULL: no histogram */
    uint64_t *extra;   /* SCAN_BINS: how often borders show them again; NULL likewise */
    double *block_sum; /* grid_w * grid_h, or NULL */
    float *block_least;
} scan_channel;

enum { SCAN_CHANNELS = 16 };
typedef struct {
    scan_channel channel[SCAN_CHANNELS];
    uint32_t channels, grid_w, grid_h;
    uint64_t bad; /* of all channels */
    scan_bad first[SCAN_BAD];
    void *memory;
} scan;

typedef struct {
    uint32_t w, h, channels;
    const void *const *plane; /* packed rows */
    const pixel_type *type;   /* of each; uint planes are read by value */
    uint32_t block;           /* side of the blocks, at most SCAN_BLOCK; 0: none */
    bool histogram;
    /* For the histogram: how often each column and row is seen, the image and its borders together;
     * NULL: once. */
    const uint32_t *seen_x, *seen_y;
    float *const *to; /* where the samples go as floats, bad ones as they are; or NULL */
} scan_request;

bool scan_make(scan *s, const scan_request *r, par *threads, err *e);
void scan_free(scan *s);

/* The same while somebody reads the planes anyway, strip by strip, for blocks of a power of two and
 * with neither histograms nor `to`. scan_strip takes the rows from `first`, a multiple of
 * SCAN_STRIP, to the next such, or to the last, and returns them as floats, which stay until the
 * same worker's next strip; NULL where some are bad. Every strip of a plane is given once, in any
 * order; scan_plane then puts the plane's results into s. Planes that were not given count as dark.
 * On failure s is as scan_free leaves it or is to be freed. */
enum { SCAN_STRIP = 16 };
typedef struct scanner scanner;
scanner *scan_open(scan *s, const scan_request *r, par *threads, err *e);
const float *scan_strip(scanner *n, uint32_t channel, uint32_t first, int worker);
void scan_plane(scanner *n, uint32_t channel);
void scan_close(scanner **n);

/* The least magnitude of a bin; infinity for SCAN_BINS. */
float scan_bin_floor(uint32_t bin);
uint32_t scan_bin(float v);
/* Median magnitude of the pixels that are not 0, to a sixteenth of an octave; 0 if all are, and
 * where there is no histogram. */
double scan_median(const scan_channel *c);

#endif
