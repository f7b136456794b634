/* run_choice.h - what a run does: the settings, and what words and images decide beside them. Both
 * values are made once, before the first frame, and const afterwards. */
#pragma once

#include "app/cli/cli.h"

typedef struct {
    const settings *s, *presets; /* the presets are those of all options */
    const kernel_choice *kernel;
    const kernel_finder *kernels; /* for frames of other sizes; NULL: there are none */
    const char *cache;            /* the cache folder; NULL: there is none */
    const char *report;           /* the file of the report; NULL: none is written */
    bool dry;                     /* frames are only listed */
    bool farms;                   /* they are handed to a farm */
} run_choice;

/* Returns the run of a command. */
run_choice run_choice_of(const cli *c);

/* How the pictures of a run are developed: as the options say, or as its first image decides where
 * they leave it to that (picture.h). */
typedef struct {
    const char *view; /* of screen_open */
    double exposure;  /* stops; NAN: what suits each picture */
} picture_look;

/* Returns the look that the options ask for. */
static inline picture_look picture_look_asked(const settings *s) {
    return (picture_look){s->view, s->exposure};
}
/* Returns the settings with the values of a look. Where they come from, and the strings, stay those
 * of the settings and of the look. */
settings picture_look_settings(const settings *s, const picture_look *look);
