#include "base/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- input ------------------------------------------------------------------------------- */

struct file_in {
    int fd;
    uint64_t size;
    char *path;
};

file_in *file_in_open(const char *path, err *e) {
    file_in *f = mem_new(1, sizeof *f, "file", e);
    if (!f) return NULL;
    struct stat st;
    f->path = mem_str(path, e);
    if (!f->path) {
        mem_free(f);
        return NULL;
    }
    /* A pipe without a writer would be waited for; what is no file is refused below. */
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0) {
        err_errno(e, ERR_NO_INPUT, "cannot open '%s'", path);
        goto fail;
    }
    if (fstat(f->fd, &st) != 0) {
        err_errno(e, ERR_IO, "cannot look at '%s'", path);
        goto fail;
    }
    if (!S_ISREG(st.st_mode)) {
        err_set(e, ERR_NO_INPUT,
                "'%s' is not a regular file; it must be one that can be read at "
                "any offset",
                path);
        goto fail;
    }
    f->size = (uint64_t)st.st_size;
    return f;
fail:
    file_in_close(&f);
    return NULL;
}

void file_in_close(file_in **f) {
    if (!*f) return;
    if ((*f)->fd >= 0) close((*f)->fd);
    mem_free((*f)->path);
    mem_free(*f);
    *f = NULL;
}

uint64_t file_in_size(const file_in *f) {
    return f->size;
}
const char *file_in_path(const file_in *f) {
    return f->path;
}

bool file_in_read(const file_in *f, uint64_t offset, void *to, size_t bytes, err *e) {
    uint8_t *at = to;
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(f->fd, at + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return err_errno(e, ERR_IO, "cannot read %zu bytes at %" PRIu64 " of '%s'", bytes,
                             offset, f->path);
        if (n == 0)
            return err_set(e, ERR_DATA,
                           "'%s' ends too early: %zu bytes wanted at %" PRIu64 ", %zu are there",
                           f->path, bytes, offset, done);
        done += (size_t)n;
    }
    return true;
}

uint8_t *file_read_all(const char *path, size_t limit, size_t *bytes, err *e) {
    file_in *f = file_in_open(path, e);
    if (!f) return NULL;
    uint8_t *data = NULL;
    if (f->size > limit) {
        err_set(e, ERR_DATA, "'%s' has %" PRIu64 " bytes, more than the %zu allowed here", path,
                f->size, limit);
    } else if ((data = mem_raw((size_t)f->size + 1, 1, path, e))) {
        if (file_in_read(f, 0, data, (size_t)f->size, e)) {
            *bytes = (size_t)f->size;
            data[f->size] = 0;
        } else {
            mem_free(data);
            data = NULL;
        }
    }
    file_in_close(&f);
    return data;
}

/* --- output ------------------------------------------------------------------------------ */

struct file_out {
    int fd, slot;
    char *path; /* the final name, symbolic links resolved */
    char temp[PATH_MAX];
};

/* What a signal handler must be able to find: the names of temporary files that exist. A slot is
 * taken by storing the pointer and freed by storing NULL, both atomically. */
enum { SLOTS = 256 };
static _Atomic(char *) open_temps[SLOTS];
static atomic_uint opening; /* threads between creating a file and storing its name */
static atomic_bool ending;  /* no more files are created */

void file_out_remove_all(void) {
    atomic_store(&ending, true);
    while (atomic_load(&opening))
        continue; /* they hold signals back, so none of them is this one */
    for (int i = 0; i < SLOTS; i++) {
        char *name = atomic_load(&open_temps[i]);
        if (name) unlink(name);
    }
}

static int take_slot(char *name) {
    for (int i = 0; i < SLOTS; i++) {
        char *empty = NULL;
        if (atomic_compare_exchange_strong(&open_temps[i], &empty, name)) return i;
    }
    return -1;
}

/* The file to replace: `path`, or what it points to. */
static char *final_name(const char *path, err *e) {
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        char *real = realpath(path, NULL);
        if (real) {
            char *copy = mem_str(real, e);
            free(real);
            return copy;
        }
    }
    return mem_str(path, e);
}

/* From errno; where it is the folder that is missing, that is what the sentence says. */
static bool cannot_create(const char *path, err *e) {
    struct stat st;
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) : 0, why = errno;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", n, path);
    if (n && n < PATH_MAX && (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)))
        return err_set(e, ERR_CANT_CREATE, "cannot create '%s': %s '%s'", path,
                       access(folder, F_OK) == 0 ? "there is no folder but a file"
                                                 : "there is no folder",
                       folder);
    errno = why;
    return err_errno(e, ERR_CANT_CREATE, "cannot create '%s'", path);
}

/* The handler may run in any thread: it waits for those that create a file, and those that would
 * create one after it has begun wait for the end of the program. */
static void begin_opening(void) {
    atomic_fetch_add(&opening, 1);
    if (!atomic_load(&ending)) return;
    atomic_fetch_sub(&opening, 1);
    for (;;) pause();
}

