/* render.h - a frame of an instance, and how large its kernel may be. */
#pragma once

#include "ofx/frames.h"
#include "ofx/keep.h"

typedef struct {
    ofx_effect_handle effect;
    ofx_clip_handle source, output, mask; /* mask: NULL in contexts without one */
    ofx_params params;
    _Atomic unsigned shown; /* fx_say */
} instance;

/* Refuses a kernel that is far larger than a frame of w x h pixels, of which it makes one colour:
 * a proxy's scale, a pixel's aspect and Size may be anything, and time and memory grow with its
 * square. Fills in how far it reaches in these pixels. */
bool kernel_fits(double reach[2], const keep_session *s, double aspect, const double frame[2],
                 fb_error *e);
ofx_status render_frame(instance *own, ofx_properties in);
