/* spill.h - the light of an image that its kernel spreads over the border.
 *
 * The table says which part of a pixel leaves the image, less what borders bring in of it.
 * bloom/promise/ledger.h makes it; an engine weighs rows with it while they are in the cache. */
#ifndef ENGINE_SPILL_H
#define ENGINE_SPILL_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t w, kernels; /* of the image; one kernel, or one for each channel */
    /* Columns (rows) from middle[..][0] to before middle[..][1] are alike: none reaches a border.
     */
    uint32_t middle[2][2];
    uint32_t rows, columns; /* of a table: all others, and behind them one for these */
    float *lost;            /* [kernel][row][column] */
} spill;

/* Returns the light of a row that is spread over the border, net. v: what is spread of the row. */
double spill_of_row(const spill *k, uint32_t channel, uint32_t y, const float *v);
/* Finds the columns of that row, from unread[0] to before unread[1], that spill_of_row does not
 * look at, since none of their light leaves the image. */
void spill_unread(const spill *k, uint32_t channel, uint32_t y, uint32_t unread[2]);

#endif
