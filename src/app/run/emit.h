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
/* Moves the channels of the emitted layer from `own` to a header of the glare's file, which is like
 * the image otherwise; parts without any are not in it. Both headers are whole after a failure. */
bool emit_split(image_header *own, image_header *apart, const settings *s, err *e);

#endif
