/* fftbloom.h - blooms linear images with a point spread function, with a promised error.
 *
 *     fb_context *c;  fb_kernel *k;  fb_session *s;  fb_error e;
 *     if (fb_context_open(&c, NULL, &e) || fb_kernel_open(&k, c, "sunstar", &e) ||
 *         fb_session_open(&s, k, NULL, &e)) ...                       e.text says why
 *     fb_image i = {sizeof i, width, height, 3, in, out};
 *     fb_bloom(s, &i, NULL, &e);
 *
 * A context has devices, threads, a budget of memory and a cache: most programs need one. A kernel
 * is a point spread function, and never changes. A session is a kernel with settings; it keeps
 * plans, spectra and buffers, and blooms any number of images of any sizes.
 *
 * Threads: every call may be made from any thread, and with the same handles at the same time. A
 * session keeps its kernel, and a kernel its context, so they may be closed in any order, even
 * while another thread is in a call with them: what that call uses goes when it returns. Only a
 * call that begins after its handle was closed is a mistake. Callbacks must not call the library.
 *
 * Errors: a call returns FB_OK or another code, and fills *error where that is not NULL. A handle
 * that could not be made is NULL. Out planes of an image that failed may be written in part.
 *
 * Structs: where the first member is `size`, set it to the size of the struct. Later versions only
 * add members at the end, for which zero means what this version does. Strings are UTF-8, and are
 * copied.
 *
 * The library prints nothing, reads no environment variable, and neither installs a handler nor
 * ends the process. Outside of its handles it keeps a Vulkan instance between two uses of a GPU,
 * which closing a context frees, and the names of files of the cache while it writes them. Vulkan's
 * loader and drivers have state of their own, and so has OpenEXR, by which a kernel's file with
 * PXR24, B44 or DWA is decoded in the host's process; the program does so in one of its own. */
#ifndef FFTBLOOM_H
#define FFTBLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef FB_API
#define FB_API __attribute__((visibility("default")))
#endif

/* --- errors ---------------------------------------------------------------------------------- */

enum {
    FB_OK = 0,
    FB_BAD_ARGUMENT = 1, /* of a call: NULL, no pixels, planes that overlap, sizes of structs */
    FB_BAD_SETTING = 2,  /* a value, or values that do not go together */
    FB_BAD_DATA = 3,     /* the content of a file, a recipe or a kernel */
    FB_BAD_PIXELS = 4,   /* NaN or infinite pixels, or results that `out` cannot hold */
    FB_BROKEN = 5,       /* `verify` found a pixel that is off by more than the tolerance */
    FB_NOT_FOUND = 6,    /* no file or kernel has this name */
    FB_NO_DEVICE = 7,    /* no device can do the work */
    FB_NO_MEMORY = 8,    /* the budget or the system has too little */
    FB_IO = 9,           /* a file cannot be read or written */
    FB_TRY_AGAIN = 10,   /* a device was lost */
    FB_CANCELLED = 11,   /* fb_image.progress asked for it */
    FB_INTERNAL = 12     /* a bug in this library; please report it */
};

typedef struct fb_error { /* never grows */
    int32_t code;
    char setting[60]; /* the member of fb_settings that is meant, such as "padding"; "": none */
    char text[960];   /* a sentence, with the numbers */
} fb_error;

/* Returns the version of the library, such as "0.3.0". */
FB_API const char *fb_version(void);

/* --- context --------------------------------------------------------------------------------- */

enum { FB_LOG_ERROR = 0, FB_LOG_WARNING = 1, FB_LOG_NOTE = 2, FB_LOG_INFO = 3, FB_LOG_DEBUG = 4 };

typedef struct fb_context fb_context;

#define FB_PROGRAM_CACHE ""

typedef struct fb_context_options { /* zeros are the defaults */
    uint32_t size;
    uint32_t threads;      /* that work at the same time; 0: as many as the process may use */
    uint64_t mem_limit;    /* the budget in bytes; 0: 80 % of what is available now */
    uint64_t vram_limit;   /* of a GPU's memory, in bytes; 0: what it has */
    uint64_t cache_size;   /* bytes of spectra that the cache keeps; 0: 2e9 */
    const char *device;    /* "auto" (or NULL), "cpu", "gpu", "software", an index, a UUID, or a
                              part of a name */
    const char *cache_dir; /* a folder that keeps spectra, compiled shaders and made kernels, also
                              for other programs; FB_PROGRAM_CACHE: that of the program
                              `fftbloom`, if it can be used; NULL: nothing is kept */
    const char *kernels;   /* the folder of the shipped kernels; NULL: looked for beside the
                              library */
    /* Takes a message, from any thread. NULL: nobody reads them. */
    void (*log)(void *user, int level, const char *text);
    int32_t log_level; /* the most talkative level that is wanted; 0: FB_LOG_NOTE */
    uint32_t reserved; /* 0 */
    /* Give and take back the memory of the budget, from any thread, aligned as malloc's is; `alloc`
     * may return NULL. Both NULL: malloc and free. */
    void *(*alloc)(void *user, size_t bytes);
    void (*release)(void *user, void *memory);
    void *user; /* for these three */
} fb_context_options;

