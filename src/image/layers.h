/* layers.h - decides which channels are light and which are data.
 *
 * Colour may be blurred: `R G B`, `layer.R layer.G layer.B`, luminance `Y`, in capitals or not, or
 * as `layer.red` and so on; and a part's only channel, if its name is not one of data. The words in
 * the names of layer and part tell data, and so do Cryptomatte's attributes and the colorInteropID
 * `data`. Alpha goes with its colour. Any channel that is not clearly colour is data. */
#pragma once

#include "image/image.h"

enum { LAYER_MAX_CHANNELS = 4 };

typedef struct {
    char *name;     /* "" for R G B, "diffuse" for diffuse.R, "right" for right.Y */
    int channel[3]; /* R G B in this order, or Y alone; -1 where absent */
    int channels;   /* 1 or 3 */
    int alpha;      /* the A of the same layer, or -1 */
} layer_group;

typedef struct {
    layer_group *group;
    int groups;
    bool *is_data; /* per channel of the part */
} layer_map;

/* Fills the map of a part, to be freed with layer_map_free.
 *
 * `layers` and `exclude` are comma-separated globs over layer names and full channel names, or
 * NULL. The name of a layer stands for its colour and alpha, or in a layer without colour for all
 * its channels; the unnamed layer also answers to `rgba` and to the name of its part. With
 * `layers`, exactly the channels that it matches are colour, whatever their names; those that are
 * not R G B become groups of one. `exclude` wins over it. uint channels stay data always: naming
 * one in `layers` is an error (a glob with wildcards just passes them by). A glob that matches
 * nothing in the part is not an error here, since another part may have it: see layer_globs_check.
 *
 * The unnamed layer's group is the first; the others follow in the order of the channels. */
bool layer_map_make(layer_map *m, const image_part *p, const char *layers, const char *exclude,
                    err *e);
void layer_map_free(layer_map *m);

/* Refuses, with ERR_USAGE and the layers that there are, a glob that matches no channel. */
bool layer_globs_check(const image_header *h, const char *layers, const char *exclude, err *e);
