/* targets.h - the files that a frame goes to: the image or a picture of it, its glare, and a
 * picture of the image before. All take rows, and appear under their names together. */
#pragma once

#include "app/run/picture.h"

typedef struct {
    const char *glare;  /* a file for the glare alone; NULL: none */
    const char *before; /* a picture of the image as it came; NULL: none */
    float stops;        /* the exposure of pictures; NAN: what suits the result */
} targets_wanted;

typedef struct {
    const output *o;
    stages *in;                 /* where channels come from that the image left in its file */
    const stages *out;          /* which change what is made of them */
    image_header head;          /* of all that comes */
    image_header own, apart;    /* of the image without its glare, and of the glare */
    image_writer *file, *glare; /* NULL where they are not wanted */
    picture picture, lit;       /* of the image, and of the glare */
    picture before;             /* is opened when the picture is developed */
    targets_wanted want;
    double seconds; /* that writing has taken */
    /* Of codecs, a bit each: those that zip replaces, since they would change samples, and those
     * that change some since they were asked for. Has one done so? Which channels of data change?
     */
    unsigned replaced, losing;
    bool lossy;
    text data;
} targets;

/* Decides what the files hold and how it is packed. out: the way there, whose header has the glare,
 * too. Close with targets_close, also after a failure: what is not committed leaves no file. */
bool targets_plan(targets *t, const output *o, stages *in, const stages *out,
                  const targets_wanted *w, err *e);
/* Does the same, and creates the files. source: the input's name. */
bool targets_open(targets *t, const output *o, stages *in, const stages *out,
                  const targets_wanted *w, const char *source, err *e);
void targets_close(targets *t);
/* Returns the way in for rows of all channels, and for parts that stay as they are; and completes
 * the files, which appear under their names. */
rows_sink targets_sink(targets *t);
bool targets_commit(targets *t, err *e);
/* Writes into the report how the image is stored, with notes on what packing changes: when the
 * files are committed, or as far as a plan can tell. */
void targets_tell(const targets *t, bloom_report *r);
/* Adds about what reading and writing in rows takes at the most, for images with this header. */
void targets_memory(mem_plan *to, const output *o, const stages *in, const image_header *head);
