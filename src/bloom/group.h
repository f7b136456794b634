/* group.h - one colour group of an image: looked at, convolved, checked, stored. */
#ifndef BLOOM_GROUP_H
#define BLOOM_GROUP_H

#include "bloom/view.h"

/* The glare alone, for emit_layer: planes of floats. */
typedef struct {
    uint32_t channels;
    char *name[VIEW_CHANNELS]; /* of the channel that it is the glare of */
    pixel_type type[VIEW_CHANNELS];
    float *plane[VIEW_CHANNELS];
} group_glare;
void group_glare_free(group_glare *g);

typedef struct {
    const bloom_settings *s;
    par *threads;
    session *session;
    buffers *buf;
    image *img;
    int part;
    const layer_group *layer;
    uint32_t height;    /* of the part before its window changed */
    group_glare *glare; /* NULL: not wanted */
} group_job;

/* Blooms the group in place and enters it into the report. */
bool group_bloom(const group_job *j, bloom_report *r, err *e);

/* Enters into the report what group_bloom would do about accuracy, on which device and with which
 * plan. */
bool group_predict(const group_job *j, bloom_report *r, err *e);

#endif
