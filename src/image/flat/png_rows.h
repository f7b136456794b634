/* png_rows.h - writes a PNG file of 8 bits a sample row by row, for pictures that are too large to
 * be in memory. The bytes of the pixels are packed in pieces by all threads; the same rows give the
 * same file, however many are given at a time. */
#ifndef IMAGE_PNG_ROWS_H
#define IMAGE_PNG_ROWS_H

#include "base/file.h"
#include "base/par.h"

typedef struct png_rows png_rows;

typedef struct {
    uint32_t width, height;
    int channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; colour not multiplied by alpha */
} png_size;

/* Begins a picture. The file stays the caller's, who commits it. Close it with png_rows_close. */
png_rows *png_rows_open(file_out *file, const png_size *size, par *threads, err *e);
void png_rows_close(png_rows **w);
/* Returns the bytes that it takes. */
uint64_t png_rows_bytes(const png_size *size, par *threads);

/* Adds the next rows, from the top down. */
bool png_rows_add(png_rows *w, const uint8_t *pixel, uint32_t rows, err *e);
/* Completes the file; all rows must have been added. */
bool png_rows_end(png_rows *w, err *e);

#endif
