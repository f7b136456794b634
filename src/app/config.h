/* config.h - JSON config files of runs: the options of the table as keys.
 *
 * A file is an object with "version": 1 and any options of the table that config files may hold;
 * a "$schema" for editors is passed over. Relative paths are meant from the file's folder. Refused
 * at its line and column, with ERR_CONFIG: an unknown key (the nearest name is offered), a value of
 * the wrong type or out of range, another version. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include "app/json.h"
#include "app/options.h"

enum { CONFIG_VERSION = 1 };

/* Reads the file and sets its values, with their line as origin. Keys that the command does not
 * take are checked, too: one file serves all commands. */
bool config_load(settings *s, const char *path, err *e);

/* The members of one object of a document, but for `version` and `$schema`. */
bool config_apply(settings *s, const json_document *d, const json_value *object, err *e);
/* The object has "version": 1. */
bool config_check_version(const json_document *d, const json_value *object, err *e);

/* The JSON types that a row's value may have: bits 1 << json_type. */
uint32_t config_json_types(option_type type, bool may_be_infinite);

#endif
