/* keyed.h - values that change from frame to frame: "1001:0,1050:1".
 *
 * A keyed value is a list of keys, each a frame and a value. Between two keys the value is linear
 * in the frame's number; before the first key and after the last one it stays the same. --amount
 * and similar options take this text; {"1001": 0, "1050": 1} is the same in a config file;
 * and a CSV file (--keys) has a column of keys for each option. The module knows nothing of what
 * the values are for. */
#ifndef APP_KEYED_H
#define APP_KEYED_H

#include "base/err.h"
#include "base/text.h"

#include <stddef.h>

typedef struct {
    int frame;
    double value;
    char unit[2]; /* "" or "h", of --kernel-scale; all keys have the same */
    char *word;   /* in place of a value */
} keyed_key;

typedef struct {
    keyed_key *key; /* rising */
    size_t count;
} keyed;

/* Returns true for text that has keys. */
bool keyed_is(const char *value);
/* Returns true for text that begins with a key. */
bool keyed_begins(const char *value);
/* Reads keys in any order, of values or of words ("1001:portrait,1020:sunstar"). Fails with
 * ERR_CONFIG and what is wrong. */
bool keyed_parse(keyed *k, const char *value, bool words, err *e);
void keyed_free(keyed *k);

/* Adds the shortest digits that give the same number. */
void keyed_add_number(double x, text *to);
/* Adds one key's value, or the value at a frame, as an option takes it. */
void keyed_add_key(const keyed *k, size_t index, text *to);
void keyed_add_at(const keyed *k, int frame, text *to);
/* Adds all keys, as an option takes them or as a JSON object. */
void keyed_add_text(const keyed *k, text *to);
void keyed_add_json(const keyed *k, text *to);

#endif
