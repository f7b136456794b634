/* exr_inflate.h - unpacks zlib streams, two at a time.
 *
 * Where a code of deflate starts is known only when the one before it has been looked up, so that a
 * processor waits most of the time. Two streams that have nothing to do with each other fill the
 * time: two chunks take some 0.7 of the time that libdeflate takes for one after the other.
 *
 * This is for x86 processors with BMI2 and SSSE3, which nearly all have. On others libdeflate
 * unpacks. Both give the same bytes, take whatever zlib takes, and refuse what is damaged. */
#ifndef IMAGE_EXR_INFLATE_H
#define IMAGE_EXR_INFLATE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
    EXR_INFLATE_IN = 32,   /* bytes behind a stream that may be read, whatever they hold */
    EXR_INFLATE_OUT = 320, /* bytes behind the unpacked ones that may be written */
};

/* What one thread unpacks with. */
typedef struct exr_inflater exr_inflater;
exr_inflater *exr_inflater_new(err *e);
void exr_inflater_free(exr_inflater *z);
/* Leaves the work to libdeflate; this is for tests. */
void exr_inflater_plain(exr_inflater *z);

/* A stream, and where it unpacks to. It must unpack to exactly n bytes. */
typedef struct {
    const uint8_t *packed;
    size_t bytes;
    uint8_t *out;
    size_t n;
    bool ok; /* set by exr_inflate: the stream is not damaged */
} exr_stream;

/* Unpacks one stream or two. */
void exr_inflate(exr_inflater *z, exr_stream *stream, int streams);

#endif
