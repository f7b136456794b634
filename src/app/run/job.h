/* job.h - decides which files a run reads and writes: one image, or the frames of a sequence.
 *
 * Resolves patterns, frame ranges and a folder as output before any work. It does not know whether
 * the files are there, and leaves names that are one file to file_set.h. */
#ifndef APP_JOB_H
#define APP_JOB_H

#include "app/cli/settings.h"
#include "app/run/frames.h"

typedef struct {
    bool sequence;
    frame_pattern in, out;
    frame_list frames;
    const char *input; /* belongs to the settings */
    char *output;      /* includes the input's name where the settings name a folder */
} job;

bool job_open(job *j, const settings *s, err *e);
void job_close(job *j);

size_t job_count(const job *j);
/* Finds the files of frame `index`; the caller frees both with mem_free. *number is NULL for a lone
 * image. */
bool job_frame(const job *j, size_t index, char **input, char **output, const int **number, err *e);

#endif
