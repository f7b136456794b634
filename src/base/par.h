/* par.h - runs the pieces of a loop in parallel on host threads, one by one in order. Several
 * threads may call par_for at the same time: the pool's helpers go where pieces are left, to the
 * oldest work first. A thread that does work of its own between its calls, such as one of several
 * frames, says so with par_enter. A piece must not call par_for on the same pool. */
#pragma once

#include "base/err.h"

typedef struct par par;

/* Opens a pool of `threads`; <= 0: as many as the process may use (base/machine.h). There may be
 * fewer where the system gives no more. */
par *par_open(int threads, err *e);
void par_close(par **p);
/* Returns how many threads work at the same time, the caller's counted. */
int par_threads(const par *p);
/* Returns the number of worker indices, which is larger: scratch memory is indexed by them. */
int par_workers(const par *p);

/* Counts the calling thread among the threads that work, until par_leave. The lower `age`, the
 * earlier its pieces get help. Waits while more than par_threads + PAR_MORE threads are in. */
enum { PAR_MORE = 2 };
void par_enter(par *p, uint64_t age);
void par_leave(par *p);
/* Enters as the oldest a thread that others wait for, which may hold all places of par_enter: it
 * has one of PAR_BESIDE places that they cannot take. */
enum { PAR_BESIDE = 2 };
void par_enter_beside(par *p);

/* Let a helper work in the place of a thread that has entered and waits for a device or for another
 * thread. For threads that have not entered, the two do nothing. */
void par_rest(par *p);
void par_resume(par *p);

/* Does one piece. `index` runs over [0, count), `worker` over [0, par_workers); no two threads that
 * work at the same time have the same `worker`. Returning false stops further pieces. */
typedef bool par_fn(void *ctx, size_t index, int worker, err *e);

/* Runs fn for every index and waits. The caller's host may stop it between two pieces. When pieces
 * fail, the error of the lowest index that ran is reported. A thread that has not entered does so
 * for the call, as the oldest. */
bool par_for(par *p, size_t count, par_fn *fn, void *ctx, err *e);
