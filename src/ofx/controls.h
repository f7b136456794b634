/* controls.h - the knobs of the effect: how a host shows them, and what they stand at.
 *
 * Their names and the order of their choices are kept by projects, and never change within a major
 * version: new choices come last. */
#ifndef OFX_CONTROLS_H
#define OFX_CONTROLS_H

#include "lib/fftbloom.h"
#include "ofx/fx.h"

enum { CONTROLS_PATH = 1024 };

typedef enum { SHOW_RESULT, SHOW_GLARE, SHOW_SOURCE } controls_show;
typedef enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU, DEVICES } controls_device;

/* What the controls of an instance stand at. Values that a project of another version has brought
 * are brought within their limits. */
typedef struct {
    fb_settings set;            /* for a whole frame of square pixels */
    char kernel[CONTROLS_PATH]; /* a name or a file */
    bool file;
    bool grow; /* light beyond the frame is wanted */
    controls_show show;
    controls_device device;
    const char *space; /* as fb_image has it; NULL: as the pixels' type says */
} controls;

/* Defines the controls of a context. */
bool controls_define(ofx_params to);
void controls_read(controls *to, ofx_params from, ofx_time time);
/* Returns whether nothing would change. */
bool controls_do_nothing(const controls *c);

#endif
