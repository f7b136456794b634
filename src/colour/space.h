/* space.h - names of colour spaces: a curve and primaries. A name has the form of a colorInteropID:
 * CURVE_PRIMARIES, and _scene or _display after it, as lin_ap1_scene. A word before a colon (ocio:)
 * is ignored. A curve alone has the primaries that go with it. Names that people and programs use
 * are known, too. Letters may be small or capital. */
#pragma once

#include "base/text.h"
#include "colour/curve.h"
#include "colour/primaries.h"

typedef struct {
    const curve *curve;
    const primaries_row *primaries; /* NULL: not known */
    bool primaries_named;           /* by the name itself, not as those that go with the curve */
} colour_space;

/* Returns false, and leaves *to alone, where the name means no space that is known. */
bool space_find(colour_space *to, const char *name);
/* Adds the colorInteropID of a space of the scene. What the Color Interop Forum has no id for gets
 * one of OpenColorIO's names, "ocio:" in front. */
void space_id(const curve *c, const primaries_row *p, text *to);

/* Refuses, with ERR_CONFIG and what to do instead, what space_find does not know or what may mean
 * two spaces. `output`: of an image that is written. */
bool space_check(const char *said, bool output, err *e);
