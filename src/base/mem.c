#include "base/mem.h"

#include "base/host.h"
#include "base/machine.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
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

enum { KEPT_BLOCKS = 256 };

struct mem_budget {
    /* Const once a thread works for it. */
    uint64_t limit;
    const char *set_by; /* what sets the limit, for messages */
    bool given;
    mem_source from;

    atomic_uint_fast64_t used;

    /* Large blocks that are kept. */
    pthread_mutex_t lock; /* guards all that follows */
    uint64_t most, bytes;
    size_t count;
    void *block[KEPT_BLOCKS]; /* the one that was freed last is the last */
};

static void *from_system(void *ctx, size_t bytes) {
    return malloc(bytes);
}

static void to_system(void *ctx, void *memory) {
    free(memory);
}

/* The program's. Its limit is set before any thread starts. */
static mem_budget program = {.limit = UINT64_MAX,
                             .set_by = "--mem-limit",
                             .from = {from_system, to_system, NULL},
                             .lock = PTHREAD_MUTEX_INITIALIZER};

static mem_budget *budget(void) {
    mem_budget *b = host_here()->memory;
    return b ? b : &program;
}

static void set_limit(mem_budget *b, uint64_t bytes) {
    uint64_t available = machine_memory();
    b->given = bytes > 0;
    b->limit = b->given ? bytes : available ? available / 5 * 4 : UINT64_MAX;
}

mem_budget *mem_budget_open(uint64_t limit, const char *set_by, const mem_source *from, err *e) {
    const mem_source source = from ? *from : program.from;
    mem_budget *b = source.alloc(source.ctx, sizeof *b);
    if (!b) return err_set(e, ERR_MEMORY, "out of memory: there is none for a budget"), NULL;
    *b = (mem_budget){.set_by = set_by, .from = source};
    pthread_mutex_init(&b->lock, NULL);
    set_limit(b, limit);
    return b;
}

static void shrink_kept(mem_budget *b, uint64_t bytes);

void mem_budget_close(mem_budget **pb) {
    mem_budget *b = *pb;
    *pb = NULL;
    if (!b) return;
    shrink_kept(b, 0);
    pthread_mutex_destroy(&b->lock);
    b->from.release(b->from.ctx, b);
}

void mem_set_limit(uint64_t bytes) {
    set_limit(budget(), bytes);
}

uint64_t mem_limit(void) {
    return budget()->limit;
}

static uint64_t left_of(const mem_budget *b) {
    uint64_t now = atomic_load(&b->used);
    return now < b->limit ? b->limit - now : 0;
}

uint64_t mem_left(void) {
    return left_of(budget());
}

uint64_t mem_used(void) {
    return mem_budget_used(budget());
}

uint64_t mem_budget_used(const mem_budget *b) {
    return atomic_load(&b->used);
}

/* What lies in front of each block. */
typedef struct {
    mem_budget *of;
    void *base; /* of what the system gave */
    size_t bytes;
} heading;

static heading *heading_of(void *p) {
    return (heading *)((char *)p - ALIGNMENT);
}

static void release(void *p) {
    const heading h = *heading_of(p);
    h.of->from.release(h.of->from.ctx, h.base);
}

/* Removes the oldest kept blocks until `bytes` or fewer are left; with the lock held. */
static void shrink_kept(mem_budget *b, uint64_t bytes) {
    size_t gone = 0;
    for (; gone < b->count && b->bytes > bytes; gone++) {
        b->bytes -= heading_of(b->block[gone])->bytes;
        release(b->block[gone]);
    }
    b->count -= gone;
    memmove(b->block, b->block + gone, b->count * sizeof *b->block);
}

void mem_keep(int64_t bytes) {
    mem_budget *b = budget();
    pthread_mutex_lock(&b->lock);
    b->most += (uint64_t)bytes;
    shrink_kept(b, b->most);
    pthread_mutex_unlock(&b->lock);
}

/* Returns a kept block of this many bytes, or NULL, with room under the limit for a new one. */
static void *take_kept(mem_budget *b, size_t bytes) {
    void *found = NULL;
    pthread_mutex_lock(&b->lock);
    for (size_t i = b->count; !found && i-- > 0;) {
        size_t size = heading_of(b->block[i])->bytes;
        if (size != bytes) continue;
        found = b->block[i];
        b->bytes -= size;
        b->count--;
        memmove(b->block + i, b->block + i + 1, (b->count - i) * sizeof *b->block);
    }
    uint64_t left = left_of(b);
    if (!found && b->bytes && (left < bytes || left - bytes < b->bytes))
        shrink_kept(b, left < bytes ? 0 : left - bytes);
    pthread_mutex_unlock(&b->lock);
    return found;
}

/* Gives all kept blocks back to the system. Returns false where there is none. */
static bool give_back(mem_budget *b) {
    pthread_mutex_lock(&b->lock);
    bool any = b->count > 0;
    shrink_kept(b, 0);
    pthread_mutex_unlock(&b->lock);
    return any;
}

