/* library.h - finds the kernels that are shipped with the program, by their names.
 *
 * They lie in one folder: that of --kernels (or FFTBLOOM_KERNELS), or else the first that exists
 * near the program (kernel/make/shelf.h). The module knows files by their names alone. */
#ifndef APP_LIBRARY_H
#define APP_LIBRARY_H

#include "app/cli/settings.h"
#include "kernel/make/shelf.h"

/* Writes the path of a shipped kernel, or of the kernel that a recipe (.json) makes, into `room`
 * and returns it. Returns the word where it can name none: it has a dot or a slash, or there is a
 * file of that name. Returns NULL where the library has no such kernel: ERR_NO_INPUT, with the
 * nearest name. */
enum { LIBRARY_PATH = SHELF_PATH };
char *library_path(char room[LIBRARY_PATH], char *word, const settings *s, err *e);

/* Writes the path of what is made (shelf_want), which may name `to`, on the shelf of the cache
 * folder or of $FFTBLOOM_CACHE_RO. Makes it unless it is there, with a word on a terminal. */
bool library_make(char to[LIBRARY_PATH], const shelf_want *w, const settings *s, err *e);

/* Writes the path of a recipe, that of this name or the file itself, into `room`; returns false for
 * all other kernels. */
bool library_recipe(char room[LIBRARY_PATH], const char *word, const settings *s);

/* Replaces the option `kernel` by the path of the shipped kernel that it names, or of the kernel
 * that its recipe makes. Fails with ERR_NO_INPUT, and with the nearest names, where a word names
 * nothing. */
bool library_set_kernel(settings *s, uint32_t users, err *e);

/* Writes the name of the shipped kernel whose file this is, or that was made of its recipe, and
 * returns it: other machines have copies of their own. Returns NULL for other files. */
const char *library_name_of(char room[LIBRARY_PATH], const char *path, const settings *s);

/* Writes the library's folder; returns false where there is none. */
bool library_folder(char to[LIBRARY_PATH], const settings *s);
/* Appends the names of its kernels, sorted, with blanks between them. */
void library_names(const settings *s, text *to);

#endif
