/* par.h - a parallel for on host threads.
 *
 * A pool of threads that is made once and passed to whoever has independent pieces of work.
 * Pieces are handed out one by one in order, so uneven pieces balance. The caller's thread works
 * too. Several threads may share a pool: their calls take turns. Not re-entrant: a piece must not
 * call par_for on the same pool. */
#ifndef BASE_PAR_H
#define BASE_PAR_H

#include "base/err.h"

#include <stddef.h>

typedef struct par par;

/* threads <= 0: as many as the process may use. */
par *par_open(int threads, err *e);
void par_close(par **p);
int par_threads(const par *p);

/* One piece. `index` runs over [0, count), `worker` over [0, par_threads): scratch memory may be
 * indexed by it. Returning false stops the handing out of further pieces. */
typedef bool par_fn(void *ctx, size_t index, int worker, err *e);

/* Runs fn for every index and waits. When pieces fail, the error of the lowest failing index that
 * ran is reported. */
bool par_for(par *p, size_t count, par_fn *fn, void *ctx, err *e);

#endif
