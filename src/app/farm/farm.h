/* farm.h - a job's frames as tasks for the scheduler of a farm: --farm slurm|openjd.
 *
 * A job is cut into chunks of frames; what --update would find current is left out, so the same
 * command again does only what is missing. A task is this program again with the same settings
 * written out as flags, the chunk's --frames, --update, and the cache folder of whoever submits,
 * which has to be on a disk that all nodes see for them to know of each other's work.
 *
 *   slurm    an array job: the script is printed (--dry-run), or submitted with sbatch; --wait
 *            waits for its end and gathers the reports of its tasks
 *   openjd   a job template (jobtemplate-2023-09), printed for the scheduler to be given */
#ifndef APP_FARM_H
#define APP_FARM_H

#include "app/cli/cli.h"
#include "app/run/job.h"
#include "app/run/stamp.h"

typedef struct {
    const cli *c;
    const job *j;
    char *program, *here;           /* absolute paths: of this program, of the working folder */
    char mark[HASH_TEXT];           /* a hash of the output's absolute path */
    char *folder;                   /* absolute: for the script, and logs and reports of tasks */
    char *cache;                    /* absolute; NULL: there is none */
    text *chunk;                    /* --frames of each task */
    size_t chunks, frames, current; /* frames to do; frames that are up to date */
} farm;

/* st: NULL where there is no cache folder for stamps. */
bool farm_open(farm *f, const cli *c, const job *j, const stamps *st, err *e);
void farm_close(farm *f);

/* "1001-1010,1020,1031-1035x2": n rising numbers as --frames takes them. */
void farm_ranges(const int *number, size_t n, text *to);

/* The flags of a task but for --frames and --report, one after the other, each through `add`. */
void farm_flags(const farm *f, void (*add)(void *ctx, const char *flag), void *ctx);

/* For a shell, in single quotes. */
void farm_quote(const char *s, text *to);

/* "fftbloom-" and the name of the farm's folder, in characters that no scheduler interprets. */
void farm_job_name(const farm *f, text *to);

/* Returns false where the path of the working folder or of the farm's folder cannot be written into
 * a batch script. The script is right only where this is true. */
bool farm_slurm_check(const farm *f, err *e);
void farm_slurm_script(const farm *f, text *to);
/* False where a path cannot stand in a template. */
bool farm_openjd_template(const farm *f, text *to, err *e);

/* Does what --farm says. Returns the exit status; on an error sets e. */
int farm_run(const cli *c, const job *j, const stamps *st, err *e);
/* For farm_run: writes, submits, waits and gathers. */
int farm_slurm_submit(const farm *f, err *e);
/* The reports of the tasks of a folder as one; the worst of their statuses. */
int farm_slurm_gather(const farm *f, err *e);

#endif
