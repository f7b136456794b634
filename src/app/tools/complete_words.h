/* complete_words.h - finds completions for values that depend on this machine or on the files of a
 * command line: devices, shipped kernels, the layers of the image, the parameters of the model. */
#ifndef APP_COMPLETE_WORDS_H
#define APP_COMPLETE_WORDS_H

#include "app/cli/options.h"

/* Returns true for options whose values complete_words knows. */
bool complete_asks(const option *o);

/* What is asked: the words for a value of which `typed` stands there; `line` are the other words of
 * the command line. */
typedef struct {
    const char *option, *typed;
    char *const *line;
    int words;
    const settings *s;
} complete_question;

/* Adds the words, a line each. Whatever cannot be read adds nothing. */
void complete_words(const complete_question *q, text *to);

#endif
