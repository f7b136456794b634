/* old_words.h - words of the version before this one, and what to do instead.
 *
 * A flag, a key, an action or a value that goes is refused with one line that ends in the way to
 * the same result. Each is one row of the table in old_words.c, and a row stays for one version:
 * the table is emptied when a version is opened. The table does not know words that still mean
 * something: a word that another command takes is found by option_find. */
#ifndef APP_OLD_WORDS_H
#define APP_OLD_WORDS_H

#include <stdint.h>

/* Returns what to do instead of an option (a flag or a key; - and _ are the same) or an action
 * that one of `users` took: option_users, with FOR_CONFIG for keys of configs and FOR_CASE for
 * those of suites. Returns NULL where the word is not in the table. */
const char *old_word(const char *word, uint32_t users);
/* The same for a value of the option `name`, as in "existing=in-place". */
const char *old_value(const char *name, const char *value);

#endif
