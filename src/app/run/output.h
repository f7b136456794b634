/* output.h - the output of a run: its header, and the channels that are read for it. The module
 * knows nothing of sequences or of how an image is bloomed. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "app/cli/settings.h"
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

#endif
