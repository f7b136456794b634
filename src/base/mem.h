/* mem.h - gives out memory that is aligned to 64 bytes, within a limit, and checks its sizes: sizes
 * that come from files are multiplied only here. What libraries allocate is not counted. */
#pragma once

#include "base/err.h"

/* Sets *out = a * b. Returns false, and leaves *out untouched, when that does not fit. */
bool mem_mul(size_t a, size_t b, size_t *out);

/* Frees what this module has allocated; NULL is fine. */
void mem_free(void *p);

/* Lets gcc's analyzer (make analyse) follow blocks to mem_free. */
#if defined(__GNUC__) && !defined(__clang__)
#define MEM_BLOCK __attribute__((malloc, malloc(mem_free, 1)))
#else
#define MEM_BLOCK
#endif

/* Returns count * size zeroed bytes; `what` names the thing for the message. Free with mem_free.
 * Returns NULL with ERR_MEMORY when there is no memory, and never NULL for zero bytes. */
MEM_BLOCK void *mem_new(size_t count, size_t size, const char *what, err *e);
/* Does the same without zeroing, for large buffers that are written before they are read. */
MEM_BLOCK void *mem_raw(size_t count, size_t size, const char *what, err *e);
/* Returns a block of `bytes` that begins with the first `had` bytes of `old`, has zeros behind them
 * and takes its place. NULL: there is no memory, and `old` stays. */
void *mem_more(void *old, size_t had, size_t bytes, const char *what, err *e);

/* Variables that are freed, or closed, where their block ends: OWN(text) t = {0}; OPEN(par) *p; and
 * OWN_MEM float *v = mem_new(...). */
#define OWN(type)  __attribute__((unused, cleanup(type##_free))) type
#define OPEN(type) __attribute__((unused, cleanup(type##_close))) type
#define OWN_MEM    __attribute__((unused, cleanup(mem_free_at)))
static inline void mem_free_at(void *pointer) {
    mem_free(*(void **)pointer);
}

/* Hands on what such a variable owns, and leaves NULL in the variable: return GIVE(img); */
#define GIVE(p)                         \
    __extension__({                     \
        __typeof__(p) mem_given_ = (p); \
        (p) = NULL;                     \
        mem_given_;                     \
    })

/* A budget counts what is allocated in it, and has a limit. Each host has one (base/host.h). A
 * block goes back to the budget that it came from. */
typedef struct mem_budget mem_budget;
/* Where memory comes from; aligned as malloc's is. */
typedef struct {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*release)(void *ctx, void *memory);
    void *ctx;
} mem_source;
/* Opens a budget of that many bytes, as mem_set_limit counts them. set_by: how messages call the
 * limit. `from` NULL: malloc. Close it when all of its blocks are freed. */
mem_budget *mem_budget_open(uint64_t limit, const char *set_by, const mem_source *from, err *e);
void mem_budget_close(mem_budget **b);
uint64_t mem_budget_used(const mem_budget *b);

/* Sets the limit: an allocation beyond it fails with ERR_MEMORY and all numbers. Call it once,
 * before any thread starts. 0 sets 80 % of the memory that is available now, or none. */
void mem_set_limit(uint64_t bytes);
/* Return the limit (UINT64_MAX: none), the bytes that may still be allocated under it, and those
 * that are allocated here and not freed yet. */
uint64_t mem_limit(void);
uint64_t mem_left(void);
uint64_t mem_used(void);
/* Count memory that others hold for the program, such as files in memory: under the limit, from
 * mem_take to mem_give. */
bool mem_take(uint64_t bytes, const char *what, err *e);
void mem_give(uint64_t bytes);

/* Keeps `bytes` more of large blocks that are freed, for the next allocation of their size. They
 * are given back before an allocation is refused. The caller ends that with mem_keep(-bytes).
 * While nobody asks for it, none are kept. */
void mem_keep(int64_t bytes);

/* Returns false, with the error of a refused allocation, when `bytes` more may not be allocated. */
bool mem_check(uint64_t bytes, const char *what, err *e);

/* Returns the bytes that an allocation takes: large ones are rounded up to large pages. */
uint64_t mem_rounded(uint64_t bytes);

/* The account of what work will take: named parts, whose sum decides. Starts as zeros. */
enum { MEM_PARTS = 16 };
typedef struct {
    struct {
        const char *what; /* a constant */
        uint64_t bytes;
    } part[MEM_PARTS];
    uint32_t parts;
    uint64_t bytes; /* all of them */
} mem_plan;
/* Adds bytes to the part of this name. */
void mem_plan_add(mem_plan *to, const char *what, uint64_t bytes);
void mem_plan_add_all(mem_plan *to, const mem_plan *from);

/* Copies a string. Free with mem_free. */
MEM_BLOCK char *mem_str(const char *s, err *e);
/* Does the same with what printf would print. */
MEM_BLOCK char *mem_strf(err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
