/* plan.h - decides every size of a run before anything is allocated.
 *
 * Planning is pure arithmetic: no memory, no files, no device calls. From the extents of image and
 * kernel, the borders and the limits of a device it finds the transform lengths, the axis order,
 * the radices, the shape of each pass, and the bytes of each buffer. Engines decide nothing.
 *
 * The way of the data (axis 1 is the plan's first axis, axis 2 the other one):
 *
 *   image planes --forward--> half spectrum --convolve--> half spectrum --inverse--> image planes
 *   [c][y][x]     FFT along    [c][k][m]     FFT along m,  (in place)    inverse FFT
 *   real          axis 1,      k <= L1/2     * kernel,                   along axis 1,
 *                 2 lines      m: axis 2     inverse FFT                 cropped
 *                 at a time
 */
#pragma once

#include "base/err.h"

typedef enum { BORDER_ZERO, BORDER_MIRROR, BORDER_CLAMP, BORDER_WRAP, BORDERS } plan_border;
typedef enum { AXIS_AUTO, AXIS_X, AXIS_Y } plan_axis_order; /* which axis comes first */
typedef enum { PRECISION_AUTO, PRECISION_FLOAT32, PRECISION_FLOAT64 } plan_precision;

enum { PLAN_X, PLAN_Y, PLAN_AXES };
enum { PLAN_STAGES = 4, PLAN_MAX_RADIX = 20, PLAN_PASSES = 3 };
enum { PLAN_MOST_HELD = 20 }; /* numbers of a line in a thread's registers */
enum { PLAN_TOTALS = 10 };    /* numbers that a workgroup of the last pass measures */

/* What a device can do. Without invocations it is the CPU engine: no limits, no shapes. */
typedef struct {
    uint32_t invocations;  /* of a workgroup */
    uint32_t shared_bytes; /* of a workgroup */
    uint32_t groups[3];    /* largest dispatch */
    uint64_t buffer_range; /* of one bound buffer */
    uint64_t memory;       /* bytes the plan may take on the device; 0: not known */
    bool float64;
} plan_limits;

/* The numbers of a plane of an image. */
typedef enum { PLAN_FLOATS, PLAN_HALFS, PLAN_DOUBLES } plan_sample;
static inline uint32_t plan_sample_bytes(uint8_t s) {
    return s == PLAN_HALFS ? 2 : s == PLAN_DOUBLES ? 8 : 4;
}

/* The planes of a frame. Doubles are for results alone. */
typedef struct {
    uint8_t in, out; /* a plan_sample each: of the image as it is stored, and of the result */
    uint8_t above;   /* light spreads above a threshold alone */
    uint8_t masked;  /* there is a mask, of floats */
    uint8_t glare;   /* the glare has planes of its own, of floats */
    uint8_t margins; /* only some pixels count: join.kept */
    uint8_t again;   /* a frame has several steps (engine_frame.steps), of planes of floats, and its
                        mask holds back what falls on a pixel, not what leaves it */
} plan_planes;

/* What tests take in place of the planner's own choice, where it would need an image too large for
 * a test. Zeros leave it to the planner. */
typedef struct {
    uint32_t length[2];     /* of the first and the second axis, if they are long enough */
    uint32_t tile_in, tile; /* 2, 4 or 8 */
} plan_tune;

typedef struct {
    uint32_t size[PLAN_AXES]; /* of the image */
    /* Taps left of (above) and right of (below) the kernel's centre, the centre not counted. */
    uint32_t reach_lo[PLAN_AXES], reach_hi[PLAN_AXES];
    plan_border border[PLAN_AXES];
    plan_axis_order order;
    plan_precision precision; /* AUTO stands for float32 here */
    uint32_t channels;        /* image planes convolved in one run */
    uint32_t spectra;         /* kernel channels: 1 or `channels` */
    bool symmetric;           /* half a turn leaves the kernel as it is, so its spectrum is real */
    plan_planes planes;
    uint32_t frames; /* in flight at a time, where there is room; 0 stands for 1 */
    plan_limits limits;
    plan_tune tune;
} plan_request;

/* A complex transform of one line, as decimation in frequency: stage s splits a block of
 * radix[s] * rest into radix[s] blocks of `rest`, in place, so that the frequency
 * k = q1 + R1 (q2 + R2 (q3 + ...)) ends at place (((q1) R2 + q2) R3 + q3) ... */
typedef struct {
    uint32_t length;
    uint32_t stages;
    uint32_t radix[PLAN_STAGES];
    uint32_t threads; /* of a workgroup, for each line */
    bool paired;      /* in the last stage a thread has a butterfly and its mirror image */
    uint32_t slots;   /* what it takes: threads times the numbers they have room for, all stages */
} plan_fft;

/* One axis: image samples 0 .. extent-1 stand at the same indices of a circle of `length`.
 * Index i >= split stands for coordinate i - length (before the image); the rest behind it. What no
 * tap needs, from split to length - before, is zero. */
