/* slurm.h - runs Slurm's commands: submits a script, and waits for the end of its job. The only
 * place that reads the text that sbatch and squeue print. */
#ifndef APP_SLURM_H
#define APP_SLURM_H

#include "base/err.h"

enum { SLURM_ID = 32 };

/* Submits a batch script and fills in the number of its job. ERR_NO_DEVICE where there is no sbatch
 * or where Slurm is not configured, ERR_USAGE where sbatch or the controller refuses the
 * job for good, ERR_RETRY where the controller cannot be reached. */
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

#endif
