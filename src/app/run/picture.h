/* picture.h - pictures (.png) of images that come in rows. The light of a whole picture is in
 * memory until it is developed, since its exposure follows from all of it. */
#pragma once

#include "app/run/output.h"
#include "app/run/stages.h"
#include "image/flat/preview.h"

typedef struct {
    const output *o;
    preview_options as;
    image_part shown;    /* the part that is shown; its names belong to the header */
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
/* Returns about how many bytes the pictures of a frame take that are made at a time. */
uint64_t picture_bytes(const output *o, const image_header *h);
/* Returns false, with an error, where the output is a picture that is too large for the memory. */
bool picture_fits(const output *o, const image_header *h, err *e);

/* --- how the pictures of a run are developed, where the options leave it to the program --------
 *
 * A picture of a picture has been graded already: exposure 0 and the view srgb show it as it is.
 * The frames of a sequence share the exposure that suits its first frame, before the bloom, so that
 * they do not flicker, whichever worker, machine or run makes them. */

/* Returns the look of a run: exposure and view follow from an image where the options leave them
 * to it. first: how messages call it where other images follow, or NULL. For an output that is no
 * picture, and where the image cannot be read, which fails again with its frame, it is what the
 * options say. The log says what was chosen for several. */
picture_look picture_look_by(const run_choice *run, const char *input, const char *first,
                             par *threads);
/* Does the same for a job, whose first frame decides that can be read. On a farm, whose tasks each
 * see some of the frames, it is refused that there is none yet. */
bool picture_look_of(picture_look *to, const job *j, par *threads, err *e);
