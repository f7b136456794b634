/* bloom.h - one image from pixels to pixels.
 *
 * A bloom is opened with settings and a kernel, and blooms any number of images. It keeps
 * everything that stays the same from frame to frame: device, plan, spectrum, buffers. An image is
 * changed in place: colour groups are convolved, data channels stay as they are, `window` may
 * change the data window, `emit_layer` adds channels, and `half_overflow` may turn half channels
 * into float. Several threads may bloom images with one bloom at the same time. A bloom knows
 * nothing of JSON or of the command line. */
#ifndef BLOOM_BLOOM_H
#define BLOOM_BLOOM_H

#include "base/par.h"
#include "bloom/promise/accuracy.h"
#include "bloom/promise/ledger.h"
#include "bloom/verify.h"
#include "device/device_pool.h"
#include "engine/engine.h"
#include "image/image.h"
#include "kernel/kernel_source.h"
#include "kernel/spectrum.h"
#include "math/tiling.h"

typedef enum { ALPHA_KEEP, ALPHA_CONVOLVE } bloom_alpha;
typedef enum { WINDOW_KEEP, WINDOW_GROW, WINDOW_DISPLAY } bloom_window;
typedef enum { NAN_ERROR, NAN_ZERO, NAN_INTERPOLATE } bloom_nan;
/* GLARE: all light that left its pixel. ADDITIVE: the result minus the image. */
typedef enum { EMIT_GLARE, EMIT_ADDITIVE } bloom_emit;
typedef enum { OVERFLOW_CLAMP, OVERFLOW_FLOAT, OVERFLOW_ERROR } bloom_overflow;

/* Everything that decides the result. Zeros are the defaults, except where bloom_defaults sets
 * another value. Strings belong to the caller and must outlive the bloom. */
typedef struct {
    plan_border border[PLAN_AXES];
    plan_axis_order order;
    plan_precision precision;
    spectrum_mode spectrum;
    psf_options kernel;   /* normalize, center, correlate, size */
    bool kernel_relative; /* kernel.size counts image heights, not pixels */
    double sharpen;       /* 0 .. 1 */
    double tolerance;     /* 1e-3 */
    uint32_t verify;      /* number of pixels to recompute directly; 0: none */
    const char *layers, *exclude;
    bloom_alpha alpha;
    bloom_window window;
    bloom_nan nan;
    bool half; /* store bloomed float channels as half */
    bloom_overflow half_overflow;
    double threshold, knee; /* threshold 0: off */
    const char *mask;       /* a channel: where light may spread from; NULL: everywhere */
    const char *per_layer;  /* settings of single layers (layer_light.h); NULL: none */
    const char *emit_layer; /* NULL: off */
    bloom_emit emit;
    const char *device;    /* "auto", "cpu", "gpu", "software", an index, uuid or part of a name */
    const char *cache_dir; /* NULL: the default place */
    uint64_t cache_size;   /* bytes of kernel spectra to keep there; 0: neither keep nor read any */
    uint64_t mem_limit, vram_limit;
    uint32_t slots;  /* frames in flight */
    uint32_t images; /* number of images to bloom, if it is known; 0 stands for 1. Decides the
                        device */
} bloom_settings;

void bloom_defaults(bloom_settings *s);

/* Returns how these settings use the kernel. */
kernel_use bloom_kernel_use(const bloom_settings *s);

/* An account of one image, for the log and the JSON report. */
enum { BLOOM_NOTES = 8, BLOOM_LEDGER = 64 };

typedef struct {
    char channel[LEDGER_NAME];
    int32_t x, y; /* in the image's coordinates */
    float value;
} bloom_bad;

/* How the promise was kept, for the channel that came nearest to breaking it. */
typedef struct {
    double tolerance; /* the one that was asked for */
    accuracy method;
    char channel[LEDGER_NAME];
    uint32_t attempts; /* transforms until the result was kept: the maximum of all groups */
    uint32_t proved;   /* pixels that were compared with the definition (bloom/prove.h), */
    double proof;      /* and their largest error, in parts of the predicted one */
} bloom_promise;

/* The findings of --verify. */
typedef struct {
    verify_result found;       /* of all groups together */
    char channel[LEDGER_NAME]; /* of the worst pixel, whose x and y are the image's */
    int32_t x, y;
} bloom_verified;

typedef struct {
    uint32_t groups; /* colour groups convolved */
    plan plan;       /* of the last group */
    tiling tiles;    /* of the last part that was cut into tiles; zeros: none was */
    engine_device device;
    engine_times times; /* summed over groups and attempts */
    double spectrum_seconds;
    double contract_seconds; /* scan, prediction and verify, if not done during the convolution */
    bool spectrum_cached;
    bloom_promise promise;
    bloom_verified verified;
    uint64_t bad; /* NaN and infinite pixels */
    bloom_bad first_bad[SCAN_BAD];
    ledger_row ledger[BLOOM_LEDGER];
    uint32_t ledger_rows; /* channels after the first BLOOM_LEDGER have no row */
    char note[BLOOM_NOTES][256];
    uint32_t notes;
} bloom_report;

