/* faults.c - lets calls of the system fail or wait, for tests that preload it (LD_PRELOAD).
 *
 *   FAULT_CALL=name:n      the n-th call fails, with name: one of KIND below
 *   FAULT_CALL=name:n-     ... and all that follow
 *   FAULT_CALLS=file       the numbers of these calls are written there at the end
 *   FAULT_INTERRUPT=name   every second call of open, fsync or close fails with EINTR
 *   FAULT_SHORT=1          read and write do half of what they are asked for; every fifth is EINTR
 *   FAULT_WAIT=file        the first fsync makes the file and waits until it is gone, at most 20 s
 *   FAULT_SLOW=name        to open a path that ends like this takes three seconds
 *   FAULT_TRY=file         at the first fsync, tries what a sandbox forbids, and says what is
 *                          possible: to read the file, to make FILE.new, and so on
 *   FAULT_REFUSE=words     of "landlock seccomp": the kernel has none
 *   FAULT_LANDLOCK=n       the kernel says that it has Landlock's version n
 *   FAULT_DEVICE=1         no Vulkan device can be opened
 *   FAULT_CHILD=what       a process that has given up all rights to decode does this in place of
 *                          an allocation: crash, hang, speak (rubbish), eat (memory), or escape:
 *                          it tries what FAULT_TRY does, and crashes if anything was possible;
 *                          a second is waited for it
 *
 * Threads count where the program or the library of fftbloom begins them, allocations everywhere.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KINDS = 7 };
static const char *const KIND[KINDS] = {"alloc", "open",   "read",  "write",
                                        "fsync", "rename", "thread"};
static atomic_long called[KINDS], short_calls, calls;
static atomic_bool ready, waited;
static const char *failing = "", *interrupted = "", *wait_for;
static long fail_at;
static int fail_on;
static FILE *counts;

static const char *word(const char *name) {
    const char *is = getenv(name);
    return is ? is : "";
}

__attribute__((constructor)) static void begin(void) {
    failing = word("FAULT_CALL");
    const char *at = strchr(failing, ':');
    fail_at = at ? atol(at + 1) : 0;
    fail_on = at && strchr(at, '-');
    interrupted = word("FAULT_INTERRUPT");
    wait_for = getenv("FAULT_WAIT");
    if (*word("FAULT_CALLS")) counts = fopen(getenv("FAULT_CALLS"), "w"); /* before any sandbox */
    ready = 1;
}

__attribute__((destructor)) static void end(void) {
    ready = 0;
    if (!counts) return;
    for (int i = 0; i < KINDS; i++) fprintf(counts, "%s %ld\n", KIND[i], atomic_load(&called[i]));
    fclose(counts);
}

/* Returns true where this call is the one that is to fail. */
static int fails(const char *name, int code) {
    int kind = 0;
    if (!ready) return 0;
    while (strcmp(KIND[kind], name) != 0) kind++;
    long i = atomic_fetch_add(&called[kind], 1) + 1;
    size_t n = strlen(name);
    if (strncmp(failing, name, n) != 0 || failing[n] != ':' || i < fail_at ||
        (i > fail_at && !fail_on))
        return 0;
    errno = code;
    return 1;
}

static int alone; /* this process has given up all rights */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int try_all(const char *path);

static void misbehave(void) {
    const char *what = alone ? getenv("FAULT_CHILD") : NULL;
    static char rubbish[1 << 20];
    volatile int *nowhere = NULL;
    if (!what) return;
    alone = 0;
    if (strcmp(what, "crash") == 0 || (strcmp(what, "escape") == 0 && try_all(getenv("FAULT_TRY"))))
        *nowhere = 1;
    while (strcmp(what, "hang") == 0) {
    }
    if (strcmp(what, "speak") == 0) memset(rubbish, 27, sizeof rubbish);
    /* The only file that is open, whatever its number, is the way to the one who waits. */
    for (int fd = 3; strcmp(what, "speak") == 0 && fd < 1024; fd++)
        if (write(fd, rubbish, sizeof rubbish) > 0) _exit(0);
    for (char *p; strcmp(what, "eat") == 0; *p = 1)
        if (!(p = malloc(1 << 20))) *nowhere = 1;
}

