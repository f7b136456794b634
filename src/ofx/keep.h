/* keep.h - what is kept from frame to frame: contexts, kernels and sessions of the library, and
 * whole frames of which a host wants windows. All threads and instances share them.
 *
 * A session is kept by its kernel and settings, as long as there are not too many. It is opened by
 * a thread of its own, so that a host may stop a render that waits for it. */
#ifndef OFX_KEEP_H
#define OFX_KEEP_H

#include "ofx/controls.h"

#include <stdint.h>

/* A render, as far as it is asked whether it goes on: by its host, and by the library while it
 * works. Progress is shown where it takes long. */
typedef struct {
    ofx_effect_handle effect;
    bool stopped, shows;
    double start, last;
} keep_render;
void keep_begin(keep_render *r, ofx_effect_handle effect);
void keep_end(keep_render *r);
/* fb_image.progress with a keep_render. */
int keep_ask(void *render, double done);

/* --- sessions --------------------------------------------------------------------------------- */

typedef struct keep_session keep_session;

/* Takes the session for these controls until it is given back; `scale` multiplies the kernel's
 * size. NULL: the render was stopped, or *error says why not. */
keep_session *keep_take(const controls *c, double scale, keep_render *r, fb_error *error);
void keep_give(keep_session *s);
fb_session *keep_handle(const keep_session *s);
/* Returns what a person should know of the session, or NULL. */
const char *keep_note(const keep_session *s);
/* Fills in how far the kernel reaches from its centre at the controls' size, in pixels. */
void keep_reach(const keep_session *s, double to[2]);

/* Takes one of the places of those that work at the same time; false: stopped. */
bool keep_enter(keep_render *r);
void keep_leave(void);

/* --- frames ----------------------------------------------------------------------------------- */

typedef struct {
    uint64_t pixels[2]; /* hashes of what the host gave */
    controls look;
    int shape[12]; /* windows, types and whatever else decides */
    double scale[3];
} keep_frame_key;

typedef struct {
    keep_frame_key key; /* compared by its bytes */
    void *data;         /* allocated, and freed with the frame */
    _Atomic int users;
} keep_frame;

/* Returns the frame that was kept last, if it is this one, until it is given back; or NULL. */
keep_frame *keep_frame_find(const keep_frame_key *key);
/* Keeps a frame in place of the one before. */
void keep_frame_put(keep_frame *f);
void keep_frame_give(keep_frame *f);

/* Frees all that nobody uses; what is used goes when it is given back. unload: waits for the
 * threads of this module, too. */
void keep_purge(bool unload);

#endif
