/* kernel_source.h - holds a kernel as its file has it, and makes the psf that an image needs of it:
 * the scale may be relative to the image's height, there may be one luminance channel or three, and
 * taps that reach no pixel are cut off. */
#pragma once

#include "base/par.h"
#include "colour/primaries.h"
#include "image/image.h"
#include "kernel/lint.h"
#include "kernel/spectrum.h"
#include "math/field.h"

typedef struct {
    char *path; /* for messages; its own, as it outlives the frame that brought it */
    uint32_t w, h, channels;
    int part, channel[3];       /* of an image: where in the file the kernel is */
    float *plane[PSF_CHANNELS]; /* NULL where it is a spectrum */
    float *rest[PSF_CHANNELS];  /* what `plane` has lost of taps in double; NULL: nothing */
    primaries gamut;            /* those that its colours are in; Rec.709 where none are known */
    bool known;
    double luminance[3];
    double aspect;  /* of its pixels, width / height */
    spectrum ready; /* of a .spectrum file */
    bool is_spectrum;
    struct kernel_field *field; /* kernel_field.h: it varies, and has no planes here; or NULL */
} kernel_source;

/* A kernel for each node of a grid, [row][column], and behind them the common one. */
typedef struct kernel_field {
    field_grid grid;
    kernel_source *node;
} kernel_field;

/* The attribute of a file's part that says which node it is. */
#define KERNEL_NODE_ATTR "fftbloom.node"

/* Takes the first colour group of the first part that has one, or else the first part that has a
 * single channel. A field is refused: kernel_field_load takes it. */
bool kernel_source_load(kernel_source *k, const char *path, par *threads, err *e);
/* Does the same with an image in memory, which stays as it is; `name` is for messages. */
bool kernel_source_image(kernel_source *k, const char *name, const image *img, err *e);
/* Adds what its taps have lost by being floats: an image of the same shape. */
bool kernel_source_refine(kernel_source *k, const image *lost, err *e);
/* Makes a copy of a kernel of taps. */
bool kernel_source_copy(kernel_source *to, const kernel_source *from, err *e);
void kernel_source_free(kernel_source *k);
/* Refuses a spectrum and a field: they have no taps of one kernel. */
bool kernel_source_taps(const kernel_source *k, err *e);
/* Returns the planes of a kernel that is neither. They belong to it. */
psf_planes kernel_source_planes(const kernel_source *k);
/* lint_glance of a kernel that is about to be used so; nothing of a spectrum, or of taps that are
 * used as they are around a centre that was given. */
bool kernel_source_glance(lint_faults *to, const kernel_source *k, const psf_options *how, err *e);

/* How a run uses its kernel. */
typedef struct {
    psf_options options; /* normalize, center, correlate, size */
    bool relative;       /* options.size counts image heights, not pixels */
    double aspect;       /* of the image's pixels; NaN: as it says itself. 0: none is asked for */
    plan_border border[PLAN_AXES];
    double core; /* taps within this radius stay in their pixel: psf_core.h; 0: none but the middle
                    one. NaN: the radius is psf_core_radius */
    bool magnitudes; /* taps are taken without their signs */
} kernel_use;

/* The image that a kernel is needed for. */
typedef struct {
    uint32_t channels; /* 1 (luminance), 3, or 4: colour and alpha, which is spread as luminance */
    uint32_t w, h;   /* of the pixels that are bloomed; taps that reach none of them are cut off */
    uint32_t height; /* of the image as it came: a relative scale counts these heights */
    float primaries[8]; /* of the image, as its chromaticities; zeros: not known */
    double aspect;      /* of the image's pixels, width / height; 0 stands for 1 */
    /* The part of the light that stays, and what each channel's glare is multiplied with; zeros: 1.
     */
    double sharpen, tint[PSF_CHANNELS];
    field_frame frame; /* where the pixels are, for a field; zeros: the kernel is no field */
} kernel_need;

/* Returns the factor of a channel's glare. */
double kernel_need_tint(const kernel_need *need, uint32_t channel);
/* Returns whether there is a tint: the channels of a grey kernel are then not alike. */
bool kernel_need_tints(const kernel_need *need);

/* Returns whether two needs are the same: 0 and -0 are. */
bool kernel_need_same(const kernel_need *a, const kernel_need *b);

/* How the primaries of a kernel and of an image go together. */
typedef enum {
    KERNEL_AGREES,    /* they are the same, those of Rec.709 where they are not known; or the kernel
                         has one channel */
    KERNEL_CONVERTED, /* both are known, and the kernel is converted */
    KERNEL_UNKNOWN,   /* the image's are known alone: the kernel is taken to have them */
    IMAGE_UNKNOWN     /* the kernel's are known alone: the image is taken to have them */
} kernel_colours;

kernel_colours kernel_source_colours(const kernel_source *k, const kernel_need *need);

/* Returns how many times as wide the kernel becomes, so that it has its shape on the pixels of the
 * image: its own pixel aspect over the image's, or 1 where they differ by less than 0.1 %. */
double kernel_source_squeeze(const kernel_source *k, const kernel_use *use,
                             const kernel_need *need);

/* Makes the psf; of a field that of its largest node, for those who ask how much it takes. A kernel
 * in other primaries than the image is converted: it is the picture of a white point, and is
 * converted as any picture is. A kernel of one channel serves all and stays one. `full`, if not
 * NULL, receives the scaled sums of the taps before any were cut off. */
bool kernel_source_psf(psf *to, const kernel_source *k, const kernel_use *use,
                       const kernel_need *need, double full[PSF_CHANNELS], err *e);
