/* window.h - data windows that change: stands between bloom and its source and sink. It reads zeros
 * outside of the source's window, and hands on the rows within the one that is kept. */
#pragma once

#include "base/mem.h"
#include "bloom/part.h"
#include "image/rows.h"

typedef struct {
    image_box computed, kept; /* of a part; computed holds kept */
} window_boxes;

/* Finds the windows of a part. One without colour or without a kernel keeps its own. */
bool window_choose(window_boxes *to, const bloom_settings *s, const session *kernel,
                   const image_part *p, err *e);

typedef struct {
    rows_source in;
    rows_sink out;
    struct windows *own;
} window_rows;

/* Makes source and sink of an image in its windows; `from` and `to` must outlive them. Free with
 * window_rows_close, also after a failure. */
bool window_open(window_rows *w, const bloom_settings *s, const session *kernel,
                 const rows_source *from, const rows_sink *to, err *e);
void window_rows_close(window_rows *w);
/* Adds about what the rows of a part take that wait here. */
void window_memory(mem_plan *to, const window_rows *w, int part);
/* Enters what was cut off into the ledgers of a part. */
void window_cut(const window_rows *w, int part, part_made *to);
