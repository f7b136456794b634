/* job.h - which files a run reads and writes: one image, or the frames of a sequence.
 *
 * Decides before any work: patterns, frames, a folder as output, and that no two frames go into
 * one file. */
#ifndef APP_JOB_H
#define APP_JOB_H

#include "app/cli/settings.h"
#include "app/run/frames.h"

typedef struct {
    bool sequence;
    frame_pattern in, out;
    frame_list frames;
    const char *input; /* the settings' */
    char *output;      /* with the input's name where the settings name a folder */
} job;

bool job_open(job *j, const settings *s, err *e);
void job_close(job *j);

size_t job_count(const job *j);
/* The files of frame `index`, both to be freed with mem_free; *number is NULL for a lone image. */
bool job_frame(const job *j, size_t index, char **input, char **output, const int **number, err *e);

#endif