/* What each device of the machine would do. */
typedef struct {
    const engine_device *device; /* those of the machine, `devices` of them; valid as long as the
                                    bloom */
    uint32_t devices;
    device_forecast *each; /* the caller's: room for ENGINE_DEVICES */
} bloom_forecasts;

typedef struct bloom bloom;

/* Opens a bloom. `kernel` is an image file or a .spectrum file. */
bloom *bloom_open(const bloom_settings *s, const char *kernel, par *threads, err *e);
/* Opens a bloom that shares devices, and the engines on them, with others. The pool must outlive
 * it.
 */
bloom *bloom_open_on(const bloom_settings *s, const char *kernel, device_pool *devices, err *e);
void bloom_close(bloom **b);
/* Returns what is wrong with the kernel, in a few words, or "". Reports have it among the notes. */
const char *bloom_kernel_faults(const bloom *b);

/* An account of bloom_expect, to be added to the report of the image. */
typedef struct {
    double spectrum_seconds;
    bool spectrum_cached;
    char note[256]; /* "": none */
} bloom_expected;

/* Makes ready what a plain transform of the first colour group of such an image needs: what follows
 * from its size, and the engine. To be called while the image is read. bloom_image waits for each
 * when it needs it, and does what is missing. What fails here fails there as well, and is told
 * there. */
void bloom_expect(const bloom *b, const image_header *h, bloom_expected *to);

/* Blooms the image and fills the report. ERR_BAD_PIXELS: there are NaN or infinite pixels, or
 * values beyond half floats, and the settings call these errors. ERR_TOLERANCE: --verify found the
 * promise broken; the image is done then, and the report complete. */
bool bloom_image(const bloom *b, image *img, bloom_report *r, err *e);

/* Where the rows of an image come from, and where those of its result go, when it is too large for
 * the memory. */
typedef struct {
    void *ctx;
    uint64_t bytes; /* that reading and writing take at the most */
    uint64_t whole; /* that the whole image would take, about; for messages */
    double unpack;  /* price of unpacking a pixel, whatever is wanted of it (math/tiling.h) */
    /* Reads rows of a part, as image_read does: any rows, and perhaps several times. */
    bool (*read)(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[], err *e);
    /* Returns of how many rows, or multiples of them, `write` is given. */
    uint32_t (*step)(void *ctx, int part);
    /* Takes rows of the result: in the order of the part's lines, each once. Channels without a
     * plane stay as they are; where `plane` is NULL, all do. */
    bool (*write)(void *ctx, int part, uint32_t row, uint32_t rows, const void *const plane[],
                  err *e);
} bloom_rows;

/* Does what bloom_image does with an image that is not in memory: with this header, its pixels
 * behind `rows`. The result keeps the same promise, and is not the same bit for bit. Where the
 * pixels are cut into tiles, --nan interpolate and --half-overflow float are refused if
 * they would have something to do. */
bool bloom_tiled(const bloom *b, const image_header *h, const bloom_rows *rows, bloom_report *r,
                 err *e);
/* Returns about how many bytes bloom_image takes for its transforms, besides the image's planes and
 * as many floats. */
uint64_t bloom_whole_bytes(const bloom *b, const image_header *h);
/* Changes the header of an image to that of bloom_tiled's result. */
bool bloom_tiled_header(const bloom *b, image_header *h, err *e);
/* Chooses the tiles of the first part with colour. */
bool bloom_tiling(const bloom *b, const image_header *h, const bloom_rows *rows, tiling *t, err *e);
/* Fills `to` as bloom_forecast does, for one of these tiles; *channels: of the whole image's group,
 * of which a tile may have one. */
int bloom_tile_forecast(const bloom *b, const image_header *h, const tiling *t, uint32_t *channels,
                        bloom_forecasts *to, err *e);

/* Fills the report with what bloom_image would do about the accuracy of the image's first colour
 * group: promise, plan, device, bad pixels and notes. Uses no device. Changes the image as
 * bloom_image does before it transforms anything. Bad pixels that `nan` refuses count as 0. */
bool bloom_predict(const bloom *b, image *img, bloom_report *r, err *e);

/* Fills to->device, to->devices and to->each with what each device of the machine would do with the
 * image's first colour group in that precision. Returns the index of the device that would be
 * taken, or -1. Uses no device. */
int bloom_forecast(const bloom *b, const image_header *h, plan_precision precision,
                   bloom_forecasts *to, err *e);

#endif
