/* config.h - JSON config files of runs: the options of the table as keys.
 *
 * A file is an object with "version": 1 and any options of the table that config files may hold;
 * a "$schema" for editors is passed over; "include" names files that are read first, so that the
 * file changes what they say. Relative paths are meant from the file's folder. Refused at its line
 * and column, with ERR_CONFIG: an unknown key (the nearest name is offered), a value of the wrong
 * type or out of range, another version. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include "app/cli/json.h"
#include "app/cli/options.h"
#include "app/cli/variables.h"

enum { CONFIG_VERSION = 1, CONFIG_DEPTH = 8 };

/* Who reads, and what for. */
typedef struct {
    settings *s;
    uint32_t users;         /* whose options are keys */
    const variables *words; /* what ${NAME} stands for in strings; NULL: for itself */
    int depth;              /* of includes */
} config_reader;

/* Reads the file and sets its values, with their line as origin. Keys that the command does not
 * take are checked, too: one file serves all commands. */
bool config_load(settings *s, const char *path, err *e);

/* The members of one object of a document, but for `version` and `$schema`. */
bool config_apply(settings *s, const json_document *d, const json_value *object, err *e);

/* The same, and one member, for files that hold configs among other things. */
bool config_file(const config_reader *r, const char *path, err *e);
bool config_object(const config_reader *r, const json_document *d, const json_value *object,
                   err *e);
bool config_member(const config_reader *r, const json_document *d, const json_value *v,
                   const option *o, err *e);
/* Appends a string with its variables replaced; a path also with the folder of its file. */
bool config_text(const variables *words, const json_document *d, const json_value *v, bool path,
                 text *to, err *e);
/* "must be a string, not a number": `types` are bits 1 << json_type. */
bool config_wrong_type(const json_document *d, const json_value *v, const char *key, uint32_t types,
                       err *e);
/* The object has "version": 1. */
bool config_check_version(const json_document *d, const json_value *object, err *e);

/* The JSON types that a row's value may have: bits 1 << json_type. */
uint32_t config_json_types(option_type type, bool may_be_infinite);

#endif
