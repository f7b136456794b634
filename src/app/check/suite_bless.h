/* suite_bless.h - references and where they come from.
 *
 * A reference is an EXR file with string attributes that say what made it: fftbloom:version,
 * :device, :settings, :input and :kernel (hashes of what decides the pixels). No time, no host and
 * no path: the same run writes the same bytes. */
#ifndef APP_SUITE_BLESS_H
#define APP_SUITE_BLESS_H

#include "app/check/suite.h"
#include "base/text.h"

typedef struct {
    text version, device, settings, input, kernel;
} suite_origin;

/* Of a run of the case on a device; reads its input's and its kernel's bytes. */
bool suite_origin_make(suite_origin *o, const suite_case *c, const engine_device *d, err *e);
void suite_origin_free(suite_origin *o);

/* Writes the image, whose attributes change, as a reference: atomically, without loss. Makes its
 * folder. Refuses a path that is not .exr. */
bool suite_bless(const char *path, image *result, const suite_origin *o, par *threads, err *e);

/* What the reference says of its origin, as a JSON object; {} where it says nothing. */
void suite_origin_json(const image *reference, text *to);
/* Sentences, a line each, on what has changed since: settings, input, kernel. */
void suite_origin_compare(const image *reference, const suite_origin *now, text *to);

#endif
