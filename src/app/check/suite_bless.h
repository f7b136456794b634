/* suite_bless.h - writes references, and tells what they were made from.
 *
 * A reference is an EXR file whose attributes (provenance.h) name its origin: version, device,
 * settings, input, kernel and look. The module does not judge results. */
#ifndef APP_SUITE_BLESS_H
#define APP_SUITE_BLESS_H

#include "app/check/suite.h"
#include "app/run/provenance.h"

/* Fills the origin of a run of the case on a device; reads the bytes of its input and its kernel.
 * Free it with provenance_free. */
bool suite_origin_make(provenance *o, const suite_case *c, const engine_device *d, err *e);

/* Writes the image as a reference, atomically and without loss; its attributes and its compression
 * change. Makes the folder. Refuses a path that is not .exr. */
bool suite_bless(const char *path, image *result, const provenance *o, par *threads, err *e);

/* Adds the origin that the reference states, as a JSON object; {} where it states none. */
void suite_origin_json(const image *reference, text *to);
/* Adds a sentence, as a line, for each of settings, input and kernel that has changed since; of the
 * settings it lists those that are others, where the reference has them: "; then amount 0.5; now
 * amount 0.4". A default is not listed. */
void suite_origin_compare(const image *reference, const provenance *now, text *to);

#endif
