#include "ofx/keep.h"

#include "ofx/frames.h"
#include "ofx/kernels.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* SESSIONS that nobody uses are kept. AT_ONCE renders work at a time: the threads of a context go
 * where pieces are left, so more of them take memory and no less time. */
enum { SESSIONS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that is static here */
static pthread_cond_t changed =
    PTHREAD_COND_INITIALIZER; /* a session is made, or a place is free */

static keep_session *sessions; /* the last used one first */
static int openers;            /* threads that open sessions */
static int working;

/* Drops what is gone, and what was not used for longest; with the lock held. */
static void drop_sessions(int most) {
    int idle = 0;
    for (keep_session **at = &sessions; *at;) {
        keep_session *s = *at;
        if (s->users || (!s->gone && idle++ < most)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        fb_session_close(s->session);
        free(s);
    }
}

static void *opener_main(void *arg) {
    keep_session *s = arg;
    fb_session *made = kernels_session(&s->of, s->taps, s->note, &s->error);
    pthread_mutex_lock(&lock);
    s->session = made;
    s->making = false;
    s->gone |= !made;
    s->users--, openers--;
    drop_sessions(SESSIONS);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Adds a session that a thread begins to open; with the lock held. */
static keep_session *add_session(const controls_bloom *of) {
    pthread_t thread;
    keep_session *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    memcpy(&s->of, of, sizeof *of);
    s->making = true;
    s->users = 1;
    if (pthread_create(&thread, NULL, opener_main, s) != 0) return free(s), NULL;
    pthread_detach(thread);
    openers++;
    return s;
}

/* Finds or adds a session and puts it first; with the lock held. */
static keep_session *find_session(const controls_bloom *of) {
    keep_session **at = &sessions;
    while (*at && ((*at)->gone || memcmp(&(*at)->of, of, sizeof *of) != 0)) at = &(*at)->next;
    keep_session *s = *at;
    if (s) *at = s->next;
    if (!s && !(s = add_session(of))) return NULL;
    s->next = sessions;
    s->users++;
    return sessions = s;
}

keep_session *keep_take(const controls_bloom *c, double scale, user *u, fb_error *error) {
    static const double LEAST = 1e-3; /* that the library takes: the kernel is a point */
    bool go = true;
    controls_bloom of;
    memcpy(&of, c, sizeof of);
    of.set.kernel_scale = fmax(of.set.kernel_scale * scale, LEAST);
    pthread_mutex_lock(&lock);
    keep_session *s = find_session(&of);
    while (s && go && (s->making || (u->works && working >= AT_ONCE)))
        go = user_wait(u, &changed, &lock);
    u->placed = s && go && u->works;
    working += u->placed;
    pthread_mutex_unlock(&lock);
    if (s && go && s->session) return s;
    *error = s && go ? s->error : (fb_error){.code = s ? FB_CANCELLED : FB_NO_MEMORY};
    keep_give(s, u);
    return NULL;
}

void keep_give(keep_session *s, user *u) {
    pthread_mutex_lock(&lock);
    working -= u->placed;
    if (s) s->users--;
    drop_sessions(SESSIONS);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (u->shows) fx.progress->end(u->effect);
    u->placed = u->shows = false;
}

void keep_reach(const keep_session *s, double to[2]) {
    const double size = s->of.set.kernel_scale, most = fmax(s->taps[0], s->taps[1]);
    for (int a = 0; a < 2; a++) /* a corner turns to an edge */
        to[a] = 1 + size * (s->of.set.kernel_turn != 0 ? 0.7072 * most : 0.5 * s->taps[a]);
}

void keep_purge(bool unload) {
    pthread_mutex_lock(&lock);
    while (unload && openers) user_wait(NULL, &changed, &lock);
    for (keep_session *s = sessions; s; s = s->next) s->gone = true;
    drop_sessions(0);
    pthread_mutex_unlock(&lock);
    frames_keep(0, &(plate){.data = NULL});
    kernels_purge();
}