/* Opens a context; options NULL: the defaults. A device that is asked for must be there; it is
 * opened by the call that first needs it. */
FB_API int32_t fb_context_open(fb_context **to, const fb_context_options *options, fb_error *error);
FB_API void fb_context_close(fb_context *context);
/* Returns how many bytes of the budget are in use. */
FB_API uint64_t fb_context_used(const fb_context *context);

/* --- planes ---------------------------------------------------------------------------------- */

enum { FB_HALF = 1, FB_FLOAT = 2, FB_DOUBLE = 3, FB_BYTE = 4, FB_SHORT = 5 };

/* One channel in the caller's memory, in rows from the top. Codes of 8 and 16 bits stand for 0 to
 * 1; results are cut to that, and rounded with noise of up to half a step, which leaves codes as
 * they are that were not changed. Strides are in bytes, and may be below zero: pixel x, y is at
 * data + x * pixel_stride + y * row_stride. Pixels of several channels are several planes, whose
 * data lie a sample apart. */
typedef struct fb_plane { /* never grows */
    void *data;           /* of a plane that comes in, the library only reads it */
    ptrdiff_t pixel_stride, row_stride;
    int32_t type;      /* FB_HALF, FB_FLOAT, FB_DOUBLE, FB_BYTE, FB_SHORT */
    uint32_t reserved; /* 0 */
} fb_plane;

/* --- kernel ---------------------------------------------------------------------------------- */

typedef struct fb_kernel fb_kernel;

/* Opens an image, a .spectrum file, a shipped kernel by its name, a mix: "sunstar:0.7 +
 * mist-4:0.3", or a field (docs/fields.md), a kernel that varies over the frame. fb_bloom and
 * fb_bloom_all take fields; what else would need one kernel refuses them. */
FB_API int32_t fb_kernel_open(fb_kernel **to, fb_context *context, const char *name,
                              fb_error *error);
/* Opens a shipped kernel, a recipe or a mix of these, made for a frame of a size: the longer side
 * by 1920, 1/64 to 4, times as large. It is what the program takes where nothing is said of a size.
 * A file of taps has one size, and is refused. */
FB_API int32_t fb_kernel_open_for(fb_kernel **to, fb_context *context, const char *name,
                                  uint32_t width, uint32_t height, fb_error *error);
/* Makes a kernel by a recipe (docs/kernels.md), such as {"model": "aperture", "blades": 7}. */
FB_API int32_t fb_kernel_make(fb_kernel **to, fb_context *context, const char *json,
                              fb_error *error);
/* Copies planes: 1 (grey) or 3 (R G B). Of doubles 48 bits are kept. */
FB_API int32_t fb_kernel_copy(fb_kernel **to, fb_context *context, uint32_t width, uint32_t height,
                              uint32_t channels, const fb_plane *planes, fb_error *error);
/* A field: a kernel for each node of a grid, for the light of its place. */
typedef struct fb_field {
    uint32_t size;
    uint32_t across, down;   /* columns and rows of nodes, 1 to 32 each, */
    const double *x, *y;     /* and their places in shares of the frame, which increase: 0, 0 is the
                                left upper corner of the first pixel, 1, 1 that behind the last */
    fb_kernel *const *nodes; /* [row][column], of taps; of the same channels */
    fb_kernel *common;       /* one more, which is the same everywhere; NULL: there is none */
    double share;            /* of the light that it spreads, between 0 and 1; the others spread the
                                rest */
} fb_field;
/* Makes a field of kernels, which it copies. */
FB_API int32_t fb_kernel_field(fb_kernel **to, fb_context *context, const fb_field *field,
                               fb_error *error);
/* Opens a node of a field as a kernel of its own: `number` counts as fb_field.nodes does, and the
 * common one is behind them; beyond the last it is FB_NOT_FOUND. at: receives its x, its y, and its
 * share of the light where its weight is 1. A kernel that is no field, and the common one, are
 * everywhere: their x and y are NaN. */
FB_API int32_t fb_kernel_node(fb_kernel **to, fb_kernel *kernel, uint32_t number, double at[3],
                              fb_error *error);
FB_API void fb_kernel_close(fb_kernel *kernel);
/* Fills in what is not NULL. */
FB_API void fb_kernel_size(const fb_kernel *kernel, uint32_t *width, uint32_t *height,
                           uint32_t *channels);
