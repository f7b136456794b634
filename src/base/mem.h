/* mem.h - checked sizes and aligned memory.
 *
 * Sizes that come from files are multiplied only here; an overflow is an error, not a small
 * buffer. Memory is zeroed and aligned to 64 bytes (a cache line, and any vector unit). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* *out = a * b (or a + b); false, and *out untouched, when it does not fit. */
bool mem_mul(size_t a, size_t b, size_t *out);
bool mem_add(size_t a, size_t b, size_t *out);

/* count * size zeroed bytes; `what` names the thing for the message. Free with mem_free. Returns
 * NULL with ERR_RETRY when there is no memory, and never NULL for zero bytes. */
void *mem_new(size_t count, size_t size, const char *what, err *e);
/* The same without zeroing, for large buffers that are written before they are read. */
void *mem_raw(size_t count, size_t size, const char *what, err *e);
void mem_free(void *p);

/* --mem-limit: an allocation that would bring what is allocated here beyond so many bytes fails
 * with ERR_RETRY and both numbers. Set once, before any thread starts; 0: no limit. */
void mem_set_limit(uint64_t bytes);
/* Allocated here and not freed yet, and the most that ever was. */
uint64_t mem_used(void);
uint64_t mem_peak(void);

/* strdup with an error. */
char *mem_str(const char *s, err *e);

#endif