/* Opens the temporary file with the signals that end the program held back, so that it never
 * exists without being in the list that the handler clears. */
static bool open_temp(file_out *f, err *e) {
    const char *slash = strrchr(f->path, '/');
    int dir = slash ? (int)(slash - f->path) + 1 : 0;
    const char *name = f->path + dir;
    static atomic_uint serial;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    begin_opening();
    for (int i = 0; i < 100 && f->fd < 0; i++) {
        int n = snprintf(f->temp, sizeof f->temp, "%.*s.%.200s.%ld-%u.tmp", dir, f->path, name,
                         (long)getpid(), atomic_fetch_add(&serial, 1));
        if (n < 0 || (size_t)n >= sizeof f->temp) {
            errno = ENAMETOOLONG;
            break;
        }
        f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST) break;
    }
    bool opened = f->fd >= 0;
    int why = errno;
    if (opened) f->slot = take_slot(f->temp);
    atomic_fetch_sub(&opening, 1);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = why;
    if (!opened) return cannot_create(f->path, e);
    if (f->slot < 0) return err_set(e, ERR_RETRY, "more than %d outputs open at once", SLOTS);
    return true;
}

/* Folders, pipes and devices are never replaced. */
static bool replaceable(const char *path, err *e) {
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode)) return true;
    return err_set(e, ERR_CANT_CREATE,
                   S_ISDIR(st.st_mode) ? "'%s' is a folder; give the name of a file"
                                       : "'%s' is not a regular file and cannot be replaced",
                   path);
}

bool file_out_possible(const char *path, err *e) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                     slash ? path : ".");
    if (!replaceable(path, e)) return false;
    if (n < 0 || n >= PATH_MAX) errno = ENAMETOOLONG;
    return (n < PATH_MAX && access(folder, W_OK | X_OK) == 0) || cannot_create(path, e);
}

file_out *file_out_open(const char *path, err *e) {
    struct stat st;
    file_out *f = mem_new(1, sizeof *f, "file", e);
    if (!f) return NULL;
    f->fd = f->slot = -1;
    if (!(f->path = final_name(path, e)) || !replaceable(path, e) || !open_temp(f, e)) goto fail;
    /* Keep the permissions of a file that is replaced. */
    if (stat(f->path, &st) == 0 && fchmod(f->fd, st.st_mode & 0777) != 0) { /* best effort */
    }
    return f;
fail:
    file_out_discard(&f);
    return NULL;
}

bool file_out_write(file_out *f, uint64_t offset, const void *data, size_t bytes, err *e) {
    const uint8_t *at = data;
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(f->fd, at + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return err_errno(e, ERR_IO, "cannot write %zu bytes to '%s'", bytes, f->path);
        done += (size_t)n;
    }
    return true;
}

static void sync_folder(const char *path) {
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return; /* the rename is done; a folder that cannot be synced is no failure */
    fsync(fd);
    close(fd);
}

bool file_out_commit(file_out **fp, err *e) {
    file_out *f = *fp;
    int fd = f->fd;
    f->fd = -1;
    bool ok = true;
    if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        ok = err_errno(e, ERR_IO, "cannot finish '%s'", f->path);
    if (close(fd) != 0 && ok) ok = err_errno(e, ERR_IO, "cannot finish '%s'", f->path);
    if (ok && rename(f->temp, f->path) != 0)
        ok = err_errno(e, ERR_CANT_CREATE, "cannot put '%s' in its place", f->path);
    if (ok) {
        atomic_store(&open_temps[f->slot], NULL);
        f->slot = -1;
        f->temp[0] = 0;
        sync_folder(f->path);
    }
    file_out_discard(fp);
    return ok;
}

bool file_write_all(const char *path, const void *bytes, size_t n, err *e) {
    file_out *f = file_out_open(path, e);
    bool ok = f && file_out_write(f, 0, bytes, n, e) && file_out_commit(&f, e);
    file_out_discard(&f);
    return ok;
}

void file_out_discard(file_out **fp) {
    file_out *f = *fp;
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    if (f->temp[0]) unlink(f->temp);
    if (f->slot >= 0) atomic_store(&open_temps[f->slot], NULL);
    mem_free(f->path);
    mem_free(f);
    *fp = NULL;
}

bool file_make_dirs(const char *path, err *e) {
    char buf[PATH_MAX];
    int n = snprintf(buf, sizeof buf, "%s", path);
    if (n < 0 || (size_t)n >= sizeof buf)
        return err_set(e, ERR_CANT_CREATE, "the folder name '%.60s...' is too long", path);
    for (char *p = buf + 1;; p++) {
        if (*p != '/' && *p != 0) continue;
        char c = *p;
        *p = 0;
        if (mkdir(buf, 0777) != 0 && errno != EEXIST)
            return err_errno(e, ERR_CANT_CREATE, "cannot make the folder '%s'", buf);
        *p = c;
        if (!c) return true;
    }
}
