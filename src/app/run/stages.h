/* stages.h - what is done to pixels on their way from the file to the bloom, and from the bloom to
 * the files: types of pixels and colour spaces.
 *
 * A stage has a header of what comes in and one of what goes out, and works on some rows at a time.
 * An image that fits goes through it at once, a larger one a few rows at a time. Only colour and
 * its alpha change: data channels stay as they are, bit for bit. */
#ifndef APP_STAGES_H
#define APP_STAGES_H

#include "app/cli/settings.h"
#include "image/format.h"
#include "image/recode.h"
#include "image/rows.h"

/* What is done to the colours of a part's pixels. */
typedef struct {
    bool any; /* else nothing */
    recode how;
} colours_step;

/* From a file to the bloom: --pixel-type float, then --input-space. */
typedef struct {
    const settings *s;
    par *threads;
    image_reader *from;
    image_header head;  /* as bloom sees the image */
    colours_step *step; /* of each part */
    double seconds;     /* that reading has taken */
} stages_in;

/* The reader must outlive it. Free with stages_in_close, also after a failure. */
bool stages_in_open(stages_in *in, image_reader *from, const settings *s, par *threads, err *e);
void stages_in_close(stages_in *in);
/* Returns its rows, which are read from the file each time. */
rows_source stages_in_rows(stages_in *in);
/* Returns whether rows of a part change on the way. */
bool stages_in_changes(const stages_in *in, int part);
/* Reads the channels with wanted[part][channel]; NULL for a part: none of its channels; NULL: all.
 */
image *stages_in_load(stages_in *in, bool *const *wanted, err *e);

/* From the bloom to the files: --output-space, then --pixel-type half. */
typedef struct {
    const settings *s;
    par *threads;
    image_header head;  /* as the image is written */
    colours_step *step; /* of each part */
    uint64_t clamped;   /* values beyond halfs that became the largest half */
} stages_out;

/* `from`: the header of what bloom makes. floats: its types stay. Free with stages_out_close, also
 * after a failure. */
bool stages_out_open(stages_out *out, const image_header *from, bool floats, const settings *s,
                     par *threads, err *e);
void stages_out_close(stages_out *out);
/* Changes rows, in place. is: what bloom made of the part. */
bool stages_out_rows(stages_out *out, int part, const rows_band *b, err *e);
/* Changes an image in memory, and its header. *clamped: likewise. Where --half-overflow is float,
 * layers with values beyond halfs stay floats. */
bool stages_out_image(image *img, const settings *s, uint64_t *clamped, par *threads, err *e);

/* Returns the space of the output; its curve is NULL where the colours stay as they are. */
colour_space colours_stored(const settings *s);

#endif
