/* log.h - writes messages to people, on stderr. stdout is for data and is never written here.
 *
 * A call writes one whole line with one write, so lines of several threads do not mix. A line of
 * status (a progress bar) stands at the bottom of a terminal until the next message. Names in both
 * may come from anywhere: control characters and bytes that are not UTF-8 are shown, not sent
 * (text_clean). "error" and "warning" are coloured where stderr is a terminal, unless NO_COLOR is
 * set.
 *
 * The level is global: it is set once, before any thread starts. The other global state of the base
 * is the account and limit of memory (mem.c), the temporary files that exist (file.c), and here the
 * line of status, the last words and what was said once. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

typedef enum { LOG_ERROR, LOG_WARN, LOG_NOTE, LOG_INFO, LOG_DEBUG } log_level;

/* Set and return the level. Messages up to it are written. LOG_NOTE is the default; -q sets
 * LOG_ERROR, -v sets LOG_INFO. */
void log_set_level(log_level level);
log_level log_get_level(void);

/* Writes "fftbloom: ", the word of the level, and the message. */
void log_say(log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Does the same for a message that the program has not said yet: a sequence says it for its first
 * frame. */
void log_say_once(log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Shows a line without an end on a terminal, in place of the one before; NULL removes it. The next
 * message removes it, too. */
void log_status(const char *line);

/* Keeps the message that log_last_words is to write, for LOG_NOTE and above; NULL: none. Not for
 * several threads at once. */
void log_keep_last_words(const char *sentence);
/* Removes the line of status and writes the message that was kept, or `instead` unless it is NULL.
 * Nothing is written afterwards. For whatever ends the program without returning from main.
 * Async-signal-safe. Writes nothing where that would have to wait. */
void log_last_words(const char *instead);

#define log_error(...) log_say(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_say(LOG_WARN, __VA_ARGS__)
#define log_note(...)  log_say(LOG_NOTE, __VA_ARGS__)
#define log_info(...)  log_say(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_say(LOG_DEBUG, __VA_ARGS__)

#endif
