/* output.h - an output of a run: a file, a stream or a picture. */
#pragma once

#include "app/run/job.h"
#include "image/flat/screen.h"

/* An output of a run. */
typedef struct {
    const char *path;
    const run_choice *run;
    picture_look look;
    par *threads;
    const screen *screen; /* of pictures; NULL: film */
    const char *kernel;   /* for provenance; NULL: the run's */
    const char *mask;     /* a file, likewise; NULL: none */
    double kernel_scale;  /* likewise, where it follows from the image; 0: it does not */
} output;

/* Returns the bytes of an input and an output that stand in memory, since they are streams. */
uint64_t output_stream_bytes(const output *o, const char *input, const image_header *h);
/* Returns true if the file's extension makes it a picture. */
bool output_is_picture(const char *path);
