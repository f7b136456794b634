/* exr_attr.h - shows the value of an attribute to people and as JSON. A value of an unknown type,
 * or one that does not have the size of its type, is shown by its length. */
#pragma once

#include "base/text.h"
#include "image/image.h"

/* Adds one line: numbers with blanks between them, or at most `longest` bytes of a string. */
void exr_attr_text(const image_attr *a, size_t longest, text *to);
/* Adds a JSON value: a number, an array, a string, or {"bytes": N}. */
void exr_attr_json(const image_attr *a, text *to);
