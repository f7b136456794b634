/* flat.h - shares code among the formats that hold one picture.
 *
 * Such a picture has one or three colours and perhaps alpha, all float here, and no window but its
 * own. Reading makes channels Y, or R G B, and A of it. Writing takes those channels of the first
 * part and says in the log what it leaves out. */
#ifndef IMAGE_FLAT_H
#define IMAGE_FLAT_H

#include "image/format.h"

/* Where the colours are among the channels of a part. */
typedef struct {
    int colour[3]; /* R G B; three times the same for Y */
    int colours;   /* 1 or 3 */
    int alpha;     /* -1: none */
} flat_picture;

/* Fills *h with one part; holds the size against the limits. */
bool flat_header(image_header *h, uint64_t width, uint64_t height, int colours, bool alpha,
                 const image_limits *limits, err *e);
/* The channels of a part by their names. False, with an error, where there is no picture. */
bool flat_find(flat_picture *f, const image_part *p, err *e);
/* For writers: finds the picture and notes what the format does not hold. */
bool flat_check(flat_picture *f, const image_header *h, const char *format, bool holds_alpha,
                err *e);
/* n pixels from sample `first` as `count` floats each: 1 (Y), 3 (R G B), 4 (and A, 1 where there
 * is none). */
void flat_get(float *to, int count, const flat_picture *f, const image_part *p,
              const void *const plane[], size_t first, size_t n);

/* A row of a band, for par_for: what a format's functions of rows get as their context. */
typedef struct {
    void *file; /* the format's reader or writer */
    uint32_t row;
    void *const *plane;      /* where the samples go */
    const void *const *from; /* or come from */
} flat_rows;

/* Returns 1: these formats read and write any rows. */
uint32_t flat_one_row(const void *state, int part);

/* The curve of sRGB, from 0..1 to 0..1: to linear light, and back. */
float flat_from_srgb(float v);
float flat_to_srgb(float v);

#endif
