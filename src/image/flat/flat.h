/* flat.h - shares code among the formats that hold one picture, all float here. Reading makes
 * channels Y, or R G B, and A of it. Writing takes those channels of the first part and says in the
 * log what it leaves out. */
#pragma once

#include "image/format.h"

/* Where the colours are among the channels of a part. */
typedef struct {
    const image_part *part;
    int colour[3]; /* R G B; three times the same for Y */
    int colours;   /* 1 or 3 */
    int alpha;     /* -1: none */
} flat_picture;

/* Gets row y of a picture as `count` floats for each pixel: 1 (Y), 3 (R G B), or 4 (and A, which is
 * 1 where there is none). plane[c] holds channel c of the part, or is NULL if it is not used. */
void flat_get(float *to, int count, const flat_picture *f, const void *const plane[], size_t y);

/* How rows of floats lie in a file: the lowest first, with `count` numbers a pixel. */
typedef struct {
    uint64_t start; /* of the lowest row */
    int count;
    bool swapped; /* they are big endian */
} flat_numbers;

/* What the readers and writers of all these formats have: the first member of theirs. */
typedef struct {
    par *threads;
    par_fn *each;         /* reads or writes row `row + index`; its ctx is the reader or writer */
    flat_picture picture; /* set by flat_header or flat_take, as the next */
    uint32_t width, height;
    file_out *out;        /* of a writer */
    file_in *in;          /* of a reader, or NULL; flat_close closes it, and frees `pixels` */
    void *pixels;         /* of a format that holds the whole picture */
    flat_numbers numbers; /* of a format whose rows lie in the file as they are */
    /* The band in work, for `each`: where samples go, or come from. */
    uint32_t row;
    void *const *plane;
    const void *const *from;
} flat_file;

/* Returns a zeroed reader or writer of `bytes` bytes, which begins with a flat_file. */
void *flat_new(size_t bytes, par_fn *each, par *threads, err *e);

typedef struct {
    uint64_t width, height;
    int colours; /* 1 or 3 */
    bool alpha;
} flat_size;

/* Begins a reader: checks the size against the limits, and fills the header with one part. */
bool flat_header(flat_file *f, image_header *h, const flat_size *size, const image_limits *limits,
                 err *e);
/* Begins a writer: finds the picture and notes what the format does not hold. */
bool flat_take(flat_file *f, file_out *file, const image_header *h, const image_format *format,
               err *e);

/* Serve as functions of an image_format: run `each` for the rows of a band, and free. */
bool flat_read(void *file, int part, uint32_t row, uint32_t rows, void *const plane[], err *e);
bool flat_write(void *file, int part, uint32_t row, uint32_t rows, const void *const plane[],
                err *e);
void flat_close(void *file);

/* Serve as `each` of formats with rows of floats. */
bool flat_read_numbers(void *file, size_t i, int worker, err *e);
bool flat_write_numbers(void *file, size_t i, int worker, err *e);
/* Fails where a file ends before its numbers do, and tells the bytes behind them. */
bool flat_numbers_there(const flat_file *f, uint64_t *behind, err *e);

/* Apply the curve of sRGB, from 0..1 to 0..1: to linear light, and back. */
float flat_from_srgb(float v);
float flat_to_srgb(float v);
