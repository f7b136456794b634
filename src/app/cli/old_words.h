/* old_words.h - words of the version before this one, and what to do instead.
 *
 * A flag, a key, an action or a value that goes is refused with one line that ends in the way to
 * the same result: a row of the table in old_words.c, which stays for one version. */
#ifndef APP_OLD_WORDS_H
#define APP_OLD_WORDS_H

#include <stdint.h>

/* Returns what to do instead of an option (- and _ are the same) or an action that one of `users`
 * took: option_users, with FOR_CONFIG and FOR_CASE for keys; NULL: it is not in the table. */
const char *old_word(const char *word, uint32_t users);
/* The same for a value of the option `name`, as in "existing=in-place". */
const char *old_value(const char *name, const char *value);

#endif
