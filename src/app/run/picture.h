/* picture.h - makes a picture (.png) of an image that comes in rows.
 *
 * The light of the whole picture is in memory until it is developed, since the exposure that suits
 * a picture follows from all of it. */
#ifndef APP_PICTURE_H
#define APP_PICTURE_H

#include "app/run/output.h"
#include "app/run/stages.h"

typedef struct {
    const output *o;
    preview_options as;
    image_part is;       /* the part that is shown; its names belong to the header */
    preview_light light; /* of its display window */
    file_out *file;      /* NULL: the light is only looked at */
} picture;

/* Begins a picture of the image with this header, which must outlive it. Without a path the light
 * is only collected. Close it with picture_close, also after a failure. */
bool picture_open(picture *p, const output *o, const image_header *h, const char *path, err *e);
void picture_close(picture *p);

/* Adds rows of the part, in any order. */
bool picture_add(picture *p, const rows_band *b, err *e);
/* Adds all rows of the way in, whose header is that of the picture. */
bool picture_take(picture *p, stages *from, err *e);
/* Develops the picture and completes its file, which picture_commit puts in its place. NAN: with
 * the exposure that suits it. *stops receives the exposure. */
bool picture_develop(picture *p, float *stops, err *e);
bool picture_commit(picture *p, err *e);

/* Returns about how many bytes a picture takes. */
uint64_t picture_bytes(const image_header *h);
/* Returns false, with an error that says so, where the output is a picture that is too large for
 * the memory's limit. */
bool picture_fits(const output *o, const image_header *h, err *e);

#endif
