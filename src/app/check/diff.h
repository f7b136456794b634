/* diff.h - describes comparisons in idiff's words, and in JSON with more figures. The
 * images of a comparison must still be there: their values at the worst pixel are shown. */
#pragma once

#include "app/cli/cli.h"

int cmd_diff(const cli *c, text *out, err *e);

/* Returns the limits of `diff` or of a case of a suite. */
compare_limits compare_limits_of(const settings *s);
/* Adds the summary as idiff prints it, and the energy of each channel. */
void compare_words(const comparison *c, text *to);
/* Adds an object as the next item of an array; numbers that are not finite become strings. */
void compare_json(const comparison *c, json_out *j);
