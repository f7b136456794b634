/* run_choice.h - what a run does: the settings, and what files and words decide beside them. It is
 * made once, before the first frame, and const afterwards. */
#pragma once

#include "app/cli/cli.h"

typedef struct {
    const settings *s;
    const kernel_choice *kernel;
    const kernel_finder *kernels; /* for frames of other sizes; NULL: there are none */
    const char *cache;            /* the cache folder; NULL: there is none */
    const char *report;           /* the file of the report; NULL: none is written */
    const char *view;             /* --view, or what the first image decides where that is auto */
    double exposure;              /* likewise; NAN: what suits each picture */
    bool dry;                     /* frames are only listed */
    bool farms;                   /* they are handed to a farm */
} run_choice;

/* Returns the run of a command, before images decide anything. */
run_choice run_choice_of(const cli *c);
/* Returns the settings with the exposure and the view of the run, as if options had given them. The
 * strings are the run's. */
settings run_choice_settings(const run_choice *r);
