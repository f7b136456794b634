/* plate.h - images of a host, and our own, which are called plates: rows from the bottom up, as
 * OpenFX has them. */
#pragma once

#include "lib/fftbloom.h"
#include "ofx/fx.h"

#include <stdint.h>

typedef struct {
    char *data;    /* the first pixel of the lowest row; NULL: there are none that can be used */
    ptrdiff_t row; /* bytes to the row above; may be below 0 */
    ofx_rect_i at, whole; /* whole: of what it may be a part */
    int channels;         /* 1, 3, 4 */
    int type;             /* FB_... */
    ofx_properties image; /* of the host, until it is closed; NULL: the memory is ours */
} plate;

/* Opens an image of a clip. `image` NULL: there is none. */
void plate_open(plate *p, ofx_clip_handle clip, ofx_time time);
/* Makes one of zeros. */
bool plate_new(plate *p, ofx_rect_i at, int channels, int type);
void plate_close(plate *p);

/* Fills in the planes of a part, from its top. */
void plate_planes(const plate *p, ofx_rect_i r, fb_plane to[4]);
/* Copies a part between plates of one kind, and makes what `from` does not have 0. */
void plate_copy(const plate *to, const plate *from, ofx_rect_i r);
/* Copies the alpha of what both have. */
void plate_copy_alpha(const plate *to, const plate *from);
/* Go on with a hash of what came before. */
uint64_t plate_hash_bytes(uint64_t h, const void *data, size_t n);
uint64_t plate_hash(uint64_t h, const plate *p);

ofx_rect_i rect_common(ofx_rect_i a, ofx_rect_i b);
bool rect_empty(ofx_rect_i r);
