/* job.h - decides which files a run reads and writes: one image, or the frames of a sequence, each
 * in one view or in several. Patterns (frame_pattern.h), ranges, views and a folder as output are
 * resolved before any work. Whether files are there, or are one, is not known here. */
#ifndef APP_JOB_H
#define APP_JOB_H

#include "app/cli/settings.h"
#include "app/run/frame_pattern.h"

/* The files of a frame: the last two are what it may write beside its output, the picture of
 * --before and the glare of --emit-file. */
typedef enum { JOB_INPUT, JOB_KERNEL, JOB_OUTPUT, JOB_BEFORE, JOB_EMITTED, JOB_PATHS } job_path;
extern const char *const JOB_ROLE[JOB_PATHS]; /* for messages: "the input" */

/* The paths of one view: patterns where they have a field for the frame's number. */
typedef struct {
    char *name;                    /* NULL where no path has a field for a view */
    frame_pattern path[JOB_PATHS]; /* .before is NULL where it is not asked for */
} job_view;

enum { JOB_MISSING = 1000 };

/* Const once it is open. */
typedef struct {
    bool sequence; /* the input has a field for the frame's number */
    job_view *view;
    size_t views; /* 1 where no path has a field for a view */
    bool kernels; /* frames or views have kernels of their own */
    frame_list frames;
    size_t left_out;   /* frames that --frames asks for, but whose inputs are not there: those after
                          the first JOB_MISSING, which nobody would read one by one */
    const char *input; /* the settings' */
    char *output;      /* includes the input's name where the settings name a folder; or NULL */
} job;

/* The files of one frame in one view. */
typedef struct {
    union {
        struct {
            char *input, *kernel, *output, *before, *emitted;
        };
        char *path[JOB_PATHS]; /* the same; NULL: not asked for */
    };
    const int *number; /* the job's; NULL for a lone image */
    const char *view;  /* the job's; NULL: there are none */
} job_files;

/* Resolves the input, the kernel, the output (which may not be given) and the frames. Logs a note
 * on gaps in a sequence whose frames were searched for. */
bool job_open(job *j, const settings *s, err *e);
void job_close(job *j);

/* Returns the number of frames, each counted once for each view. */
size_t job_count(const job *j);
/* Finds the files of frame `index`: all views of the first frame come first. Free them with
 * job_files_free, which accepts zeros. */
bool job_frame(const job *j, size_t index, job_files *to, err *e);
void job_files_free(job_files *f);
/* Adds the outputs of a sequence in a few words: "b.1001-1024.exr". */
void job_outputs(const job *j, text *to);

#endif
