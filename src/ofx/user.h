/* user.h - a thread of the host that works or waits, as far as the host is asked whether it goes
 * on, also by the library while it works. Progress is shown where it takes long. */
#pragma once

#include "ofx/fx.h"

#include <pthread.h>

typedef struct {
    ofx_effect_handle effect;
    bool works; /* needs one of the places of those that work at the same time */
    bool placed, stopped, shows;
    double start, last;
} user;

/* fb_image.progress with a user: anything but 0 stops the work. */
int user_ask(void *of, double done);
/* Waits until something has changed, or for some milliseconds, with a lock that is held; and asks
 * the host without it, since that may wait for a lock of its own. u NULL: nobody is asked. Returns
 * false where the user is to stop. */
bool user_wait(user *u, pthread_cond_t *changed, pthread_mutex_t *held);
