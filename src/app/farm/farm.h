/* farm.h - hands a job's frames as tasks to the scheduler of a farm: fftbloom farm.
 *
 * A job is cut into chunks of frames. Frames that --existing update would skip are left out, so the
 * same command again does only what is missing. A task is this program with the same settings
 * written out as flags, with the chunk's --frames, with --existing update, and with a cache folder.
 * That folder must be on a disk that all nodes see, so that they know of each other's work. For
 * Slurm it is that of the user who submits; a template of OpenJD has it where --cache-dir names it.
 *
 *   slurm    an array job: the script is printed (--dry-run), or submitted with sbatch; --wait
 *            waits for its end and gathers the reports of its tasks
 *   openjd   a job template (jobtemplate-2023-09 with TASK_CHUNKING), which is printed
 *
 * The module knows how to describe tasks; it blooms nothing. */
#ifndef APP_FARM_H
#define APP_FARM_H

#include "app/cli/cli.h"
#include "app/run/job.h"
#include "app/run/record.h"

/* Const once farm_run has filled it. The command line and the job are the caller's. */
typedef struct {
    const cli *c;
    const job *j;
    char *program, *here; /* absolute paths of this program and of the working folder */
    char mark[HASH_TEXT]; /* a hash of the output's absolute path */
    char *shot;           /* what the name of the output has before the number */
    char *folder;         /* absolute: for the script, and for logs and reports of tasks */
    char *cache;          /* absolute; NULL: there is none */
    text *flag;           /* of a task, all but --frames and --report; paths are relative to `here`,
                             or start with FARM_OPENJD_FOLDER */
    size_t flags;
    int *left;             /* the frames to do, rising */
    text *chunk;           /* --frames of each task */
    size_t chunks, frames; /* tasks and frames to do */
    size_t each;           /* frames of a task */
    size_t current;        /* frames that are up to date */
} farm;

/* Does what fftbloom farm asks for, and writes what is for standard output to `out`. Returns the
 * exit status where there is no error. */
int farm_run(const cli *c, const job *j, const record_run *all, text *out, err *e);

/* Adds n rising numbers as --frames takes them, "1001-1010,1020,1031-1035x2". `step` is the
 * character before a step: 'x', or ':' as OpenJD writes it. */
void farm_ranges(const int *number, size_t n, char step, text *to);
/* Adds "bloom-shot010-1001-1100" in characters that no scheduler interprets. */
void farm_job_name(const farm *f, text *to);

/* Returns false where the path of the working folder or of the farm's folder cannot be written into
 * a batch script. The two functions below need it to be true. */
bool farm_slurm_check(const farm *f, err *e);
/* Adds the script of the array job. */
void farm_slurm_script(const farm *f, text *to);
/* Writes the script, submits it and, with --wait, waits and gathers; otherwise it writes the job's
 * number to `out`. Returns the exit status where there is no error. */
int farm_slurm_submit(const farm *f, text *out, err *e);
/* Writes the reports of the tasks as one. Returns the worst of their statuses. */
int farm_slurm_gather(const farm *f, text *out, err *e);

/* Relative paths of a job template start at this parameter. */
#define FARM_OPENJD_FOLDER "{{Param.Folder}}/"
/* Adds a job template. Returns false where a path or a value cannot be written into one. */
bool farm_openjd_template(const farm *f, text *to, err *e);

#endif
