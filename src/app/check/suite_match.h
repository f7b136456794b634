/* suite_match.h - a result beside one reference: all parts compared, and what can be said of it.
 *
 * A reference that cannot be read, or that has another number of parts, is a verdict of its own,
 * COMPARE_FILE and COMPARE_SIZE. */
#ifndef APP_SUITE_MATCH_H
#define APP_SUITE_MATCH_H

#include "app/check/suite.h"
#include "base/text.h"

typedef struct {
    const char *path;        /* the suite's */
    image *reference;        /* NULL where it could not be read */
    compare_verdict verdict; /* the worst of all parts */
    int part;                /* the one with the largest difference, */
    comparison worst;        /* and how it compared; its `a` is the result */
    text words;              /* of parts that do not match, in idiff's words */
    text parts;              /* all, as items of a JSON array */
} suite_match;

/* Fails only where there is no memory. */
bool suite_match_make(suite_match *m, const image *result, const char *path,
                      const compare_limits *l, par *threads, err *e);
/* Is `a` nearer than `b`? */
bool suite_match_nearer(const suite_match *a, const suite_match *b);
void suite_match_free(suite_match *m);

#endif
