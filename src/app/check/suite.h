/* suite.h - a regression suite as data: the cases that `fftbloom check` runs, and their references.
 *
 * Everything in the JSON file is read and checked before anything runs: variables are replaced, and
 * the config of each case is merged into settings like those of `fftbloom apply`. An error names
 * file, line and column and the nearest known key, with ERR_CONFIG. docs/suites.md describes the
 * format; the tables of suite_keys.h and options.h define it. The suite owns all that it holds. */
#ifndef APP_SUITE_H
#define APP_SUITE_H

#include "app/cli/settings.h"
#include "engine/engine.h"

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

/* Reads a suite. `set` is the list of variables of --set, or NULL. */
bool suite_load(suite *s, const char *path, const char *set, err *e);
void suite_free(suite *s);

/* Returns the references for a device: those of its class, or those for any. */
const suite_paths *suite_references(const suite_case *c, engine_class device);
/* Returns "cpu", "gpu", "software" or "any". */
const char *suite_class_name(int c);

#endif
