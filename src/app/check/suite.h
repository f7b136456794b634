/* suite.h - a regression suite as data: what `fftbloom check` runs and what it holds it against.
 *
 * A suite is a JSON file of cases. Everything in it is read and checked before anything runs:
 * includes followed, variables replaced, configs of cases merged from the files and objects that
 * they name, in settings like those of `fftbloom apply`. What is wrong has its file, line and
 * column, the nearest known key, and ERR_CONFIG. docs/suites.md describes the format; the tables of
 * suite_keys.h and options.h decide it.
 *
 * The suite owns all that it holds. */
#ifndef APP_SUITE_H
#define APP_SUITE_H

#include "app/cli/settings.h"
#include "engine/engine.h"

enum { SUITE_CASES = 10000, SUITE_ANY = ENGINE_SOFTWARE + 1, SUITE_CLASSES };

/* Alternatives: a result is held against the one that it comes nearest to. */
typedef struct {
    char **path;
    size_t count;
} suite_paths;

/* Light of the result over light of the input, in the channels that the glob matches. */
typedef struct {
    char *channels;
    double least, most;
} suite_energy;

typedef struct {
    char *name;
    const char *file; /* where it stands, for annotations; the suite's */
    int line, column;
    settings s;                           /* of the run; s.compare has the thresholds */
    suite_paths reference[SUITE_CLASSES]; /* by engine_class, or SUITE_ANY */
    suite_energy *energy;
    size_t energies;
    bool cropped; /* only `crop` of the result is compared and kept as a reference */
    image_box crop;
    char *skip; /* why it must not run; NULL: it may */
} suite_case;

typedef struct {
    char *path;
    suite_case *item;
    size_t count;
    char **file; /* all that were read */
    size_t files;
} suite;

/* `set` is --set's list of variables, or NULL. */
bool suite_load(suite *s, const char *path, const char *set, err *e);
void suite_free(suite *s);

/* The references for a device: those of its class, or those for any. */
const suite_paths *suite_references(const suite_case *c, engine_class device);
/* "cpu", "gpu", "software", "any" */
const char *suite_class_name(int c);

#endif
