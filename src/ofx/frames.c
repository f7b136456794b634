#include "ofx/frames.h"

#include <pthread.h>

static pthread_mutex_t framing = PTHREAD_MUTEX_INITIALIZER; /* guards these */
static pthread_cond_t framed = PTHREAD_COND_INITIALIZER;    /* a frame is made, or will not be */
static plate last;
static uint64_t last_key, making[AT_ONCE]; /* making: keys of frames; 0: none */

static uint64_t *place_of(uint64_t key) {
    uint64_t *at = making;
    while (at < making + AT_ONCE && *at != key) at++;
    return at < making + AT_ONCE ? at : NULL;
}

bool frames_window(uint64_t key, const plate *to, ofx_rect_i window, user *u) {
    bool there, go = true;
    pthread_mutex_lock(&framing);
    while (!(there = last.data && last_key == key) && go && place_of(key))
        go = user_wait(u, &framed, &framing);
    if (there)
        plate_copy(to, &last, window);
    else if (go)
        *place_of(0) = key; /* as many work at a time as there are places */
    pthread_mutex_unlock(&framing);
    return there || !go;
}

void frames_keep(uint64_t key, plate *frame) {
    pthread_mutex_lock(&framing);
    uint64_t *at = place_of(key);
    if (at) *at = 0;
    pthread_cond_broadcast(&framed);
    if (frame) {
        plate_close(&last);
        last = *frame;
        last_key = key;
        *frame = (plate){.data = NULL};
    }
    pthread_mutex_unlock(&framing);
}
