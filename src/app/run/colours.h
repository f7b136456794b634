/* colours.h - brings an image to linear light before it is bloomed, and to the space of its output
 * afterwards, as --input-space and --output-space say.
 *
 * An image whose attributes say that its colours are coded by a curve is refused, unless
 * --input-space says what they are: a bloom of coded values is wrong everywhere. Without the
 * options pixels and attributes stay as they are. */
#ifndef APP_COLOURS_H
#define APP_COLOURS_H

#include "app/cli/settings.h"

/* Refuses an image whose attributes say that its colours are coded. */
bool colours_check(const image_header *h, err *e);
/* Decodes the parts that are in memory, and writes into their attributes what they are now. */
bool colours_to_linear(image *img, const settings *s, par *threads, err *e);
/* Converts and codes them for the output, and writes that into their attributes.
 */
bool colours_for_output(image *img, const settings *s, par *threads, err *e);

#endif
