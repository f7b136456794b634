/* log.h - tells people what happens: messages of a host of its own go to that (base/host.h), all
 * others to the program's writer. Its level and writer are set before any thread starts. */
#pragma once

typedef enum { LOG_ERROR, LOG_WARN, LOG_NOTE, LOG_INFO, LOG_DEBUG } log_level;

/* Set the program's level, LOG_NOTE by default, and its writer. */
void log_set_level(log_level level);
typedef void log_writer(log_level level, const char *message);
void log_set_writer(log_writer *w);
/* Returns the level for this thread. */
log_level log_get_level(void);

/* Tells a message, in which names of files may have any bytes. */
void log_say(log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Does the same for a message that the program has not said yet. */
void log_say_once(log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_say(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_say(LOG_WARN, __VA_ARGS__)
#define log_note(...)  log_say(LOG_NOTE, __VA_ARGS__)
#define log_info(...)  log_say(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_say(LOG_DEBUG, __VA_ARGS__)
