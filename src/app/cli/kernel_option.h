/* kernel_option.h - the words of a command line that mean kernels: the option `kernel`, and the
 * arguments of `kernel`.
 *
 * What a word means is asked of kernel/make/kernel_word.h. It is asked after rights are given up,
 * since recipes are files that others may have written. */
#pragma once

#include "app/cli/settings.h"
#include "kernel/cache.h"
#include "kernel/make/kernel_word.h"

/* Where kernels are looked for and kept: made once for a command. It stays where it is. */
typedef struct {
    kernel_places in; /* .cache is the cache folder, which nobody asks for again */
    uint32_t jobs;    /* threads that make the kernel of a recipe; 0: all there are */
    char shipped[KERNEL_PATH], cache[CACHE_PATH]; /* what `in` points to */
} kernel_finder;

/* Finds the folder of the shipped kernels: `kernels` (--kernels, FFTBLOOM_KERNELS), or else the
 * first one near the program; and the cache folder, as cache_path does. NULL: not given. */
void kernel_finder_open(kernel_finder *f, const char *kernels, const char *cache_dir,
                        uint32_t jobs);
/* Appends the names of the shipped kernels, sorted, with blanks between them. */
void kernel_finder_names(const kernel_finder *f, text *to);
/* Finds the file of taps. The kernel of a recipe is made unless it is kept already, with a word on
 * a terminal; its scale, that of `how`, becomes 1 then. */
bool kernel_finder_file(char to[KERNEL_PATH], const kernel_word *k, kernel_making *how,
                        const kernel_finder *f, err *e);
/* Finds what a word means, and its file at scale 1. */
bool kernel_finder_path(char to[KERNEL_PATH], const char *word, const kernel_finder *f, err *e);

/* What the option `kernel` means in one run: made once, const afterwards. */
typedef struct {
    char *file;   /* of taps, or a pattern of such files; NULL: the command takes no kernel */
    char *recipe; /* that the file was made of; NULL: none */
    double size;  /* what is left of --kernel-scale: 1 where the recipe was made at that size */
    bool follows; /* the size follows from that of each frame: --kernel-scale auto, or nothing said
                     of a shipped kernel */
    double scale; /* kernel_frame of the first frame, for which it was chosen; 0: none yet */
} kernel_choice;

/* Chooses the kernel of a command; one that takes none gets none. Refuses what stands for several
 * kernels, and IN and KERNEL that are swapped, with the command that does what was meant. Free with
 * kernel_choice_free. */
bool kernel_choose(kernel_choice *k, const settings *s, const kernel_finder *f, uint32_t users,
                   err *e);
void kernel_choice_free(kernel_choice *k);
/* Returns how many times as long as 1920 pixels an image is when it is shown, in the height of its
 * pixels; from 1/64 to 4, since taps take memory. */
double kernel_frame(const settings *s, const image_part *p);
/* Finds the file for a frame of another size. The kernel of a recipe is made, and *left becomes 1;
 * the taps of a file are stretched by *left. */
bool kernel_choice_at(char to[KERNEL_PATH], double *left, const settings *s, const kernel_finder *f,
                      double scale, err *e);
/* Refuses the name of a kernel that stands in the image's place, with the command that has the two
 * in their order. image: what stands in the kernel's place, or NULL. */
bool kernel_option_no_image(const settings *s, const kernel_finder *f, const char *word,
                            const char *image, err *e);
