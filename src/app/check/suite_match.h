/* suite_match.h - compares all parts of a result with one reference, makes the pictures of both
 * that a report shows, and writes references. A reference that cannot be read, or that has another
 * number of parts, is a verdict of its own, COMPARE_FILE and COMPARE_SIZE. */
#ifndef APP_SUITE_MATCH_H
#define APP_SUITE_MATCH_H

#include "app/check/suite.h"
#include "app/run/provenance.h"
#include "base/text.h"
#include "image/compare.h"
#include "image/flat/heat.h"

/* Says what is compared, and how. The caller owns all of it. */
typedef struct {
    const image *result;
    compare_limits limits;
    par *threads;
} suite_matching;

typedef struct {
    const char *path;        /* the suite's */
    image *reference;        /* NULL where it could not be read */
    compare_verdict verdict; /* the worst of all parts */
    comparison worst;        /* of the part that is farthest off; `of.a` is the result */
    text words;              /* a line each: parts that do not match, in idiff's words */
    text parts;              /* all parts, as a JSON array; empty where none was compared */
} suite_match;

/* Reads the reference and compares. Fails only where there is no memory. */
bool suite_match_make(suite_match *m, const suite_matching *with, const char *path, err *e);
void suite_match_free(suite_match *m);

/* --- pictures ------------------------------------------------------------------------------- */

enum { SUITE_PICTURES_WIDEST = 1024, SUITE_THUMBNAIL_WIDEST = 192 };

typedef enum {
    PICTURE_REFERENCE,
    PICTURE_RESULT,
    PICTURE_DIFFERENCE,
    PICTURE_COLOURS,
    PICTURES
} suite_picture;

extern const char *const SUITE_PICTURE_NAME[PICTURES]; /* keys in the report's JSON */

/* PNG files in memory. Reference and result are developed with the same exposure; heat.h describes
 * the two others. A result that needs no look is only a thumbnail. */
typedef struct {
    uint8_t *png[PICTURES]; /* NULL: there is none */
    size_t bytes[PICTURES];
    image_box box; /* the data window that they show */
    bool compared; /* `h` is set, but for its pixels */
    heat h;
} suite_pictures;

/* Makes the pictures of a result and of what it was compared with; m NULL: only the thumbnail of
 * its first part. A part that has no colour to show has no picture. */
bool suite_pictures_make(suite_pictures *p, const suite_matching *with, const suite_match *m,
                         err *e);
void suite_pictures_free(suite_pictures *p);

/* --- references -----------------------------------------------------------------------------
 *
 * A reference is an EXR file whose attributes (provenance.h) name its origin: version, device,
 * settings, input, kernel and look. */

/* Fills the origin of a run of the case on a device. Free it with provenance_free. */
bool suite_origin_make(provenance *o, const suite_case *c, const engine_device *d, err *e);

/* Writes the image as a reference, atomically and without loss; its attributes and its compression
 * change. Makes the folder. Refuses a path that is not .exr. */
bool suite_bless(const char *path, image *result, const provenance *o, par *threads, err *e);

/* Adds the origin that the reference states, as a JSON object; {} where it states none. */
void suite_origin_json(const image *reference, text *to);
/* Adds a line for each of settings, input and kernel that has changed since; of the settings those
 * that are others, where the reference has them: "; then amount 0.5; now amount 0.4". */
void suite_origin_compare(const image *reference, const provenance *now, text *to);

#endif
