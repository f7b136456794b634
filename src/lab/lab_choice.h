/* lab_choice.h - the sizes and the transforms that the command line asks for, by their names. */
#ifndef LAB_LAB_CHOICE_H
#define LAB_LAB_CHOICE_H

#include "lab/lab.h"

enum { LAB_MOST_SIZES = 32, LAB_MOST_TRANSFORMS = 32 };

typedef struct {
    uint32_t size[LAB_MOST_SIZES], sizes;
    bool wanted[LAB_MOST_TRANSFORMS]; /* by the index in LAB_TRANSFORMS */
    bool all;                         /* by "all", and not by their names */
} lab_choice;

/* Reads "128..1024,1080" (".." doubles the first up to the second) and "all" or names with commas
 * between. Each size must be one that some wanted transform takes. Without `gpu`, those of a GPU
 * must not be asked for by name. */
bool lab_choice_read(lab_choice *c, const char *sizes, const char *names, bool gpu, err *e);

#endif
