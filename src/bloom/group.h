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
    uint32_t height;    /* of the part before its window changed: kernels may be sized by it */
    tail_kept kept;     /* of a tile: the pixels that count; a width of 0: all */
    const double *dark; /* of a tile: accuracy_dark of the image, of each channel; else NULL */
    bool floats;        /* the result is to be floats, whatever the image has */
    bool glare;         /* is wanted alone, too */
    bool came;          /* and so are the pixels as they came, once bad ones are repaired */
} group_job;

/* Blooms the group in place. What is known of a failure is in *to as well. */
bool group_bloom(group_made *to, const group_job *j, err *e);

/* Finds what group_bloom would do about accuracy, on which device and with which plan. */
bool group_predict(group_made *to, const group_job *j, err *e);

#endif
