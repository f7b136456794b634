/* preview.h - a tone-mapped picture to look at, as a PNG file or in memory.
 *
 * Takes the first colour group of a part, brings its average (of the logarithm of luminance) to a
 * middle grey, bends highlights down with a curve like film's and encodes sRGB. Where the part has
 * alpha, the picture has it, too, but no less opaque than the light needs that is there: glare
 * beyond the edge of an object stays to be seen. The same image always gives the same file. */
#ifndef IMAGE_PREVIEW_H
#define IMAGE_PREVIEW_H

#include "base/par.h"
#include "image/image.h"

typedef struct {
    uint32_t width; /* at most; larger images are averaged in boxes. 0: 1920 */
    float stops;    /* of exposure, added to what the average asks for */
    float exposure; /* the factor itself, of a picture to compare with; 0: by the average */
} preview_options;

typedef struct {
    uint8_t *pixel; /* as png_write takes them; free with mem_free */
    uint32_t width, height;
    int channels;   /* 3, or 4 with alpha */
    float exposure; /* that it was developed with */
} preview_picture;

/* `plane` as in image_write. `o` may be NULL. Refuses a part without any colour. */
bool preview_make(preview_picture *to, const image_part *p, const void *const plane[], par *threads,
                  const preview_options *o, err *e);

bool preview_write(const char *path, const image_part *p, const void *const plane[], par *threads,
                   const preview_options *o, err *e);

#endif
