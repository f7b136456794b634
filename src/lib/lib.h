/* lib.h - the handles of fftbloom.h, and what the files of the library share. */
#pragma once

#include "base/host.h"
#include "base/mem.h"
#include "bloom/bloom.h"
#include "bloom/light_notes.h"
#include "kernel/kernel_source.h"
#include "lib/fftbloom.h"
#include "math/plan.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>

/* A handle is counted: by its owner until it is closed, by calls under way, and by handles made of
 * it. The last one frees it. */
struct fb_context {
    atomic_uint users;
    atomic_uint_fast64_t calls; /* begun: the older ones get help first */
    bloom_settings base;        /* what sessions take over: device, cache, limits */
    host host;      /* for whom calls work: the budget and the log; a call adds its progress */
    locale_t plain; /* numbers have points in it */
    par *threads;
    device_pool *devices;
    char *device, *cache_dir, *kernels;
};

struct fb_kernel {
    atomic_uint users;
    fb_context *context;
    kernel_source source;
};

/* How images are bloomed: any of these together. */
enum {
    LIB_TRANSPOSE = 1,
    LIB_WIDE = 2,
    LIB_MASKED = 4,
    LIB_EMITS = 8,
    LIB_SOLVES = 16, /* glare is taken away */
    LIB_WAYS = 32
};

struct fb_session {
    atomic_uint users;
    fb_kernel *kernel;
    fb_settings set;
    pthread_mutex_t lock;    /* guards the making of the blooms: lib_bloom */
    bloom *blooms[LIB_WAYS]; /* each is made when it is needed */
    light_told told;
    border_axis axis[PLAN_AXES]; /* where an image of the transpose has a frame; no extents */
};

/* Give up a handle, which is const for those who use it, but for the counts. */
void lib_context_give(fb_context *c);
void lib_kernel_give(fb_kernel *k);
void lib_session_give(fb_session *s);

/* One call: the context that it works for, and what went wrong. */
typedef struct {
    fb_context *c;
    fb_error *error;
    err e;
    bool data; /* what is refused is the content of a file or a recipe */
    host was;
    locale_t locale;
} lib_call;

/* Begins the call of `name` in a context, and keeps it for as long. Refuses NULL, which says that
 * an argument is so, and calls of callbacks. lib_leave ends the call, also after that: it fills
 * *error, and returns the code. */
bool lib_enter(lib_call *l, fb_context *c, const char *name, fb_error *error);
int32_t lib_leave(lib_call *l);
/* Do so for a thread that works beside that of a call. */
void lib_begin_thread(lib_call *l, fb_context *c);
void lib_end_thread(lib_call *l);

/* Copies the caller's struct of any version into one of this; `from` begins with its size, of at
 * least `least` bytes, which the first version had. */
bool lib_struct(void *to, size_t own, size_t least, const void *from, const char *what, err *e);

/* --- planes: lib_pixels.c --------------------------------------------------------------------- */

/* Checks planes that come in, or in which no two pixels may lie over each other. */
bool lib_planes_check(const fb_plane *p, uint32_t w, uint32_t h, uint32_t channels, bool out,
                      const char *what, err *e);
/* Returns whether m and n planes may share memory. */
bool lib_planes_touch(const fb_plane *a, uint32_t m, const fb_plane *b, uint32_t n, uint32_t w,
                      uint32_t h);
/* Finds the bytes that planes lie in, from *low to before *high. */
void lib_planes_span(uintptr_t *low, uintptr_t *high, const fb_plane *p, uint32_t w, uint32_t h,
                     uint32_t channels);
/* Fills most[c] with the largest magnitude of the finite pixels of each plane of doubles; 0 of
 * others, whose range floats have. */
bool lib_planes_most(double most[], const fb_plane *p, uint32_t w, uint32_t h, uint32_t channels,
                     par *threads, err *e);

/* Some rows of packed planes of an image, and of the caller's. */
typedef struct {
    const fb_plane *plane; /* the caller's, */
    const uint32_t *index; /* of which plane[index[c]] belongs to own[c]; NULL: plane[c] */
    void *const *own;      /* NULL: not this one */
    const int32_t *type;   /* of own: FB_HALF, FB_FLOAT, FB_DOUBLE */
    const int *exponent;   /* of own: its numbers are the caller's times 2 to the power of
                              -exponent; NULL: they are the caller's */
    float *const *rest;    /* receive what pixels lose when own has floats of them; NULL:
                              that is not wanted */
    uint32_t w, row, rows, channels; /* row: the caller's first one */
    bool out;                        /* from own to the caller's */
    atomic_uint_fast64_t over; /* finite values that the caller's halfs or floats cannot hold; they
                                  are cut to the largest that these hold */
} lib_rows;
bool lib_rows_copy(lib_rows *r, par *threads, err *e);

