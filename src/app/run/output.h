/* output.h - the output of a run: the channels that are read for it, whether the image fits into
 * the memory as a whole, and pictures (.png) of images that come in rows. The light of a whole
 * picture is in memory until it is developed, since its exposure follows from all of it. */
#pragma once

#include "app/run/job.h"
#include "app/run/stages.h"
#include "image/flat/preview.h"
#include "image/flat/screen.h"

/* An output of a run. */
typedef struct {
    const char *path;
    const settings *s;
    par *threads;
    const screen *screen; /* of pictures; NULL: film */
    const char *kernel;   /* for provenance; NULL: the settings' */
} output;

/* Returns, for each channel of a part, whether it is read at once where the image fits; free with
 * mem_free. The others are read as they are written: parts without colour, and channels of data
 * where they are many. A .png may show any part, so all are read for it. */
bool *output_channels(const output *o, const image_part *p, err *e);
/* Returns the bytes of an input and an output that stand in memory, since they are streams. */
uint64_t output_stream_bytes(const output *o, const char *input, const image_header *h);
/* Returns true if the file's extension makes it a picture. */
bool output_is_picture(const char *path);
/* Returns whether an image can be made as a whole: all that it takes, in *need, fits into the
 * memory's limit, and a device can do it. */
bool output_fits(mem_plan *need, const output *o, const image_reader *r, const bloom *b);
/* Answers for small images without the kernel; false: output_fits says it. */
bool output_fits_surely(const output *o, const image_reader *r);
/* Chooses the tiles of the first part with colour, and accounts for all that they take. */
bool output_tiling(tiling *t, mem_plan *memory, const output *o, image_reader *from, const bloom *b,
                   err *e);
/* Returns how many images of this header, of a job of `frames`, are under way at a time. Channels
 * that stay in the file take no memory. */
uint32_t output_at_a_time(const output *o, const image_header *h, size_t frames);

/* --- pictures --- */

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
/* Returns about how many bytes the pictures of a frame take that are made at a time. */
uint64_t picture_bytes(const output *o, const image_header *h);
/* Returns false, with an error, where the output is a picture that is too large for the memory. */
bool picture_fits(const output *o, const image_header *h, err *e);

/* --- how the pictures of a run are developed, where the options leave it to the program --------
 *
 * A picture of a picture has been graded already: exposure 0 and the view srgb show it as it is.
 * The frames of a sequence share the exposure that suits its first frame, before the bloom, so that
 * they do not flicker, whichever worker, machine or run makes them. */

/* Gives --exposure and --view their values where they are auto, as follows from an image; `several`
 * where other images follow. Does nothing for an output that is no picture, and where the image
 * cannot be read, which fails again with its frame. The log says what was chosen for several. */
bool exposure_settle(settings *s, const char *input, bool several, par *threads, err *e);
/* Does the same for a job, whose first frame decides that can be read. On a farm, whose tasks each
 * see some of the frames, it is refused that there is none yet. */
bool exposure_settle_job(settings *s, const job *j, par *threads, err *e);
