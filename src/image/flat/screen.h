/* screen.h - turns linear light into the colours of a screen, for pictures to look at: film bends
 * highlights down as film does, srgb cuts off above 1, and ocio asks a config of OpenColorIO. A
 * screen takes light in primaries of its choice, and is const once it is open. */
#pragma once

#include "base/err.h"
#include "colour/primaries.h"

typedef struct screen screen;

/* Opens a screen by its name: "film" or "auto", "srgb", "ocio" (the config's default display and
 * view), "ocio:VIEW" or "ocio:DISPLAY/VIEW". The config is that of $OCIO. An unknown name is
 * refused with the names that there are. */
screen *screen_open(const char *name, err *e);
void screen_close(screen **s);
/* Returns the primaries that light must be in, or NULL: it is taken as it is. */
const primaries *screen_primaries(const screen *s);
/* Replaces R G B of `pixels` pixels by what a picture holds, 0 to 1. */
bool screen_show(const screen *s, float *rgb, size_t pixels, err *e);

/* The screen of pictures whose maker has not chosen one: film. */
extern const screen *const SCREEN_FILM;

/* The same of the OpenColorIO config of $OCIO, through its C++ library. Light is given to it as
 * ACES2065-1 where the config has the role aces_interchange, else as its role scene_linear, in
 * whose primaries the image must be then. `name` is "DISPLAY/VIEW", "VIEW" or "": what is missing
 * is the config's default. */
typedef struct screen_ocio screen_ocio;
screen_ocio *screen_ocio_open(const char *name, err *e);
void screen_ocio_close(screen_ocio **s);
const primaries *screen_ocio_primaries(const screen_ocio *s);
bool screen_ocio_show(const screen_ocio *s, float *rgb, size_t pixels, err *e);
