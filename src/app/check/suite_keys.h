/* suite_keys.h - the table of keys of a suite file, for the parser and `fftbloom schema suite`: the
 * places where a key is allowed, the JSON types of its value, its reader, its schema and a
 * sentence. Options of FOR_CASE (the thresholds of `diff`, verify) are keys of cases as well. */
#ifndef APP_SUITE_KEYS_H
#define APP_SUITE_KEYS_H

#include "app/check/suite.h"
#include "app/cli/config.h"

typedef enum { KEY_OF_SUITE = 1, KEY_OF_CASE = 2, KEY_OF_DEFAULTS = 4 } suite_key_place;

/* A case while it is read. */
typedef struct {
    config_reader config; /* into the case's settings, with its variables */
    suite_case *c;
    uint64_t *read; /* bytes of the config files of all cases */
} suite_case_reader;

typedef struct {
    const char *name;
    unsigned in;    /* suite_key_place */
    uint32_t types; /* 1 << json_type */
    /* Reads a key of a case. A later value replaces an earlier one; a config adds to it. NULL:
     * suite.c reads the key, because it concerns more than one case. */
    bool (*read)(suite_case_reader *r, const json_value *v, err *e);
    const char *schema; /* what its value must be, as JSON */
    const char *help;
} suite_key;

extern const suite_key SUITE_KEYS[];
extern const int SUITE_KEY_COUNT;

/* Finds the row of a member's key and checks its type. Returns NULL and sets *o for an option of
 * FOR_CASE, or returns NULL and sets an error with the nearest name. */
const suite_key *suite_key_find(const json_value *v, suite_key_place place, const option **o,
                                err *e);

/* Free what a case has so far of these keys, and leave none. */
void suite_clear_references(suite_case *c);
void suite_clear_energy(suite_case *c);

#endif
