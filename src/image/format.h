/* format.h - reads and writes image files of any format, in bands of rows or whole.
 *
 * image_open checks the whole header and the chunk table, so the caller may trust every size in
 * them. Bands may be read in any order. A writer takes bands in any order, each row once; a band
 * must start and end on chunk borders (image_writer_rows). A reader or writer serves one thread at
 * a time, and does its work on the pool that it was opened with. To add a format: one file with a
 * `const image_format`, one row in format.c. */
#pragma once

#include "base/file.h"
#include "base/par.h"
#include "image/image.h"

/* Limits for hostile files, checked before anything is allocated. Zero means the default. */
typedef struct {
    uint64_t samples;   /* per part, all channels: none, as memory decides */
    uint32_t side;      /* of data and display windows: IMAGE_SIDE */
    uint32_t channels;  /* 1024 */
    uint32_t parts;     /* 1024 */
    const char *called; /* how messages name the file, which must outlive it; NULL: by its path */
} image_limits;

typedef struct image_reader image_reader;
typedef struct image_writer image_writer;

enum { IMAGE_HEAD = 12 }; /* bytes that tell the format; each image has more */
/* Where the rest of a file comes from that has only a beginning yet. */
typedef struct {
    /* Makes the file at least so long; UINT64_MAX: as long as it gets. Fails where the bytes end
     * earlier. */
    bool (*bring)(void *ctx, uint64_t bytes, err *e);
    void *ctx;
    const char *called; /* as in image_limits */
} image_source;
/* Brings one image, to its end, into a file that has its first IMAGE_HEAD bytes, or fewer where
 * there are no more. Names its format. Formats whose end cannot be told take all that comes. */
bool image_fetch(const char *path, const char **format, const image_source *from, err *e);
/* Opens a file for reading. Its content decides its format, not its name. NULL for `limits` sets
 * the defaults. The header and the path belong to the reader. */
image_reader *image_open(const char *path, const image_limits *limits, par *threads, err *e);
void image_reader_close(image_reader **r);
const image_header *image_reader_header(const image_reader *r);
const char *image_reader_path(const image_reader *r);
const char *image_reader_called(const image_reader *r);
/* Returns the rows between chunk borders of a part: what reading a row unpacks at the least. */
uint32_t image_reader_rows(const image_reader *r, int part);
/* Returns about the bytes that a thread has in its hands while a part is read and written again as
 * `to`, where a chunk of it has `rows` rows. */
uint64_t image_hands_bytes(const image_part *from, const image_part *to, uint32_t rows);
/* Reads the rows [row, row + rows) of the data window, counted from its top. plane[c] receives
 * channel c from its first sample, or is NULL to skip it. */
bool image_read(image_reader *r, int part, uint32_t row, uint32_t rows, void *const plane[],
                err *e);

/* Returns whether a path is standard output: "-", or with the name of a format "exr:-". Without a
 * name image_create does not know what to write. */
bool image_is_stream(const char *path);
/* Returns whether a word ends as the name of an image that can be read. */
bool image_is_name(const char *word);
/* Returns false where image_create would fail for any image: the file extension is not supported
 * (ERR_USAGE), or the folder does not exist (ERR_CANT_CREATE). */
bool image_can_create(const char *path, err *e);
/* Creates a file in the format of its extension. The header, which is copied, says what will be
 * written. The file appears under its name in image_commit; `way` is that of file_out_open. */
image_writer *image_create(const char *path, const image_header *h, file_way way, par *threads,
                           err *e);
/* Returns whether a file of this name ("": an EXR file) may hold other samples of a channel than a
 * writer is given, as the part's codec packs them. */
bool image_loses(const char *path, const image_part *p, int channel);
/* Returns the rows between chunk borders of a part. */
uint32_t image_writer_rows(const image_writer *w, int part);
/* Writes the rows [row, row + rows) of a part; plane[c] holds channel c from its first sample. */
bool image_write(image_writer *w, int part, uint32_t row, uint32_t rows, const void *const plane[],
                 err *e);
/* Copies a part that has the same channels in both files chunk by chunk, without decoding it.
 * *done: the files are EXR, and its packing and window are the same in both. */
bool image_copy_part(image_writer *w, int to, image_reader *r, int from, bool *done, err *e);
/* Returns whether samples were packed with loss so far; those of parts that were copied were not.
 */
bool image_lossy(const image_writer *w);
/* Puts the file in its place and frees the writer, whatever it returns. */
bool image_commit(image_writer **w, err *e);
/* Frees the writer and leaves no file. NULL is fine. */
void image_writer_free(image_writer **w);

/* Read and write a whole image; image_save replaces an old file. */
image *image_load(const char *path, const image_limits *limits, par *threads, err *e);
bool image_save(const char *path, const image *img, par *threads, err *e);

/* Writes a whole image, commits and frees `w`. NULL for `w` is the failure of image_create. */
bool image_save_to(image_writer *w, const image *img, err *e);

/* --- for the files of single formats ---
 *
 * format.c checks all arguments: limits have no zeros, rows lie in the part, bands are whole and
 * come once. The header that `open` fills and `create` is given outlives the state; `create` may
 * change in it what the format cannot write (a compression). Errors need not name the file. */
typedef struct {
    const char *name;
    const char *extensions; /* "exr" or "hdr,pic" */
    /* Brings the rest of an image; NULL: nothing says where it ends. */
    bool (*fetch)(const char *path, const image_limits *limits, const image_source *from, err *e);
    bool holds_alpha;
    const char *magic[6]; /* files begin with one of these */
    void *(*open)(const char *path, const image_limits *limits, par *threads, image_header *h,
                  err *e);
    bool (*read)(void *r, int part, uint32_t row, uint32_t rows, void *const plane[], err *e);
    uint32_t (*reader_rows)(const void *r, int part); /* NULL: 1 */
    void (*close)(void *r);
    /* The file outlives the state, and is closed by format.c. NULL: the format is not written. */
    void *(*create)(file_out *file, image_header *h, par *threads, err *e);
    uint32_t (*writer_rows)(const void *w, int part); /* NULL: 1 */
    bool (*write)(void *w, int part, uint32_t row, uint32_t rows, const void *const plane[],
                  err *e);
    /* Both may be NULL. Asked first: are the parts packed alike, so that chunks can be copied? */
    bool (*can_copy)(const void *w, int to, const void *r, int from);
    bool (*copy_part)(void *w, int to, void *r, int from, err *e);
    /* Of a part as it is to be packed, and of what is written so far. NULL: nothing is lost. */
    bool (*loses)(const image_part *p, int channel);
    bool (*lossy)(const void *w);
    bool (*commit)(void *w, err *e); /* writes the rest; NULL: all is written. `discard` follows */
    void (*discard)(void *w);
} image_format;

extern const image_format FORMAT_EXR, FORMAT_HDR, FORMAT_PFM, FORMAT_PNG;
