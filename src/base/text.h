/* text.h - works on strings: a growing buffer, UTF-8, names made safe to show, globs, and the
 * nearest of several names. */
#pragma once

#include "base/err.h"

/* A growing string; zeros are an empty one. Without memory it has `failed`, and is empty. */
typedef struct {
    char *s; /* NULL, or zero-terminated */
    size_t n, room;
    bool failed;
} text;

/* Returns false, with ERR_MEMORY, if the text has failed. What becomes a file asks this first. */
bool text_check(const text *t, err *e);
/* Sets what is called when a text fails; it need not return. Call it before any thread starts. */
void text_on_failure(void (*call)(void));

/* Add formatted text, and bytes as they are. */
void text_add(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(text *t, const char *bytes, size_t n);
/* Adds a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void text_add_json(text *t, const char *s);
/* Does the same for bytes that may have zeros within, with one behind them. */
void text_add_json_bytes(text *t, const char *s, size_t bytes);
/* Adds a name or sentence for people, or for programs that read line by line. Control characters,
 * bytes that are not UTF-8, and characters that end a line or turn the direction of writing are
 * shown as \x1b or \u202e. "##[" becomes "\x23#[": GitHub's runners take it for a command. */
void text_add_clean(text *t, const char *s);
/* Does the same into a buffer, for places that must not allocate; returns the length. */
size_t text_clean(char *to, size_t room, const char *s);
/* Adds text as XML 1.0. What XML does not have, or is not UTF-8, becomes U+FFFD. */
void text_add_xml(text *t, const char *s);
void text_add_base64(text *t, const uint8_t *bytes, size_t n);
/* Adds a word for a POSIX shell, in single quotes. */
void text_add_quoted(text *t, const char *word);
void text_free(text *t);

/* Returns the length of the UTF-8 sequence at `s`, and its code point; 0 when the bytes are not
 * UTF-8. Overlong forms, surrogates and what lies beyond U+10FFFF are refused. */
int text_utf8(const char *s, uint32_t *code);

/* A part of a text, which does not end with a zero. */
typedef struct {
    const char *s;
    size_t n;
} text_piece;

/* Takes the next item of a list with commas between and moves `list` behind it; returns false at
 * the end. \, is a comma of the item, and blanks around an item are left out. */
bool text_item(const char **list, text_piece *item);
/* Parts a piece at its first `mark` that has no \ before it. Returns false, with the whole piece in
 * `left`, where there is none. */
bool text_part(text_piece whole, char mark, text_piece *left, text_piece *right);
/* Takes the next NAME=VALUE of such a list; the value is NULL where there is no mark. */
typedef struct {
    char name[64], room[512];
    const char *value;
} text_assignment;
bool text_next(const char **list, text_assignment *to);
/* Add a piece with , for \, ; and an item to such a list, with \ before each of these marks. */
void text_add_piece(text *t, text_piece p);
void text_add_item(text *t, const char *item, const char *marks);

/* Read a number as people write it: decimal and finite, without blanks and "0x". text_leading reads
 * one from the beginning of `s`, and returns what stands behind it, or NULL. */
const char *text_leading(const char *s, double *to);
bool text_number(const char *s, double *to);
/* Reads 0.3 or 30%. */
bool text_fraction(const char *s, double *to);
/* Reads WxH, or N for N x N: whole numbers of at most 9 digits. */
bool text_sides(const char *s, uint32_t to[2]);

/* Matches a shell glob: * ? [a-z] [!a-z], and \ before a character that means itself. */
bool text_glob(const char *pattern, const char *s);
/* Matches any glob of a list, as text_item reads it. */
bool text_glob_any(const char *patterns, const char *s);

/* Returns the index of the name nearest to `s` by edit distance, or -1 when none is near. */
int text_nearest(const char *s, const char *const *names, int count);

/* Writes "; did you mean 'star'?" with the nearest name, or "" where none is near. */
enum { TEXT_MEANT = 128 };
const char *text_meant(char buf[TEXT_MEANT], const char *s, const char *const *names, int count,
                       char quote);

/* Adds the shortest digits, from six on, that give the same number. */
void text_add_number(text *t, double x);

/* Writes a number of bytes for people, such as "1.5 GB" or "720 kB", and returns buf. */
const char *text_bytes(double bytes, char buf[32]);
