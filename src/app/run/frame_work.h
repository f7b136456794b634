/* frame_work.h - one frame at work, from its reader to its files: for frame.c, which makes it, and
 * forecast.c, which only looks at it. */
#pragma once

#include "app/run/frame.h"
#include "app/run/output.h"
#include "app/run/stages.h"

typedef struct {
    frame_maker *m;
    const settings *s;
    const record *record;
    device_queue *on;
    const job_files *files;
    frame_result *f;
    bloom_report *made;
    output out;
    char kernel[KERNEL_PATH];      /* its file, */
    double size;                   /* and what its taps are scaled by */
    file_mark before, before_mask; /* of the input, and of the mask, when they were opened */
    image_reader *r;               /* NULL when nothing more is read from it */
    image_reader *mask;            /* NULL: there is none, or it is a channel of the image */
    rows_source mask_rows;
    stages in;
    image **keep; /* where the result goes instead of files; NULL: it is written */
    bool beyond;  /* there were values beyond halfs; their channels are marked for another try */
    bool torn;    /* the input changed while it was read */
} frame_work;

/* Opens the input. frame_work_close frees it, also after a failure. */
bool work_open(frame_work *w, err *e);
void frame_work_close(frame_work *w);
/* Takes the bloom of the frame, until device_queue_give. */
queue_bloom *work_bloom(const frame_work *w, err *e);

/* How a frame is made: its image is held in memory, or goes from file to file in tiles, or neither
 * is possible, as a sentence says. */
typedef enum { WAY_NONE, WAY_HELD, WAY_TILED } work_way;
/* Answers by the header; where that does not tell, by the bloom, which is that of the frame where b
 * is NULL. The memory of an image with others beside it was counted before. */
work_way work_fits(const frame_work *w, const bloom *b, err *e);
/* Reads the channels that may change. Closes the reader where it is not needed any more. */
image *work_load(frame_work *w, err *e);
/* Returns the rows of the mask's file, or NULL. */
static inline const rows_source *work_mask(const frame_work *w) {
    return w->mask ? &w->mask_rows : NULL;
}
/* Returns whether the input has changed since it was opened. */
bool work_changed(const frame_work *w);
/* Names the image in an error, unless that names the kernel or the image. Returns false. */
bool work_blame(const frame_work *w, err *e);
