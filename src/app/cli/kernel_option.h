/* kernel_option.h - the words of a command line that mean kernels: the option `kernel`, and the
 * arguments of `kernel`.
 *
 * What a word means is asked of kernel/make/kernel_word.h, for the folder of --kernels
 * (FFTBLOOM_KERNELS) or else the first one near the program, and for the cache folder. It is asked
 * after rights are given up, since recipes are files that others may have written. */
#pragma once

#include "app/cli/settings.h"
#include "kernel/make/kernel_word.h"

/* Writes the folder of the shipped kernels; returns false where there is none. */
bool kernel_option_folder(char to[KERNEL_PATH], const settings *s);
/* Appends the names of the shipped kernels, sorted, with blanks between them. */
void kernel_option_names(const settings *s, text *to);
/* Finds what a word means. */
bool kernel_option_find(kernel_word *k, const char *word, const settings *s, err *e);
/* Finds the file of taps. The kernel of a recipe is made unless it is kept already, with a word on
 * a terminal; its scale, that of `how`, becomes 1 then. */
bool kernel_option_file(char to[KERNEL_PATH], const kernel_word *k, kernel_making *how,
                        const settings *s, err *e);
/* Does both for a word that is an argument, at scale 1. */
bool kernel_option_path(char to[KERNEL_PATH], const char *word, const settings *s, err *e);
/* Refuses the name of a kernel that stands in the image's place, with the command that has the two
 * in their order. image: what stands in the kernel's place, or NULL. */
bool kernel_option_no_image(const settings *s, const char *word, const char *image, err *e);
/* Replaces s->kernel, a word, by the path of the file that it means; the option's text stays the
 * word. Refuses what stands for several kernels, and IN and KERNEL that are swapped, with the
 * command that does what was meant. */
bool kernel_option_settle(settings *s, uint32_t users, err *e);
