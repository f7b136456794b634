/* kernels.h - the contexts of the library, one for each choice of a device, and the kernels that
 * were opened last in them. All threads share them. */
#pragma once

#include "ofx/controls.h"

/* Opens a session, which belongs to the caller, with the size of its kernel in taps. Where the
 * device is not there, another is taken, and `note`, with room for fb_error.text, says so. NULL: *e
 * says why not. */
fb_session *kernels_session(const controls_bloom *asked, uint32_t taps[2], char *note, fb_error *e);
/* Closes what nobody uses; what sessions use goes with them. */
void kernels_purge(void);
