#include "app/cli/ticker.h"
#include "app/cli/terminal.h"

#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Seconds: until the first word, and between the lines of a log. */
enum { PATIENCE = 2, LINES_APART = 5 };

struct ticker {
    const char *what;
    pthread_t thread;
    pthread_mutex_t lock; /* guards `done` */
    pthread_cond_t ended;
    bool done;
};

static void *count(void *arg) {
    ticker *t = arg;
    bool terminal = isatty(STDERR_FILENO) && log_get_level() >= LOG_NOTE, said = false;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    pthread_mutex_lock(&t->lock);
    for (int seconds = 0, wait = PATIENCE; !t->done;) {
        at.tv_sec += wait;
        while (!t->done && pthread_cond_timedwait(&t->ended, &t->lock, &at) != ETIMEDOUT) {
        }
        if (t->done) break;
        seconds += wait, wait = terminal ? 1 : LINES_APART;
        char line[160];
        snprintf(line, sizeof line, "%s: %d s", t->what, seconds);
        if (terminal)
            terminal_status(line);
        else
            log_note("%s, and not done yet", line);
        said = terminal;
    }
    pthread_mutex_unlock(&t->lock);
    if (said) terminal_status(NULL);
    return NULL;
}

static void free_ticker(ticker *t) {
    pthread_cond_destroy(&t->ended);
    pthread_mutex_destroy(&t->lock);
    mem_free(t);
}

ticker *ticker_open(const char *what) {
    ticker *t = mem_new(1, sizeof *t, "a ticker", NULL);
    pthread_condattr_t steady;
    if (!t) return NULL;
    t->what = what;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->ended, &steady);
    pthread_condattr_destroy(&steady);
    if (pthread_create(&t->thread, NULL, count, t) == 0) return t;
    free_ticker(t);
    return NULL;
}

void ticker_close(ticker **tp) {
    ticker *t = *tp;
    *tp = NULL;
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->done = true;
    pthread_cond_signal(&t->ended);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    free_ticker(t);
}
