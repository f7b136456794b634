/* controls.h - the knobs of the effect: how a host shows them, and what they stand at.
 *
 * Their names and the order of their choices are kept by projects, and never change within a major
 * version: new choices come last. */
#pragma once

#include "lib/fftbloom.h"
#include "ofx/fx.h"

#include <stdint.h>

enum { CONTROLS_PATH = 1024 };

typedef enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU, DEVICES } controls_device;

/* What a session is opened with. It is compared by its bytes, so it is copied by memcpy alone. */
typedef struct {
    fb_settings set;            /* for a whole frame of square pixels */
    char kernel[CONTROLS_PATH]; /* a name or a file */
    int64_t stamp;              /* of a file: changes with its content */
    controls_device device;
} controls_bloom;

/* What the controls of an instance stand at. Values that a project of another version has brought
 * are brought within their limits. */
typedef struct {
    controls_bloom bloom;
    bool grow;         /* light beyond the frame is wanted */
    bool follow;       /* the kernel's size follows the frame's */
    const char *space; /* as fb_image has it; NULL: as the pixels' type says */
} controls;

/* Defines the controls of a context. */
bool controls_define(ofx_params to);
void controls_read(controls *to, ofx_params from, ofx_time time);
/* Returns what the kernel's size is multiplied with, for a source of this size in square
 * pixels. proxy: the scale of the host's proxies, for a size that does not follow. */
double controls_scale(const controls *c, double w, double h, double proxy);
/* Returns whether nothing would change. */
bool controls_do_nothing(const controls *c);
