#include "app/run/stamp.h"

#include "app/cli/options.h"
#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- versions of files ------------------------------------------------------------------------ */

file_mark file_mark_of(const char *path) {
    struct stat st;
    file_mark m = {0};
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR); /* as may happen on network file systems */
    if (fd >= 0 && fstat(fd, &st) == 0)
        m = (file_mark){true, st.st_dev, st.st_ino, st.st_size, st.st_mtim};
    if (fd >= 0) close(fd);
    return m;
}

bool file_mark_same(const file_mark *a, const file_mark *b) {
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->time.tv_sec == b->time.tv_sec &&
           a->time.tv_nsec == b->time.tv_nsec;
}

/* --- fingerprints ----------------------------------------------------------------------------- */

void fingerprint_settings(const settings *s, text *to) {
    static const bool DECIDES[SECTIONS] = {[SECTION_LIGHT] = true,
                                           [SECTION_KERNEL] = true,
                                           [SECTION_LAYERS] = true,
                                           [SECTION_ACCURACY] = true};
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        const char *v = s->value[i].text;
        if (!(o->on & FOR_APPLY) || !DECIDES[o->section]) continue;
        if (!v || (o->preset && strcmp(v, o->preset) == 0)) continue;
        text_add(to, "%s ", o->name);
        settings_json(s, i, to);
        text_add(to, "\n");
    }
}

bool fingerprint_file(const char *path, hash128 *to, err *e) {
    enum { PIECE = 1 << 20 };
    file_in *f = file_in_open(path, e);
    uint8_t *piece = mem_raw(PIECE, 1, "hashing", e);
    hash_state h;
    hash_begin(&h);
    bool ok = f && piece;
    uint64_t size = f ? file_in_size(f) : 0;
    for (uint64_t at = 0; ok && at < size; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ok = file_in_read(f, at, piece, n, e);
        if (ok) hash_add(&h, piece, n);
    }
    hash128 sum = hash_end(&h);
    if (ok) *to = sum;
    mem_free(piece);
    file_in_close(&f);
    return ok;
}

/* --- stamps ----------------------------------------------------------------------------------- */

#define FOLDER "stamps"
#define ENDING ".stamp"

/* Reads the kernel's bytes. */
static bool look_at(stamp_look *l, const settings *s, const char *path, err *e) {
    text look = {0};
    hash128 kernel;
    char sum[HASH_TEXT];
    *l = (stamp_look){.read = file_mark_of(path)};
    if (!fingerprint_file(path, &kernel, e)) return err_in(e, "kernel");
    hash_text(kernel, sum);
    text_add(&look, "fftbloom " VERSION "\nkernel %s\n", sum);
    fingerprint_settings(s, &look);
    l->hash = hash_bytes(look.s, look.n);
    text_free(&look);
    return true;
}

bool stamp_run_open(stamp_run *r, const settings *s, const job *j, const char *cache, err *e) {
    *r = (stamp_run){.s = s, .cache = cache, .kernels = j->kernels};
    return !cache || r->kernels || look_at(&r->look, s, s->kernel, e);
}

bool stamp_make(stamp *st, const stamp_run *r, const job_files *f, err *e) {
    *st = (stamp){r->cache, r->look, f->kernel, f->input, f->output};
    return !r->cache || !r->kernels || look_at(&st->look, r->s, f->kernel, e);
}

bool stamp_real_path(const char *output, text *to) {
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(output, '/');
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) + 1 : 1,
                     slash ? output : ".");
    if (n < 0 || (size_t)n >= sizeof folder || !realpath(folder, real)) return false;
    text_add(to, "%s/%s", real, slash ? slash + 1 : output);
    return true;
}

/* Appends the path of an output's stamp. */
static bool stamp_path(const stamp *st, hash128 *name, text *to) {
    char digits[HASH_TEXT];
    text whole = {0};
    bool ok = stamp_real_path(st->output, &whole);
    if (ok) {
        *name = hash_bytes(whole.s, whole.n);
        hash_text(*name, digits);
        text_add(to, "%s/" FOLDER "/%s" ENDING, st->cache, digits);
    }
    text_free(&whole);
    return ok;
}

/* Appends the content that the stamp must have for the output to be current. */
static void stamp_content(const stamp *st, const file_mark *in, const file_mark *out, text *to) {
    char look[HASH_TEXT];
    hash_text(st->look.hash, look);
    text_add(to, "fftbloom stamp 1\nlook %s\n", look);
    text_add(to, "input %jd bytes at %jd.%09ld %s\n", (intmax_t)in->size, (intmax_t)in->time.tv_sec,
             in->time.tv_nsec, st->input);
    text_add(to, "output %jd bytes at %jd.%09ld\n", (intmax_t)out->size, (intmax_t)out->time.tv_sec,
             out->time.tv_nsec);
}

