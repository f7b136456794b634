/* host.h - what a thread works for: whose memory it uses, who hears what it says, and who may stop
 * it.
 *
 * A program is one host, and says nothing here. The library has one for each context, and sets it
 * for as long as a call lasts. Threads work for the host of the thread that started them. */
#pragma once

#include "base/err.h"

#include <pthread.h>

struct mem_budget;

/* All zeros: the program. */
typedef struct {
    struct mem_budget *memory; /* NULL: the program's */
    /* Takes a message up to `level`, a log_level. NULL: the program's. */
    void (*log)(void *ctx, int level, const char *message);
    void *log_ctx;
    int level;
    /* Is told how much is done, 0 to 1; anything but 0 stops the work. NULL: nobody is. */
    int (*progress)(void *ctx, double done);
    void *progress_ctx;
    double from, span;  /* the part of the whole that is being done */
    double done, asked; /* what was told last, and when (clock.h) */
    bool stopped;       /* as it was asked for: all that follows of this work fails */
} host;

/* Returns the host of this thread, which may be changed. */
host *host_here(void);
host host_set(host h);

/* Returns a variable of the program's environment, or NULL: only a program lets its modules read
 * it, by a function that it sets before any thread starts. */
const char *host_variable(const char *name);
void host_set_variables(const char *(*get)(const char *name));

/* Tells that `done`, 0 to 1, is done. Returns false, with ERR_CANCELLED, if work is to stop. */
bool host_ask(double done, err *e);
/* Asks again, some milliseconds after the last time; par_for does so between its pieces. */
bool host_ask_again(err *e);
/* Waits for a condition, and asks meanwhile; may return early, as pthread_cond_wait does. */
bool host_wait(pthread_cond_t *c, pthread_mutex_t *lock, err *e);
