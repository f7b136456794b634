/* render.h - the actions of an instance that need its kernel: regions and frames. */
#ifndef OFX_RENDER_H
#define OFX_RENDER_H

#include "ofx/keep.h"

typedef struct {
    ofx_effect_handle effect;
    ofx_clip_handle source, output, mask; /* mask: NULL in contexts without one */
    ofx_params params;
    _Atomic unsigned shown; /* fx_say */
} instance;

ofx_status render_frame(instance *own, ofx_properties in);
ofx_status render_region_defined(instance *own, ofx_properties in, ofx_properties out);
ofx_status render_regions_asked(instance *own, ofx_properties in, ofx_properties out,
                                const char *mask);

#endif
