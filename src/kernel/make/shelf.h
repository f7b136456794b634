/* shelf.h - the kernels that are shipped, by their names: images and recipes in one folder.
 *
 * A recipe is made when it is used first, and the kernel is kept in the cache folder:
 *
 *   CACHE/kernels/<name>-<hash of the recipe, the size and the version of the models>.exr
 *
 * The same recipe makes the same bytes on every machine, so it does not matter who has made an
 * entry. */
#ifndef KERNEL_MAKE_SHELF_H
#define KERNEL_MAKE_SHELF_H

#include "base/par.h"
#include "base/text.h"

enum { SHELF_PATH = 4200 };

/* Returns whether a word can name a shipped kernel: it has neither a dot nor a slash. */
bool shelf_is_name(const char *word);
/* Finds the folder of the kernels near a file, such as the program: the first that is there of
 * share/fftbloom/kernels beside its folder or the one above, as installed; kernels in its folder;
 * and kernels beside its folder, as in the source tree. */
bool shelf_near(char to[SHELF_PATH], const char *file);
/* Writes the path of NAME.exr or NAME.json in a folder; returns false where there is neither. */
bool shelf_find(char to[SHELF_PATH], const char *folder, const char *name);
bool shelf_is_recipe(const char *path);
/* Appends the names in a folder, sorted, with blanks between them. */
void shelf_names(const char *folder, text *to);
/* Says that a word names nothing, and what was probably meant. Returns false. */
bool shelf_no_such(const char *word, const char *folder, const char *list, err *e);

/* What is made of a recipe. */
typedef struct {
    const char *recipe;
    double scale; /* all sizes of the recipe are multiplied by it */
    bool draft;   /* the kernel is for pictures of it, and takes less time */
} shelf_want;

/* Writes the path of what is made: the entry of a shared cache that is only read (NULL: there is
 * none), or that of the cache folder. *there tells whether it was made already. Fails with
 * ERR_CANT_CREATE where there is no folder to keep it in. */
typedef struct {
    const char *cache, *shared;
} shelf_places;
bool shelf_entry(char to[SHELF_PATH], const shelf_want *w, const shelf_places *in, bool *there,
                 err *e);
/* Makes an entry. */
bool shelf_make(const char *entry, const shelf_want *w, par *threads, err *e);

#endif
