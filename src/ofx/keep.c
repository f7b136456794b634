#include "ofx/keep.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* SESSIONS that nobody uses are kept, and AT_ONCE renders work at a time: the threads of
 * a context go where pieces are left, so more of them take memory and no less time. */
enum { SESSIONS = 6, KERNELS = 4, AT_ONCE = 3, ASK_MS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that is static here */

/* --- users ------------------------------------------------------------------------------------ */

int keep_ask(void *user, double done) {
    enum { LONG = 3 }; /* seconds */
    keep_user *u = user;
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

/* Waits for a moment, without the lock that is held; false: the user is to stop. */
static bool wait_a_little(pthread_mutex_t *held, keep_user *u) {
    pthread_mutex_unlock(held);
    nanosleep(&(struct timespec){.tv_nsec = ASK_MS * 1000000}, NULL);
    const bool stop = u && keep_ask(u, u->last); /* a host may wait for a lock of its own */
    pthread_mutex_lock(held);
    return !stop;
}

/* --- contexts and kernels --------------------------------------------------------------------- */

static fb_context *context[DEVICES];
static struct {
    controls_bloom of; /* of which only the kernel counts */
    fb_kernel *kernel;
} opened[KERNELS];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* guards these two */

/* The budget is the library's: most of what the host has left, also in a container. */
static fb_context *open_context(controls_device device, fb_error *e) {
    static const char *const NAME[DEVICES] = {"auto", "cpu", "gpu"};
    fb_context *c;
    const fb_context_options o = {
        .size = sizeof o, .device = NAME[device], .cache_dir = FB_PROGRAM_CACHE};
    return fb_context_open(&c, &o, e) == FB_OK ? c : NULL;
}

/* Finds or opens a kernel, which belongs to this list. */
static fb_kernel *find_kernel(const controls_bloom *of, fb_error *e) {
    static int oldest;
    fb_kernel *made;
    for (int i = 0; i < KERNELS; i++)
        if (opened[i].kernel && opened[i].of.device == of->device &&
            opened[i].of.stamp == of->stamp && !strcmp(opened[i].of.kernel, of->kernel))
            return opened[i].kernel;
    if (fb_kernel_open(&made, context[of->device], of->kernel, e) != FB_OK) return NULL;
    const int at = oldest++ % KERNELS;
    fb_kernel_close(opened[at].kernel);
    opened[at].of = *of;
    return opened[at].kernel = made;
}

/* --- sessions --------------------------------------------------------------------------------- */

static keep_session *sessions; /* the last used one first */
static int openers;            /* threads that open sessions */
static int working;

static fb_session *open_session(keep_session *s) {
    controls_bloom of = s->of;
    fb_session *made = NULL;
    if (!context[of.device]) context[of.device] = open_context(of.device, &s->error);
    if (!context[of.device] && of.device != DEVICE_AUTO) { /* the project is another machine's */
        memcpy(s->note, s->error.text, sizeof s->note);
        of.device = DEVICE_AUTO;
        if (!context[of.device]) context[of.device] = open_context(of.device, &s->error);
    }
    fb_kernel *k = context[of.device] ? find_kernel(&of, &s->error) : NULL;
    fb_kernel_size(k, &s->taps[0], &s->taps[1], NULL);
    if (k) fb_session_open(&made, k, &of.set, &s->error);
    return made;
}

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
    pthread_mutex_lock(&opening);
    fb_session *made = open_session(s);
    pthread_mutex_unlock(&opening);
    pthread_mutex_lock(&lock);
    s->session = made;
    s->making = false;
    s->gone |= !made;
    s->users--, openers--;
    drop_sessions(SESSIONS);
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

keep_session *keep_take(const controls_bloom *c, double scale, keep_user *u, fb_error *error) {
    static const double LEAST = 1e-3; /* that the library takes: the kernel is a point */
    bool go = true;
    controls_bloom of;
    memcpy(&of, c, sizeof of);
    of.set.kernel_scale = fmax(of.set.kernel_scale * scale, LEAST);
    pthread_mutex_lock(&lock);
    keep_session *s = find_session(&of);
    while (s && go && (s->making || (u->works && working >= AT_ONCE))) go = wait_a_little(&lock, u);
    u->placed = s && go && u->works;
    working += u->placed;
    pthread_mutex_unlock(&lock);
    if (s && go && s->session) return s;
    *error = s && go ? s->error : (fb_error){.code = s ? FB_CANCELLED : FB_NO_MEMORY};
    keep_give(s, u);
    return NULL;
}

void keep_give(keep_session *s, keep_user *u) {
    pthread_mutex_lock(&lock);
    working -= u->placed;
    if (s) s->users--;
    drop_sessions(SESSIONS);
    pthread_mutex_unlock(&lock);
    if (u->shows) fx.progress->end(u->effect);
    u->placed = u->shows = false;
}

void keep_reach(const keep_session *s, double to[2]) {
    const double size = s->of.set.kernel_scale, most = fmax(s->taps[0], s->taps[1]);
    for (int a = 0; a < 2; a++) /* a corner turns to an edge */
        to[a] = 1 + size * (s->of.set.kernel_turn != 0 ? 0.7072 * most : 0.5 * s->taps[a]);
}

/* --- frames ----------------------------------------------------------------------------------- */

static pthread_mutex_t framing = PTHREAD_MUTEX_INITIALIZER; /* guards these */
static plate last;
static uint64_t last_key, making[AT_ONCE]; /* making: keys of frames; 0: none */

static uint64_t *place_of(uint64_t key) {
    uint64_t *at = making;
    while (at < making + AT_ONCE && *at != key) at++;
    return at < making + AT_ONCE ? at : NULL;
}

bool keep_window(uint64_t key, const plate *to, ofx_rect_i window, keep_user *u) {
    bool is, go = true;
    pthread_mutex_lock(&framing);
    while (!(is = last.data && last_key == key) && go && place_of(key))
        go = wait_a_little(&framing, u);
    if (is)
        plate_copy(to, &last, window);
    else if (go)
        *place_of(0) = key; /* as many work at a time as there are places */
    pthread_mutex_unlock(&framing);
    return is || !go;
}

void keep_frame(uint64_t key, plate *frame) {
    pthread_mutex_lock(&framing);
    uint64_t *at = place_of(key);
    if (at) *at = 0;
    if (frame) {
        plate_close(&last);
        last = *frame;
        last_key = key;
        *frame = (plate){.data = NULL};
    }
    pthread_mutex_unlock(&framing);
}

/* --- all -------------------------------------------------------------------------------------- */

void keep_purge(bool unload) {
    pthread_mutex_lock(&lock);
    while (unload && openers) wait_a_little(&lock, NULL);
    for (keep_session *s = sessions; s; s = s->next) s->gone = true;
    drop_sessions(0);
    pthread_mutex_unlock(&lock);
    keep_frame(0, &(plate){.data = NULL});
    pthread_mutex_lock(&opening);
    for (int i = 0; i < KERNELS; i++) fb_kernel_close(opened[i].kernel);
    memset(opened, 0, sizeof opened);
    for (int i = 0; i < DEVICES; i++) fb_context_close(context[i]), context[i] = NULL;
    pthread_mutex_unlock(&opening);
}
