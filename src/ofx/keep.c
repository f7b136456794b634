#include "ofx/keep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* SESSIONS that nobody uses are kept, and AT_ONCE renders work at a time: the threads of
 * a context go where pieces are left, so more of them take memory and no less time. */
enum { SESSIONS = 6, KERNELS = 4, AT_ONCE = 3, ASK_MS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that is static here */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* --- renders ---------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void keep_begin(keep_render *r, ofx_effect_handle effect) {
    *r = (keep_render){.effect = effect, .start = now()};
}

void keep_end(keep_render *r) {
    if (r->shows) fx.progress->end(r->effect);
}

int keep_ask(void *render, double done) {
    enum { LONG = 3 }; /* seconds */
    keep_render *r = render;
    r->stopped = r->stopped || fx.effect->abort(r->effect);
    if (fx.progress && !r->shows && now() > r->start + LONG)
        r->shows = fx.progress->start(r->effect, "fftbloom") == OFX_OK;
    if (r->shows && done > r->last + 0.02) {
        r->last = done;
        r->stopped |= fx.progress->update(r->effect, done) == OFX_NO;
    }
    return r->stopped;
}

/* Waits for a change for a moment, with the lock held; false: the render is to stop. */
static bool wait_a_little(keep_render *r) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ASK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
    const bool stop = keep_ask(r, r->last); /* a host may wait for a lock of its own */
    pthread_mutex_lock(&lock);
    return !stop;
}

static int working;

bool keep_enter(keep_render *r) {
    bool go = true;
    pthread_mutex_lock(&lock);
    while (go && working >= AT_ONCE) go = wait_a_little(r);
    working += go;
    pthread_mutex_unlock(&lock);
    return go;
}

