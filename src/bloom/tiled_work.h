/* tiled_work.h - the state of a part while it is bloomed tile by tile, for the files of tiled.h:
 * tiled_measure.c measures the part, tiled_rows.c holds the rows of it that tiles need, tiled.c
 * does the rest. */
#ifndef BLOOM_TILED_WORK_H
#define BLOOM_TILED_WORK_H

#include "bloom/group.h"
#include "bloom/tiled.h"
#include "image/layers.h"

/* What is done to a channel of the part. */
typedef struct {
    int index;          /* in the part */
    pixel_type type;    /* of the part, */
    pixel_type becomes; /* and of the result */
    uint8_t *in;        /* rows that are held: a ring */
    uint8_t *out;       /* rows of the result */
    uint8_t *glare;     /* of the glare alone, for emit_layer; NULL: not wanted */
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
    uint32_t first, count; /* of the list of channels */
    image_header head;     /* of a tile */
    layer_group layer;     /* of a tile */
} tiled_portion;

typedef struct {
    const tiled_job *j;
    const image_part *p;
    uint32_t w, h;
    layer_map m;
    tiling t;
    tiled_plane *list;
    uint32_t channels;
    tiled_portion *portion;
    uint32_t portions;
    bloom_settings s; /* of the tiles */
    session *session; /* of the tiles */
    buffers buf;
    uint64_t refusals;   /* of memory, before the tiles were made */
    bool writing;        /* the band at hand goes to the file: it cannot be made again */
    bool bad;            /* there are bad pixels, which become 0 */
    uint32_t room;       /* rows in a ring */
    int64_t from, to;    /* rows that the rings hold, counted from the part's top; behind a border,
                            they are what the border shows */
    image_header result; /* of what is made: one part */
    const void **plane;  /* of each of its channels */
} tiled_work;

/* Return the number of channels of a group that are bloomed, and each of them. */
static inline uint32_t tiled_channels(const bloom_settings *s, const layer_group *g) {
    return (uint32_t)g->channels + (s->alpha == ALPHA_CONVOLVE && g->alpha >= 0);
}
static inline int tiled_channel(const layer_group *g, uint32_t c) {
    return c < (uint32_t)g->channels ? g->channel[c] : g->alpha;
}

/* Return what a group of `channels` channels needs of the kernel for the whole part, and make that
 * psf. */
kernel_need tiled_need(const tiled_job *j, uint32_t channels);
bool tiled_psf(psf *k, const tiled_job *j, const kernel_need *need, double *full, err *e);

/* Reads the part once, and fills what is measured in each channel. Enters bad pixels into the
 * report, and refuses them as the settings say. */
bool tiled_measure(tiled_work *w, bloom_report *r, err *e);

/* Sees to it that the rings hold these rows, counted from the part's top. Behind a border, they are
 * what the border shows. */
bool tiled_hold(tiled_work *w, int64_t from, int64_t to, err *e);
/* Returns a row that is held. */
uint8_t *tiled_row(const tiled_work *w, const tiled_plane *is, int64_t row);

#endif
