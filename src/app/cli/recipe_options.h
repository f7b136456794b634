/* recipe_options.h - what the command line asks of a kernel: a recipe, and what its options change
 * in it. */
#ifndef APP_RECIPE_OPTIONS_H
#define APP_RECIPE_OPTIONS_H

#include "app/cli/settings.h"
#include "kernel/make/kernel_recipe.h"

/* Reads a recipe: a file, or the name of a model or of a shipped recipe. Options of the command
 * line win over the file. Free it with kernel_recipe_free, also after a failure. */
bool recipe_options_read(kernel_recipe *r, const settings *s, par *threads, const char *word,
                         err *e);

#endif
