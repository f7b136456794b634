/* stream.h - images that come through standard input, one after the other.
 *
 * EXR and PFM images follow one another until the end; of any other format there is one image,
 * which ends with the input. Each is put into memory as a file without a name, so that the readers
 * of images, which read at any offset, can open it. */
#ifndef APP_STREAM_H
#define APP_STREAM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int fd;             /* the file in memory, or -1 */
    char path[32];      /* its path, while an image is in it */
    const char *format; /* of the image, by its name in the table of formats */
    size_t count;       /* images so far */
    uint64_t bytes;     /* of that file; mem_take knows them */
} stream;

void stream_open(stream *s);
void stream_close(stream *s);
/* Fetches the next image. Returns false at the end, with no error, or when it fails. */
bool stream_next(stream *s, err *e);

#endif
