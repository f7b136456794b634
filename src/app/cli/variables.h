/* variables.h - ${NAME} in the strings of suites.
 *
 * Lists are chained, the strongest first; within a list the first of a name counts. So --set wins
 * over a case, a case over its file, a file over what it includes. "$${" stands for "${". */
#ifndef APP_VARIABLES_H
#define APP_VARIABLES_H

#include "base/err.h"
#include "base/text.h"

#include <stddef.h>

typedef struct {
    char *name, *value;
} variable;

/* How long a string may become when its variables are replaced, and all strings of a suite
 * together: variables of variables would grow without end. */
enum { VARIABLES_STRING = 64 << 10, VARIABLES_TOTAL = 64 << 20 };

typedef struct variables variables;
struct variables {
    variable *item;
    size_t count;
    variables *weaker; /* asked for what is not here; may be NULL */
    size_t *total;     /* counts the bytes that were made; NULL: they are not counted */
};

/* Names are letters, digits and _, and do not start with a digit. The error names no place. */
bool variables_add(variables *v, const char *name, const char *value, err *e);
/* "NAME=VALUE,NAME=VALUE"; ERR_USAGE with what was wrong. */
bool variables_parse(variables *v, const char *list, err *e);
/* Moves what `from` has behind what `to` has. */
bool variables_append(variables *to, variables *from, err *e);
void variables_clear(variables *v); /* the chain stays */

/* Appends `s` with its variables replaced. Fails with ERR_CONFIG for a name that is not known, with
 * the nearest one, and where the result exceeds a limit. */
bool variables_expand(const variables *v, const char *s, text *to, err *e);

#endif
