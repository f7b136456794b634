/* exr_file.h - what an EXR file says about itself: headers, attributes, chunk tables. The reader is
 * our own, since the libraries' header parsers are where damaged files break them. All sizes are
 * held against the limits and the length of the file before anything is allocated for them.
 *
 * Refused, by name: deep data, luminance and chroma, subsampled channels, and files with chunks
 * that were never written. Every attribute is kept as raw bytes; exr_write writes them again. */
#pragma once

#include "base/file.h"
#include "base/text.h"
#include "image/exr/exr_chunk.h"
#include "image/format.h"
#include "image/image.h"

typedef struct {
    exr_layout layout;
    uint64_t *offset; /* in the file, of each chunk of level 0 */
} exr_table;

typedef struct {
    bool multipart;   /* chunks start with the number of their part */
    exr_table *table; /* of each part */
    int parts;
} exr_file;

enum { EXR_MAGIC = 20000630, EXR_LONGEST_NAME = 255 };
/* Flags in the version. */
enum { EXR_TILED = 0x200, EXR_LONG_NAMES = 0x400, EXR_DEEP = 0x800, EXR_MULTIPART = 0x1000 };

/* Fills what starts as zeros; the caller frees both, also after a failure. */
bool exr_file_read(exr_file *x, image_header *h, const file_in *f, const image_limits *limits,
                   err *e);
void exr_file_free(exr_file *x);
/* Brings an image of a stream, to the end of its last chunk: `fetch` of image_format. */
bool exr_fetch(const char *path, const image_limits *limits, const image_source *from, err *e);

/* The bytes before the data of a chunk: [part] y size, or [part] tx ty 0 0 size. */
enum { EXR_CHUNK_HEAD = 24 };
static inline size_t exr_chunk_head(bool multipart, bool tiled) {
    return (multipart ? 4u : 0u) + (tiled ? 20u : 8u);
}
/* Which chunk of a file. */
typedef struct {
    const image_part *part;
    const exr_layout *layout;
    int number; /* of the part; -1 in a file of one part */
    uint64_t index;
} exr_place;
/* Fills the head of a chunk and returns its length. To check a head that was read, compare all but
 * its last four bytes, the size. */
size_t exr_chunk_head_make(uint8_t head[EXR_CHUNK_HEAD], const exr_place *at, uint32_t bytes);

/* Reads bands of rows: decoded chunk by chunk on all threads, straight into the planes. */
typedef struct exr_reader exr_reader;
void *exr_read_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                    err *e);
bool exr_read_band(void *reader, int part, uint32_t row, uint32_t rows, void *const plane[],
                   err *e);
uint32_t exr_read_rows(const void *reader, int part);
void exr_read_close(void *reader);

/* Reads chunk `index` of level 0 as it stands in the file into s->packed, for copies. Several
 * threads may do so at the same time. */
bool exr_read_chunk(const exr_reader *r, int part, uint64_t index, exr_scratch *s, err *e);
const exr_layout *exr_read_layout(const exr_reader *r, int part);
const image_part *exr_read_part(const exr_reader *r, int part);

/* Add the value of an attribute: as a line with numbers, or at most `longest` bytes of a string;
 * and as JSON, a number, an array, a string, or {"bytes": N} where the size is not its type's. */
void exr_attr_text(const image_attr *a, size_t longest, text *to);
void exr_attr_json(const image_attr *a, text *to);
