/* output.h - reads and writes the images of a run, with the pixel type and compression that the
 * options ask for. Only colour and its alpha change their pixel type: data channels keep theirs,
 * bit for bit. The module knows nothing of sequences or of how an image is bloomed. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "app/cli/settings.h"
#include "image/flat/preview.h"
#include "image/format.h"

/* An output of a run. */
typedef struct {
    const char *path;
    const settings *s;
    par *threads;
    const screen *screen; /* of pictures; NULL: film */
} output;

/* A picture of the image as it was before, to be developed like that of the output. */
typedef struct {
    const char *path;           /* NULL: none */
    const preview_light *light; /* of output_take */
} output_before;

/* Obey --compression, and --pixel-type, in a header alone: the second changes the types of colour
 * and its alpha. */
void output_packing(image_header *h, const settings *s);
bool output_types(image_header *h, const settings *s, pixel_type from, pixel_type to, err *e);

/* Returns, for each channel of a part, whether output_load reads it; free with mem_free. */
bool *output_channels(const output *o, const image_part *p, err *e);
/* Reads the channels that may change. Parts without colour stay in the file, from which output_save
 * copies them as they are packed, and so do channels of data where they are many; where nothing
 * does, *r is closed. A .png may show any part, so all are read for it. */
image *output_load(const output *o, image_reader **r, err *e);
/* Obeys --compression, --pixel-type float and --input-space; to be called before blooming. */
bool output_prepare(image *img, const settings *s, par *threads, err *e);
/* Obeys --output-space, --pixel-type half, and --half-overflow for values beyond HALF_MAX; to be
 * called after blooming. *clamped receives the number of values that were changed. */
bool output_finish(image *img, const settings *s, uint64_t *clamped, par *threads, err *e);

/* Return whether the image says that this program has made it, and write into its attributes how it
 * was made: fftbloom:version, :source (the name of the input), :settings, :kernel (hashes) and
 * :look, the settings in words. */
bool output_is_stamped(const image_header *h);
bool output_stamp(image_header *h, const settings *s, const char *input, err *e);

/* Returns how a picture of such an image is made. The log says once in a run what it leaves out. */
preview_options output_view(const output *o, const image_header *h);
/* Takes the light of a picture of the image as it is now. Free its pixels with mem_free. */
bool output_take(const output *o, const image *img, preview_light *to, err *e);

/* Writes the image, and the picture before; a .png is a tone-mapped picture of the first part with
 * colour. `rest` has the parts that are not in memory. Without the settings' `clobber` it fails
 * with ERR_SKIPPED, and changes nothing, when there is a file of that name by the end. */
bool output_save(const output *o, const image *img, image_reader *rest, const output_before *before,
                 err *e);

/* Returns true if the file's extension makes it a picture. */
bool output_is_picture(const char *path);
/* Writes a picture of one part, and tells in as->stops the exposure that it was developed with. */
bool output_picture(const output *o, const image *img, preview_options *as, err *e);

#endif
