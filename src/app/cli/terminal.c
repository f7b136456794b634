#include "app/cli/terminal.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define CLEAR_LINE "\r\033[K"

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

static void put(const char *line, size_t n) {
    ssize_t unused = write(STDERR_FILENO, line, n);
    (void)unused; /* nowhere left to complain */
}

static void write_message(log_level level, const char *said) {
    if (atomic_load(&ended)) return;
    char line[4096];
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
    put(line, end);
}

void terminal_open(void) {
    log_set_writer(write_message);
}

void terminal_status(const char *line) {
    char shown[1024];
    bool stood = atomic_exchange(&status_stands, line != NULL);
    if ((!line && !stood) || atomic_load(&ended)) return;
    int n = snprintf(shown, sizeof shown, CLEAR_LINE "%s", line ? line : "");
    if (n >= (int)sizeof shown) n = (int)sizeof shown - 1;
    put(shown, (size_t)n);
}

void terminal_keep_last_words(const char *sentence) {
    if (atomic_load(&ended)) return;
    int other = 1 - atomic_load(&kept);
    char *to = last_words[other];
    to[0] = 0;
    if (sentence && log_get_level() >= LOG_NOTE) {
        /* A terminal has shown the ^C that was typed. */
        size_t room = sizeof last_words[0];
        int n = snprintf(to, room, "%sfftbloom: ", isatty(STDERR_FILENO) ? CLEAR_LINE : "");
        size_t end = (size_t)n + text_clean(to + n, room - (size_t)n - 2, sentence);
        to[end] = '\n';
        to[end + 1] = 0;
    }
    atomic_store(&kept, other);
}

void terminal_last_words(const char *instead) {
    if (atomic_exchange(&ended, true)) return;
    struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&to, 1, 0) != 1 || !(to.revents & POLLOUT)) return;
    const char *words = instead ? instead : last_words[atomic_load(&kept)];
    if (atomic_load(&status_stands)) put(CLEAR_LINE, sizeof CLEAR_LINE - 1);
    put(words, strlen(words));
}

/* Half seconds: between the words on a terminal; in a log, until the first line and between two. */
enum { WORDS_APART = 1, PATIENCE = 4, LINES_APART = 10 };

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
    for (int halves = 0, wait = terminal ? WORDS_APART : PATIENCE; !t->done;) {
        const long ns = at.tv_nsec + wait % 2 * 500000000L;
        at.tv_sec += wait / 2 + ns / 1000000000, at.tv_nsec = ns % 1000000000;
        while (!t->done && pthread_cond_timedwait(&t->ended, &t->lock, &at) != ETIMEDOUT) {
        }
        if (t->done) break;
        halves += wait, wait = terminal ? WORDS_APART : LINES_APART;
        char line[160];
        snprintf(line, sizeof line, "%s: %g s", t->what, halves / 2.0);
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
