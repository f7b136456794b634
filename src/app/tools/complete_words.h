/* complete_words.h - finds words for a value that only this machine or the files of a command line
 * can tell: its devices, the layers of its image, the parameters of its model. */
#ifndef APP_COMPLETE_WORDS_H
#define APP_COMPLETE_WORDS_H

#include "app/cli/options.h"

/* Returns true for options whose values complete_words knows. */
bool complete_asks(const option *o);

/* Adds the words that may stand for `current`, which is what was typed of the value, a line each.
 * `line` are the other words of the command line. Whatever cannot be read adds nothing. */
void complete_words(const char *option_name, const char *current, char *const *line, int words,
                    text *to);

#endif
