/* job.h - decides which files a run reads and writes: one image, or the frames of a sequence, each
 * in one view or in several. Patterns, ranges, views and a folder as output are
 * resolved before any work. Whether files are there, or are one, is not known here. */
#pragma once

#include "app/cli/frame_pattern.h"
#include "app/run/run_choice.h"

/* --- lists of frames: "1001-1100,1200-1300x2" has first, last and step, which may also be written
 * "1200-1300:2" --- */

typedef struct {
    int *number; /* rising, each once */
    size_t count;
} frame_list;

enum { FRAMES_MOST = 1000000 };

/* Reads ranges. Fails with ERR_USAGE and what is wrong; refuses more than FRAMES_MOST frames. */
bool frame_list_parse(frame_list *l, const char *ranges, err *e);
/* Lists the frames whose files are there. Fails with ERR_NO_INPUT when there is none, and with
 * ERR_USAGE when the field is in the name of a folder, where only ranges can list them. */
bool frame_list_scan(frame_list *l, const frame_pattern *p, err *e);
void frame_list_free(frame_list *l);
/* Adds the numbers that are missing between those of the list, "1003, 1005-1007", as the pattern
 * writes them, and returns how many. Frames that are equally far apart have no gaps. Of many gaps
 * the first are named. */
size_t frame_list_gaps(const frame_list *l, const frame_pattern *p, text *to);

/* --- the files of a run --- */

/* The files of a frame: those that are read, then those that are written. The last two are what it
 * may write beside its output, the picture of
 * --before and the glare of --emit-file. */
typedef enum {
    JOB_INPUT,
    JOB_KERNEL,
    JOB_MASK,
    JOB_OUTPUT,
    JOB_BEFORE,
    JOB_EMITTED,
    JOB_PATHS
} job_path;
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
    const run_choice *run;
    char *output; /* includes the input's name where the settings name a folder; or NULL */
} job;

/* The files of one frame in one view. */
typedef struct {
    union {
        struct {
            char *input, *kernel, *mask, *output, *before, *emitted;
        };
        char *path[JOB_PATHS]; /* the same; NULL: not asked for */
    };
    char *called;      /* how messages name the input; NULL: by its path */
    const int *number; /* the job's; NULL for a lone image */
    const char *view;  /* the job's; NULL: there are none */
} job_files;

/* Resolves the input, the kernel, the output (which may not be given) and the frames. Logs a note
 * on gaps in a sequence whose frames were searched for. */
bool job_open(job *j, const run_choice *run, err *e);
void job_close(job *j);
/* Returns the number of frames, each counted once for each view. */
size_t job_count(const job *j);
/* Finds the files of frame `index`: all views of the first frame come first. Free them with
 * job_files_free, which accepts zeros. */
bool job_frame(const job *j, size_t index, job_files *to, err *e);
void job_files_free(job_files *f);

/* Where the frames of a run come from: a job, or whatever else can say which files are next. */
typedef struct {
    size_t count; /* frames; SIZE_MAX: as many as come */
    bool alone;   /* one frame at a time, in their order, and none again */
    bool kernels; /* frames have kernels of their own */
    /* Finds the files of a frame. Returns false with no error where there are no more. */
    bool (*next)(void *ctx, size_t index, job_files *to, err *e);
    void *ctx;
} job_source;
/* Returns the frames of a job, which must outlive them. */
job_source job_frames(const job *j);
/* Adds the outputs of a sequence in a few words: "b.1001-1024.exr". */
void job_outputs(const job *j, text *to);
