/* bloom.h - one image from pixels to pixels.
 *
 * A bloom is opened with settings and a kernel, and keeps what stays the same from frame to frame:
 * device, plan, spectrum, buffers. An image is changed in place: colour groups are convolved, data
 * channels stay as they are, `window` may change the data window, `emit_layer` adds channels, and
 * `half_overflow` may turn half channels into float. Several threads may bloom images with one
 * bloom. An `err` of this folder is never NULL: failures that do not count go to one that is
 * ignored. */
#pragma once

#include "base/mem.h"
#include "base/par.h"
#include "bloom/report.h"
#include "bloom/settings.h"
#include "device/device_pool.h"
#include "image/rows.h"

typedef struct bloom bloom;

/* Opens a bloom. `kernel` is an image file or a .spectrum file. */
bloom *bloom_open(const bloom_settings *s, const char *kernel, par *threads, err *e);
/* Opens a bloom that shares devices, and the engines on them, with others; and that has a kernel
 * which was read, unless that is NULL. Both must outlive it. */
bloom *bloom_open_on(const bloom_settings *s, const char *path, const kernel_source *read,
                     device_pool *devices, err *e);
void bloom_close(bloom **b);
/* Returns what is wrong with the kernel. Reports have its words among the notes. */
const lint_faults *bloom_kernel_faults(const bloom *b);
/* Tells how many taps the kernel has for such an image. False: a spectrum does not say. */
bool bloom_kernel_size(const bloom *b, const image_part *p, uint32_t size[2]);

/* Makes ready what a plain transform of the first colour group of such an image needs, while the
 * image is read. What fails here fails in bloom_image as well, and is told there. Returns the
 * seconds that the kernel's spectrum took, which the report of the next image has. */
double bloom_expect(const bloom *b, const image_header *h);

/* Where the rows of an image come from, and where those of its result go. */
typedef struct {
    rows_source in;      /* parts that are lent are bloomed as a whole, others in tiles that fit */
    rows_sink out;       /* gets each part that was lent as one band, whose planes it may keep */
    mem_plan memory;     /* that reading and writing take at the most */
    image_header *marks; /* where a run that fails with `beyond` marks channels as wide, as another
                          * run of the same image needs them; NULL: there will be none */
    const rows_source *mask; /* the file of the settings' mask; NULL: there is none, or nothing is
                              * read */
    bool predict;            /* as bloom_predict does; the rows must be lent */
    /* Of each channel of an image of one part, which must be lent: receives what is bloomed before
     * it is rounded, where the transform is of doubles; and where glare is taken away, by how much
     * each pixel may be off. NULL: nobody wants it. */
    double *const *doubles, *const *bounds;
    /* Of these channels: what the floats of the image have lost of its pixels, which counts where
     * the CPU makes doubles (the report's device), and where glare is taken away. NULL: nothing. */
    const float *const *lost;
    double digits; /* what pixels lose on their way from the caller and back, in parts of them,
                      which counts for the promise; 0: nothing, or what their types say */
} bloom_rows;

/* Blooms an image and fills the report. ERR_BAD_PIXELS: there are NaN or infinite pixels, or
 * values beyond half floats, and the settings call these errors. ERR_TOLERANCE: --verify found a
 * pixel that is off, or the promise is not kept; the image is done then, and the report complete.
 * The promise is the same in tiles; the result is not the same bit for bit where the pixels are
 * cut. */
bool bloom_run(const bloom *b, const bloom_rows *rows, bloom_report *r, err *e);
/* Do so with an image in memory, whose planes become those of the result. After any other failure
 * than ERR_TOLERANCE planes of it may be missing. more: all but `in` and `out`. */
bool bloom_image(const bloom *b, image *img, bloom_report *r, err *e);
bool bloom_image_with(const bloom *b, image *img, bloom_rows more, bloom_report *r, err *e);
/* Return whether a part has light that bloom_run spreads, and whether it changes such parts: not
 * where the kernel is its centre alone. All others are handed on as they came. */
bool bloom_has_light(const bloom_settings *s, const image_part *p);
bool bloom_changes(const bloom_settings *s);
/* Changes the header of an image to that of bloom_run's result. */
bool bloom_header(const bloom *b, image_header *h, err *e);

/* Adds what bloom_image takes for such an image, besides its planes, and what nobody counts;
 * bloom_memory_before where the kernel is not known yet, without what depends on it. */
void bloom_memory(const bloom *b, const image_header *h, mem_plan *to);
void bloom_memory_before(const bloom_settings *s, par *threads, const image_header *h,
                         mem_plan *to);
/* Chooses the tiles of the first part with colour, and accounts for all that they take. */
bool bloom_tiling(const bloom *b, const bloom_rows *rows, tiling *t, mem_plan *memory, err *e);
/* Fills `to` as bloom_forecast does, for one of these tiles. */
int bloom_tile_forecast(const bloom *b, const image_header *h, const tiling *t, bloom_forecasts *to,
                        err *e);

/* Fills the report with what bloom_image would do about the accuracy of the image's first colour
 * group: promise, plan, device, bad pixels and notes. Uses no device. Planes of the image are
 * missing afterwards. Bad pixels that `nan` refuses count as 0. mask: as bloom_rows has it. */
bool bloom_predict(const bloom *b, image *img, const rows_source *mask, bloom_report *r, err *e);

/* Fills to->device, to->devices and to->each with what each device of the machine would do with the
 * image's first colour group in that precision. Returns the index of the device that would be
 * taken, or -1. Uses no device. */
int bloom_forecast(const bloom *b, const image_header *h, plan_precision precision,
                   bloom_forecasts *to, err *e);
