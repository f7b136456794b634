#include "base/host.h"

#include "base/clock.h"

static _Thread_local host here = {.span = 1};

host *host_here(void) {
    return &here;
}

static const char *(*variable)(const char *name);

void host_set_variables(const char *(*get)(const char *name)) {
    variable = get;
}

const char *host_variable(const char *name) {
    return variable ? variable(name) : NULL;
}

host host_set(host h) {
    host was = here;
    here = h;
    return was;
}

bool host_ask(double done, err *e) {
    if (!here.progress) return true;
    here.done = done;
    here.stopped = here.stopped || here.progress(here.progress_ctx, here.from + here.span * done);
    here.asked = clock_now();
    return !here.stopped || err_set(e, ERR_CANCELLED, "cancelled");
}

/* A person who waits for an answer notices 50 ms. */
enum { AGAIN_MS = 5 };

bool host_ask_again(err *e) {
    if (!here.progress || (!here.stopped && clock_now() < here.asked + 1e-3 * AGAIN_MS))
        return true;
    return host_ask(here.done, e);
}

bool host_wait(pthread_cond_t *c, pthread_mutex_t *lock, err *e) {
    struct timespec until;
    if (!here.progress) return pthread_cond_wait(c, lock), true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += AGAIN_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(c, lock, &until);
    return host_ask_again(e);
}
