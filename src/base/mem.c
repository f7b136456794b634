#include "base/mem.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };

/* Blocks of this size and more lie on huge pages where the system has them. First touches of fresh
 * memory then cost a tenth: filling 126 MB took 100 ms of page faults on pages of 4 kB. */
enum { HUGE_PAGE = 2 << 20, LARGE = 3 << 20 };

bool mem_mul(size_t a, size_t b, size_t *out) {
    size_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

bool mem_add(size_t a, size_t b, size_t *out) {
    size_t r;
    if (__builtin_add_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

/* --- the account ----------------------------------------------------------------------------- */

/* Every large buffer of the program comes from here, so one sum decides, and no phase of a run
 * needs a prediction of its own. */
static uint64_t limit;
static atomic_uint_fast64_t used, peak;

void mem_set_limit(uint64_t bytes) {
    limit = bytes;
}
uint64_t mem_used(void) {
    return atomic_load(&used);
}
uint64_t mem_peak(void) {
    return atomic_load(&peak);
}

static void *enter(void *p) {
    if (!p) return NULL;
    uint64_t bytes = malloc_usable_size(p), now = atomic_fetch_add(&used, bytes) + bytes;
    for (uint_fast64_t most = atomic_load(&peak); now > most;)
        if (atomic_compare_exchange_weak(&peak, &most, now)) break;
    return p;
}

/* Two threads that ask at once may both be let through: the limit is met but for one block. */
static bool allowed(size_t bytes, const char *what, err *e) {
    uint64_t now = mem_used();
    if (!limit || (now <= limit && bytes <= limit - now)) return true;
    return err_set(e, ERR_RETRY,
                   "%s needs %zu bytes; %" PRIu64 " of the %" PRIu64
                   " that --mem-limit allows are in use",
                   what, bytes, now, limit);
}

/* --- blocks ---------------------------------------------------------------------------------- */

void *mem_raw(size_t count, size_t size, const char *what, err *e) {
    size_t bytes = 0, padded = 0;
    bool fits = mem_mul(count, size, &bytes);
    size_t alignment = bytes < LARGE ? ALIGNMENT : HUGE_PAGE;
    if (!fits || !mem_add(bytes, alignment, &padded)) {
        err_set(e, ERR_DATA, "%s: %zu items of %zu bytes do not fit in memory", what, count, size);
        return NULL;
    }
    if (!allowed(bytes, what, e)) return NULL;
    void *p = enter(aligned_alloc(alignment, padded / alignment * alignment));
    if (p && alignment == HUGE_PAGE) madvise(p, padded / alignment * alignment, MADV_HUGEPAGE);
    if (!p) err_set(e, ERR_RETRY, "out of memory: %s needs %zu bytes", what, bytes);
    return p;
}

void *mem_new(size_t count, size_t size, const char *what, err *e) {
    void *p = mem_raw(count, size, what, e);
    if (p) memset(p, 0, count * size);
    return p;
}

void mem_free(void *p) {
    if (p) atomic_fetch_sub(&used, malloc_usable_size(p));
    free(p);
}

char *mem_str(const char *s, err *e) {
    size_t n = strlen(s) + 1;
    char *copy = mem_raw(n, 1, "a name", e);
    if (copy) memcpy(copy, s, n);
    return copy;
}
