/* compare_text.h - comparisons in idiff's words, and in JSON with what idiff does not say. */
#ifndef APP_COMPARE_TEXT_H
#define APP_COMPARE_TEXT_H

#include "base/text.h"
#include "image/compare.h"

/* The summary as idiff prints it, line by line, and energy per channel. */
void compare_words(const comparison *c, const image *a, const image *b, int part,
                   const compare_limits *l, text *to);
/* {"verdict": ..., "mean": ..., "rms": ..., ...}; numbers that are not finite become strings. */
void compare_json(const comparison *c, const image *a, const image *b, int part,
                  const compare_limits *l, text *to);

#endif
