/* exr_attr.h - what an attribute says, for people and as JSON.
 *
 * Attributes travel as raw bytes; this is for showing them. Types that are not in its table, and
 * values that are not what their type promises, are shown by their length. */
#ifndef IMAGE_EXR_ATTR_H
#define IMAGE_EXR_ATTR_H

#include "base/text.h"
#include "image/image.h"

/* One line: numbers with blanks between, a string as it is but for control characters and at most
 * `longest` bytes of it. */
void exr_attr_text(const image_attr *a, size_t longest, text *to);
/* A JSON value: a number, an array, a string, or {"bytes": N}. Numbers that JSON does not have
 * become null. */
void exr_attr_json(const image_attr *a, text *to);

#endif