bool stamp_is_current(const stamp *st) {
    text path = {0}, want = {0};
    hash128 name;
    size_t n = 0;
    uint8_t *have = NULL;
    file_mark in = file_mark_of(st->input), out = file_mark_of(st->output);
    if (in.known && out.known && stamp_path(st, &name, &path)) {
        stamp_content(st, &in, &out, &want);
        have = file_read_all(path.s, 65536, &n, NULL);
    }
    bool same = have && n == want.n && memcmp(have, want.s, n) == 0;
    mem_free(have);
    text_free(&path);
    text_free(&want);
    return same;
}

void stamp_use(const stamp *st) {
    text path = {0};
    hash128 name;
    if (stamp_path(st, &name, &path)) utimensat(AT_FDCWD, path.s, NULL, 0);
    text_free(&path);
}

bool stamp_write(const stamp *st, const file_mark *read, err *e) {
    /* Counting stamps takes time, so only one output in 256 does it. */
    enum { LOOK_EVERY = 256 };
    text path = {0}, content = {0}, folder = {0};
    hash128 name;
    file_mark kernel = file_mark_of(st->kernel), out = file_mark_of(st->output);
    if (!file_mark_same(&kernel, &st->look.read))
        return err_set(e, ERR_RETRY, "the kernel '%s' changed during the run", st->kernel);
    if (!out.known || !stamp_path(st, &name, &path))
        return err_set(e, ERR_IO, "cannot find '%s' after it was written", st->output);
    stamp_content(st, read, &out, &content);
    text_add(&folder, "%s/" FOLDER, st->cache);
    bool ok = file_make_dirs(folder.s, 0700, e);
    if (ok) {
        /* In place and without a sync: a reader that finds half of a stamp ignores it. */
        int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
        int fd = open(path.s, flags, 0666);
        struct stat is;
        if (fd < 0)
            ok = err_errno(e, ERR_CANT_CREATE, "cannot create '%s'", path.s);
        else if (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode) || is.st_nlink > 1)
            ok = err_set(e, ERR_CANT_CREATE,
                         "'%s' is no stamp but a link to another file; remove it", path.s);
        else if (ftruncate(fd, 0) != 0 || write(fd, content.s, content.n) != (ssize_t)content.n)
            ok = err_errno(e, ERR_IO, "cannot write '%s'", path.s);
        if (fd >= 0) close(fd);
    }
    if (ok && name.lo % LOOK_EVERY == 0)
        stamps_trim(&(stamps_kept){0}, st->cache, STAMPS_MOST, NULL);
    text_free(&folder);
    text_free(&path);
    text_free(&content);
    return ok;
}

/* --- trimming --------------------------------------------------------------------------------- */

typedef struct {
    char name[HASH_TEXT - 1 + sizeof ENDING];
    struct timespec used;
} stamp_file;

static int last_used_first(const void *a, const void *b) {
    const stamp_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Returns how many stamps there are; with `to` it fills in at most `room` of them. */
static size_t read_names(DIR *d, stamp_file *to, size_t room) {
    size_t n = 0;
    struct stat st;
    rewinddir(d);
    for (struct dirent *f; (f = readdir(d));) {
        size_t digits = strspn(f->d_name, "0123456789abcdef");
        if (digits != HASH_TEXT - 1 || strcmp(f->d_name + digits, ENDING) != 0) continue;
        if (to && (n == room || fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0))
            continue;
        if (to) {
            memcpy(to[n].name, f->d_name, sizeof to[n].name);
            to[n].used = st.st_mtim;
        }
        n++;
    }
    return n;
}

bool stamps_trim(stamps_kept *to, const char *cache, size_t most, err *e) {
    stamps_kept kept = {0};
    text folder = {0};
    text_add(&folder, "%s/" FOLDER, cache);
    DIR *d = opendir(folder.s);
    bool ok = d || errno == ENOENT || err_errno(e, ERR_IO, "cannot list '%s'", folder.s);
    if (d) kept.count = read_names(d, NULL, 0);
    /* Counting reads names alone, which is quick. Only where some have to go is each looked at. */
    if (kept.count > most) {
        stamp_file *all = mem_new(kept.count, sizeof *all, "the list of stamps", e);
        if ((ok = all != NULL)) {
            size_t n = read_names(d, all, kept.count), goal = most - most / 10;
            qsort(all, n, sizeof *all, last_used_first);
            for (size_t i = goal; i < n; i++)
                kept.removed += unlinkat(dirfd(d), all[i].name, 0) == 0;
            kept.count = n - kept.removed;
        }
        mem_free(all);
    }
    if (d) closedir(d);
    text_free(&folder);
    if (ok) *to = kept;
    return ok;
}
