#include "base/file.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Does what openat(2) does, again when a signal interrupts it, as on network file systems. */
static int open_fully(int folder, const char *path, int flags, mode_t mode) {
    return (int)TEMP_FAILURE_RETRY(openat(folder, path, flags | O_CLOEXEC, mode));
}

static const char KEPT_SHUT[] =
    "the sandbox keeps it shut, since it lies outside of the folders that the command names, or it "
    "has replaced what was there when the run began; --sandbox off opens it";

struct file_in {
    int fd;
    uint64_t size;
    char *path;
};

file_in *file_in_open(const char *path, err *e) {
    OPEN(file_in) *f = mem_new(1, sizeof *f, "file", e);
    if (!f) return NULL;
    struct stat st;
    f->fd = -1;
    if (!(f->path = mem_str(path, e))) return NULL;
    /* Without O_NONBLOCK, open would wait for the writer of a pipe. Pipes are refused below. */
    if ((f->fd = open_fully(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0)) < 0) {
        if (sandbox_refuses(path, R_OK))
            err_set(e, ERR_NO_INPUT, "cannot open '%s': %s", path, KEPT_SHUT);
        else
            err_errno(e, ERR_NO_INPUT, "cannot open '%s'", path);
    } else if (fstat(f->fd, &st) != 0) {
        err_errno(e, ERR_IO, "cannot look at '%s'", path);
    } else if (!S_ISREG(st.st_mode)) {
        err_set(e, ERR_NO_INPUT,
                "'%s' is not a regular file; it must be one that can be read at any offset", path);
    } else {
        f->size = (uint64_t)st.st_size;
        return GIVE(f);
    }
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

bool file_in_read(const file_in *f, uint64_t offset, void *to, size_t bytes, err *e) {
    uint8_t *at = to;
    for (size_t done = 0; done < bytes;) {
        ssize_t n =
            TEMP_FAILURE_RETRY(pread(f->fd, at + done, bytes - done, (off_t)(offset + done)));
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

bool file_in_read_pieces(const file_in *f, uint64_t offset, const struct iovec *piece, int pieces) {
    size_t bytes = 0;
    for (int i = 0; i < pieces; i++) bytes += piece[i].iov_len;
    ssize_t n = preadv(f->fd, piece, pieces, (off_t)offset);
    return n >= 0 && (size_t)n == bytes;
}

uint8_t *file_read_all(const char *path, size_t limit, size_t *bytes, err *e) {
    OPEN(file_in) *f = file_in_open(path, e);
    if (!f) return NULL;
    const size_t n = (size_t)f->size;
    uint8_t *data = NULL;
    if (f->size > limit)
        err_set(e, ERR_DATA, "'%s' has %" PRIu64 " bytes, more than the %zu allowed here", path,
                f->size, limit);
    else
        data = mem_raw(n + 1, 1, path, e);
    if (data && file_in_read(f, 0, data, n, e))
        *bytes = n, data[n] = 0;
    else
        mem_free(data), data = NULL;
    return data;
}

/* A signal handler must find the names of all temporary files while other threads make and remove
 * some. So the names lie in slots that are never freed. A slot belongs to the thread that took it;
 * its name is valid while `state` is LIVE, which is from just before the file is created until just
 * after it is gone. Nothing takes a slot once `ending` is set, so no name changes under the
 * handler. */
enum { SLOTS = 256 };
enum { FREE, TAKEN, LIVE };
static struct {
    atomic_int state;
    char name[PATH_MAX];
} slots[SLOTS];
static atomic_int opening;                /* threads that are about to create a file */
static _Thread_local atomic_int i_opened; /* of these, this one: its handler must not wait for it */
static atomic_bool ending;                /* set once; no file is created afterwards */

void file_out_remove_all(void) {
    atomic_store(&ending, true);
    /* A thread that saw `ending` unset may create its file any moment. It is waited for, but not
     * for ever: a network file system may hang. */
    for (int i = 0; i < 100 && atomic_load(&opening) > atomic_load(&i_opened); i++)
        poll(NULL, 0, 10);
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == LIVE) unlink(slots[i].name);
}

/* Makes the name ".NAME.fftbloom-RANDOM.tmp" beside a file. Returns false when it is too long. */
static bool temp_name(const char *path, char to[PATH_MAX]) {
    int folder = (int)(path_name(path) - path);
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = (uint64_t)getpid() << 32 ^ (uint64_t)clock();
    int n = snprintf(to, PATH_MAX, "%.*s.%.200s.fftbloom-%016" PRIx64 ".tmp", folder, path,
                     path + folder, random);
    if (n < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* Creates a temporary file and locks it; the lock ends with the process and tells file_sweep that
 * the file is in use. Returns the descriptor, or -1 with errno. */
static int create_temp(int slot, const char *path, mode_t mode) {
    for (int tries = 0; tries < 100; tries++) {
        char *name = slots[slot].name;
        if (!temp_name(path, name)) return -1;
        atomic_fetch_add(&opening, 1);
        atomic_store(&i_opened, 1);
        if (atomic_load(&ending)) { /* the program ends, and this thread will need no file */
            atomic_fetch_sub(&opening, 1);
            for (;;) pause();
        }
        atomic_store(&slots[slot].state, LIVE);
        int fd = open_fully(AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL, mode);
        int why = fd < 0 ? errno : EAGAIN;
        atomic_store(&i_opened, 0);
        atomic_fetch_sub(&opening, 1);
        struct stat st;
        if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
            fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        if (fd >= 0) { /* file_sweep of another process was faster than the lock */
            unlink(name);
            close(fd);
        }
        atomic_store(&slots[slot].state, TAKEN);
        errno = why;
        if (fd < 0 && why != EEXIST) return -1;
    }
    return -1;
}

/* Returns whether the locks of all machines are seen here, because the file system is local. On any
 * other one the age of a file must decide. */
static bool locks_are_sure(int fd) {
    /* ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS */
    static const uint32_t LOCAL[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994,
                                     0x794c7630, 0x2fc12fc1, 0xf2f52010};
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0) return false;
    for (size_t i = 0; i < COUNT(LOCAL); i++)
        if ((uint32_t)fs.f_type == LOCAL[i]) return true;
    return false;
}

void file_sweep(const char *folder) {
    enum { DAY = 24 * 60 * 60 };
    DIR *d = opendir(folder);
    if (!d) return;
    bool sure = locks_are_sure(dirfd(d));
    for (struct dirent *f; (f = readdir(d));) {
        if (!text_glob(".*.fftbloom-????????????????.tmp", f->d_name)) continue;
        int fd = open_fully(dirfd(d), f->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        struct stat st;
        if (fd < 0) continue;
        bool locked = flock(fd, LOCK_SH | LOCK_NB) == 0, used = !locked && errno == EWOULDBLOCK;
        if (!used && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
            ((locked && sure) || st.st_mtime < time(NULL) - DAY))
            unlinkat(dirfd(d), f->d_name, 0);
        close(fd);
    }
    closedir(d);
}

bool file_is_own(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == geteuid() || st.st_uid == 0) && access(path, R_OK) == 0;
}

/* By the open file: the sandbox has no calls that do so by a name. */
void file_touch(const char *path) {
    int fd = open_fully(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd >= 0) futimens(fd, NULL), close(fd);
}

void file_set_mode(const char *path, unsigned mode) {
    int fd = open_fully(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd >= 0) fchmod(fd, mode), close(fd);
}

static void sweep_once(const char *folder) {
    enum { FOLDERS = 64 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
    static uint64_t swept[FOLDERS];                          /* hashes of names, the latest ones */
    static unsigned count;
    uint64_t name = hash_bytes(folder, strlen(folder)).lo;
    bool known = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < FOLDERS && i < count; i++) known |= swept[i] == name;
    if (!known) swept[count++ % FOLDERS] = name;
    pthread_mutex_unlock(&lock);
    if (!known) file_sweep(folder);
}

struct file_out {
    bool stream;  /* goes to standard output; fd is a file in memory */
    int fd, slot; /* slot: where the temporary file's name is; -1 when there is none */
    bool keep;    /* never replace a file */
    bool memory;  /* it stays open, and has no other name */
    char *path;   /* the final name, symbolic links resolved */
    atomic_uint_fast64_t counted; /* bytes of the file in memory that mem_take knows */
};

/* Counts a file in memory that is written up to `end`. */
static bool count_stream(file_out *f, uint64_t end, err *e) {
    uint64_t now = atomic_load(&f->counted);
    while (f->stream && end > now) {
        uint64_t more = end - now;
        if (!mem_take(more, "standard output", e)) return false;
        if (atomic_compare_exchange_strong(&f->counted, &now, end)) return true;
        mem_give(more);
    }
    return true;
}

/* Returns false for a link of somebody else in a folder where everybody may make files (/tmp): it
 * may have been laid there to have another file replaced. The system does not follow such links
 * either (protected_symlinks), but it does not see that we do. */
static bool may_follow(const char *link, err *e) {
    struct stat st, in;
    char folder[PATH_MAX];
    if (lstat(link, &st) != 0 || !path_folder(link, folder) || stat(folder, &in) != 0) return true;
    bool shared = (in.st_mode & S_ISVTX) && (in.st_mode & S_IWOTH);
    return !shared || st.st_uid == geteuid() || st.st_uid == in.st_uid ||
           err_set(e, ERR_CANT_CREATE,
                   "cannot create '%s': it is a link that another user has laid in a shared folder",
                   link);
}

/* Returns the file to make or replace: `path`, or what it points to, which need not be there. */
static char *final_name(const char *path, err *e) {
    char at[PATH_MAX], link[PATH_MAX];
    if (snprintf(at, sizeof at, "%s", path) >= PATH_MAX) return mem_str(path, e);
    for (int i = 0; i < PATH_LINKS; i++) {
        strcpy(link, at);
        if (!path_follow(at)) {
            if (errno == ELOOP) break;
            return mem_str(at, e);
        }
        if (!may_follow(link, e)) return NULL;
    }
    err_set(e, ERR_CANT_CREATE, "cannot create '%s': its symbolic links do not end", path);
    return NULL;
}

/* Fails for the reason in errno. If the folder is missing, the sentence says so. */
static bool cannot_create(const char *path, err *e) {
    struct stat st;
    int why = errno;
    char folder[PATH_MAX];
    if (strchr(path, '/') && path_folder(path, folder) &&
        (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)))
        return access(folder, F_OK) == 0
                   ? err_set(e, ERR_CANT_CREATE,
                             "cannot create '%s': there is no folder but a file '%s'", path, folder)
                   : err_set(e, ERR_CANT_CREATE,
                             "cannot create '%s': there is no folder '%s'; mkdir -p '%s' makes it",
                             path, folder, folder);
    errno = why;
    if (path_folder(path, folder) && sandbox_refuses(folder, W_OK | X_OK))
        return err_set(e, ERR_CANT_CREATE, "cannot create '%s': %s", path, KEPT_SHUT);
    return err_errno(e, ERR_CANT_CREATE, "cannot create '%s'", path);
}

/* Refuses folders, pipes and devices, which are never replaced, and files that their owner has
 * protected. A rename would not ask for that, and nor would root. */
static bool replaceable(const char *path, err *e) {
    struct stat st;
    if (stat(path, &st) != 0) /* final_name refuses links without end */
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
               err_errno(e, ERR_CANT_CREATE, "cannot create '%s'", path);
    if (S_ISREG(st.st_mode) && !(st.st_mode & S_IWUSR))
        return err_set(e, ERR_CANT_CREATE,
                       "'%s' is write-protected (mode %03o) and not replaced; chmod u+w allows it, "
                       "or write elsewhere",
                       path, (unsigned)st.st_mode & 0777);
    if (S_ISREG(st.st_mode)) return true;
    return err_set(e, ERR_CANT_CREATE,
                   S_ISDIR(st.st_mode) ? "'%s' is a folder; give the name of a file"
                                       : "'%s' is not a regular file and cannot be replaced",
                   path);
}

bool file_out_possible(const char *path, err *e) {
    char folder[PATH_MAX];
    OWN_MEM char *final = replaceable(path, e) ? final_name(path, e) : NULL;
    return final && ((path_folder(final, folder) && access(folder, W_OK | X_OK) == 0) ||
                     cannot_create(final, e));
}

/* Gives the new file what the old one had, as far as the system allows. Where the group cannot be
 * kept, the new group gets no more than everybody had. */
static void take_over(int fd, const char *path, const struct stat *old) {
    static const char ACL[] = "system.posix_acl_access";
    mode_t mode = old->st_mode & 0777;
    char list[4096];
    ssize_t n = 0;
    if (fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0)
        n = getxattr(path, ACL, list, sizeof list);
    else
        mode = (mode & 0707) | (mode & 007) << 3;
    bool done = fchmod(fd, mode) == 0 && (n <= 0 || fsetxattr(fd, ACL, list, (size_t)n, 0) == 0);
    (void)done;
}

static bool exists(const file_out *f, err *e) {
    return err_set(e, ERR_SKIPPED, "'%s' exists and is not replaced", f->path);
}

file_out *file_out_open(const char *path, file_way way, err *e) {
    struct stat old;
    char folder[PATH_MAX];
    OWN(file_out) *f = mem_new(1, sizeof *f, "file", e);
    if (!f) return NULL;
    *f =
        (file_out){.fd = -1, .slot = -1, .keep = way == FILE_NEW, .stream = strcmp(path, "-") == 0};
    if (f->stream) {
        f->fd = memfd_create("standard output", MFD_CLOEXEC);
        if (f->fd < 0) err_errno(e, ERR_RETRY, "cannot make a file in memory");
        if (f->fd < 0 || !(f->path = mem_str("standard output", e))) return NULL;
        return GIVE(f);
    }
    if (way == FILE_MEMORY) {
        f->memory = (f->path = mem_str(path, e)) && (f->fd = memfd_create(path, MFD_CLOEXEC)) >= 0;
        if (f->memory) return GIVE(f);
        if (f->path) err_errno(e, ERR_RETRY, "cannot make a file in memory");
        return NULL;
    }
    const bool own = way == FILE_OWN; /* a rename replaces a link, and no folder */
    if (!(f->path = own ? mem_str(path, e) : final_name(path, e))) return NULL;
    const bool replaces = !own && stat(f->path, &old) == 0;
    if (replaces && f->keep && S_ISREG(old.st_mode)) return exists(f, e), NULL;
    if (!own && !replaceable(path, e)) return NULL;
    if (path_folder(f->path, folder)) sweep_once(folder);
    for (int i = 0; i < SLOTS && f->slot < 0; i++) {
        int empty = FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &empty, TAKEN)) f->slot = i;
    }
    if (f->slot < 0) {
        err_set(e, ERR_RETRY, "more than %d outputs are open at once", SLOTS);
        return NULL;
    }
    /* Nobody may look into a file that is less open than new files are. */
    if ((f->fd = create_temp(f->slot, f->path, replaces ? 0600 : 0666)) < 0)
        return cannot_create(f->path, e), NULL;
    if (replaces) take_over(f->fd, f->path, &old);
    return GIVE(f);
}

