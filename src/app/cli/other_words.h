/* other_words.h - what to write instead of an option of an earlier version or of another program.
 */
#ifndef APP_OTHER_WORDS_H
#define APP_OTHER_WORDS_H

#include "base/text.h"

#include <stdint.h>

/* Appends "use --amount" or another sentence for a name that is no option of `users`. Returns
 * false, and appends nothing, if the word is not known. */
bool other_word_find(const char *name, uint32_t users, text *to);

#endif
