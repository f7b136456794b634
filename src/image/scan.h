/* scan.h - measures the planes of an image in one parallel pass: bad pixels (NaN, infinities),
 * which all else counts as 0, sums and extremes, and a histogram of magnitudes. Sums do not depend
 * on the number of threads.
 *
 * A histogram bin holds an eighth of what lies between powers of two: bin b goes from
 * scan_bin_floor(b) to scan_bin_floor(b + 1). Bin 0 is zero and what is smaller than 2^-129. */
#pragma once

#include "base/par.h"
#include "image/image.h"

enum { SCAN_BINS = 2040, SCAN_BAD = 10 };

typedef struct {
    uint32_t channel, x, y; /* channel: index in the request; x, y: from the plane's corner */
    float value;
} scan_bad;

typedef struct {
    uint64_t pixels, bad;
    double sum, squares;
    float least, greatest;
    /* SCAN_BINS each: pixels by magnitude, and those of them that are below zero. */
    uint64_t *count, *below;
} scan_channel;

enum { SCAN_CHANNELS = 16 };
typedef struct {
    scan_channel channel[SCAN_CHANNELS];
    uint32_t channels;
    uint64_t bad; /* of all channels */
    bool hidden;  /* there are bad pixels where the mask is 0 */
    scan_bad first[SCAN_BAD];
    void *memory;
} scan;

typedef struct {
    uint32_t w, h, channels;
    const void *const *plane; /* packed rows */
    const pixel_type *type;   /* of each; uint planes are read by value */
    const float *mask; /* where it is 0, a bad pixel counts as 0, and is not bad; NULL: nowhere */
    /* Makes of n pixels from `first` on what is measured in their place; NULL: nothing else. */
    void (*change)(const void *ctx, float *v, size_t first, size_t n);
    const void *ctx;
} scan_request;

/* Fills *s, to be freed with scan_free. */
bool scan_make(scan *s, const scan_request *r, par *threads, err *e);
/* Adds what was found in other rows of the same channels, and frees that; *to may be zeros. */
void scan_add(scan *to, scan *rows);
void scan_free(scan *s);

/* Returns the minimum magnitude of a bin; infinity for SCAN_BINS. */
float scan_bin_floor(uint32_t bin);
/* Returns the bin of a value. */
uint32_t scan_bin(float v);
/* Returns the number of pixels that are not 0. `count` is a histogram of a channel, or NULL. */
uint64_t scan_count(const uint64_t *count);
/* Returns the median of their magnitudes, to 6.1 per cent; 0 if there are none. */
double scan_median(const uint64_t *count);
