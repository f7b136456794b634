/* exr_write.h - writes an EXR file from bands of rows, or from chunks of another file.
 *
 * Chunks are encoded on all threads and written as soon as their place in the file is known: the
 * place behind the chunk before, in the part's line order. A chunk that comes before its turn
 * waits in memory, packed; a caller that goes in the line order (from below where it decreases)
 * makes none wait for long. */
#ifndef IMAGE_EXR_WRITE_H
#define IMAGE_EXR_WRITE_H

#include "base/file.h"
#include "image/exr/exr_read.h"

/* Creates a writer, which takes the file. Compressions that this program cannot write become ZIP in
 * *h, with a note. */
void *exr_write_create(file_out **file, image_header *h, par *threads, err *e);
uint32_t exr_write_rows(const void *writer, int part);
bool exr_write_band(void *writer, int part, uint32_t row, uint32_t rows, const void *const plane[],
                    err *e);
bool exr_write_can_copy(const void *writer, int to, const void *reader, int from);
bool exr_write_copy(void *writer, int to, void *reader, int from, err *e);
bool exr_write_commit(void *writer, err *e);
void exr_write_discard(void *writer);

#endif
