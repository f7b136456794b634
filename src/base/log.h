/* log.h - messages to people, on stderr. stdout is for data and is never written here.
 *
 * The level is the one global of the program: it is set once, before any thread starts. Each
 * call writes whole lines with one write, so lines of several threads do not mix. "error" and
 * "warning" are coloured where stderr is a terminal, unless NO_COLOR is set. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

typedef enum { LOG_ERROR, LOG_WARN, LOG_NOTE, LOG_INFO, LOG_DEBUG } log_level;

/* LOG_NOTE is the default: warnings and what a person must know. -q = LOG_ERROR, -v = LOG_INFO. */
void log_set_level(log_level level);
log_level log_get_level(void);

void log_say(log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_say(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_say(LOG_WARN, __VA_ARGS__)
#define log_note(...)  log_say(LOG_NOTE, __VA_ARGS__)
#define log_info(...)  log_say(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_say(LOG_DEBUG, __VA_ARGS__)

#endif
