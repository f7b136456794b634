/* exr_read.h - reads an EXR file as bands of rows, and as chunks. A band is decoded chunk by chunk
 * on all threads, straight into the planes; nothing of the file is held but its headers. */
#pragma once

#include "image/exr/exr_chunk.h"
#include "image/exr/exr_file.h"

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
