/* rows.h - the ways in and out of everything that works on images: rows of a part, a few at a time.
 * What is between a source and a sink never asks where rows come from. */
#pragma once

#include "image/image.h"

typedef struct {
    void *ctx;
    const image_header *head;
    /* Reads the rows [row, row + rows) of a part: any rows, and perhaps several times. plane[c]
     * receives channel c from its first sample, or is NULL to skip it. */
    bool (*read)(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[], err *e);
    /* Lends the planes of a part, brought to a window: the caller may change them, and keep those
     * in whose places it leaves NULL; a channel may be without one. NULL: the image is not in
     * memory, and is read. */
    bool (*lend)(void *ctx, int part, const image_box *window, void ***planes, err *e);
} rows_source;

/* Some rows of a part. Their pixels may be changed by a sink that takes them. */
typedef struct {
    const image_part *part; /* what the rows are of; its channels and window count */
    uint32_t row, rows;
    void **plane; /* of each channel, from `row` on */
    bool yours;   /* these are all rows, and the sink may keep planes: it leaves NULL then */
} rows_band;

typedef struct {
    void *ctx;
    /* Returns of how many rows, or multiples of them, a band must be. */
    uint32_t (*step)(void *ctx, int part);
    /* Takes rows: in the order of the part's lines, each once. */
    bool (*write)(void *ctx, int part, const rows_band *b, err *e);
    /* Takes a part as it came, if it can do so without its rows; *done says whether it has. NULL:
     * it cannot. */
    bool (*copy)(void *ctx, int part, bool *done, err *e);
} rows_sink;

/* An image in memory, as source and sink at once: what is made of its planes takes their places. */
typedef struct {
    image *img;
    image_header head; /* as it came */
    rows_source in;
    rows_sink out;
    const rows_source *rest; /* has the rows of channels without planes; NULL: nobody has them */
} rows_image;
/* Makes both; the image must outlive them. Free with rows_image_close, also after a failure. */
bool rows_image_open(rows_image *r, image *img, err *e);
void rows_image_close(rows_image *r);

/* Returns how many rows may be held of a part at a time, a multiple of `step`: as many as take
 * about a 64th of the memory's limit, and at most 16 MB. */
uint32_t rows_some(const image_part *p, uint32_t step);

/* Writes a band of which some planes are missing: their rows come from `rest`, by channel names. */
bool rows_write(const rows_source *rest, const rows_sink *to, int part, const rows_band *b, err *e);

/* Brings the rows of a part from a source to a sink, whose rows are those of `shape`. */
bool rows_copy(const rows_source *from, const rows_sink *to, int part, const image_part *shape,
               err *e);
