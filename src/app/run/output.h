/* output.h - the type and packing that an image is written with, where they are not the input's.
 *
 * Only colour changes its pixel type: data channels keep theirs, bit for bit. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "app/cli/settings.h"
#include "image/format.h"

/* Reads what may change. Parts without colour stay in the file, from which output_save copies them
 * as they are packed; where there are none, *r is closed. `path` is the output's: a .png may show
 * any part, so all are read for it. */
image *output_load(image_reader **r, const settings *s, const char *path, err *e);
/* Before blooming: --compression, and --pixel-type float. */
bool output_prepare(image *img, const settings *s, err *e);
/* After it: --pixel-type half, values beyond 65504 treated as --half-overflow says; the count of
 * values that it changed goes to *clamped. */
bool output_finish(image *img, const settings *s, uint64_t *clamped, err *e);

/* Writes the image; a .png is a tone-mapped picture of the first part with colour. `rest` has the
 * parts that are not in memory. Without the settings' `clobber` it fails with ERR_SKIPPED, and
 * changes nothing, when there is a file of that name by the end. */
bool output_save(const char *path, const image *img, image_reader *rest, const settings *s,
                 par *threads, err *e);

#endif
