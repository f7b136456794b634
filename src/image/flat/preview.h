/* preview.h - a picture to look at, made of an image's first colour group.
 *
 * It shows the display window at one exposure, through a curve like film's that bends highlights
 * down and keeps 0.18 at 0.18, in the primaries of sRGB. It has no alpha: what is not opaque lies
 * over black. The same image always gives the same picture. It knows nothing of files. */
#ifndef IMAGE_PREVIEW_H
#define IMAGE_PREVIEW_H

#include "base/par.h"
#include "base/text.h"
#include "image/image.h"

typedef struct {
    uint32_t width; /* at most; larger images are averaged in boxes. 0: 1920 */
    bool whole;     /* show the data window */
    bool exposed;   /* multiply the light by 2^stops; else by what suits the picture */
    float stops;
    float decades; /* above 0: instead of film, the logarithm of the light, so many decades down
                    * from the brightest pixel */
} preview_options;

typedef struct {
    uint8_t *pixel; /* R G B, as png_encode takes them; free with mem_free */
    uint32_t width, height;
    float stops; /* of exposure that it was developed with */
} preview_picture;

/* Makes the picture of one part; `plane` as in image_write, `o` may be NULL. Refuses a part without
 * any colour. */
bool preview_make(preview_picture *to, const image_part *p, const void *const plane[], par *threads,
                  const preview_options *o, err *e);

/* Returns the part that a picture of the image shows: the first with colour, or else the first.
 * Adds to `left_out`, if not NULL, a sentence about the parts and channels that it does not show.
 */
int preview_part(const image_header *h, text *left_out);

#endif
