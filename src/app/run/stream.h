/* stream.h - images that come through standard input, one after the other.
 *
 * Raw planes and PFM images follow one another until the end; of any other format there is one
 * image, which ends with the input. Each is put into memory as a file without a name, so that the
 * readers of images, which read at any offset, can open it. */
#ifndef APP_STREAM_H
#define APP_STREAM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t width, height, channels; /* of raw planes; zeros: the images say what they are */
    uint64_t frame_bytes;             /* of raw planes */
    int fd;                           /* the file in memory, or -1 */
    char path[32];                    /* its path, while an image is in it */
    char format[8];    /* of the image: "raw", "gbr", "pfm" or "exr"; "exr" stands for all
                          that come alone */
    size_t count;      /* images so far */
    uint64_t counted;  /* bytes of that file that mem_take knows */
    uint8_t ahead[16]; /* bytes that were read to know the format, */
    size_t n;          /* the number of these bytes */
} stream;

/* Begins; `raw` is "WxHxC" or NULL. */
bool stream_open(stream *s, const char *raw, err *e);
void stream_close(stream *s);
/* Fetches the next image. Returns false at the end, with no error, or when it fails. */
bool stream_next(stream *s, err *e);

#endif
