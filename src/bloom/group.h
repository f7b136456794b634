/* group.h - one colour group of an image: measured, convolved, judged, stored.
 *
 * The way of a group through this folder is group_bloom, in one piece. It knows no files and no
 * windows: the image is as it is to be computed. */
#ifndef BLOOM_GROUP_H
#define BLOOM_GROUP_H

#include "base/text.h"
#include "bloom/view.h"

/* The glare alone, for emit_layer, as a channel of the image: its name is LAYER.R, LAYER.diffuse.R
 * and so on. */
typedef struct {
    text name;
    pixel_type type; /* to be stored in */
    float *plane;
} group_plane;
typedef struct {
    uint32_t channels;
    group_plane channel[VIEW_CHANNELS];
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
    const layer_light *light; /* of the layer */
    uint32_t height;       /* of the part before its window changed: kernels may be sized by it */
    const view_tile *tile; /* NULL: the part is a whole image */
    group_glare *glare;    /* NULL: not wanted */
} group_job;

/* Blooms the group in place and enters it into the report. */
bool group_bloom(const group_job *j, bloom_report *r, err *e);

/* Enters into the report what group_bloom would do about accuracy, on which device and with which
 * plan. */
bool group_predict(const group_job *j, bloom_report *r, err *e);

#endif
