/* text.h - strings: a growing buffer, globs, and the nearest of several names. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growing string, zero-initialised. Memory that cannot be had ends the program: texts are
 * small, and nothing else would run either. */
typedef struct {
    char *s; /* NULL, or zero-terminated */
    size_t n, room;
} text;

void text_add(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(text *t, const char *bytes, size_t n);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void text_add_json(text *t, const char *s);
void text_free(text *t);

/* Shell globs: * ? [a-z] [!a-z] and \ for the literal. Letters compare exactly. */
bool text_glob(const char *pattern, const char *s);
/* Any of a comma-separated list of globs; blanks around commas are ignored. */
bool text_glob_any(const char *patterns, const char *s);

/* The index of the name nearest to `s` by edit distance, or -1 when none is near enough to be
 * what was meant. */
int text_nearest(const char *s, const char *const *names, int count);

/* "1.5 GB", "720 kB": for people. */
const char *text_bytes(double bytes, char buf[32]);

#endif
