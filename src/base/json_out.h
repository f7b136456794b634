/* json_out.h - writes what a command has found into a text, as JSON or in words for people.
 *
 * A command adds its members once. In words a member of a block or list has a line with its key; an
 * object inside a line has its strings bare and its numbers behind their keys; a block in a list
 * has its first string as a heading; bytes have units, and strings that are NULL are left out. What
 * is for machines alone stands behind `if (!j->words)`.
 *
 * Every function takes the member's key, which is NULL in an array. Keys are written as they are;
 * values of strings are escaped. Numbers that are not finite become null, or a word. */
#pragma once

#include "base/text.h"

enum { JSON_OUT_DEPTH = 16 };

/* A writer begins as json_begin gives it, or as `json_out j = {.to = &text}`. One that writes a
 * value inside a document whose outer part is written elsewhere sets `depth` to the number of
 * objects and arrays around it. */
typedef struct {
    text *to;
    bool words; /* for people */
    int depth;
    /* The writer's own: */
    bool line; /* the next member begins a line though it is in no block; in words: a list at the
                * top is open, which has no key and is not indented */
    uint32_t some;  /* bit d: what is open at depth d has a member, */
    uint32_t array; /* is an array, */
    uint32_t block; /* has one member a line */
} json_out;

/* Begin and end a whole document of this program: a block with its version. told_begin begins one
 * in words unless `json` is set. json_end closes what is open. */
json_out json_begin(text *to);
json_out told_begin(text *to, bool json);
void json_end(json_out *j);

/* Open an object or array as the next member, and close the innermost that is open. The members of
 * a block (an object) or list (an array) stand on lines of their own. */
void json_object(json_out *j, const char *key);
void json_array(json_out *j, const char *key);
void json_block(json_out *j, const char *key);
void json_list(json_out *j, const char *key);
/* Opens an object that has one member a line in words alone. */
void json_sheet(json_out *j, const char *key);
void json_close(json_out *j);

/* Lets the next member begin a line though it is in no block, or the closing bracket unless the
 * array or object is empty. */
void json_line(json_out *j);

/* Add one member. A string that is NULL becomes null. */
void json_string(json_out *j, const char *key, const char *s);
void json_bool(json_out *j, const char *key, bool b);
void json_int(json_out *j, const char *key, int64_t n);
void json_uint(json_out *j, const char *key, uint64_t n);
/* Adds a number of bytes; in words such as 1.5 GB. */
void json_size(json_out *j, const char *key, uint64_t n);
/* Adds a number with `digits` digits in all, as %g writes it; 17 bring every double back. */
void json_real(json_out *j, const char *key, int digits, double v);
/* Does the same, but writes "inf", "-inf" or "nan" for a number that is not finite. */
void json_real_or_word(json_out *j, const char *key, int digits, double v);
/* Adds a number with `decimals` digits behind the point. */
void json_fixed(json_out *j, const char *key, int decimals, double v);
/* Add several numbers: JSON_EACH(j, json_fixed, 6, {"load", load}, {"save", save}), which may be
 * json_real and json_real_or_word, too; and JSON_UINTS(j, {"w", w}, {"h", h}). */
typedef struct {
    const char *key;
    double v;
} json_member;
void json_each(json_out *j, void (*add)(json_out *j, const char *key, int digits, double v),
               int digits, const json_member *m);
#define JSON_EACH(j, add, digits, ...) \
    json_each(j, add, digits, (const json_member[]){__VA_ARGS__, {NULL, 0}})
typedef struct {
    const char *key;
    uint64_t n;
} json_count;
void json_counts(json_out *j, const json_count *m);
#define JSON_UINTS(j, ...) json_counts(j, (const json_count[]){__VA_ARGS__, {NULL, 0}})
/* Adds a moment, as seconds since 1970; in words in UTC. */
void json_moment(json_out *j, const char *key, int64_t seconds);
/* Add an array of `count` numbers. */
void json_ints(json_out *j, const char *key, const int32_t *n, size_t count);
void json_uints(json_out *j, const char *key, const uint32_t *n, size_t count);
void json_reals(json_out *j, const char *key, int digits, const double *v, size_t count);
/* Adds each line of a text as a string of its own; the text may be NULL. */
void json_lines(json_out *j, const char *lines);
/* Adds text that is JSON already. */
void json_raw(json_out *j, const char *key, const char *json);
/* Begins a member and returns the text, into which the caller writes the member's value as JSON. */
text *json_here(json_out *j, const char *key);
