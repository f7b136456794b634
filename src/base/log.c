#include "base/log.h"

#include "base/text.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLEAR_LINE "\r\033[K"

static log_level current = LOG_NOTE;
static atomic_bool status_stands; /* a line of status is on the terminal */

/* A signal handler must find a whole message while another thread makes the next one. So there are
 * two: `kept` is the number of the one that is valid, the other one is written. Nothing is written
 * into either once `ended` is set and a message that was begun before is complete. */
static char last_words[2][512];
static atomic_int kept;
static atomic_bool ended;

/* The word after the program's name, plain and as a terminal shows it. */
static const struct {
    const char *plain, *colored;
} WORD[] = {
    [LOG_ERROR] = {"error: ", "\033[1;31merror:\033[0m "},
    [LOG_WARN] = {"warning: ", "\033[1;33mwarning:\033[0m "},
    [LOG_NOTE] = {"", ""},
    [LOG_INFO] = {"", ""},
    [LOG_DEBUG] = {"debug: ", "\033[2mdebug:\033[0m "},
};

void log_set_level(log_level level) {
    current = level;
}
log_level log_get_level(void) {
    return current;
}

void log_say(log_level level, const char *fmt, ...) {
    if (level > current || atomic_load(&ended)) return;
    char said[2048], line[4096];
    va_list ap;
    va_start(ap, fmt);
    int m = vsnprintf(said, sizeof said, fmt, ap);
    va_end(ap);
    if (m < 0) return;
    /* https://no-color.org: any value but the empty one turns colours off. */
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    bool colored = !(no && *no) && term && *term && strcmp(term, "dumb") != 0 &&
                   isatty(STDERR_FILENO);
    size_t end = (size_t)snprintf(line, sizeof line, "%sfftbloom: %s",
                                  atomic_exchange(&status_stands, false) ? CLEAR_LINE : "",
                                  colored ? WORD[level].colored : WORD[level].plain);
    /* The message may contain names of files, channels and devices, and these any bytes. */
    end += text_clean(line + end, sizeof line - end - 1, said);
    line[end++] = '\n';
    ssize_t unused = write(STDERR_FILENO, line, end);
    (void)unused; /* nowhere left to complain */
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

void log_status(const char *line) {
    char shown[1024];
    bool stood = atomic_exchange(&status_stands, line != NULL);
    if ((!line && !stood) || atomic_load(&ended)) return;
    int n = snprintf(shown, sizeof shown, CLEAR_LINE "%s", line ? line : "");
    if (n >= (int)sizeof shown) n = (int)sizeof shown - 1;
    ssize_t unused = write(STDERR_FILENO, shown, (size_t)n);
    (void)unused;
}

void log_keep_last_words(const char *sentence) {
    if (atomic_load(&ended)) return;
    int other = 1 - atomic_load(&kept);
    char *to = last_words[other];
    to[0] = 0;
    if (sentence && current >= LOG_NOTE) {
        /* A terminal has shown the ^C that was typed. */
        size_t room = sizeof last_words[0];
        int n = snprintf(to, room, "%sfftbloom: ", isatty(STDERR_FILENO) ? CLEAR_LINE : "");
        size_t end = (size_t)n + text_clean(to + n, room - (size_t)n - 2, sentence);
        to[end] = '\n';
        to[end + 1] = 0;
    }
    atomic_store(&kept, other);
}

void log_last_words(const char *instead) {
    if (atomic_exchange(&ended, true)) return;
    struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&to, 1, 0) != 1 || !(to.revents & POLLOUT)) return;
    const char *words = instead ? instead : last_words[atomic_load(&kept)];
    ssize_t unused = 0;
    if (atomic_load(&status_stands))
        unused = write(STDERR_FILENO, CLEAR_LINE, sizeof CLEAR_LINE - 1);
    if (words[0]) unused = write(STDERR_FILENO, words, strlen(words));
    (void)unused;
}
