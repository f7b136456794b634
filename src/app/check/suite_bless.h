/* suite_bless.h - writes references, and tells what they were made from.
 *
 * A reference is an EXR file with string attributes that name its origin: fftbloom:version,
 * :device, :settings, :input and :kernel (the last three are hashes of what decides the pixels),
 * and :look, the settings that are not at their defaults, a line each. It holds no time, host or
 * path, so the same run writes the same bytes. The module does not judge results. */
#ifndef APP_SUITE_BLESS_H
#define APP_SUITE_BLESS_H

#include "app/check/suite.h"
#include "base/text.h"

typedef enum {
    ORIGIN_VERSION,
    ORIGIN_DEVICE,
    ORIGIN_SETTINGS,
    ORIGIN_INPUT,
    ORIGIN_KERNEL,
    ORIGIN_LOOK,
    SUITE_ORIGINS
} suite_origin_part;

typedef struct {
    text of[SUITE_ORIGINS];
} suite_origin;

/* Fills the origin of a run of the case on a device; reads the bytes of its input and its
 * kernel. */
bool suite_origin_make(suite_origin *o, const suite_case *c, const engine_device *d, err *e);
void suite_origin_free(suite_origin *o);

/* Writes the image as a reference, atomically and without loss; its attributes and its compression
 * change. Makes the folder. Refuses a path that is not .exr. */
bool suite_bless(const char *path, image *result, const suite_origin *o, par *threads, err *e);

/* Adds the origin that the reference states, as a JSON object; {} where it states none. */
void suite_origin_json(const image *reference, text *to);
/* Adds a sentence, as a line, for each of settings, input and kernel that has changed since; of the
 * settings it lists those that are others, where the reference has them: "; then amount 0.5; now
 * amount 0.4". A default is not listed. */
void suite_origin_compare(const image *reference, const suite_origin *now, text *to);

#endif
