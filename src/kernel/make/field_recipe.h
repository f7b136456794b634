/* field_recipe.h - a kernel that varies over the frame as JSON (docs/fields.md): the words of the
 * kernels at the nodes of a grid, or a recipe whose parameters vary with the node. It becomes the
 * image of a field (kernel/kernel_field.h), and nobody who reads that knows of the JSON. */
#pragma once

#include "base/text.h"
#include "image/image.h"
#include "kernel/kernel_source.h"

typedef struct {
    char *about; /* a sentence; NULL: none */
    field_grid grid;
    bool mirror[PLAN_AXES]; /* the other half of the frame has the kernels of this one, mirrored */
    /* [row][column], and behind them the common one; a path starts in the file's folder. NULL: the
     * node is the recipe of the file itself, with these parameters set, as "NAME=VALUE,NAME=VALUE"
     * or, of the common one, the recipe that stands in its place. */
    char *word[FIELD_SIDE * FIELD_SIDE + 1];
    text set[FIELD_SIDE * FIELD_SIDE + 1];
} field_recipe;

/* Returns whether a JSON file has a field, and reads it; *why says what is wrong with it. */
bool field_recipe_is(field_recipe *r, const char *path, err *why);
/* Reads one. Free it with field_recipe_free, also after a failure. */
bool field_recipe_file(field_recipe *r, const char *path, err *e);
void field_recipe_free(field_recipe *r);

/* Returns how a message calls a node. */
static inline const char *field_recipe_node(const field_recipe *r, uint32_t node) {
    return r->word[node] ? r->word[node] : r->set[node].s ? r->set[node].s : "common";
}

/* Makes the image: a part for each node. `load` fills in the kernel of a node. */
typedef struct {
    bool (*load)(kernel_source *to, const field_recipe *r, uint32_t node, const void *by, err *e);
    const void *by;
} field_loader;
image *field_recipe_make(const field_recipe *r, const field_loader *from, err *e);
