#include "base/log.h"

#include "base/host.h"

#include <stdatomic.h>

static log_level current = LOG_NOTE;
static log_writer *writer;

void log_set_writer(log_writer *w) {
    writer = w;
}
void log_set_level(log_level level) {
    current = level;
}
log_level log_get_level(void) {
    const host *h = host_here();
    return h->log ? (log_level)h->level : current;
}

void log_say(log_level level, const char *fmt, ...) {
    const host *h = host_here();
    char said[2048];
    if (level > log_get_level() || !(h->log || writer)) return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(said, sizeof said, fmt, ap);
    va_end(ap);
    if (n < 0) return;
    if (h->log)
        h->log(h->log_ctx, (int)level, said);
    else
        writer(level, said);
}

void log_say_once(log_level level, const char *fmt, ...) {
    enum { MOST = 64 };
    static _Atomic uint64_t said_before[MOST]; /* hashes (FNV-1a); 0: free */
    char said[2048];
    uint64_t hash = 14695981039346656037u;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(said, sizeof said, fmt, ap);
    va_end(ap);
    for (const char *s = said; *s; s++) hash = (hash ^ (uint8_t)*s) * 1099511628211u;
    for (int i = 0; i < MOST; i++) {
        uint64_t was = 0;
        if (atomic_compare_exchange_strong(&said_before[i], &was, hash)) break;
        if (was == hash) return;
    }
    log_say(level, "%s", said);
}
