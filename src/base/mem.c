#include "base/mem.h"

#include "base/machine.h"
#include "base/number.h"
#include "base/text.h"

#include <malloc.h>
#include <pthread.h>
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
 * needs a prediction of its own. The limit is set before any thread starts and only read later. */
static uint64_t limit = UINT64_MAX;
static bool limit_given;
static atomic_uint_fast64_t used;

void mem_set_limit(uint64_t bytes) {
    uint64_t available = machine_memory();
    limit_given = bytes > 0;
    limit = limit_given ? bytes : available ? available / 5 * 4 : UINT64_MAX;
}

uint64_t mem_limit(void) {
    return limit;
}

uint64_t mem_left(void) {
    uint64_t now = mem_used();
    return now < limit ? limit - now : 0;
}

uint64_t mem_used(void) {
    return atomic_load(&used);
}

/* Returns the bytes of a block. Behind those that it aligns to large pages the allocator has mapped
 * some bytes more, up to a large page, which nobody touches. */
static size_t bytes_of(void *p) {
    size_t size = malloc_usable_size(p);
    bool aligned = !WITH_SAN && size >= LARGE && (uintptr_t)p % HUGE_PAGE == 0;
    return aligned ? (size - 1) / HUGE_PAGE * HUGE_PAGE : size;
}

/* --- large blocks that are kept -------------------------------------------------------------- */

enum { KEPT_BLOCKS = 256 };

static struct {
    pthread_mutex_t lock; /* guards all that follows */
    uint64_t most, bytes;
    size_t count;
    void *block[KEPT_BLOCKS]; /* the one that was freed last is the last */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Removes kept blocks, the oldest first, until no more than `bytes` are left; with the lock
 * held. */
static void shrink_kept(uint64_t bytes) {
    size_t gone = 0;
    for (; gone < kept.count && kept.bytes > bytes; gone++) {
        kept.bytes -= bytes_of(kept.block[gone]);
        free(kept.block[gone]);
    }
    kept.count -= gone;
    memmove(kept.block, kept.block + gone, kept.count * sizeof *kept.block);
}

void mem_keep(uint64_t bytes) {
    pthread_mutex_lock(&kept.lock);
    kept.most = bytes;
    shrink_kept(bytes);
    pthread_mutex_unlock(&kept.lock);
}

/* Returns a kept block of this many bytes, or NULL. Makes room under the limit for a new one
 * then. */
static void *take_kept(size_t bytes) {
    void *found = NULL;
    pthread_mutex_lock(&kept.lock);
    for (size_t i = kept.count; !found && i-- > 0;) {
        size_t size = bytes_of(kept.block[i]);
        if (size < bytes || size - bytes >= HUGE_PAGE) continue;
        found = kept.block[i];
        kept.bytes -= size;
        kept.count--;
        memmove(kept.block + i, kept.block + i + 1, (kept.count - i) * sizeof *kept.block);
    }
    uint64_t left = mem_left();
    if (!found && kept.bytes && (left < bytes || left - bytes < kept.bytes))
        shrink_kept(left < bytes ? 0 : left - bytes);
    pthread_mutex_unlock(&kept.lock);
    return found;
}

/* Gives all kept blocks back to the system. Returns false where there is none. */
static bool give_back(void) {
    pthread_mutex_lock(&kept.lock);
    bool any = kept.count > 0;
    shrink_kept(0);
    pthread_mutex_unlock(&kept.lock);
    return any;
}

/* Returns false where the block is not kept. */
static bool keep(void *p, size_t size) {
    pthread_mutex_lock(&kept.lock);
    /* A sanitizer could not see a use after free of what is kept. */
    bool fits = !WITH_SAN && kept.count < KEPT_BLOCKS && size <= kept.most;
    if (fits) {
        uint64_t left = mem_left();
        shrink_kept(min_u64(kept.most - size, left > size ? left - size : 0));
        kept.block[kept.count++] = p;
        kept.bytes += size;
    }
    pthread_mutex_unlock(&kept.lock);
    return fits;
}

/* --- the limit ------------------------------------------------------------------------------- */

/* Two threads that ask at once may both be let through, so the limit may be passed by one block. */
bool mem_check(uint64_t bytes, const char *what, err *e) {
    char needs[32], now[32], most[32];
    if (bytes <= mem_left()) return true;
    return err_set(e, ERR_MEMORY, "%s are needed for %s; %s of the limit of %s are in use (%s)",
                   text_bytes((double)bytes, needs), what, text_bytes((double)mem_used(), now),
                   text_bytes((double)limit, most),
                   limit_given ? "--mem-limit"
                               : "80 % of the memory that was available; --mem-limit sets another");
}

bool mem_take(uint64_t bytes, const char *what, err *e) {
    if (mem_left() < bytes) give_back();
    if (!mem_check(bytes, what, e)) return false;
    atomic_fetch_add(&used, bytes);
    return true;
}

void mem_give(uint64_t bytes) {
    atomic_fetch_sub(&used, bytes);
}

/* --- blocks ---------------------------------------------------------------------------------- */

uint64_t mem_rounded(uint64_t bytes) {
    uint64_t alignment = bytes < LARGE ? ALIGNMENT : HUGE_PAGE;
    return (bytes + alignment - 1) / alignment * alignment;
}

void *mem_raw(size_t count, size_t size, const char *what, err *e) {
    size_t bytes = 0, padded = 0;
    bool fits = mem_mul(count, size, &bytes);
    size_t alignment = bytes < LARGE ? ALIGNMENT : HUGE_PAGE;
    if (!fits || !mem_add(bytes, alignment, &padded)) {
        err_set(e, ERR_DATA, "%s: %zu items of %zu bytes do not fit in memory", what, count, size);
        return NULL;
    }
    if (!mem_check(bytes, what, e)) return NULL;
    size_t whole = padded / alignment * alignment;
    void *p = alignment == HUGE_PAGE ? take_kept(whole) : NULL;
    if (p) {
        atomic_fetch_add(&used, bytes_of(p));
        return p;
    }
    p = aligned_alloc(alignment, whole);
    if (!p && give_back()) p = aligned_alloc(alignment, whole);
    if (!p) {
        err_set(e, ERR_MEMORY, "out of memory: %zu bytes are needed for %s", bytes, what);
        return NULL;
    }
    if (alignment == HUGE_PAGE) madvise(p, whole, MADV_HUGEPAGE);
    atomic_fetch_add(&used, bytes_of(p));
    return p;
}

void *mem_new(size_t count, size_t size, const char *what, err *e) {
    void *p = mem_raw(count, size, what, e);
    if (p) memset(p, 0, count * size);
    return p;
}

void mem_free(void *p) {
    size_t size = p ? bytes_of(p) : 0;
    atomic_fetch_sub(&used, size);
    if (size < LARGE || !keep(p, size)) free(p);
}

char *mem_str(const char *s, err *e) {
    size_t n = strlen(s) + 1;
    char *copy = mem_raw(n, 1, "a name", e);
    if (copy) memcpy(copy, s, n);
    return copy;
}