void keep_leave(void) {
    pthread_mutex_lock(&lock);
    working--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* --- contexts and kernels --------------------------------------------------------------------- */

static fb_context *context[DEVICES];
static struct opened {
    fb_context *of;
    char name[CONTROLS_PATH];
    int64_t stamp; /* of a file: changes with its content */
    fb_kernel *kernel;
} opened[KERNELS]; /* the last used one first */

/* Writes the place of the bundle's kernels; false: there is none. */
static bool find_kernels(char to[CONTROLS_PATH]) {
    Dl_info here;
    char own[4096];
    if (!dladdr((void *)(uintptr_t)keep_take, &here) || !realpath(here.dli_fname, own))
        return false;
    for (int up = 0; up < 2; up++) { /* Contents/Linux-x86-64/fftbloom.ofx */
        char *slash = strrchr(own, '/');
        if (slash) *slash = 0;
    }
    return snprintf(to, CONTROLS_PATH, "%s/Resources/kernels", own) < CONTROLS_PATH &&
           access(to, R_OK) == 0;
}

/* Writes the cache folder of the program; false: there is none. */
static bool find_cache(char to[CONTROLS_PATH]) {
    static const char *const PLACE[][2] = {
        {"FFTBLOOM_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/fftbloom"}, {"HOME", "/.cache/fftbloom"}};
    for (int i = 0; i < 3; i++) {
        const char *at = getenv(PLACE[i][0]);
        if (at && *at) return snprintf(to, CONTROLS_PATH, "%s%s", at, PLACE[i][1]) < CONTROLS_PATH;
    }
    return false;
}

/* The budget is the library's: most of what the host has left, also in a container. */
static fb_context *open_context(controls_device device, fb_error *e) {
    static const char *const NAME[DEVICES] = {"auto", "cpu", "gpu"};
    char kernels[CONTROLS_PATH], cache[CONTROLS_PATH];
    fb_context *c;
    const fb_context_options o = {.size = sizeof o,
                                  .device = NAME[device],
                                  .cache_dir = find_cache(cache) ? cache : NULL,
                                  .kernels = find_kernels(kernels) ? kernels : NULL};
    return fb_context_open(&c, &o, e) == FB_OK ? c : NULL;
}

static int64_t stamp_of(const controls *c) {
    struct stat is;
    if (!c->file || stat(c->kernel, &is) != 0) return 0;
    return (int64_t)is.st_mtim.tv_sec * 1000000000 + is.st_mtim.tv_nsec + is.st_size;
}

static bool is_kernel(const struct opened *o, const struct opened *as) {
    return o->kernel && o->of == as->of && o->stamp == as->stamp && !strcmp(o->name, as->name);
}

/* Finds or opens a kernel, which belongs to this list. Called by one thread at a time. */
static fb_kernel *find_kernel(struct opened is, fb_error *e) {
    int at = 0;
    while (at < KERNELS - 1 && !is_kernel(&opened[at], &is)) at++;
    if (is_kernel(&opened[at], &is)) {
        is = opened[at];
    } else {
        if (fb_kernel_open(&is.kernel, is.of, is.name, e) != FB_OK) return NULL;
        fb_kernel_close(opened[at].kernel);
    }
    memmove(opened + 1, opened, (size_t)at * sizeof *opened);
    opened[0] = is;
    return is.kernel;
}

/* --- sessions --------------------------------------------------------------------------------- */

struct keep_session {
    controls of; /* with the scale in it; compared by its bytes */
    int64_t stamp;
    fb_session *session;
    double taps[2];
    fb_error error;
    char note[sizeof((fb_error *)0)->text];
    int users;
    bool making, gone;
    keep_session *next; /* the one that was used before it */
};
static keep_session *sessions;
static int openers;                                         /* threads that open sessions */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* held by the one that works */

static void open_session(keep_session *s) {
    fb_kernel *k = NULL;
    fb_session *made = NULL;
    uint32_t w = 0, h = 0;
    controls_device d = s->of.device;
    pthread_mutex_lock(&opening);
    if (!context[d]) context[d] = open_context(d, &s->error);
    if (!context[d] && d != DEVICE_AUTO) { /* the project comes from another machine */
        memcpy(s->note, s->error.text, sizeof s->note);
        d = DEVICE_AUTO;
        if (!context[d]) context[d] = open_context(d, &s->error);
    }
    struct opened is = {.of = context[d], .stamp = s->stamp};
    memcpy(is.name, s->of.kernel, sizeof is.name);
    if (context[d]) k = find_kernel(is, &s->error);
    fb_kernel_size(k, &w, &h, NULL);
    if (k) fb_session_open(&made, k, &s->of.set, &s->error);
    pthread_mutex_unlock(&opening);
    pthread_mutex_lock(&lock);
    s->taps[0] = w, s->taps[1] = h;
    s->session = made;
    s->making = false;
    s->gone |= !made;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *opener_main(void *arg) {
    keep_session *s = arg;
    open_session(s);
    keep_give(s);
    pthread_mutex_lock(&lock);
    openers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Drops what is gone, and what was not used for longest; with the lock held. */
static void drop_sessions(int most) {
    int idle = 0;
    for (keep_session **at = &sessions; *at;) { /* the last used one first */
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

/* Finds or adds a session and puts it first; with the lock held. */
static keep_session *find_session(const controls *of, int64_t stamp, bool *added) {
    keep_session **at = &sessions;
    while (*at && ((*at)->gone || (*at)->stamp != stamp || memcmp(&(*at)->of, of, sizeof *of) != 0))
        at = &(*at)->next;
    keep_session *s = *at;
    *added = !s;
    if (!s && !(s = calloc(1, sizeof *s))) return NULL;
    if (*added) {
        memcpy(&s->of, of, sizeof *of);
        s->stamp = stamp;
        s->making = true;
    } else {
        *at = s->next;
    }
    s->next = sessions;
    s->users++;
    return sessions = s;
}

keep_session *keep_take(const controls *c, double scale, keep_render *r, fb_error *error) {
    bool added, go = true;
    controls of;
    pthread_t thread;
    memcpy(&of, c, sizeof of);
    of.set.kernel_scale = c->set.kernel_scale * scale;
    of.show = SHOW_RESULT; /* `emit` says it */
    of.space = NULL;
    *error = (fb_error){0};
    pthread_mutex_lock(&lock);
    keep_session *s = find_session(&of, stamp_of(c), &added);
    if (added && s) {
        s->users++, openers++;
        pthread_mutex_unlock(&lock);
        if (pthread_create(&thread, NULL, opener_main, s) == 0)
            pthread_detach(thread);
        else
            opener_main(s);
        pthread_mutex_lock(&lock);
    }
    while (s && go && s->making) go = wait_a_little(r);
    pthread_mutex_unlock(&lock);
    if (s && go && s->session) return s;
    if (s && go) *error = s->error;
    if (!s) error->code = FB_NO_MEMORY;
    keep_give(s);
    return NULL;
}

void keep_give(keep_session *s) {
    if (!s) return;
    pthread_mutex_lock(&lock);
    s->users--;
    drop_sessions(SESSIONS);
    pthread_mutex_unlock(&lock);
}

fb_session *keep_handle(const keep_session *s) {
    return s->session;
}

const char *keep_note(const keep_session *s) {
    return s->note[0] ? s->note : NULL;
}

void keep_reach(const keep_session *s, double to[2]) {
    const double size = s->of.set.kernel_scale;
    const bool turned = s->of.set.kernel_turn != 0;
    const double most = s->taps[0] > s->taps[1] ? s->taps[0] : s->taps[1];
    for (int a = 0; a < 2; a++) /* a corner turns to an edge */
        to[a] = 1 + size * (turned ? 0.7072 * most : 0.5 * s->taps[a]);
}

/* --- frames ----------------------------------------------------------------------------------- */

static keep_frame *last; /* counted as one user */

void keep_frame_give(keep_frame *f) {
    if (!f || atomic_fetch_sub(&f->users, 1) != 1) return;
    free(f->data);
    free(f);
}

keep_frame *keep_frame_find(const keep_frame_key *key) {
    pthread_mutex_lock(&lock);
    keep_frame *f = last && memcmp(&last->key, key, sizeof *key) == 0 ? last : NULL;
    if (f) atomic_fetch_add(&f->users, 1);
    pthread_mutex_unlock(&lock);
    return f;
}

void keep_frame_put(keep_frame *f) {
    if (f) atomic_fetch_add(&f->users, 1);
    pthread_mutex_lock(&lock);
    keep_frame *old = last;
    last = f;
    pthread_mutex_unlock(&lock);
    keep_frame_give(old);
}

/* --- all -------------------------------------------------------------------------------------- */

void keep_purge(bool unload) {
    pthread_mutex_lock(&lock);
    while (unload && openers) pthread_cond_wait(&changed, &lock);
    for (keep_session *s = sessions; s; s = s->next) s->gone = true;
    drop_sessions(0);
    pthread_mutex_unlock(&lock);
    keep_frame_put(NULL);
    pthread_mutex_lock(&opening);
    for (int i = 0; i < KERNELS; i++) fb_kernel_close(opened[i].kernel);
    memset(opened, 0, sizeof opened);
    for (int i = 0; i < DEVICES; i++) fb_context_close(context[i]), context[i] = NULL;
    pthread_mutex_unlock(&opening);
}
