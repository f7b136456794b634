/* colours.h - brings an image to linear light before it is bloomed, and to the space of its output
 * afterwards, as --input-space and --output-space say.
 *
 * An image whose attributes say that its colours are coded by a curve is refused, unless
 * --input-space says what they are: a bloom of coded values is wrong everywhere. Without the
 * options pixels and attributes stay as they are. */
#ifndef APP_COLOURS_H
#define APP_COLOURS_H

#include "app/cli/settings.h"
#include "image/recode.h"

/* What is done to the colours of a part's pixels. */
typedef struct {
    bool any; /* else nothing */
    recode how;
} colours_step;

/* Find what is done to a part with colour before it is bloomed, and for the output, and write into
 * its attributes what its colours are afterwards. `format` is that of the file. A part without
 * colour stays as it is. */
bool colours_in(colours_step *to, image_part *p, const char *format, const settings *s, err *e);
bool colours_out(colours_step *to, image_part *p, const settings *s, err *e);

/* Returns the space of the output; its curve is NULL where the colours stay as they are. */
colour_space colours_stored(const settings *s);

#endif
