/* run.h - one colour group on its way through a bloom: for look.c, convolve.c and group.c. */
#ifndef BLOOM_RUN_H
#define BLOOM_RUN_H

#include "bloom/finish.h"
#include "bloom/inside.h"
#include "image/layers.h"

enum { RUN_CHANNELS = LAYER_MAX_CHANNELS };

typedef struct {
    bloom *b;
    image *img;
    int part;
    uint32_t n; /* channels */
    int channel[RUN_CHANNELS];
    pixel_type type[RUN_CHANNELS], to[RUN_CHANNELS]; /* as they came, as they will be stored */
    size_t pixels;
    bloom_report *r;

    scan scanned;              /* of what is spread */
    bool looked_closely;       /* with histograms */
    double dark[RUN_CHANNELS]; /* accuracy_dark of the image; 0 before it is looked at closely */
    double sum[RUN_CHANNELS], bad_light[RUN_CHANNELS];
    bool light[RUN_CHANNELS]; /* neither image nor kernel is below zero anywhere */
    uint64_t bad[RUN_CHANNELS];
    sketch sketched[RUN_CHANNELS];
    accuracy_facts facts;
    accuracy method;
    accuracy_measured measured[RUN_CHANNELS];

    bool loaded;            /* set 0 of the bloom's planes holds what is spread, as floats */
    bool own[RUN_CHANNELS]; /* the engine reads the image's own plane */
    void *in[PSF_CHANNELS], *made[PSF_CHANNELS];
    float *out[PSF_CHANNELS], *glare[PSF_CHANNELS], *original[PSF_CHANNELS];
    bright_list bright[RUN_CHANNELS];
    kernel_core core;
    finish_stats stats[RUN_CHANNELS];
} run;

/* How many planes of a group are convolved together. */
uint32_t run_channels(const bloom *b, const layer_group *layer);
void run_open(run *g, bloom *b, image *img, int part, const layer_group *layer, bloom_report *r);
void run_close(run *g);

image_part *run_part(const run *g);
void **run_plane(const run *g, uint32_t c); /* the image's */
const char *run_name(const run *g, uint32_t c);
finish_excess run_excess(const run *g);
bool run_spreads_all(const run *g);
/* Whether all that the engine is given by the method chosen is halfs: bright pixels that are taken
 * out leave zeros, but a scaled image or the excess over a threshold is none. */
bool run_gives_halfs(const run *g);

/* Calls fn for blocks of at most RUN_BLOCK pixels of every channel, from several threads. */
enum { RUN_BLOCK = 1 << 15 };
bool run_blocks(run *g, void (*fn)(run *g, uint32_t c, size_t first, size_t n), err *e);

/* For run_blocks: what is spread, as floats, into set 0 of the bloom's planes, but for channels
 * that the engine reads from the image. */
void run_load(run *g, uint32_t c, size_t first, size_t n);

/* A sentence for the report; what does not fit is left out. */
void run_note(bloom_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
