/* json_out.h - writes JSON into a text: commas, escapes, line breaks and numbers in one place.
 *
 * It does not know what is written: the caller opens objects and arrays, adds members in order and
 * closes what it opened. Every function takes the member's key, which is NULL in an array. Keys are
 * written as they are; values of strings are escaped. JSON has no NaN and no infinity, so such
 * numbers become null, or a word where the caller asks for one. */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSON_OUT_DEPTH = 16 };

/* Begin with `json_out j = {.to = &text}`. A function that writes one value inside a document whose
 * outer part is written elsewhere sets `depth` to the number of objects and arrays around it, so
 * that its lines are indented rightly. The writer holds no memory and needs no closing. */
typedef struct {
    text *to;
    int depth;
    /* Of the writer alone: */
    bool line;      /* the next member, or the closing bracket, begins a line... */
    int spaces;     /* ...with so many blanks; -1: by its depth */
    uint32_t some;  /* bit d: the object or array at depth d has a member */
    uint32_t array; /* bit d: it is an array */
} json_out;

/* Lets the next member, or the next closing bracket, begin a new line: indented by two blanks a
 * level, or by `spaces`. It does nothing before the closing bracket of an empty array or object. */
void json_line(json_out *j);
void json_line_at(json_out *j, int spaces);

/* Open an object or array as the next member, and close the innermost that is open. */
void json_object(json_out *j, const char *key);
void json_array(json_out *j, const char *key);
void json_close(json_out *j);

/* Add one member. A string that is NULL becomes null. */
void json_string(json_out *j, const char *key, const char *s);
void json_bool(json_out *j, const char *key, bool b);
void json_int(json_out *j, const char *key, int64_t n);
void json_uint(json_out *j, const char *key, uint64_t n);
/* Add a number with so many digits in all, as %g writes it; 17 bring every double back. */
void json_real(json_out *j, const char *key, int digits, double v);
/* The same, but "inf", "-inf" or "nan" for a number that is not finite. */
void json_real_or_word(json_out *j, const char *key, int digits, double v);
/* Add a number with so many digits behind the point. */
void json_fixed(json_out *j, const char *key, int decimals, double v);
/* Add text that is JSON already. */
void json_raw(json_out *j, const char *key, const char *json);
/* Add an array of numbers on one line. */
void json_uints(json_out *j, const char *key, const uint32_t *n, size_t count);

#endif
