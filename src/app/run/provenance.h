/* provenance.h - what an image was made from, in its attributes: "fftbloom:" and a word of
 * PROVENANCE_WORD. They hold no time, host or path, so the same run writes the same bytes. --stamp
 * writes them into an output, and check --bless into a reference. */
#pragma once

#include "app/run/run_choice.h"
#include "base/hash.h"
#include "image/image.h"

typedef enum {
    PROVENANCE_VERSION,
    PROVENANCE_DEVICE,   /* class and name */
    PROVENANCE_SETTINGS, /* a hash of what decides the pixels */
    PROVENANCE_INPUT,    /* a hash of the file */
    PROVENANCE_SOURCE,   /* the file's name */
    PROVENANCE_KERNEL,   /* a hash of the file */
    PROVENANCE_LOOK,     /* the settings that are not at their defaults, a line each */
    PROVENANCE_PARTS
} provenance_part;

extern const char *const PROVENANCE_WORD[PROVENANCE_PARTS];

/* What is known; a part without text is not written. Free it with provenance_free. */
typedef struct {
    text of[PROVENANCE_PARTS];
} provenance;

/* Fills in version, settings, kernel and look. The bytes of the kernel are read, and those of the
 * mask where that is a file. `more`: lines that decide pixels beside the settings, or NULL. */
typedef struct {
    const char *kernel, *mask, *more;
    double kernel_scale; /* as frame_result has it */
} provenance_files;
bool provenance_make(provenance *p, const run_choice *run, const picture_look *look,
                     const provenance_files *f, err *e);
void provenance_free(provenance *p);
/* Return a hash of a file's content; append it, and another hash, as text. */
bool provenance_hash_file(const char *path, hash128 *to, err *e);
bool provenance_add_file(const char *path, text *to, err *e);
/* Appends the options that change pixels or the file, with their values. Defaults are left out, so
 * that a new option changes no hash. Paths are left out, because the content counts.
 * kernel_scale: of the frame, where it follows from the image; 0: of all frames. */
void provenance_add_settings(const run_choice *run, const picture_look *look, double kernel_scale,
                             text *to);
/* Writes the attributes into the first part. */
bool provenance_write(const provenance *p, image_header *h, err *e);
/* Returns an attribute of the first part, or NULL. */
const image_attr *provenance_find(const image_header *h, provenance_part part);
/* Returns whether some part says that this program has made it. */
bool provenance_is_in(const image_header *h);