/* Writes the taps into planes, as many as it has channels, before anything is scaled. */
FB_API int32_t fb_kernel_taps(const fb_kernel *kernel, const fb_plane *planes, fb_error *error);
/* Writes what the linter finds into `to`, a sentence a line, cut to fit into `room` bytes with a
 * zero at the end; "": nothing. It names options of the program where a setting can help. */
FB_API int32_t fb_kernel_check(const fb_kernel *kernel, char *to, size_t room, fb_error *error);

/* --- session --------------------------------------------------------------------------------- */

enum { FB_PADDING_MIRROR, FB_PADDING_ZERO, FB_PADDING_CLAMP, FB_PADDING_WRAP };
enum { FB_NORMALIZE_LUMINANCE, FB_NORMALIZE_CHANNEL, FB_NORMALIZE_SUM, FB_NORMALIZE_NONE };
enum { FB_CENTER_MIDDLE, FB_CENTER_PEAK, FB_CENTER_CENTROID, FB_CENTER_CORNER, FB_CENTER_AT };
enum { FB_PRECISION_AUTO, FB_PRECISION_FLOAT32, FB_PRECISION_FLOAT64 };
enum { FB_NAN_ERROR, FB_NAN_ZERO, FB_NAN_INTERPOLATE };
enum { FB_OVERFLOW_CLAMP, FB_OVERFLOW_ERROR };
enum { FB_ALPHA_KEEP, FB_ALPHA_CONVOLVE };
/* GLARE: all light that left its pixel. ADDITIVE: the result minus the image. SOURCE: what mask and
 * threshold leave of the image, which is what the kernel spreads. */
enum { FB_EMIT_NONE, FB_EMIT_GLARE, FB_EMIT_ADDITIVE, FB_EMIT_SOURCE };

typedef struct fb_session fb_session;

/* The options of the program that have the same names, in docs/reference.md, say more. */
typedef struct fb_settings {
    uint32_t size;
    uint32_t verify;        /* pixels to recompute by the definition; 0 */
    double amount;          /* 0 to 1: the share of the light that the kernel spreads; 1 */
    double tolerance;       /* the promised relative error of a pixel; 1e-3 */
    double threshold, knee; /* only light above the threshold is spread, softly; 0: all of it is */
    double kernel_scale;    /* 1 is one tap per pixel; 1 */
    double center_x, center_y;    /* of FB_CENTER_AT: in taps from the upper left one */
    int32_t kernel_center;        /* the tap that stays where it is */
    int32_t normalize;            /* what of the kernel becomes 1 */
    int32_t correlate;            /* 1: the kernel is turned by half a turn; 0 */
    int32_t padding_x, padding_y; /* what is beyond the borders */
    int32_t precision;            /* of the transform; AUTO: what the tolerance needs */
    int32_t nan;                  /* what becomes of NaN and infinite pixels */
    int32_t half_overflow;        /* what becomes of results that halfs cannot hold */
    int32_t alpha;                /* whether the fourth channel is spread, too */
    int32_t emit;                 /* what fb_image.emit receives */
    double tint[3]; /* what the glare of R, G and B is multiplied with; zeros stand for 1 each */
    double kernel_turn; /* degrees, clockwise; 0 */
    double core; /* taps within this radius stay in their pixel; 0: the middle one alone; NaN: the
                    radius from which on the kernel falls off as its tail does */
} fb_settings;

/* Fills in the defaults, which are the first words above. size: sizeof(fb_settings). */
FB_API void fb_settings_init(fb_settings *settings, uint32_t size);

/* Opens a session; settings NULL: the defaults. */
FB_API int32_t fb_session_open(fb_session **to, fb_kernel *kernel, const fb_settings *settings,
                               fb_error *error);
FB_API void fb_session_close(fb_session *session);

/* --- images ---------------------------------------------------------------------------------- */

typedef struct fb_image { /* zeros are the defaults */
    uint32_t size;
    uint32_t width, height; /* 1 to 65536 */
    uint32_t channels;      /* 1 (grey), 3 (R G B) or 4 (R G B A) */
    const fb_plane *in;     /* `channels` planes; linear light, or what `space` says. Any other
                               number of channels is as many images of one, with sessions each */
    const fb_plane *out;    /* as many; may be those of `in`, and must not overlap else */
    /* Called by the thread that calls, with the part that is done, 0 to 1, and again every few
     * milliseconds. Anything but 0 cancels. NULL: nobody asks. */
    int (*progress)(void *user, double done);
    void *user;
    const fb_plane *mask; /* one plane: how much of a pixel's light is spread, 0 to 1. NULL: all */
    const fb_plane *emit; /* `channels` planes for what fb_settings.emit says; NULL: not wanted */
    fb_session *session;  /* blooms this image, in place of that of the call; NULL: that one. Of
                             the same context */
    double pixel_aspect;  /* width over height of a pixel, so that the kernel keeps its shape on a
                             screen; 0: 1 */
    const char *space;    /* the colour space of `in`, `out` and `emit`, such as "logc3" or "srgb":
                             they are decoded and coded again, colours with alpha 0 to 1 divided by
                             it (docs/colour.md). NULL: linear light in Rec.709 */
    int32_t frame[4];     /* of a field: where the frame is, in whose shares its places count, as
                             left, top, width and height in pixels of the image, which may be a part
                             of it or more. Zeros: the image is the frame */
} fb_image;

