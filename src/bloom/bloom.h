/* bloom.h - one image from pixels to pixels.
 *
 * A bloom is opened with settings and a kernel, and blooms any number of images: what is the same
 * from frame to frame (device, plan, spectrum, buffers) is kept. The image is changed in place:
 * colour groups are convolved, data channels are not touched. Knows nothing of JSON or of the
 * command line. */
#ifndef BLOOM_BLOOM_H
#define BLOOM_BLOOM_H

#include "base/par.h"
#include "bloom/device_choice.h"
#include "engine/engine.h"
#include "image/image.h"
#include "kernel/psf.h"
#include "kernel/spectrum.h"
#include "math/plan.h"

typedef enum { ALPHA_KEEP, ALPHA_CONVOLVE } bloom_alpha;
typedef enum { WINDOW_KEEP, WINDOW_GROW, WINDOW_DISPLAY } bloom_window;
typedef enum { NAN_ERROR, NAN_ZERO, NAN_INTERPOLATE } bloom_nan;
typedef enum { OVERFLOW_CLAMP, OVERFLOW_FLOAT, OVERFLOW_ERROR } bloom_overflow;

/* Everything that decides the result. Zeros are the defaults, but for those that bloom_defaults
 * sets; strings belong to the caller and must outlive the bloom. */
typedef struct {
    plan_border border[PLAN_AXES];
    plan_axis_order order;
    plan_precision precision;
    spectrum_mode spectrum;
    psf_options kernel;   /* normalize, center, correlate, size */
    bool kernel_relative; /* kernel.size counts image heights, not pixels */
    double sharpen;       /* 0 .. 1 */
    double tolerance;     /* 1e-3 */
    uint32_t verify;      /* pixels to recompute directly; 0: none */
    const char *layers, *exclude;
    bloom_alpha alpha;
    bloom_window window;
    bloom_nan nan;
    bloom_overflow half_overflow;
    double threshold, knee; /* threshold 0: off */
    const char *emit_layer; /* NULL: off */
    const char *device;     /* "auto", "cpu", "gpu", "software", an index, uuid or part of a name */
    const char *cache_dir;  /* NULL: the default place */
    uint64_t cache_size;    /* bytes of kernel spectra kept there; 0: none, and none read */
    uint64_t mem_limit, vram_limit;
    uint32_t slots;  /* frames in flight */
    uint32_t images; /* how many will be bloomed, as far as is known: decides the device, and
                        whether its set-up may take longer; 0 stands for 1 */
} bloom_settings;

void bloom_defaults(bloom_settings *s);

/* What happened to one image, for the log and the JSON report. */
enum { BLOOM_NOTES = 8 };
typedef struct {
    uint32_t groups; /* colour groups convolved */
    plan plan;       /* of the last group */
    engine_device device;
    engine_times times; /* summed over groups */
    double spectrum_seconds;
    bool spectrum_cached;
    char note[BLOOM_NOTES][256];
    uint32_t notes;
} bloom_report;

typedef struct bloom bloom;

/* `kernel` is an image file or a .spectrum file. */
bloom *bloom_open(const bloom_settings *s, const char *kernel, par *threads, err *e);
void bloom_close(bloom **b);

bool bloom_image(bloom *b, image *img, bloom_report *r, err *e);
/* What bloom_image would do with the image's first colour group: no device work. */
bool bloom_plan(bloom *b, const image_header *h, plan *p, engine_device *d, err *e);
/* The same for every device of the machine: *list has *count devices, and `to` room for
 * ENGINE_DEVICES. Returns the index of the device that would be taken, or -1. */
int bloom_forecast(bloom *b, const image_header *h, const engine_device **list, device_forecast *to,
                   uint32_t *count, err *e);

#endif
