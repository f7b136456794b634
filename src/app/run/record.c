#include "app/run/record.h"

#include "app/run/provenance.h"
#include "base/file.h"
#include "base/path.h"
#include "kernel/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

file_mark file_mark_of(const char *path) {
    struct stat st;
    file_mark m = {0};
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR); /* as may happen on network file systems */
    if (fd >= 0 && fstat(fd, &st) == 0)
        m = (file_mark){true, st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim};
    if (fd >= 0) close(fd);
    return m;
}

bool file_mark_same(const file_mark *a, const file_mark *b) {
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->time.tv_sec == b->time.tv_sec &&
           a->time.tv_nsec == b->time.tv_nsec;
}

/* --- what decides an output ------------------------------------------------------------------- */

#define FOLDER "records"
#define ENDING ".record"
#define SWEPT  "swept" /* a file whose time is that of the last sweep */

/* Reads the bytes of the kernel, and of OpenColorIO's config where the view is one of that. */
static bool find_basis(record_basis *to, const record_run *r, const char *kernel, err *e) {
    const char *ocio = strncmp(r->look->view, "ocio", 4) == 0 ? getenv("OCIO") : NULL;
    OWN(text) line = {0};
    *to = (record_basis){.kernel = file_mark_of(kernel)};
    text_add(&line, "fftbloom " VERSION "\nkernel ");
    if (!provenance_add_file(kernel, &line, e)) return err_in(e, "kernel");
    text_add(&line, "\n");
    provenance_add_settings(r->run, r->look, 0, &line);
    if (ocio) text_add(&line, "ocio ");
    /* A config that cannot be read, or that is built into the library, counts by its name. */
    if (ocio && !provenance_add_file(ocio, &line, NULL)) text_add(&line, "'%s'", ocio);
    if (ocio) text_add(&line, "\n");
    to->hash = hash_bytes(line.s, line.n);
    return true;
}

static void sweep_daily(const char *cache) {
    char mark[CACHE_PATH];
    struct stat st;
    if (!cache_file(mark, cache, FOLDER, SWEPT, NULL)) return;
    if (stat(mark, &st) != 0 || difftime(time(NULL), st.st_mtime) > 24 * 60 * 60) {
        int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (fd >= 0 && futimens(fd, NULL) == 0)
            records_sweep(&(records_kept){0}, cache, RECORD_DAYS, NULL);
        if (fd >= 0) close(fd);
    }
}

bool record_run_open(record_run *r, const job *j, const picture_look *look, bool kept, err *e) {
    const run_choice *run = j->run;
    *r = (record_run){
        .run = run, .look = look, .cache = kept ? run->cache : NULL, .kernels = j->kernels};
    if (r->cache && !run->dry) sweep_daily(r->cache);
    return !r->cache || r->kernels || find_basis(&r->basis, r, run->kernel->file, e);
}

bool record_make(record *rec, const record_run *r, const job_files *f, err *e) {
    *rec = (record){.run = r, .files = f, .basis = r->basis};
    return !r->cache || !r->kernels || find_basis(&rec->basis, r, f->kernel, e);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Writes the path of the frame's record. */
static bool record_path(const record *rec, char to[CACHE_PATH]) {
    char name[HASH_TEXT + sizeof ENDING];
    OWN(text) whole = {0};
    if (!path_real(rec->files->output, &whole)) return false;
    hash_text(hash_bytes(whole.s, whole.n), name);
    return cache_file(to, rec->run->cache, FOLDER, strcat(name, ENDING), NULL);
}

/* Looks at the files of a frame but for the kernel, whose content is part of the basis. `m` has
 * zeros where there is none. */
static void look_at_files(const record *rec, file_mark m[JOB_PATHS]) {
    for (int k = 0; k < JOB_PATHS; k++)
        m[k] = rec->files->path[k] && k != JOB_KERNEL ? file_mark_of(rec->files->path[k])
                                                      : (file_mark){0};
}

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Appends what the record must begin with for the frame to be current: a line for each of its
 * files. Returns false where one is not there. */
static bool record_head(const record *rec, const file_mark m[JOB_PATHS], text *to) {
    char digits[HASH_TEXT];
    bool known = true;
    hash_text(rec->basis.hash, digits);
    text_add(to, "fftbloom record 2\nbasis %s\n", digits);
    for (int k = 0; k < JOB_PATHS; k++) {
        const char *path = rec->files->path[k];
        if (!path || k == JOB_KERNEL) continue;
        text_add(to, "%s: %jd bytes at %jd.%09ld ", JOB_ROLE[k], (intmax_t)m[k].size,
                 (intmax_t)m[k].time.tv_sec, m[k].time.tv_nsec);
        if (!path_real(path, to)) text_add(to, "%s", path);
        text_add(to, "\n");
        known &= m[k].known;
    }
    return known;
}

/* Appends what it says of a file behind that: when it last changed, and a hash of its content. */
static void record_tail(const file_mark *m, const char *digits, text *to) {
    text_add(to, "%jd.%09ld %s\n", (intmax_t)m->changed.tv_sec, m->changed.tv_nsec, digits);
}

/* Writes in place and without a sync: a reader that finds half of a record ignores it. */
static bool write_content(const char *path, const text *content, err *e) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    struct stat st;
    bool ok = true;
    if (fd < 0)
        ok = err_errno(e, ERR_CANT_CREATE, "cannot create '%s'", path);
    else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1)
        ok = err_set(e, ERR_CANT_CREATE, "'%s' is no record but a link to another file; remove it",
                     path);
    else if (ftruncate(fd, 0) != 0 || write(fd, content->s, content->n) != (ssize_t)content->n)
        ok = err_errno(e, ERR_IO, "cannot write '%s'", path);
    if (fd >= 0) close(fd);
    return ok;
}