typedef struct fb_report {
    uint32_t size;
    int32_t kept;        /* 1: the promise is kept */
    double error;        /* in the channel that is nearest to breaking the promise no pixel is */
    double allowed;      /* farther off than this, and the tolerance allows this much */
    double energy_in;    /* the sum of all pixels that are spread, of all channels, */
    double energy_out;   /* and of the result */
    uint64_t bad_pixels; /* NaN and infinite ones */
    uint64_t clamped;    /* results that `out` could not hold */
    double seconds;      /* of the call */
    uint32_t attempts;   /* transforms until the promise was kept */
    int32_t precision;   /* FB_PRECISION_FLOAT32 or _FLOAT64: of the last of them, */
    char device[128];    /* and where it ran */
    char note[256];      /* what else the user should know; "": nothing */
    uint32_t lengths[2]; /* of the last transform, along x and y; 0: there was none, */
    uint32_t tiles;      /* and how many there were */
    uint32_t steps;      /* of fb_solve and fb_solve_adjoint; else 0. `error` and `allowed` are
                            then those of the pixel that is nearest to breaking the promise: */
    uint32_t worst_x, worst_y, worst_channel;
    uint32_t reserved; /* 0 */
} fb_report;

/* Blooms an image; report may be NULL. Where a plane has doubles, 48 bits of the pixels count and
 * the transform is in doubles, which `error` and `kept` reckon with; such an image must fit into
 * the budget. Others are bloomed in tiles where they do not. Pixels are rounded to floats, which
 * they must fit into, and `error` and `kept` reckon with that, where `precision` asks for floats or
 * `space` is coded; and where there is a mask or a threshold, unless the tolerance is below 1e-5 or
 * `precision` is FB_PRECISION_FLOAT64: the CPU has doubles there. A mask counts as floats. */
FB_API int32_t fb_bloom(fb_session *session, const fb_image *image, fb_report *report,
                        fb_error *error);
/* Blooms `count` images, several at a time. reports: `count`, or NULL. Stops at the first failure,
 * whose text has the number of the image. `out` of an image must not lie over another image. */
FB_API int32_t fb_bloom_all(fb_session *session, const fb_image *images, size_t count,
                            fb_report *reports, fb_error *error);
/* Applies the transpose of what fb_bloom does: with A for fb_bloom, <A x, y> = <x, At y>. This is
 * what deconvolution and learning need. A threshold has no transpose, and is refused. The image is
 * held in one piece, with the reach of the kernel around it. */
FB_API int32_t fb_apply_adjoint(fb_session *session, const fb_image *image, fb_report *report,
                                fb_error *error);
/* Takes the glare of a lens away: finds the image whose bloom, with the session's settings, is
 * `in`. fb_settings.core says how far a lens is sharp; a kernel that spreads more than it keeps is
 * refused. Where the mask is 0 the result is the plate. Where a plane has doubles, the steps are
 * doubles; else they are those of `fftbloom deglare`. The image is held in one piece. */
FB_API int32_t fb_solve(fb_session *session, const fb_image *image, fb_report *report,
                        fb_error *error);
/* Does so for `count` plates, as fb_bloom_all blooms images. */
FB_API int32_t fb_solve_all(fb_session *session, const fb_image *images, size_t count,
                            fb_report *reports, fb_error *error);
/* Applies the transpose of what fb_solve does, in doubles. */
FB_API int32_t fb_solve_adjoint(fb_session *session, const fb_image *image, fb_report *report,
                                fb_error *error);
/* Fills `gradient`, planes like those of the kernel, with the gradient of the sum of <y, A x> over
 * all images by the kernel's taps; x is `in`, and y is `out`, which is only read. Normalisation and
 * amount are part of A; a threshold may be, too. Sums of both signs cancel: the report's `error` is
 * that of any tap, and `allowed` the tolerance's part of the largest one. */
FB_API int32_t fb_kernel_adjoint(fb_session *session, const fb_image *images, size_t count,
                                 const fb_plane *gradient, fb_report *report, fb_error *error);

#ifdef __cplusplus
}
#endif

#endif
