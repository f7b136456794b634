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
#pragma once

#include "app/run/record.h"

#include <limits.h>

/* Const once farm_run has filled it. The command line and the job are the caller's. */
typedef struct {
    const cli *c;
    const job *j;
    char program[PATH_MAX], here[PATH_MAX]; /* this program, and the working folder */
    char mark[HASH_TEXT];                   /* a hash of the output's absolute path */
    text name; /* of the job, "bloom-shot010-1001-1100", in characters that no scheduler interprets
                */
    text shot; /* what the name of the output has before the number; may be empty */
    text folder; /* absolute: for the script, and for logs and reports of tasks */
    text cache;  /* absolute; empty: there is none */
    text *flag;  /* of a task, all but --frames and --report; paths are relative to `here`, or
                    start at a parameter of OpenJD */
    size_t flags;
    int *left;             /* the frames to do, rising */
    text *chunk;           /* --frames of each task */
    size_t chunks, frames; /* tasks and frames to do */
    size_t each;           /* frames of a task */
    size_t current;        /* frames that are up to date */
} farm;

/* Does what fftbloom farm asks for, and writes what is for standard output to `out`. Returns the
 * exit status where there is no error. */
int farm_run(const cli *c, const job *j, const record_run *run, text *out, err *e);
/* Adds n rising numbers as --frames takes them, "1001-1010,1020,1031-1035x2". `step` is the
 * character before a step: 'x', or ':' as OpenJD writes it. */
void farm_ranges(const int *number, size_t n, char step, text *to);
/* Returns false where the path of the working folder or of the farm's folder cannot be written into
 * a batch script. The two functions below need it to be true; the first adds that script. */
bool farm_slurm_check(const farm *f, err *e);
void farm_slurm_script(const farm *f, text *to);
/* Writes the script, submits it and, with --wait, waits and gathers; otherwise it writes the job's
 * number to `out`. Returns the exit status where there is no error. */
int farm_slurm_submit(const farm *f, text *out, err *e);
/* Writes the reports of the tasks as one. Returns the worst of their statuses. */
int farm_slurm_gather(const farm *f, text *out, err *e);

/* --- Slurm's commands: the only place that reads the text that sbatch and squeue print --- */

enum { SLURM_ID = 32 };

/* Submits a batch script and fills in the number of its job. ERR_NO_DEVICE where there is no sbatch
 * or where Slurm is not configured, ERR_USAGE where the job is refused for good, ERR_RETRY where
 * the controller cannot be reached. */
bool slurm_submit(const char *script, char id[SLURM_ID], err *e);
/* Returns false where there is no squeue, without which slurm_wait is of no use. */
bool slurm_can_wait(err *e);

typedef struct {
    double pause;             /* seconds before the first question; doubles up to ten seconds */
    double patience;          /* seconds that Slurm may leave every question unanswered */
    void (*asked)(void *ctx); /* called after each question */
    void *ctx;
} slurm_waiting;

/* Waits until no task of the job is pending or running. A failure of squeue is no end; ERR_IO after
 * `patience` seconds without an answer. */
bool slurm_wait(const char *id, const slurm_waiting *w, err *e);
