/* tiled_window.h - data windows that change, of an image that is bloomed in tiles: stands between
 * bloom and the rows.
 *
 * Who reads through it sees the part in the window that is computed, with zeros outside of the
 * file's. Of the rows that are written, those within the window that is kept go on, with all
 * channels of the part: data moves with the colour. */
#ifndef BLOOM_TILED_WINDOW_H
#define BLOOM_TILED_WINDOW_H

#include "bloom/tiled.h"

typedef struct {
    image_box computed, kept; /* of a part */
} tiled_box;

typedef struct tiled_windows tiled_windows;

/* Opens the windows of an image with this header, one for each part; all arguments must outlive
 * them. */
tiled_windows *tiled_windows_open(const bloom_settings *s, const image_header *h,
                                  const tiled_box *box, const bloom_rows *under, err *e);
void tiled_windows_close(tiled_windows **w);
/* Return the header and the rows that bloom sees. */
const image_header *tiled_windows_header(const tiled_windows *w);
const bloom_rows *tiled_windows_rows(const tiled_windows *w);
/* Enters what was cut off into the ledger's rows from `first` on. */
void tiled_windows_cut(const tiled_windows *w, int part, bloom_report *r, uint32_t first);

#endif
