/* config.h - JSON config files of runs, with the options of the table as keys; and ${NAME} in the
 * strings of suites.
 *
 * A file is an object with "version": 1 and any options that config files may hold; a "$schema" for
 * editors is ignored. Relative paths start from the file's folder. What is wrong is refused with
 * ERR_CONFIG at its line and column. The reader does not know whether options fit together. */
#pragma once

#include "app/cli/options.h"

/* --- variables: within a list the first of a name counts; "$${" stands for "${" --- */

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

/* --- files --- */

enum { CONFIG_VERSION = 1 };

/* Where the values of a file go. */
typedef struct {
    settings *s;
    const variables *words; /* the values of ${NAME} in strings; NULL: they are kept as they are */
    bool in_suite;
} config_reader;

/* Reads a config file and sets its values, with their line as origin. Keys that the command does
 * not take are checked, too: one file serves all commands. */
bool config_load(settings *s, const char *path, err *e);
/* Read a file, whose length is added to `bytes`; the members of one object except `version` and
 * `$schema`; or one member, for files that hold configs among other things. */
bool config_file(const config_reader *r, const char *path, uint64_t *bytes, err *e);
bool config_object(const config_reader *r, const json_value *object, err *e);
bool config_member(const config_reader *r, const json_value *v, const option *o, err *e);
/* Returns a string with its variables replaced, to be freed with mem_free. Refuses another type and
 * an empty string; `what` names the value. */
char *config_string(const variables *words, const json_value *v, const char *what, bool path,
                    err *e);
/* Sets the error "must be a string, not a number"; `types` are bits 1 << json_type. */
bool config_wrong_type(const json_value *v, const char *key, uint32_t types, err *e);
/* Checks that the object has "version": 1. */
bool config_check_version(const json_value *object, err *e);