static bool is_current(const record *rec) {
    char path[CACHE_PATH], digits[HASH_TEXT] = "", now[HASH_TEXT];
    file_mark m[JOB_PATHS];
    OWN(text) want = {0};
    size_t n = 0;
    OWN_MEM uint8_t *have = NULL;
    look_at_files(rec, m);
    if (record_path(rec, path) && file_is_own(path) && record_head(rec, m, &want))
        have = file_read_all(path, 65536, &n, NULL);
    bool same = have && n >= want.n && memcmp(have, want.s, want.n) == 0, moved = false;
    if (!same) return false;
    const char *line = (const char *)have + want.n;
    for (int k = 0; same && k < JOB_PATHS; k++) {
        intmax_t seconds = 0;
        struct timespec then = {0};
        int used = 0;
        hash128 sum;
        if (!m[k].known) continue;
        same = sscanf(line, "%jd.%ld %32s\n%n", &seconds, &then.tv_nsec, digits, &used) == 3;
        then.tv_sec = (time_t)seconds;
        line += used;
        record_tail(&m[k], digits, &want);
        if (!same || same_time(then, m[k].changed)) continue;
        moved = same = provenance_hash_file(rec->files->path[k], &sum, NULL) &&
                       (hash_text(sum, now), strcmp(now, digits) == 0);
    }
    same = same && !*line;
    if (same && moved && !rec->run->run->dry) write_content(path, &want, NULL);
    return same;
}

bool record_is_kept(const settings *s, const char *output) {
    return s->existing == EXISTING_SKIP && access(output, F_OK) == 0;
}

frame_state record_look(const record *rec, bool update, const char **why) {
    if (update && rec->run->cache && is_current(rec)) {
        *why = "the output is up to date";
        return FRAME_CURRENT;
    }
    if (record_is_kept(rec->run->run->s, rec->files->output)) {
        *why = "the output exists";
        return FRAME_SKIPPED;
    }
    return FRAME_DONE;
}

void record_use(const record *rec) {
    char path[CACHE_PATH];
    if (record_path(rec, path)) file_touch(path);
}

bool record_write(const record *rec, const file_mark *read, const file_mark *mask, err *e) {
    char folder[CACHE_PATH], path[CACHE_PATH];
    OWN(text) content = {0};
    const char *kernel = rec->files->kernel;
    const file_mark now = file_mark_of(kernel);
    if (!file_mark_same(&now, &rec->basis.kernel))
        return err_set(e, ERR_RETRY, "the kernel '%s' changed during the run", kernel);
    if (!cache_folder(folder, rec->run->cache, FOLDER, e)) return false;
    file_mark m[JOB_PATHS];
    look_at_files(rec, m);
    m[JOB_INPUT] = *read;
    if (mask->known) m[JOB_MASK] = *mask;
    if (!record_path(rec, path) || !record_head(rec, m, &content))
        return err_set(e, ERR_IO, "cannot find '%s' after it was written", rec->files->output);
    for (int k = 0; k < JOB_PATHS; k++) {
        char digits[HASH_TEXT] =
            "-"; /* of an input that has changed since, nobody knows what was read */
        hash128 sum;
        if (!m[k].known) continue;
        const bool hashed = provenance_hash_file(rec->files->path[k], &sum, NULL);
        const file_mark after = file_mark_of(rec->files->path[k]);
        if (hashed && same_time(after.changed, m[k].changed)) hash_text(sum, digits);
        record_tail(&m[k], digits, &content);
    }
    return write_content(path, &content, e);
}

bool records_sweep(records_kept *to, const char *cache, double days, err *e) {
    records_kept kept = {0};
    char folder[CACHE_PATH];
    struct stat st;
    if (!cache_file(folder, cache, FOLDER, "", e)) return false;
    DIR *d = opendir(folder);
    bool ok = d || errno == ENOENT || err_errno(e, ERR_IO, "cannot list '%s'", folder);
    const time_t now = time(NULL);
    for (struct dirent *f; d && (f = readdir(d));) {
        size_t digits = strspn(f->d_name, "0123456789abcdef");
        if (digits != HASH_TEXT - 1 || strcmp(f->d_name + digits, ENDING) != 0) continue;
        bool old = isfinite(days) && fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                   difftime(now, st.st_mtime) >= days * 24 * 60 * 60;
        bool gone = old && unlinkat(dirfd(d), f->d_name, 0) == 0;
        kept.removed += gone;
        kept.count += !gone;
    }
    if (d) closedir(d);
    if (ok) *to = kept;
    return ok;
}
