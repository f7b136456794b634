/* tiled_work.h - the state of a part while it is bloomed tile by tile, for the files of tiled.h:
 * tiled_measure.c measures the part, tiled_rows.c holds the rows of it that tiles need,
 * tiled_tile.c blooms a tile, tiled_sum.c adds up what the pieces of a kernel make, tiled_verify.c
 * recomputes pixels, and tiled.c does the rest. */
#ifndef BLOOM_TILED_WORK_H
#define BLOOM_TILED_WORK_H

#include "bloom/group.h"
#include "bloom/tiled.h"
#include "image/layers.h"

/* What is done to a channel of the part. */
typedef struct {
    int index;             /* in the part */
    pixel_type type;       /* of the part, */
    pixel_type becomes;    /* and of the result */
    const layer_light *by; /* of its layer */
    uint8_t *in;           /* rows that are held: one of the rings, perhaps others' as well */
    uint8_t *out;          /* rows of the result */
    uint8_t *glare;        /* of the glare alone, for emit_layer; NULL: not wanted */
    double *sum;           /* of what the kernel's pieces make; NULL: it is not in pieces */
    double least;          /* no pixel of the band at hand becomes darker, as far as is known */
    double off, off_piece; /* by how much the sums of the band at hand may be off; the piece at hand
                              adds the second */
    /* Measured in the whole part: */
    scan_channel seen; /* without blocks */
    uint64_t count[SCAN_BINS];
    double spread;  /* the sum of what is spread */
    double spilled; /* net, over the border */
    double dark;
    ledger_row row;
} tiled_plane;

/* Channels that are bloomed together, as an image of their own. */
typedef struct {
    const layer_group *group;
    const psf *whole;      /* the part's kernel, where tiles see pieces of it; else NULL */
    uint32_t first, count; /* of the list of channels */
    uint32_t from;         /* of the group's channels, the first */
    image_header head;     /* of a tile */
    layer_group layer;     /* of a tile */
} tiled_portion;

/* A pixel that --verify recomputes. */
typedef struct {
    uint32_t channel; /* of the list */
    uint32_t x, y;
    double got, in, sum; /* in and sum are found when the part is read again */
} tiled_place;

typedef struct {
    const tiled_job *j;
    const image_part *p;
    uint32_t w, h;
    layer_map m;
    layer_light *light; /* of each group */
    tiling_request ask; /* of the tiles */
    tiling t;
    tiled_plane *list;
    uint32_t channels;
    tiled_portion *portion;
    uint32_t portions;
    psf whole[VIEW_CHANNELS + 1]; /* whole[n]: for groups of n channels, where t.apart */
    bloom_settings s;             /* of the tiles */
    session *session;             /* of the tiles */
    buffers buf;
    uint64_t refusals;         /* of memory, before the tiles were made */
    bool writing;              /* the band at hand goes to the file: it cannot be made again */
    bool bad;                  /* there are bad pixels, which become 0 */
    bool light_kernel;         /* the kernel has no taps below zero; where it is in pieces */
    bool kept;                 /* all pieces in the band at hand keep their part of the promise */
    bool summed;               /* the promise of a band of sums is known: */
    bloom_promise promise;     /* that of the band that came nearest to breaking it */
    uint8_t **ring;            /* for each channel, or for those of one portion: t.again */
    uint32_t rings, room;      /* room: rows in a ring */
    const tiled_portion *held; /* whose rows the rings hold, if t.again; NULL: nobody's */
    int64_t from, to;    /* rows that the rings hold, counted from the part's top; behind a border,
                            they are what the border shows */
    image_header result; /* of what is made: one part */
    const void **plane;  /* of each of its channels */
    tiled_place *place;  /* to be verified */
    size_t places, place_room;
} tiled_work;

/* Return the number of channels of a group that are bloomed, and each of them. */
static inline uint32_t tiled_channels(const bloom_settings *s, const layer_group *g) {
    return (uint32_t)g->channels + (s->alpha == ALPHA_CONVOLVE && g->alpha >= 0);
}
static inline int tiled_channel(const layer_group *g, uint32_t c) {
    return c < (uint32_t)g->channels ? g->channel[c] : g->alpha;
}
/* Returns whether the glare is wanted as channels of its own. */
static inline bool tiled_emits(const bloom_settings *s) {
    return s->emit_layer && *s->emit_layer;
}

/* Return what a group of `channels` channels needs of the kernel for the whole part, and make that
 * psf. */
kernel_need tiled_need(const tiled_job *j, uint32_t channels, double sharpen);
bool tiled_psf(psf *k, const tiled_job *j, const kernel_need *need, double *full, err *e);

/* Reads the part once, and fills what is measured in each channel. Enters bad pixels into the
 * report, and refuses them as the settings say. */
bool tiled_measure(tiled_work *w, bloom_report *r, err *e);

/* Sees to it that the rings hold these rows of a portion's channels, counted from the part's top.
 * Behind a border, they are what the border shows. */
bool tiled_hold(tiled_work *w, const tiled_portion *o, int64_t from, int64_t to, err *e);
/* Returns a row that is held. */
uint8_t *tiled_row(const tiled_work *w, const tiled_plane *is, int64_t row);

/* Returns the first pixel along an axis that a piece brings into the pixels from `at` on. `first`
 * and `taps` are the piece's along the axis. */
static inline int64_t tiled_first(const tiling *t, int axis, uint32_t at, int64_t first,
                                  uint32_t taps) {
    return t->cut[axis] ? at - (first + (int64_t)taps - 1) : 0;
}
/* Blooms the tile of a portion whose kept pixels begin at x, y, with a piece of the kernel, or all
 * of it: takes the result into the rows of the result, or adds it to the sums. The rows that it
 * needs are held. */
typedef struct {
    tiled_portion *o;
    const psf_piece *piece; /* but for its channels */
    uint32_t x, y, rows;
} tiled_spot;
bool tiled_tile(tiled_work *w, const tiled_spot *at, bloom_report *r, err *e);
/* Refuses what only a whole image can have: a sentence that ends before "whole image", and what to
 * do besides asking for memory. */
bool tiled_refuse_whole(const tiled_work *w, const char *why, const char *instead, err *e);
/* The error of a channel that has values beyond half floats, which the settings do not clamp. */
bool tiled_refuse_over(const tiled_work *w, const tiled_plane *is, err *e);

/* Makes the rows of the result from the sums of all pieces, and judges them. */
bool tiled_sum(tiled_work *w, uint32_t y, uint32_t rows, bloom_report *r, err *e);

/* Chooses pixels of a band of the result, and notes their values. */
bool tiled_look(tiled_work *w, uint32_t y, uint32_t rows, err *e);
/* Reads the part once more, recomputes the pixels that were chosen by the definition, and enters
 * what is found. */
bool tiled_verify(tiled_work *w, bloom_report *r, err *e);

#endif
