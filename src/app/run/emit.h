/* emit.h - puts the glare that a bloom has emitted into a file of its own. */
#ifndef APP_EMIT_H
#define APP_EMIT_H

#include "app/cli/settings.h"

/* The layer that the glare is in where --emit-layer names none: it is in a file of its own only,
 * and there its channels have no layer before their names. */
#define EMIT_LAYER "fftbloom_emitted"

/* Moves the channels of the emitted layer out of the image, and writes them to an EXR file that is
 * like the image otherwise. */
bool emit_save(image *img, const settings *s, const char *path, par *threads, err *e);

#endif
