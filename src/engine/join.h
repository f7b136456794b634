/* join.h - what becomes of a pixel: the data that both engines obey, and what they measure.
 *
 *   spread(in)   what of a pixel is spread: all of it, or what a mask and a threshold leave
 *   glare        gain * what the transform makes of spread(in)
 *   out          rest(in) + centre * spread(in) + glare         rest(in) = in - spread(in)
 *
 * A frame of several steps (engine_frame.steps) has glare of what the step before has made:
 *
 *   out          rest(in) + centre * spread(in) + mask * gain * what the transform makes of out
 *
 * Where image and kernel have nothing below zero, glare below zero is rounding noise, which is cut
 * off and counted. A sum is rounded once, to the type of the plane; what halfs cannot hold becomes
 * their largest number. engine/cpu/cpu_join.c makes rows by a join, and shaders/join.glsl pixels;
 * docs/inside/math.md, "The last pass of a GPU", says how far the two may differ. */
#pragma once

#include "kernel/psf.h"
#include "math/field.h"

/* The part of a pixel that is spread: what a mask lets through, and of that the light above a
 * threshold, softly between threshold - knee and threshold + knee, and never more than the pixel
 * has. What is not spread stays where it is. */
typedef struct {
    double threshold, knee; /* threshold 0: everything that the mask lets through */
    const float *mask;      /* of each pixel of a plane, 0 to 1; NULL: there is none */
} join_spread;
/* Returns whether all light is spread. */
static inline bool join_spreads_all(const join_spread *x) {
    return !(x->threshold > 0) && !x->mask;
}
/* The two parts of a pixel. Where all light above the threshold spreads, `rest` is not v - spread,
 * in which a bright pixel's rounding would be larger than the threshold. */
typedef struct {
    double spread, rest;
} join_parts;
/* Returns the parts of pixel `at` with the value v. */
join_parts join_parts_of(const join_spread *x, size_t at, double v);
/* Fill `to` with what is spread of n pixels from pixel `at` on; in place if wanted, doubles always.
 */
void join_spread_row(const join_spread *x, size_t at, float *to, const float *from, size_t n);
void join_spread_doubles(const join_spread *x, size_t at, double *v, size_t n);
/* Puts into the place of n pixels what they give themselves: rest + centre * spread. */
void join_own_row(const join_spread *x, double centre, size_t at, double *v, size_t n);

/* Which part of a pixel leaves the image over its border, less what borders bring in of it: by
 * bloom/promise/ledger.h. An engine weighs rows with it while they are in the cache. */
typedef struct {
    uint32_t w, kernels; /* of the image; one kernel, or one for each channel */
    /* Columns (rows) middle[..][0] to before middle[..][1] are alike: none reaches a border. */
    uint32_t middle[2][2];
    uint32_t rows, columns; /* of a table: all others, and behind them one for these */
    float *lost;            /* [kernel][row][column] */
} spill;

/* Returns the light of n pixels of a row, from a column on, that is spread over the border, net. v:
 * what is spread of these pixels. */
double spill_of_row(const spill *k, uint32_t channel, uint32_t y, uint32_t from, uint32_t n,
                    const float *v);

/* A rectangle of pixels. */
typedef struct {
    uint32_t x, y, w, h;
} join_box;

/* What differs from channel to channel. */
typedef struct {
    double centre, gain;
    bool nonnegative; /* neither what is spread nor the kernel is below zero */
    double dark;      /* pixels below this are only counted, not measured; 0: there are none */
    double most;      /* a bound on |glare|; 0: none is known, and it is near 1 */
} join_channel;

/* A kernel that varies over the frame (math/field.h): the weights of its nodes, and their centres.
 * The centre of a pixel is the sum over nodes of weight * centre. */
typedef struct {
    uint32_t nodes[2], extent[2]; /* columns and rows of nodes, and of pixels */
    uint32_t count;               /* of nodes, with the common one */
    double *weight[2]; /* of the columns of nodes at x, of the rows at y: [field_line][pixel] */
    double *centre;    /* [channel][node] */
} join_field;
/* Returns the weight of a node in a pixel. */
double join_weight_at(const join_field *k, uint32_t node, uint32_t x, uint32_t y);
/* Fills in the centres of row y. */
void join_centre_row(const join_field *k, uint32_t channel, uint32_t y, double *to);

typedef struct {
    join_spread spread;
    const join_field *field; /* its centres take the place of the channels'; or NULL. Its windows
                                are summed on the host, which joins them by cpu_join_planes: other
                                engines do not look */
    join_box kept;           /* pixels that are made and measured; a width of 0: all, as it is where
                                the plan has no margins. Of the others only the glare's norm and peak
                                are measured. */
    bool additive;           /* the glare's plane receives out - in, in place of the glare */
    const spill *spill;      /* NULL: light that leaves the image is not measured */
    join_channel channel[PSF_CHANNELS];
} join;

/* Returns the join that only adds: out = centre * in + gain * (what the transform made). */
join join_plain(uint32_t channels, const double *centre, const double *gain);

/* A row of the image, as it came. */
typedef struct {
    uint32_t channel, y;
    const void *in;
    bool halfs; /* else floats */
} join_row;
/* Returns the light of a row that is spread over the border, net; 0 where that is not measured.
 * room: for a row, which may be where it is. */
double join_spilled(const join *j, const join_row *row, float *room);

/* What a channel has turned out to be. */
typedef struct {
    double norm, peak;   /* of the glare, before anything is cut off */
    double darkest;      /* least |out|, of lines that are not all below `dark`: at least that; 0:
                            there are none */
    bool darker;         /* there are pixels below it */
    double sum, spilled; /* of out, before halfs are limited; what left the image, net */
    uint64_t negative;   /* pixels whose glare was cut off, */
    double negative_sum, negative_worst; /* their sum and the lowest, both below zero */
    uint64_t over;                       /* |out| > 65504 */
    double over_sum;                     /* by how much, signed */
    float largest;                       /* |out| */
    join_box dark_at, bright_at; /* where the darkest is, and the glare's peak: a few lines */
} join_stats;

/* Returns a sum's beginning, and adds what was found in a few lines `at`; `norm` is the sum of
 * squares until join_end. */
join_stats join_begin(void);
/* Sets what is dark of a few lines, by the least |out| and by `largest`. */
void join_set_darkest(join_stats *st, double least, double dark);
void join_add(join_stats *to, const join_stats *from, join_box at);
void join_end(join_stats *st);
