/* lease.h - the engine that blooms beside each other use, each from a thread of its own.
 *
 * An engine is prepared for one plan and has a slot for each frame in flight. Whoever needs what it
 * is prepared for takes a slot as soon as one is free; whoever needs something else waits until
 * nobody uses the engine, and prepares it anew. Nobody takes a second slot while having one. */
#ifndef BLOOM_LEASE_H
#define BLOOM_LEASE_H

#include "bloom/inside.h"

/* A kernel and, later, an engine for a first user; for one more; for one less. The last one frees
 * it. */
bloom_shared *lease_open(const char *kernel, par *threads, err *e);
bloom_shared *lease_join(bloom_shared *s);
void lease_leave(bloom_shared **s);
const kernel_input *lease_kernel(const bloom_shared *s);

/* A slot of the engine, ready for images of b->size in that precision, without the kernel's core of
 * that radius; halfs: for images of nothing else. b->engine, slot, on and ready say what it is. */
bool lease_take(bloom *b, plan_precision precision, uint32_t radius, bool halfs, bloom_report *r,
                err *e);
/* done: the engine did all that was asked of it. Else it is opened anew for the next who takes a
 * slot, as a device that is lost does not come back. Accepts one that has none; on and ready stay.
 */
void lease_give(bloom *b, bool done);

#endif