bool file_in_memory(char to[64], const char *name) {
    char want[PATH_MAX], linked[PATH_MAX];
    bool found = false;
    snprintf(want, sizeof want, "/memfd:%s (deleted)", name);
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *f; !found && d && (f = readdir(d));) {
        const ssize_t n = readlinkat(dirfd(d), f->d_name, linked, sizeof linked - 1);
        found = n > 0 && (linked[n] = 0, strcmp(linked, want) == 0);
        if (found) snprintf(to, 64, "/proc/self/fd/%.40s", f->d_name);
    }
    if (d) closedir(d);
    return found;
}

const char *file_out_path(const file_out *f) {
    return f->path;
}

bool file_out_write(file_out *f, uint64_t offset, const void *data, size_t bytes, err *e) {
    const uint8_t *at = data;
    if (!count_stream(f, offset + bytes, e)) return false;
    for (size_t done = 0; done < bytes;) {
        ssize_t n =
            TEMP_FAILURE_RETRY(pwrite(f->fd, at + done, bytes - done, (off_t)(offset + done)));
        if (n <= 0)
            return err_errno(e, ERR_IO, "cannot write %zu bytes to '%s'", bytes, f->path) ||
                   err_blame(e, FAULT_OUTPUT);
        done += (size_t)n;
    }
    return true;
}

