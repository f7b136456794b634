/* suite.h - a regression suite as data: the cases that `fftbloom check` runs, and their references.
 *
 * Everything in the JSON file is read and checked before anything runs: variables are replaced, and
 * the config of each case is merged into settings like those of `fftbloom apply`. An error names
 * file, line and column and the nearest known key, with ERR_CONFIG. docs/suites.md describes the
 * format; the tables of keys and of options define it. The suite owns all that it holds. */
#pragma once

#include "app/cli/config.h"
#include "app/cli/kernel_option.h"
#include "engine/engine.h"

struct suite_case_reader;

enum {
    SUITE_CASES = 10000,
    SUITE_BYTES = 16 << 20, /* of config files */
    SUITE_ANY = ENGINE_SOFTWARE + 1,
    SUITE_CLASSES
};

/* Alternatives: the one that is nearest to the result counts. */
typedef struct {
    char **path;
    size_t count;
} suite_paths;

/* Limits of the result's light over the input's, in the channels that the glob matches. */
typedef struct {
    char *channels;
    double least, most;
} suite_energy;

typedef struct {
    char *name;
    const char *file; /* its place: the suite's path */
    int line, column;
    settings s;                           /* of the run; s.compare has the thresholds */
    kernel_choice kernel;                 /* what its kernel means */
    suite_paths reference[SUITE_CLASSES]; /* by engine_class, or SUITE_ANY */
    suite_energy *energy;
    size_t energies;
    bool cropped; /* only `crop` of the result is compared and kept as a reference */
    image_box crop;
    char *skip; /* the reason why it must not run; NULL: it may */
} suite_case;

typedef struct {
    char *path;
    suite_case *item;
    size_t count;
} suite;

/* Reads a suite, and warns of each key that has no effect in any case. `asked`: the settings of the
 * command. Its options on devices and memory win over those of a case, --set has variables, and the
 * cache is its alone: a suite must not choose where files are written. */
bool suite_load(suite *s, const char *path, const settings *asked, const settings *presets, err *e);
void suite_free(suite *s);
/* Returns the references for a device: those of its class, or those for any. */
const suite_paths *suite_references(const suite_case *c, engine_class device);
/* Returns "cpu", "gpu", "software" or "any". */
const char *suite_class_name(int c);

typedef enum { KEY_OF_SUITE = 1, KEY_OF_CASE = 2, KEY_OF_DEFAULTS = 4 } suite_key_place;

/* The table of keys of a suite file, for the reader and `fftbloom schema suite`. Options of
 * FOR_CASE (the thresholds of `diff`, verify) are keys of cases as well. */
typedef struct {
    const char *name;
    unsigned in;    /* suite_key_place */
    uint32_t types; /* 1 << json_type */
    /* Reads a key of a case. A later value replaces an earlier one; a config adds to it. NULL: the
     * key concerns more than one case. */
    bool (*read)(struct suite_case_reader *r, const json_value *v, err *e);
    const char *schema; /* what its value must be, as JSON */
    const char *help;
} suite_key;

extern const suite_key SUITE_KEYS[];
extern const int SUITE_KEY_COUNT;
