#include "base/log.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static log_level current = LOG_NOTE;

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
    if (level > current) return;
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
    size_t end = (size_t)snprintf(line, sizeof line, "fftbloom: %s",
                                  colored ? WORD[level].colored : WORD[level].plain);
    /* The message may contain names of files, channels and devices, and these any bytes. */
    end += text_clean(line + end, sizeof line - end - 1, said);
    line[end++] = '\n';
    ssize_t unused = write(STDERR_FILENO, line, end);
    (void)unused; /* nowhere left to complain */
}