int prctl(int option, ...) {
    va_list list;
    unsigned long a[4];
    va_start(list, option);
    for (int i = 0; i < 4; i++) a[i] = va_arg(list, unsigned long);
    va_end(list);
    int result = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
    alone = option == PR_SET_SECCOMP;
    return result;
}

int setsockopt(int fd, int level, int what, const void *to, socklen_t n) {
    struct timeval second = {1, 0};
    if (getenv("FAULT_CHILD") && (what == SO_RCVTIMEO || what == SO_SNDTIMEO)) to = &second;
    return REAL(setsockopt)(fd, level, what, to, n);
}

int setrlimit(__rlimit_resource_t what, const struct rlimit *to) {
    struct rlimit second = {2, 2};
    return REAL(setrlimit)(what, getenv("FAULT_CHILD") && what == RLIMIT_CPU ? &second : to);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static int no_memory(void) {
    misbehave();
    return fails("alloc", ENOMEM);
}

void *malloc(size_t n) {
    return no_memory() ? NULL : __libc_malloc(n);
}
void *calloc(size_t a, size_t b) {
    return no_memory() ? NULL : __libc_calloc(a, b);
}
void *realloc(void *p, size_t n) {
    return no_memory() ? NULL : __libc_realloc(p, n);
}
void *aligned_alloc(size_t a, size_t n) {
    return no_memory() ? NULL : __libc_memalign(a, n);
}
void *memalign(size_t a, size_t n) {
    return no_memory() ? NULL : __libc_memalign(a, n);
}
int posix_memalign(void **p, size_t a, size_t n) {
    *p = no_memory() ? NULL : __libc_memalign(a, n);
    return *p ? 0 : ENOMEM;
}

static int interrupt(const char *name) {
    if (!ready || strcmp(name, interrupted) != 0 || atomic_fetch_add(&calls, 1) % 2) return 0;
    errno = EINTR;
    return 1;
}

static void be_slow(const char *path) {
    const char *slow = getenv("FAULT_SLOW");
    size_t n = slow ? strlen(slow) : 0, all = strlen(path);
    if (n && all >= n && strcmp(path + all - n, slow) == 0) sleep(3);
}

static int is_short(void) {
    return ready && getenv("FAULT_SHORT");
}

static int is_interrupted(void) {
    if (!is_short() || atomic_fetch_add(&short_calls, 1) % 5) return 0;
    errno = EINTR;
    return 1;
}

static size_t less(size_t n) {
    return is_short() && n > 1 ? n / 2 : n;
}

ssize_t read(int fd, void *to, size_t n) {
    if (fails("read", EIO) || is_interrupted()) return -1;
    return REAL(read)(fd, to, less(n));
}
ssize_t pread(int fd, void *to, size_t n, off_t at) {
    if (fails("read", EIO) || is_interrupted()) return -1;
    return REAL(pread)(fd, to, less(n), at);
}
ssize_t preadv(int fd, const struct iovec *v, int n, off_t at) {
    if (fails("read", EIO) || is_interrupted()) return -1;
    return REAL(preadv)(fd, v, is_short() ? (n + 1) / 2 : n, at);
}
ssize_t write(int fd, const void *from, size_t n) {
    if (fd > 2 && (fails("write", EIO) || is_interrupted())) return -1;
    return REAL(write)(fd, from, fd > 2 ? less(n) : n);
}
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
    if (fails("write", EIO) || is_interrupted()) return -1;
    return REAL(pwrite)(fd, from, less(n), at);
}
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) {
    if (fails("write", EIO) || is_interrupted()) return -1;
    return REAL(pwritev)(fd, v, is_short() ? (n + 1) / 2 : n, at);
}
int rename(const char *from, const char *to) {
    return fails("rename", EIO) ? -1 : REAL(rename)(from, to);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    return fails("rename", EIO) ? -1 : REAL(renameat2)(a, from, b, to, flags);
}

