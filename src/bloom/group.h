/* group.h - one colour group of an image: looked at, convolved, checked, stored. */
#ifndef BLOOM_GROUP_H
#define BLOOM_GROUP_H

#include "bloom/inside.h"
#include "image/layers.h"

/* The glare alone, for emit_layer: planes of floats, to be freed with mem_free. */
typedef struct {
    uint32_t channels;
    char *name[LAYER_MAX_CHANNELS]; /* of the channel that it is the glare of */
    pixel_type type[LAYER_MAX_CHANNELS];
    float *plane[LAYER_MAX_CHANNELS];
} group_glare;
void group_glare_free(group_glare *g);

/* height: of the part before its window changed. glare: NULL where it is not wanted. */
bool group_bloom(bloom *b, image *img, int part, const layer_group *g, uint32_t height,
                 group_glare *glare, bloom_report *r, err *e);

/* Only what would be done for accuracy. */
bool group_predict(bloom *b, image *img, int part, const layer_group *g, uint32_t height,
                   bloom_report *r, err *e);

#endif
