/* group.h - one colour group of an image: measured, convolved, judged, stored.
 *
 * The way of a group through this folder is group_bloom, in one piece. It knows no files and no
 * windows: the image is as it is to be computed. */
#ifndef BLOOM_GROUP_H
#define BLOOM_GROUP_H

#include "bloom/report.h"
#include "bloom/view.h"

typedef struct {
    const bloom_settings *s;
    par *threads;
    session *session;
    buffers *buf;
    image *img;
    int part;
    const layer_group *layer;
    double sharpen; /* of the layer, */
    join_spread spread;
    uint32_t height;     /* of the part before its window changed: kernels may be sized by it */
    join_box kept;       /* of a tile: the pixels that count; a width of 0: all */
    const double *dark;  /* accuracy_dark of the image, of each channel */
    const scan *scanned; /* of the image's pixels; NULL: it is a tile */
    bool floats;         /* the result is to be floats, whatever the image has */
    bool glare;          /* is wanted alone, too */
    double *doubles[VIEW_CHANNELS]; /* receive the result before it is rounded; NULL: not wanted */
} group_job;

/* What blooming a group, or tiles of it, has come to. */
typedef struct group_made {
    bloom_promise promise;
    plan plan; /* of the last one, */
    engine_device device;
    engine_times times; /* summed over attempts */
    double spectrum_seconds, contract_seconds;
    bool spectrum_cached;
    char note[256];    /* of the device; "": none */
    char colours[128]; /* how those of kernel and image go together; "": they agree */
    uint32_t channels;
    ledger_row row[VIEW_CHANNELS]; /* of a tile: what is made of its light */
    uint64_t over;               /* values of the result beyond halfs that were to be halfs, and */
    float largest;               /* the largest of these */
    bool wide;                   /* they are stored as floats, all channels */
    float *glare[VIEW_CHANNELS]; /* the caller frees these; NULL: not wanted */
} group_made;

/* Blooms the group in place. What is known of a failure is in *to as well. */
bool group_bloom(group_made *to, const group_job *j, err *e);

/* Finds what group_bloom would do about accuracy, on which device and with which plan. */
bool group_predict(group_made *to, const group_job *j, err *e);

/* Adds what a tile of the group has come to, but for `wide`. */
void group_add(group_made *all, const group_made *one);

#endif
