#include "ofx/user.h"

#include <time.h>

int user_ask(void *of, double done) {
    enum { LONG = 3 }; /* seconds */
    user *u = of;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (u->start == 0) u->start = now;
    u->stopped = u->stopped || fx.effect->abort(u->effect);
    if (fx.progress && !u->shows && now > u->start + LONG)
        u->shows = fx.progress->start(u->effect, "fftbloom") == OFX_OK;
    if (u->shows && done > u->last + 0.02) {
        u->last = done;
        u->stopped |= fx.progress->update(u->effect, done) == OFX_NO;
    }
    return u->stopped;
}

bool user_wait(user *u, pthread_cond_t *changed, pthread_mutex_t *held) {
    enum { ASK_MS = 20 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME,
                  &until); /* of conditions; a clock that is set costs one question */
    until.tv_nsec += ASK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(changed, held, &until);
    if (!u) return true;
    pthread_mutex_unlock(held);
    const bool stop = user_ask(u, u->last);
    pthread_mutex_lock(held);
    return !stop;
}
