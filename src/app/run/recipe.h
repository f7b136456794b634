/* recipe.h - what one frame is made with: settings, and the stamp by which --existing update
 * recognises it.
 *
 * All frames of a run have the same settings, unless values are keyed by frame (keyed.h) or the
 * kernel's path has a field for frames or views: then each has settings of its own. */
#ifndef APP_RECIPE_H
#define APP_RECIPE_H

#include "app/cli/kernel_keys.h"
#include "app/run/job.h"
#include "app/run/stamp.h"

/* Const once it is open. */
typedef struct {
    const settings *s;
    bool vary;
    kernel_keys kernel; /* of a kernel that changes from frame to frame */
    const char *cache;  /* the folder for stamps; NULL: there is none */
    stamp_look look;    /* unless they vary, or there is no folder */
} recipes;

/* Reads the kernel's bytes, where there is one kernel and a folder for stamps. Settings, job and
 * folder belong to the caller and must outlive the recipes. */
bool recipes_open(recipes *all, const settings *s, const job *j, const char *cache, err *e);
void recipes_close(recipes *all);

typedef struct {
    const settings *s; /* the run's, or `own` */
    bool stamped;      /* `stamp` is valid */
    stamp stamp;
    settings own;
    stamp_look look;
} recipe;

/* Makes the recipe of a frame, and its kernel where that is made for the frame. It points into
 * itself, and its strings are those of the files, which must outlive it. Free it with recipe_free,
 * also if it could not be made. */
bool recipe_make(recipe *r, const recipes *all, const job_files *f, err *e);
void recipe_free(recipe *r);

/* Adds what tells the recipes of a run apart: nothing, if they do not vary. */
void recipe_name(const recipe *r, const recipes *all, text *to);

#endif