/* --- images: lib_image.c ---------------------------------------------------------------------- */

enum { LIB_CHANNELS = 4 };
/* What planes of doubles lose: in doubles 2^-49 as two floats, and once more in the result; in
 * floats 2^-24 before, as what is spread, and in the result. */
#define LIB_DIGITS_DOUBLE 0x1p-48
#define LIB_DIGITS_FLOAT  0x1p-22
/* The channel of the mask, which is behind those of the image, and the layer that is emitted. */
#define LIB_MASK "mask"
#define LIB_EMIT "emit"

/* One image on its way: the caller's planes, and a header for them. */
typedef struct {
    const fb_image *pixels;
    par *threads;
    bool floats;        /* all channels become floats */
    colour_space space; /* of the pixels; its curve is NULL where nobody says */
    bool coded;         /* that curve is not linear */
    bool wide;          /* the result is made in doubles: lib_pair; */
    bool scales;        /* and pixels that are far from 1 are brought near */
    double digits;      /* as bloom_rows has it */
    int way;            /* LIB_TRANSPOSE, LIB_WIDE, LIB_MASKED, LIB_EMITS, LIB_SOLVES */
    image_header head;
    /* Of each channel of the header: the caller's plane; and what its pixels are divided by, as a
     * power of 2, so that floats hold them. */
    uint32_t index[LIB_CHANNELS];
    int exponent[LIB_CHANNELS];
    bool far;      /* one of these is not 0 */
    uint64_t over; /* finite values that planes of halfs or floats could not hold */
} lib_job;

/* An image as two of floats, the second of what the pixels of the first have lost by rounding,
 * which are bloomed one after the other; and the result in doubles. */
typedef struct {
    image *img, *rest; /* rest: NULL where nothing is lost */
    /* By the header's channels; NULL: the image has the result, and always of the mask. */
    double *doubles[LIB_CHANNELS + 1];
    bool theirs[LIB_CHANNELS]; /* these are the caller's planes */
    bool far;                  /* the pixels are not those of the caller: lib_job; */
    double digits;             /* and as that has it */
} lib_pair;

/* Makes the header; free it, also after a failure. */
bool lib_job_begin(lib_job *j, err *e);
/* Returns what the numbers of a channel count as. */
double lib_unit(const lib_job *j, const char *channel);
/* Makes images with this header; zeros: all pixels are 0. Frees the pair also after a failure. */
bool lib_pair_make(lib_pair *to, const lib_job *j, const image_header *head, bool zeros, err *e);
/* Fills the images from the planes that come in, or those that go out from the result. */
bool lib_pair_read(lib_pair *p, lib_job *j, err *e);
bool lib_pair_write(const lib_pair *p, lib_job *j, err *e);
bool lib_pair_bloom(lib_pair *p, const bloom *b, bloom_report *r, err *e);
void lib_pair_free(lib_pair *p);
/* Runs a bloom of an image, which says nothing where `quiet`: what it would say is not true of the
 * caller's pixels. */
bool lib_run(const bloom *b, image *img, bloom_rows more, bool quiet, bloom_report *r, err *e);
/* Runs a bloom from plane to plane, some rows at a time. */
bool lib_run_rows(lib_job *j, const bloom *b, bloom_report *r, err *e);
/* Returns the row of a channel in the ledger; NULL: the channel was not spread. */
ledger_row *lib_row(bloom_report *r, const image_part *p, uint32_t channel);
/* Reads rows of the mask, or of any single plane of the image. type: of `to`. */
bool lib_read_plane(void *to, int32_t type, const lib_job *j, const fb_plane *from, uint32_t row,
                    uint32_t rows, err *e);
/* Reads the whole mask, as it is limited to 0 to 1, into memory that the caller frees; NULL where
 * the image has none. */
bool lib_read_mask(float **to, const lib_job *j, err *e);

/* --- what is done to them --------------------------------------------------------------------- */

/* Copies and checks the caller's image. writes: `out` is written, and not read. */
bool lib_image(fb_image *to, const fb_image *from, bool writes, err *e);
/* Return the settings of a bloom, and the bloom for images of that way. */
bloom_settings lib_settings(const fb_context *c, const fb_settings *s);
const bloom *lib_bloom(fb_session *s, int way, err *e);
/* Transposes of a bloom, and of taking glare away. */
bool lib_adjoint(lib_job *j, fb_session *s, bloom_report *r, err *e);
bool lib_solve_adjoint(lib_job *j, fb_session *s, bloom_report *r, err *e);
