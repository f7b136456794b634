/* config.h - JSON config files of runs, with the options of the table as keys.
 *
 * A file is an object with "version": 1 and any options that config files may hold; a "$schema" for
 * editors is ignored. Relative paths start from the file's folder. What is wrong is refused with
 * ERR_CONFIG at its line and column. The reader does not know whether options fit together. */
#pragma once

#include "app/cli/options.h"
#include "app/cli/variables.h"

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