bool file_out_write_pieces(file_out *f, uint64_t offset, struct iovec *piece, int pieces, err *e) {
    uint64_t end = offset;
    for (int i = 0; i < pieces; i++) end += piece[i].iov_len;
    if (!count_stream(f, end, e)) return false;
    while (pieces > 0) {
        ssize_t n = TEMP_FAILURE_RETRY(pwritev(f->fd, piece, pieces, (off_t)offset));
        if (n <= 0)
            return err_errno(e, ERR_IO, "cannot write to '%s'", f->path) ||
                   err_blame(e, FAULT_OUTPUT);
        size_t done = (size_t)n;
        offset += done;
        for (; pieces > 0 && done >= piece->iov_len; piece++, pieces--) done -= piece->iov_len;
        if (pieces == 0) return true;
        piece->iov_base = (char *)piece->iov_base + done;
        piece->iov_len -= done;
    }
    return true;
}

/* Puts a file in its place unless there is one: rename where the file system can do it without
 * replacing, else link, or else (FAT) over an empty file, which only one process can create. */
static bool rename_new(const char *temp, const char *path) {
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return true;
    if (errno == EEXIST) return false;
    if (link(temp, path) == 0) {
        unlink(temp);
        return true;
    }
    if (errno == EEXIST) return false;
    int fd = open_fully(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return false;
    close(fd);
    if (rename(temp, path) == 0) return true;
    int why = errno;
    unlink(path);
    errno = why;
    return false;
}

static bool send_out(const file_out *f, err *e) {
    enum { SOME = 1 << 18 };
    OWN_MEM uint8_t *some = mem_raw(SOME, 1, "standard output", e);
    bool ok = some != NULL;
    ssize_t n = 1;
    for (off_t at = 0; ok && n > 0; at += n > 0 ? n : 0) {
        n = TEMP_FAILURE_RETRY(pread(f->fd, some, SOME, at));
        if (n < 0) ok = err_errno(e, ERR_IO, "cannot read what goes to standard output");
        for (ssize_t done = 0; ok && done < n;) {
            const ssize_t k = write(STDOUT_FILENO, some + done, (size_t)(n - done));
            if (k < 0 && errno != EINTR)
                ok = err_errno(e, ERR_IO, "cannot write to standard output");
            done += max_i64(k, 0);
        }
    }
    return ok;
}

bool file_out_commit(file_out **fp, err *e) {
    file_out *f = *fp;
    if (f->stream) {
        bool sent = send_out(f, e);
        file_out_free(fp);
        return sent;
    }
    if (f->memory) f->fd = -1;
    if (f->memory) return file_out_free(fp), true;
    const char *temp = slots[f->slot].name;
    int fd = f->fd;
    /* Some file systems report a full disk only when a file is closed. So a copy of the descriptor
     * is closed before the rename; the lock stays with the other until the file has its name. */
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    bool ok = TEMP_FAILURE_RETRY(fsync(fd)) == 0 || errno == EINVAL || errno == EROFS;
    if (copy >= 0 && close(copy) != 0 && errno != EINTR) ok = false;
    if (!ok) err_errno(e, ERR_IO, "cannot finish '%s'", f->path);
    if (ok && (f->keep ? !rename_new(temp, f->path) : rename(temp, f->path) != 0))
        ok = f->keep && errno == EEXIST
                 ? exists(f, e)
                 : err_errno(e, ERR_CANT_CREATE, "cannot put '%s' in its place", f->path);
    /* The program ends, and has removed the file already: that is not a failure to tell of. */
    while (!ok && atomic_load(&ending)) pause();
    if (ok) {
        char folder[PATH_MAX];
        atomic_store(&slots[f->slot].state, FREE);
        f->slot = -1;
        /* The file is in place. A folder that cannot be synced is not a failure. */
        int dir = path_folder(f->path, folder)
                      ? open_fully(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0)
                      : -1;
        if (dir >= 0) (void)TEMP_FAILURE_RETRY(fsync(dir)), close(dir);
    }
    file_out_free(fp);
    return ok;
}

void file_out_free(file_out **fp) {
    file_out *f = *fp;
    if (!f) return;
    if (f->slot >= 0 && slots[f->slot].state == LIVE) unlink(slots[f->slot].name);
    if (f->slot >= 0) atomic_store(&slots[f->slot].state, FREE);
    if (f->fd >= 0) close(f->fd);
    mem_give(atomic_load(&f->counted));
    mem_free(f->path);
    mem_free(f);
    *fp = NULL;
}

bool file_write_all(const char *path, const void *bytes, size_t n, err *e) {
    OWN(file_out) *f = file_out_open(path, FILE_REPLACE, e);
    return f && file_out_write(f, 0, bytes, n, e) && file_out_commit(&f, e);
}

bool file_make_dirs(const char *path, unsigned mode, err *e) {
    char buf[PATH_MAX];
    int n = snprintf(buf, sizeof buf, "%s", path);
    if (n <= 0) return err_set(e, ERR_CANT_CREATE, "the name of a folder is empty");
    if ((size_t)n >= sizeof buf)
        return err_set(e, ERR_CANT_CREATE, "the folder name '%.60s...' is too long", path);
    for (char *p = buf + 1;; p++) {
        if (*p != '/' && *p != 0) continue;
        char c = *p;
        *p = 0;
        if (mkdir(buf, mode) != 0 && errno != EEXIST)
            return err_errno(e, ERR_CANT_CREATE, "cannot make the folder '%s'", buf);
        *p = c;
        if (!c) return true;
    }
}
