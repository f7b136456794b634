/* kinds.h - what there is to know of a kind of value: one row each.
 *
 * A kind reads a value from text (flags, variables, presets) and from a JSON value (config files
 * and suites), puts it into the settings, writes it again as text and as JSON, and says what the
 * schema allows. A kind knows its option's row, and no option by name.
 *
 * To add a kind: one word in option_type (options.h), one row in kinds.c. */
#ifndef APP_KINDS_H
#define APP_KINDS_H

#include "app/cli/options.h"
#include "app/cli/variables.h"
#include "base/json.h"
#include "base/json_out.h"

/* Where a value goes while it is read, and how errors call it. */
typedef struct {
    settings *s;
    const option *o;
    const char *name;       /* "--padding", or "padding" in files */
    char *kept;             /* the copy of a string to which the settings point, to be freed */
    const variables *words; /* of ${NAME} in strings of JSON; NULL: they are text */
    bool in_suite;
    const json_value *at; /* in JSON the place of an error: the value, or a part of it */
    err *e;
} kind_reader;

struct option_kind {
    const char *words;  /* "a whole number", for sentences; the row's words follow "one of " */
    bool told;          /* pages say these words, since the flag does not show them */
    uint32_t types;     /* the JSON types of a value, as bits 1 << json_type */
    const char *schema; /* of which a value must meet one; @words and @range are the row's */
    /* Read a value, and change nothing where they refuse it with an error (which names no place).
     * `from` is given a value of one of `types`. */
    bool (*read)(kind_reader *r, const char *value);
    bool (*from)(kind_reader *r, const json_value *v);
    /* Write the value as a flag has it, and as JSON. Nothing is written of a string that is not
     * set, and `json` writes null. */
    void (*write)(const settings *s, const option *o, text *to);
    void (*json)(const settings *s, const option *o, json_out *to, const char *key);
};

extern const struct option_kind KINDS[OPTION_TYPES];

/* Returns the JSON types that a value of the option may have, as bits 1 << json_type. */
uint32_t kind_types(const option *o);
/* Appends "a whole number from 0 to 100" or "one of a, b, c", for sentences. */
void kind_describe(const option *o, text *to);

#endif
