/* screen_ocio.h - displays and views of the OpenColorIO config of $OCIO, through its C++ library.
 * Light is given to it as ACES2065-1 where the config has the role aces_interchange, else as its
 * role scene_linear, in whose primaries the image must be then. Exceptions do not leave. */
#pragma once

#include "base/err.h"
#include "colour/primaries.h"

typedef struct screen_ocio screen_ocio;

/* `name` is "DISPLAY/VIEW", "VIEW" or "": what is missing is the config's default. */
screen_ocio *screen_ocio_open(const char *name, err *e);
void screen_ocio_close(screen_ocio **s);
/* Returns the primaries that light must be in, or NULL: it is taken as it is. */
const primaries *screen_ocio_primaries(const screen_ocio *s);
/* Replaces R G B by the colours of the display. */
bool screen_ocio_show(const screen_ocio *s, float *rgb, size_t pixels, err *e);
