/* glibc.c - lets the library that runs elsewhere (`make alone`) load where glibc is 2.28, though it
 * is linked with a newer one. What only the newer one has is defined here, hidden, by what both
 * have; libstdc++.a asks here, too. packaging.mk says where older ones have dlopen and threads.
 * What each glibc rounds in its own way (exp, log, pow) is not called at all: base/steady.h. */

/* These are functions since 2.33. The first number is the layout of struct stat. */
struct stat;
#define STAT(name, params, old, old_params, args, version)     \
    int old_##name old_params;                                 \
    __asm__(".symver old_" #name "," #old "@GLIBC_" #version); \
    int name params;                                           \
    int name params {                                          \
        return old_##name args;                                \
    }
STAT(stat, (const char *path, struct stat *to), __xstat, (int, const char *, struct stat *),
     (1, path, to), 2.2.5)
STAT(lstat, (const char *path, struct stat *to), __lxstat, (int, const char *, struct stat *),
     (1, path, to), 2.2.5)
STAT(fstat, (int fd, struct stat *to), __fxstat, (int, int, struct stat *), (1, fd, to), 2.2.5)
STAT(fstatat, (int fd, const char *path, struct stat *to, int flags), __fxstatat,
     (int, int, const char *, struct stat *, int), (1, fd, path, to, flags), 2.4)

/* libstdc++.a asks whether it may count references without atomics, since 2.32. It may not. */
extern char __libc_single_threaded;
char __libc_single_threaded = 0;
