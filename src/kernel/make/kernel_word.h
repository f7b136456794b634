/* kernel_word.h - which kernel a word means: a file of taps, a shipped kernel, or a recipe, of
 * which the kernel is made. The program and the library ask here, after rights are given up.
 *
 *   star.exr, k/star     the file of that name; a .json is a recipe, or a field
 *   sunstar              where no file has that name: the shipped kernel, an image or a recipe
 *   sunstar:0.7 + k.exr  a mix of such kernels; one without a share has what the others leave
 *
 * The kernel of a recipe, or a mix, is made when it is used first, and kept in the cache folder:
 *
 *   CACHE/kernels/<name>-<hash of the recipe, the size and the version of the models>.exr
 *
 * A recipe that names other files is refused by its text, since the hash would say nothing of them,
 * and nobody has granted the right to read them. */
#pragma once

#include "base/par.h"
#include "base/text.h"
#include "image/image.h"
#include "kernel/kernel_source.h"

enum { KERNEL_PATH = 4200 };

/* Where kernels are. The strings are the caller's. */
typedef struct {
    const char *shipped; /* the folder of the shipped kernels; NULL: there is none */
    const char *cache;   /* the cache folder, for kernels of recipes; NULL: there is none */
    const char *shared;  /* a second cache folder, which is only read; NULL: there is none */
    const char *lists;   /* for messages: how the shipped kernels are listed; NULL: they are */
    const char *field;   /* the field whose nodes are looked for; no node is a field. Or NULL */
} kernel_places;

typedef struct {
    char path[KERNEL_PATH]; /* of a mix: the word itself */
    bool mix;
    bool field;  /* the file is a field as JSON */
    bool recipe; /* the file is a recipe, and so is each of a mix or a field: it is made at any size
                  */
} kernel_word;

/* Returns how many times as large as its file a recipe is made for a frame, by the longer side of
 * what is shown of the frame: recipes are for 1920 pixels. It is 1/64 to 4. */
double kernel_word_scale(double side);

/* How the kernel of a recipe is made. */
typedef struct {
    double scale;    /* multiplies all sizes of the recipe */
    bool draft;      /* the kernel is for pictures of it, and takes less time */
    const char *set; /* parameters of the recipe, as kernel_recipe_set takes them; NULL: its own */
    bool everywhere; /* it is the recipe that a field has as its common kernel */
} kernel_making;

/* Returns whether a word can name a shipped kernel: it has neither a dot nor a slash. */
bool kernel_word_is_name(const char *word);
/* Finds what a word means; one with a dot or a slash is a file. Fails with ERR_NO_INPUT, and what
 * was probably meant, for a name that means nothing and for a recipe that is not there. */
bool kernel_word_find(kernel_word *k, const char *word, const kernel_places *in, err *e);
/* Returns whether a word is a mix: no file has that name, and a kernel in it has a share, or " + "
 * behind it. */
bool kernel_word_is_mix(const char *word);
/* Reads the next kernel of a mix; its share is NaN where it has none. Returns false at the end. */
bool kernel_word_part(const char **list, char word[KERNEL_PATH], double *share);
/* Adds a mix with `folder` in front of each kernel that is a file with a path of its own. */
void kernel_word_add_mix(text *to, const char *word, const char *folder);

/* Writes the path at which the kernel of a recipe, or a mix, is kept; *there tells whether it was
 * made already. Where no folder can keep it that is a name, and the kernel goes to a file in
 * memory, whose path it becomes when it is made. */
bool kernel_word_kept(char to[KERNEL_PATH], const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, bool *there, err *e);
bool kernel_word_keep(char path[KERNEL_PATH], const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, par *threads, err *e);
/* Makes the image of a recipe, a mix or a field. */
image *kernel_word_make(const kernel_word *k, const kernel_making *how, const kernel_places *in,
                        par *threads, err *e);
/* Loads what a word means: of a recipe or a mix what is kept, or made now and kept where there is a
 * cache folder. Free it with kernel_source_free, also after a failure. */
bool kernel_word_load(kernel_source *to, const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, par *threads, err *e);

/* Finds the folder of the shipped kernels near a file, such as the program: as installed, in its
 * folder, or beside its folder, as in the source tree. */
bool kernel_word_folder(char to[KERNEL_PATH], const char *file);
/* Appends the names in a folder, sorted, with blanks between them. */
void kernel_word_names(const char *folder, text *to);
