/* par.h - a parallel for on host threads.
 *
 * A pool of threads that is made once and passed to whoever has independent pieces of work.
 * Pieces are handed out one by one in order, so uneven pieces balance. The caller's thread works,
 * too, and a job with few pieces wakes few threads. Several threads may share a pool: their calls
 * take turns. Not re-entrant: a piece must not call par_for on the same pool. */
#ifndef BASE_PAR_H
#define BASE_PAR_H

#include "base/err.h"

#include <stddef.h>

typedef struct par par;

/* Opens a pool of `threads`; <= 0: as many as the process may use (base/machine.h). There may be
 * fewer where the system gives no more. */
par *par_open(int threads, err *e);
void par_close(par **p);
/* Returns the number of threads, the caller's counted. */
int par_threads(const par *p);

/* Does one piece. `index` runs over [0, count), `worker` over [0, par_threads): scratch memory may
 * be indexed by it. Returning false stops the handing out of further pieces. */
typedef bool par_fn(void *ctx, size_t index, int worker, err *e);

/* Runs fn for every index and waits. When pieces fail, the error of the lowest failing index that
 * ran is reported. */
bool par_for(par *p, size_t count, par_fn *fn, void *ctx, err *e);

#endif