int openat(int folder, const char *path, int flags, ...) {
    static int (*real)(int, const char *, int, ...);
    va_list list;
    va_start(list, flags);
    unsigned mode = va_arg(list, unsigned);
    va_end(list);
    if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    be_slow(path);
    return interrupt("open") || fails("open", EIO) ? -1 : real(folder, path, flags, mode);
}

/* What code that a hostile file has brought in would try. */
static int try_all(const char *path) {
    char other[4096], *no[] = {NULL};
    snprintf(other, sizeof other, "%s.new", path);
    int in = open(path, O_RDONLY), out = open(other, O_WRONLY | O_CREAT, 0666);
    int net = socket(AF_INET, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
    pid_t child = fork();
    if (child == 0) _exit(0);
    int ran = execve("/nowhere", no, no) < 0 && errno != EPERM;
    int traced = ptrace(PTRACE_CONT, 0, NULL, NULL) < 0 &&
                 errno != EPERM; /* there is no process 0 */
    int killed = kill(getppid(), 0) == 0;
    fprintf(stderr, "possible:%s%s%s%s%s%s%s\n", in >= 0 ? " read" : "", out >= 0 ? " write" : "",
            net >= 0 || local >= 0 ? " socket" : "", child >= 0 ? " fork" : "", ran ? " exec" : "",
            traced ? " ptrace" : "", killed ? " kill" : "");
    return in >= 0 || out >= 0 || net >= 0 || local >= 0 || child >= 0 || ran || traced || killed;
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (wait_for && !atomic_exchange(&waited, 1)) {
        close(open(wait_for, O_WRONLY | O_CREAT, 0666));
        for (int i = 0; i < 10000 && access(wait_for, F_OK) == 0; i++) usleep(2000);
    }
    if (getenv("FAULT_TRY") && !atomic_exchange(&waited, 1)) try_all(getenv("FAULT_TRY"));
    return interrupt("fsync") || fails("fsync", EIO) ? -1 : real(fd);
}

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    va_list list;
    va_start(list, flags);
    unsigned mode = va_arg(list, unsigned);
    va_end(list);
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    be_slow(path);
    return interrupt("open") || fails("open", EIO) ? -1 : real(path, flags, mode);
}

/* An interrupted close has closed the file all the same. */
int close(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "close");
    int result = real(fd);
    return fd > 2 && interrupt("close") ? -1 : result;
}

int vkCreateDevice(void *physical, const void *info, const void *allocator, void **device) {
    typedef int call(void *, const void *, const void *, void **);
    if (getenv("FAULT_DEVICE")) return -13; /* VK_ERROR_UNKNOWN */
    call *real = (call *)dlsym(RTLD_NEXT, "vkCreateDevice");
    return real(physical, info, allocator, device);
}

/* The sandbox alone calls the system by this function with numbers of these. */
long syscall(long number, ...) {
    typedef long call(long, ...);
    enum { LANDLOCK = 444, ITS_CALLS = 3 };
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    int landlock = number >= LANDLOCK && number < LANDLOCK + ITS_CALLS;
    if ((landlock && strstr(word("FAULT_REFUSE"), "landlock")) ||
        (number == SYS_seccomp && strstr(word("FAULT_REFUSE"), "seccomp"))) {
        errno = EPERM;
        return -1;
    }
    if (number == LANDLOCK && a[2] == 1 && *word("FAULT_LANDLOCK"))
        return atoi(word("FAULT_LANDLOCK"));
    call *real = (call *)dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int is_ours(void *code) {
    Dl_info from;
    return dladdr(code, &from) && strstr(from.dli_fname, "fftbloom");
}

int pthread_create(pthread_t *to, const pthread_attr_t *attr, void *(*fn)(void *), void *arg) {
    typedef int call(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (is_ours(__builtin_return_address(0)) && fails("thread", EAGAIN)) return EAGAIN;
    call *real = (call *)dlsym(RTLD_NEXT, "pthread_create");
    return real(to, attr, fn, arg);
}
