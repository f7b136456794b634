/* preview.h - makes a picture to look at of an image's first colour group.
 *
 * The picture shows the display window at one exposure on a screen (screen.h). Pixels that are not
 * opaque lie over black. Bytes are rounded with noise that follows from the place of a pixel. It is
 * made in two steps, so that several pictures can have one exposure: its light, its development. */
#pragma once

#include "base/par.h"
#include "base/text.h"
#include "image/flat/screen.h"
#include "image/image.h"

typedef struct {
    int part;       /* of the image */
    uint32_t width; /* at most; larger images are averaged in boxes. 0: 1920 */
    bool whole;     /* show the data window */
    bool exposed;   /* multiply the light by 2^stops; else by what suits the picture */
    float stops;
    const screen *on; /* NULL: SCREEN_FILM */
} preview_options;

typedef struct {
    uint8_t *pixel; /* R G B, as png_encode takes them; free with mem_free */
    uint32_t width, height;
    float stops; /* of exposure that it was developed with */
} preview_picture;

/* The light of a picture: linear R G B in the primaries of the screen. */
typedef struct {
    float *pixel; /* free with mem_free */
    uint32_t width, height;
    double luminance[3]; /* the weights of its luminance */
} preview_light;

/* Refuses pictures that are too large: with more than 2^30 pixels. */
bool preview_may_have(uint64_t width, uint64_t height, err *e);
/* Takes the light of one part into to->pixel, or into memory of its own where that is NULL. */
bool preview_take(preview_light *to, const image *img, const preview_options *o, par *threads,
                  err *e);
/* Returns the exposure in stops that suits it. */
float preview_stops(const preview_light *l);
bool preview_develop(preview_picture *to, const preview_light *l, const preview_options *o,
                     par *threads, err *e);
bool preview_make(preview_picture *to, const image *img, const preview_options *o, par *threads,
                  err *e);

/* Returns about the bytes that both take for a picture of this size. */
uint64_t preview_bytes(uint64_t width, uint64_t height);

/* Returns the part that a picture shows: the first with colour, or else the first. Adds a sentence
 * to `left_out`, if not NULL, about what it does not show. */
int preview_part(const image_header *h, text *left_out);
