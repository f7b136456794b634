/* output.h - the output of a run: the channels that are read for it, and whether the image fits
 * into the memory as a whole. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "app/cli/settings.h"
#include "bloom/bloom.h"
#include "image/flat/screen.h"
#include "image/format.h"

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

#endif
