/* keep.h - what is kept from frame to frame: contexts, kernels and sessions of the library, and
 * the last frame of which a host wants windows. All threads and instances share them.
 *
 * A session is kept by its kernel and settings, as long as there are not too many. It is opened by
 * a thread of its own, so that a host may stop a render that waits for it. */
#pragma once

#include "ofx/controls.h"
#include "ofx/plate.h"

/* One that uses a session, as far as the host is asked whether it goes on, also by the library
 * while it works. Progress is shown where it takes long. */
typedef struct {
    ofx_effect_handle effect;
    bool works; /* needs one of the places of those that work at the same time */
    bool placed, stopped, shows;
    double start, last;
} keep_user;
/* fb_image.progress with a keep_user. */
int keep_ask(void *user, double done);

typedef struct keep_session {
    fb_session *session;
    uint32_t taps[2];                       /* the kernel's, before it is scaled */
    char note[sizeof((fb_error *)0)->text]; /* what a person should know; "": nothing */
    controls_bloom of;                      /* with the scale in it */
    fb_error error;                         /* where there is no session */
    int users;
    bool making, gone;
    struct keep_session *next; /* the one that was used before it */
} keep_session;

/* Takes the session for these controls until it is given back; `scale` multiplies the kernel's
 * size. NULL: *error says why not. */
keep_session *keep_take(const controls_bloom *c, double scale, keep_user *u, fb_error *error);
/* Ends the use of a session, which may be NULL. */
void keep_give(keep_session *s, keep_user *u);
/* Fills in how far the kernel reaches from its centre, in pixels of the scaled frame. */
void keep_reach(const keep_session *s, double to[2]);

/* Copies a window of the frame with this key, which it waits for where another thread makes that
 * frame. true: nothing is left to do, or the user was stopped. false: the caller makes the frame,
 * and ends that by keep_frame. */
bool keep_window(uint64_t key, const plate *to, ofx_rect_i window, keep_user *u);
/* Keeps a frame in place of the one before, and takes its memory; NULL: it could not be made. */
void keep_frame(uint64_t key, plate *frame);

/* Frees all that nobody uses; what is used goes when it is given back. unload: waits for the
 * threads of this module, too. */
void keep_purge(bool unload);
