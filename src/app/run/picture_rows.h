/* picture_rows.h - makes a picture (.png) of an image that comes in rows and is never in memory.
 *
 * It shows what output_save would show. Rows come twice where the exposure has to be found first:
 * once to be looked at, and once to be developed. */
#ifndef APP_PICTURE_ROWS_H
#define APP_PICTURE_ROWS_H

#include "app/run/output.h"
#include "app/run/stages.h"

typedef struct picture_rows picture_rows;

/* Begins a picture of the image with this header. Without a path its rows are only looked at. */
picture_rows *picture_rows_open(const output *o, const image_header *h, const char *path,
                                const float *stops, err *e);
void picture_rows_close(picture_rows **p);

/* Returns the part that is shown. */
int picture_rows_part(const picture_rows *p);
/* Adds the next rows of the part, from the top down; plane[c] holds channel c from its first. */
bool picture_rows_add(picture_rows *p, uint32_t rows, const void *const plane[], err *e);
/* Completes the picture: after it, picture_rows_commit puts the file in its place. Tells the
 * exposure that suits what was looked at. */
bool picture_rows_end(picture_rows *p, float *stops, err *e);
bool picture_rows_commit(picture_rows **p, err *e);
/* Adds all rows of the way in, whose header is that of the picture, and completes it. */
bool picture_rows_take(picture_rows *p, stages *from, float *stops, err *e);

/* Returns about how many bytes a picture takes. */
uint64_t picture_rows_bytes(const output *o, const image_header *h);

#endif