typedef struct {
    uint32_t extent, length, split;
    plan_border border;
    uint32_t before, after; /* samples needed in front of the image and behind it */
    bool alone;             /* of the first: a row goes by itself, in a line of half its length */
    plan_fft fft;           /* of `length`, or half of it */
} plan_axis;

typedef enum {
    PASS_FORWARD,  /* image lines -> half spectrum */
    PASS_CONVOLVE, /* half spectrum lines, times the kernel, in place */
    PASS_INVERSE,  /* half spectrum -> image lines */
    PASS_KINDS
} plan_pass_kind;

/* The shape of one pass on a GPU. */
typedef struct {
    plan_pass_kind kind;
    uint32_t axis; /* 0: along the first axis, 1: along the second */
    plan_fft fft;
    uint32_t lines;                    /* complex lines per workgroup */
    uint32_t threads;                  /* per workgroup */
    uint32_t butterflies[PLAN_STAGES]; /* per thread and stage */
    bool paired; /* in the last stage a thread has a butterfly and its mirror image */
    bool whole;  /* whole numbers go through shared memory, not one component at a time */
    uint32_t shared_bytes;
    uint32_t groups[3]; /* of one dispatch: lines, 1, channels */
    uint64_t bytes;     /* read and written, all channels */
} plan_pass;

typedef struct {
    plan_request ask;
    uint32_t first;    /* PLAN_X or PLAN_Y: the axis of passes 1 and 3 */
    plan_axis axis[2]; /* [0]: the first axis, [1]: the second */
    uint32_t halves;   /* lines of the half spectrum: axis[0].length / 2 + 1 */
    uint32_t pitch;    /* complex numbers from one line of it to the next */
    /* Not 0: it is [c][k / band][m / tile][k % band][m % tile] between passes 1 and 2 (tile_in),
     * and between 2 and 3 (tile); in other memory if they differ. */
    uint32_t tile_in, tile, band;
    uint32_t square;       /* not 0: tiles of two pixels; pass 2 takes this many lines at a time */
    uint32_t image_pitch;  /* samples from one image row to the next, on the device */
    uint32_t sample_bytes; /* 4 or 8 */
    uint32_t channels_per_bind; /* planes that one bound buffer holds */
    plan_pass pass[PLAN_PASSES];
    uint32_t passes;
    uint32_t frames; /* in flight: each has image and input, the rest is for one at a time */
    /* On the device. image_bytes: the result; where both have floats, the image, too. */
    uint64_t image_bytes, scratch_bytes, spectrum_bytes, twiddle_bytes;
    uint64_t input_bytes; /* not 0: the image as it came, in memory of its own */
    uint64_t mask_bytes, glare_bytes, total_bytes; /* totals: what the last pass measures */
    double cost[2];           /* model's price with x first, with y first; lower is better */
    uint32_t power_of_two[2]; /* of x and y, for comparison: the first one from N + K - 1 */
} plan;

/* Fills p. ERR_CONFIG where the request cannot be met, and ERR_LINES where no workgroup of the
 * device holds a line. */
bool plan_make(plan *p, const plan_request *ask, err *e);

/* Returns whether a workgroup of the device holds a line of this length along x or y, where x (or
 * what `order` says) is first; and the longest such line. The CPU holds any. */
bool plan_holds(const plan_request *ask, uint32_t axis, uint32_t length);
uint32_t plan_longest(const plan_request *ask, uint32_t axis);

/* Returns whether two plans are the same: those of the same request are. */
bool plan_same(const plan *a, const plan *b);

/* Returns the bytes of a frame that travel to a device, and those that travel back. */
uint64_t plan_bytes_up(const plan *p);
uint64_t plan_bytes_down(const plan *p);

/* Returns the bytes of the device's memory, for all frames in flight and what they share. */
uint64_t plan_device_bytes(const plan *p);

/* Returns the coordinate that index i of the circle reads, or -1 where it reads zero. */
int64_t plan_source(const plan_axis *a, uint32_t i);

/* Returns the sample of an axis of `extent` samples that a place shows, before it, in it or behind
 * it; -1: none, it is zero. */
int64_t plan_place(plan_border border, uint32_t extent, int64_t place);

/* Returns the entries of a transform's twiddle table: of each stage but the last, one for each
 * number of the blocks that it leaves. */
uint32_t plan_twiddle_entries(const plan_fft *f);

/* Returns the frequency that ends at `place` (see plan_fft). */
uint32_t plan_frequency(const plan_fft *f, uint32_t place);

const char *plan_border_name(plan_border b);
const char *plan_pass_name(plan_pass_kind k);

/* The places where a border shows a sample, for the energy ledger: the inverse of plan_place. */
typedef struct {
    plan_border border;
    uint32_t extent;
    uint32_t before, after; /* places in front of the image and behind it that count */
} border_axis;

/* Returns the axis of a run, with places as far off as its kernel reaches. */
border_axis border_of(const plan_request *ask, uint32_t axis);

/* Returns at how many places a sample is seen at most, at least 1. */
uint32_t border_most(const border_axis *a);
/* Lists the places of sample i in increasing order, and returns how many there are. */
uint32_t border_places(const border_axis *a, uint32_t i, int64_t *to);
