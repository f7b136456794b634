/* case_match.h - a result beside a reference: how far apart they are, in numbers, words and
 * pictures. */
#pragma once

#include "base/text.h"
#include "image/compare.h"
#include "image/flat/heat.h"

/* Adds a sentence as a line. Names of files and channels in it may hold anything, so it is cleaned:
 * it stays one line in every report. */
__attribute__((format(printf, 2, 3))) void case_say(text *to, const char *fmt, ...);

/* Says what is compared, and how. The caller owns all of it. */
typedef struct {
    const image *result;
    compare_limits limits;
    par *threads;
} matching;

/* A reference. One that cannot be read, or that has another number of parts, is a verdict of its
 * own, COMPARE_FILE and COMPARE_SIZE. */
typedef struct {
    const char *path;        /* the suite's */
    image *reference;        /* NULL where it could not be read */
    compare_verdict verdict; /* the worst of all parts */
    comparison worst;        /* of the part that is farthest off; `of.a` is the result */
    text words;              /* a line each: parts that do not match, in idiff's words */
    text parts;              /* all parts, as a JSON array; empty where none was compared */
} suite_match;

typedef enum {
    PICTURE_REFERENCE,
    PICTURE_RESULT,
    PICTURE_DIFFERENCE,
    PICTURE_COLOURS,
    PICTURES
} suite_picture;
extern const char *const SUITE_PICTURE_NAME[PICTURES]; /* keys in the report's JSON */

/* PNG files in memory. Reference and result are developed with the same exposure; heat.h describes
 * the two others. A result that needs no look is only a thumbnail of its first part. A part that
 * has no colour to show has no picture. */
typedef struct {
    uint8_t *png[PICTURES]; /* NULL: there is none */
    size_t bytes[PICTURES];
    image_box box; /* the data window that they show */
    bool compared; /* `h` is set, but for its pixels */
    heat h;
} suite_pictures;

/* Reads the reference and compares. Fails only where there is no memory. */
bool suite_match_make(suite_match *m, const matching *with, const char *path, err *e);
void suite_match_free(suite_match *m);
/* m NULL: makes only the thumbnail. */
bool suite_pictures_make(suite_pictures *p, const matching *with, const suite_match *m, err *e);
void suite_pictures_free(suite_pictures *p);
