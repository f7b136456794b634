/* keep.h - the sessions of the library that are kept from frame to frame. All threads and instances
 * share them.
 *
 * A session is kept by its kernel and settings, as long as there are not too many. It is opened by
 * a thread of its own, so that a host may stop a render that waits for it. */
#pragma once

#include "ofx/controls.h"
#include "ofx/user.h"

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
keep_session *keep_take(const controls_bloom *c, double scale, user *u, fb_error *error);
/* Ends the use of a session, which may be NULL. */
void keep_give(keep_session *s, user *u);
/* Fills in how far the kernel reaches from its centre, in pixels of the scaled frame. */
void keep_reach(const keep_session *s, double to[2]);

/* Frees all that nobody uses, of kernels and frames, too; what is used goes when it is given back.
 * unload: waits for the threads of this module, too. */
void keep_purge(bool unload);
