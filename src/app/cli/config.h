/* config.h - JSON config files of runs: the options of the table as keys.
 *
 * A file is an object with "version": 1 and any options of the table that config files may hold. A
 * "$schema" for editors is ignored. "include" names files that are read first, so that the file can
 * change what they say. Relative paths start from the file's folder. An unknown key, a value of the
 * wrong type or out of range and another version are refused with ERR_CONFIG at their line and
 * column. The reader does not know whether options fit together. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include "app/cli/options.h"
#include "app/cli/variables.h"
#include "base/json.h"

/* Limits of one document with all that it includes: its files, their bytes, and how deep they nest.
 * Files that include each other many times over reach them at once. */
enum { CONFIG_VERSION = 1, CONFIG_DEPTH = 16, CONFIG_FILES = 10000, CONFIG_BYTES = 16 << 20 };

/* What has been read for one document so far, and how many of its files include the next one. */
typedef struct {
    uint32_t files;
    uint64_t bytes;
    int depth;
} config_total;

/* Where the values of a file go. */
typedef struct {
    settings *s;
    const variables *words; /* the values of ${NAME} in strings; NULL: they are kept as they are */
    config_total *total;
} config_reader;

/* Reads a config file and sets its values, with their line as origin. Keys that the command does
 * not take are checked, too: one file serves all commands. */
bool config_load(settings *s, const char *path, err *e);

/* Reads a file that is named at `at` (NULL: by nobody). Fails with ERR_CONFIG where files exceed a
 * limit, as those do that include each other. Free the document with json_free. */
json_document *config_open(config_total *total, const char *path, const json_value *at, err *e);

/* Read the file that is named at `at`, the members of one object except `version` and `$schema`, or
 * one member, for files that hold configs among other things. */
bool config_file(const config_reader *r, const char *path, const json_value *at, err *e);
bool config_object(const config_reader *r, const json_value *object, err *e);
bool config_member(const config_reader *r, const json_value *v, const option *o, err *e);
/* Returns a string with its variables replaced, to be freed with mem_free. Refuses another type and
 * an empty string; `what` names the value. */
char *config_string(const variables *words, const json_value *v, const char *what, bool path,
                    err *e);
/* Appends a string with its variables replaced; a path also with the folder of its file. */
bool config_text(const variables *words, const json_value *v, bool path, text *to, err *e);
/* Sets the error "must be a string, not a number"; `types` are bits 1 << json_type. */
bool config_wrong_type(const json_value *v, const char *key, uint32_t types, err *e);
/* Checks that the object has "version": 1. */
bool config_check_version(const json_value *object, err *e);

#endif
