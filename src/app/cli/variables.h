/* variables.h - ${NAME} in the strings of suites. Within a list the first of a name counts; "$${"
 * stands for "${". */
#pragma once

#include "base/json.h"
#include "base/text.h"

typedef struct variables variables;

/* Most bytes of a string once its variables are replaced, and of all strings of a suite together.
 * Variables of variables would grow without end. */
enum { VARIABLES_STRING = 64 << 10, VARIABLES_TOTAL = 64 << 20 };

typedef struct {
    char *name, *value;
} variable;

struct variables {
    variable *item;
    size_t count;
    variables *weaker; /* the next list to search: a case overrides its suite; may be NULL */
    size_t *total;     /* sum of the bytes of all results; NULL: not counted */
};

/* Adds a copy. A name has letters, digits and _, and does not start with a digit. */
bool variables_add(variables *v, const char *name, const char *value, err *e);
/* Adds the variables of "NAME=VALUE,NAME=VALUE". Fails with ERR_USAGE. */
bool variables_parse(variables *v, const char *list, err *e);
/* Frees the variables of this list; the chain stays. */
void variables_clear(variables *v);
/* Appends `s` with its variables replaced. Fails with ERR_CONFIG for a name that is not known, with
 * the nearest one, and where the result exceeds a limit. */
bool variables_expand(const variables *v, const char *s, text *to, err *e);
/* Does the same for the string at `v`; a path gets the folder of its file. */
bool variables_string(const variables *words, const json_value *v, bool path, text *to, err *e);
