/* terminal.h - writes messages to people, on stderr. stdout is for data and is never written here.
 *
 * A call writes one whole line with one write. A line of status (a progress bar) stands at the
 * bottom of a terminal until the next message. Control characters and bytes that are not UTF-8 are
 * shown, not sent (text_clean). "error" and "warning" are coloured where stderr is a terminal,
 * unless NO_COLOR is set. The line of status and the last words are global. */
#pragma once

/* Writes what log_say tells from now on: "fftbloom: ", the word of the level, and the message. */
void terminal_open(void);
/* Shows a line without an end on a terminal, in place of the one before; NULL removes it. */
void terminal_status(const char *line);
/* Keeps the message that terminal_last_words is to write; NULL: none. Not for several threads. */
void terminal_keep_last_words(const char *sentence);
/* Removes the line of status and writes the message that was kept, or `instead` unless it is NULL,
 * for what ends the program without returning from main. Async-signal-safe; never waits. */
void terminal_last_words(const char *instead);

/* Says that work which takes long goes on: after half a second, the seconds in the line of status
 * of a terminal; or else, after two seconds, a note every few seconds. */
typedef struct ticker ticker;

/* Starts to count for work of this name, which must outlive the ticker. NULL: nothing is said. */
ticker *ticker_open(const char *what);
/* Ends it, and removes its line. */
void ticker_close(ticker **t);
