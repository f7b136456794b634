/* layer_light.h - what of a layer's light is spread, and how far: the settings of the whole image,
 * or those that --per-layer has for the layer.
 *
 * A list of settings is "GLOB:NAME=VALUE,GLOB:NAME=VALUE". The names are sharpen, amount (its
 * complement to 1, or a percentage), threshold, knee and mask. Globs match names of layers, the
 * unnamed layer is `rgba`; later settings win. */
#pragma once

#include "bloom/settings.h"
#include "image/layers.h"

enum { LAYER_MASK = 256 };

typedef struct {
    double sharpen;
    double threshold, knee; /* threshold 0: all light */
    char mask[LAYER_MASK];  /* the name of a channel or layer; "": none */
} layer_light;

/* Fills in the settings of a layer. Refuses a list that is wrong, whatever the layer is. */
bool layer_light_of(layer_light *to, const bloom_settings *s, const image_part *p,
                    const layer_group *layer, err *e);
/* Checks the list alone. */
bool layer_light_check(const bloom_settings *s, err *e);
/* Refuses, with ERR_USAGE, a glob that matches no colour layer of any part; the message lists
 * these. Nothing is refused if there are none. */
bool layer_light_find(const bloom_settings *s, const image_header *h, err *e);
