#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static log_level current = LOG_NOTE;

static const char *const PREFIX[] = {
    [LOG_ERROR] = "fftbloom: error: ", [LOG_WARN] = "fftbloom: warning: ",
    [LOG_NOTE] = "fftbloom: ",         [LOG_INFO] = "fftbloom: ",
    [LOG_DEBUG] = "fftbloom: debug: ",
};

void log_set_level(log_level level) {
    current = level;
}
log_level log_get_level(void) {
    return current;
}

void log_say(log_level level, const char *fmt, ...) {
    if (level > current) return;
    char line[2048];
    int n = snprintf(line, sizeof line, "%s", PREFIX[level]);
    va_list ap;
    va_start(ap, fmt);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    if (m < 0) return;
    size_t end = (size_t)n + (size_t)m;
    if (end > sizeof line - 2) end = sizeof line - 2;
    line[end++] = '\n';
    ssize_t unused = write(STDERR_FILENO, line, end);
    (void)unused; /* nowhere left to complain */
}
