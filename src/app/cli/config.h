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

/* The limits of one document with all that it includes, so that files that include each other many
 * times over end at once: how many files, how many bytes in them, and how deep they nest. */
enum { CONFIG_VERSION = 1, CONFIG_DEPTH = 16, CONFIG_FILES = 10000, CONFIG_BYTES = 64 << 20 };

/* What has been read for one document so far. */
typedef struct {
    uint32_t files;
    uint64_t bytes;
} config_total;

/* A file that is being read, and the file that includes it. Lives as long as the file is read. */
typedef struct config_chain config_chain;
struct config_chain {
    const char *path;
    const config_chain *outer; /* NULL: the outermost */
    config_total *total;       /* of the whole document */
};

/* Where the values of a file go. */
typedef struct {
    settings *s;
    const variables *words;    /* what ${NAME} stands for in strings; NULL: for itself */
    const config_chain *chain; /* the file at hand; includes need it */
} config_reader;

/* Reads a config file and sets its values, with their line as origin. Keys that the command does
 * not take are checked, too: one file serves all commands. */
bool config_load(settings *s, const char *path, err *e);

/* Reads a file that is named at `at` of `from`, inside of `outer`. Fills `own` for what the file
 * includes. Fails with ERR_CONFIG where files include each other in a loop or exceed a limit. For
 * the outermost file `from` and `at` are NULL and `outer` has no path. */
json_document *config_open(config_chain *own, const config_chain *outer, const char *path,
                           const json_document *from, const json_value *at, err *e);

/* Read one file, the members of one object but for `version` and `$schema`, and one member: for
 * files that hold configs among other things. */
bool config_file(const config_reader *r, const char *path, const json_document *from,
                 const json_value *at, err *e);
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
