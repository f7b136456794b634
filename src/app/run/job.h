/* job.h - decides which files a run reads and writes: one image, or the frames of a sequence.
 *
 * A frame pattern has one field that stands for the frame's number: `#` (four digits; a run of n
 * means n digits), `%04d` or `%d`, `$F4` or `$F`. A number with more digits than the field is
 * written in full. The field is searched in the file's name first, then in the names of its
 * folders; a path that names a file that exists is never a pattern. Ranges are
 * "1001-1100,1200-1300x2": first, last, step.
 *
 * Patterns, ranges and a folder as output are resolved before any work. The module does not know
 * whether the files are there, and leaves names that are one file to file_set.h. */
#ifndef APP_JOB_H
#define APP_JOB_H

#include "app/cli/settings.h"

/* --- frame patterns and ranges --------------------------------------------------------------- */

/* A path with its field cut out. */
typedef struct {
    char *before, *after; /* of the path, around the field */
    int digits;           /* 0: as many as the number needs, no zeros in front */
} frame_pattern;

typedef struct {
    int *number; /* rising, each once */
    size_t count;
} frame_list;

enum { FRAMES_MOST = 1000000 };

/* Returns true when the path has a frame field and names no file that exists. */
bool frame_pattern_is(const char *path);
/* Cuts the field out of a path. Fails with ERR_USAGE when the path has no field, or two. */
bool frame_pattern_parse(frame_pattern *p, const char *path, err *e);
void frame_pattern_free(frame_pattern *p);
/* Returns the path of one frame; free with mem_free. */
char *frame_path(const frame_pattern *p, int number, err *e);

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

/* --- jobs --------------------------------------------------------------------------------------
 */

/* Const once it is open. */
typedef struct {
    bool sequence;
    frame_pattern in, out;
    frame_list frames;
    const char *input; /* belongs to the settings */
    char *output;      /* includes the input's name where the settings name a folder */
} job;

/* The files of one frame. */
typedef struct {
    char *input, *output;
    const int *number; /* the job's; NULL for a lone image */
} job_files;

/* Resolves the input, the output and the frames. Logs a note on gaps in a sequence whose frames
 * were searched for. */
bool job_open(job *j, const settings *s, err *e);
void job_close(job *j);

size_t job_count(const job *j);
/* Finds the files of frame `index`. Free them with job_files_free, which accepts zeros. */
bool job_frame(const job *j, size_t index, job_files *to, err *e);
void job_files_free(job_files *f);
/* Adds the outputs of a sequence in a few words: "b.1001-1024.exr". */
void job_outputs(const job *j, text *to);

#endif