/* Returns false where the block is not kept. */
static bool keep(mem_budget *b, void *p, size_t size) {
    pthread_mutex_lock(&b->lock);
    /* A sanitizer could not see a use after free of what is kept. */
    bool fits = !WITH_SAN && b->count < KEPT_BLOCKS && size <= b->most;
    if (fits) {
        uint64_t left = left_of(b);
        shrink_kept(b, min_u64(b->most - size, left > size ? left - size : 0));
        b->block[b->count++] = p;
        b->bytes += size;
    }
    pthread_mutex_unlock(&b->lock);
    return fits;
}

/* Two threads that ask at once may both be let through, so the limit may be passed by one block. */
bool mem_check(uint64_t bytes, const char *what, err *e) {
    char needs[32], now[32], most[32];
    const mem_budget *b = budget();
    if (bytes <= left_of(b)) return true;
    return err_set(e, ERR_MEMORY, "%s are needed for %s; %s of the limit of %s are in use (%s%s%s)",
                   text_bytes((double)bytes, needs), what, text_bytes((double)mem_used(), now),
                   text_bytes((double)b->limit, most),
                   b->given ? "" : "80 % of the memory that was available; ", b->set_by,
                   b->given ? "" : " sets another");
}

bool mem_take(uint64_t bytes, const char *what, err *e) {
    mem_budget *b = budget();
    if (left_of(b) < bytes) give_back(b);
    if (!mem_check(bytes, what, e)) return false;
    atomic_fetch_add(&b->used, bytes);
    return true;
}

void mem_give(uint64_t bytes) {
    atomic_fetch_sub(&budget()->used, bytes);
}

uint64_t mem_rounded(uint64_t bytes) {
    uint64_t alignment = bytes < LARGE ? ALIGNMENT : HUGE_PAGE;
    return (bytes + alignment - 1) / alignment * alignment;
}

static void *fresh(mem_budget *b, size_t bytes, size_t alignment) {
    char *base = b->from.alloc(b->from.ctx, bytes + alignment + ALIGNMENT);
    if (!base) return NULL;
    uintptr_t at = ((uintptr_t)base + ALIGNMENT + alignment - 1) / alignment * alignment;
    char *p = base + (at - (uintptr_t)base);
    *heading_of(p) = (heading){b, base, bytes};
    if (alignment == HUGE_PAGE && b->from.alloc == from_system) madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

void mem_plan_add(mem_plan *to, const char *what, uint64_t bytes) {
    uint32_t i = 0;
    while (i < to->parts && strcmp(to->part[i].what, what) != 0) i++;
    if (i == MEM_PARTS) i--; /* the last name stands for all that follow */
    if (i == to->parts) to->part[to->parts++].what = what;
    to->part[i].bytes += bytes;
    to->bytes += bytes;
}

void mem_plan_add_all(mem_plan *to, const mem_plan *from) {
    for (uint32_t i = 0; i < from->parts; i++)
        mem_plan_add(to, from->part[i].what, from->part[i].bytes);
}

void *mem_raw(size_t count, size_t size, const char *what, err *e) {
    mem_budget *b = budget();
    size_t bytes = 0, padded = 0;
    bool fits = mem_mul(count, size, &bytes);
    size_t alignment = bytes < LARGE ? ALIGNMENT : HUGE_PAGE;
    if (!fits || __builtin_add_overflow(bytes, 2 * alignment + ALIGNMENT, &padded)) {
        err_set(e, ERR_DATA, "%s: %zu items of %zu bytes do not fit in memory", what, count, size);
        return NULL;
    }
    if (!mem_check(bytes, what, e)) return NULL;
    size_t whole = mem_rounded(bytes);
    void *p = alignment == HUGE_PAGE ? take_kept(b, whole) : NULL;
    if (!p) p = fresh(b, whole, alignment);
    if (!p && give_back(b)) p = fresh(b, whole, alignment);
    if (p)
        atomic_fetch_add(&b->used, whole);
    else
        err_set(e, ERR_MEMORY, "out of memory: %zu bytes are needed for %s", bytes, what);
    return p;
}

void *mem_new(size_t count, size_t size, const char *what, err *e) {
    void *p = mem_raw(count, size, what, e);
    if (p) memset(p, 0, count * size);
    return p;
}

void *mem_more(void *old, size_t had, size_t bytes, const char *what, err *e) {
    void *p = mem_new(bytes, 1, what, e);
    if (!p) return NULL;
    if (had) memcpy(p, old, had);
    mem_free(old);
    return p;
}

void mem_free(void *p) {
    if (!p) return;
    const heading h = *heading_of(p);
    atomic_fetch_sub(&h.of->used, h.bytes);
    if (h.bytes < LARGE || !keep(h.of, p, h.bytes)) release(p);
}

char *mem_str(const char *s, err *e) {
    size_t n = strlen(s) + 1;
    char *copy = mem_raw(n, 1, "a name", e);
    if (copy) memcpy(copy, s, n);
    return copy;
}

char *mem_strf(err *e, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *made = mem_raw((size_t)n + 1, 1, "a name", e);
    if (made) vsnprintf(made, (size_t)n + 1, fmt, again);
    va_end(ap);
    va_end(again);
    return made;
}
