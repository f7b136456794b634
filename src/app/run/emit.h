/* emit.h - puts the glare that a bloom has emitted into a file of its own. */
#ifndef APP_EMIT_H
#define APP_EMIT_H

#include "app/cli/settings.h"

/* The layer that the glare is in where --emit-layer names none: it is in a file of its own only,
 * and there its channels have no layer before their names. */
#define EMIT_LAYER "fftbloom_emitted"

/* Returns the name that a channel of the image has in the glare's file, or NULL if it is not of the
 * emitted layer. */
const char *emit_name(const image_channel *c, const settings *s);
/* Moves the channels of the emitted layer out of the image. */
image *emit_take(image *img, const settings *s, err *e);
/* Moves the channels of the emitted layer out of the image, and writes them to an EXR file that is
 * like the image otherwise. */
bool emit_save(image *img, const settings *s, const char *path, par *threads, err *e);

#endif
