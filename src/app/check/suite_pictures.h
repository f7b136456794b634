/* suite_pictures.h - what a report shows of a case, as PNG files in memory.
 *
 * Reference and result are developed with the same exposure; the differences are those of heat.h.
 * Pictures are at most WIDEST pixels wide. */
#ifndef APP_SUITE_PICTURES_H
#define APP_SUITE_PICTURES_H

#include "app/check/suite_match.h"
#include "image/flat/heat.h"

enum { SUITE_PICTURES_WIDEST = 1024 };

typedef enum {
    PICTURE_REFERENCE,
    PICTURE_RESULT,
    PICTURE_DIFFERENCE,
    PICTURE_COLOURS,
    PICTURES
} suite_picture;

extern const char *const SUITE_PICTURE_NAME[PICTURES]; /* keys in the report's JSON */

typedef struct {
    uint8_t *png[PICTURES]; /* NULL: there is none */
    size_t bytes[PICTURES];
    image_box box; /* the data window that they show */
    bool compared; /* the members of `h` but its pixels are set */
    heat h;
} suite_pictures;

/* `m` may be NULL where nothing was compared. What cannot be shown, such as data, is left out. */
bool suite_pictures_make(suite_pictures *p, const image *result, const suite_match *m, par *threads,
                         err *e);
void suite_pictures_free(suite_pictures *p);

#endif
