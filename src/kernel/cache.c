#include "kernel/cache.h"

#include "base/file.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/spectrum_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool joined(char to[CACHE_PATH], const char *dir, const char *below, const char *name,
                   err *e) {
    int n = snprintf(to, CACHE_PATH, "%s%s%s", dir, below, name);
    return (n > 0 && n < CACHE_PATH) ||
           err_set(e, ERR_CONFIG, "the cache folder's name is too long: '%.80s...'", dir);
}

bool cache_path(char to[CACHE_PATH], const char *asked) {
    return cache_path_by(to, asked, host_variable);
}

bool cache_path_by(char to[CACHE_PATH], const char *asked, const char *(*variable)(const char *)) {
    const char *own = variable("FFTBLOOM_CACHE_DIR"), *xdg = variable("XDG_CACHE_HOME"),
               *home = variable("HOME");
    if (asked && *asked) return joined(to, asked, "", "", NULL);
    if (own && *own) return joined(to, own, "", "", NULL);
    if (xdg && *xdg == '/')
        return joined(to, xdg, "", "/fftbloom", NULL); /* others are to be ignored */
    if (home && *home) return joined(to, home, "", "/.cache/fftbloom", NULL);
    return false;
}

bool cache_file(char to[CACHE_PATH], const char *dir, const char *name, const char *file, err *e) {
    struct stat st;
    if (!joined(to, dir, "/", name, e)) return false;
    if (lstat(to, &st) == 0 && S_ISLNK(st.st_mode))
        return err_set(e, ERR_CANT_CREATE,
                       "the cache's folder '%s' is a link, which is not followed; remove it", to);
    char folder[CACHE_PATH];
    return !*file || joined(to, memcpy(folder, to, sizeof folder), "/", file, e);
}

static bool spectrum_path(char to[CACHE_PATH], const char *dir, const char *name, err *e) {
    return cache_file(to, dir, "spectra", name, e);
}

static void entry_name(char to[CACHE_NAME], hash128 of) {
    char hash[HASH_TEXT];
    hash_text(of, hash);
    snprintf(to, CACHE_NAME, "%s.v%d.spectrum", hash, SPECTRUM_FILE_VERSION);
}

/* Returns whether a name has 32 hexadecimal digits, ".v", any version, and ".spectrum". */
static bool is_entry_name(const char *name) {
    size_t hash = strspn(name, "0123456789abcdef");
    if (hash != HASH_TEXT - 1 || strncmp(name + hash, ".v", 2) != 0) return false;
    const char *version = name + hash + 2;
    size_t digits = strspn(version, "0123456789");
    return digits > 0 && digits < 10 && strcmp(version + digits, ".spectrum") == 0;
}

static bool read_entry(spectrum *s, const char *path, const char *name, err *e) {
    char own[CACHE_NAME];
    if (!spectrum_file_read(s, path, e)) return false;
    entry_name(own, psf_hash(&s->kernel));
    if (strcmp(own, name) == 0) return true;
    spectrum_free(s);
    return err_set(e, ERR_DATA, "spectrum '%s': it is of another kernel than its name says", path);
}

/* Loads an entry from one folder. Returns false, and logs nothing, when it is not there. */
static bool load(spectrum *s, const psf *k, const char *dir, const char *name, bool own) {
    char path[CACHE_PATH];
    err e = {0};
    if (!spectrum_path(path, dir, name, NULL) || access(path, F_OK) != 0) return false;
    if (!file_is_own(path)) {
        log_info("the cache's '%s' is a link, or belongs to another user, and is not used", path);
        return false;
    }
    if (!read_entry(s, path, name, &e)) {
        if (e.code == ERR_DATA)
            log_warn("the cache holds a broken entry, which is not used: %s", e.msg);
        else
            log_info("the cache cannot be read: %s", e.msg);
        return false;
    }
    /* How the psf came about is not part of the key, only what it is. */
    s->kernel.made = k->made;
    s->cached = true;
    if (own) file_touch(path); /* trimming goes by this time */
    log_info("kernel spectrum from the cache: %s", path);
    return true;
}

void cache_distrust(hash128 of, const char *asked) {
    char dir[CACHE_PATH], name[CACHE_NAME], path[CACHE_PATH];
    entry_name(name, of);
    if (cache_path(dir, asked) && spectrum_path(path, dir, name, NULL) && unlink(path) == 0)
        log_warn("the cache's '%s' fails a proof, and is removed", path);
}

bool cache_folder(char to[CACHE_PATH], const char *dir, const char *name, err *e) {
    return (*name ? cache_file(to, dir, name, "", e) : joined(to, dir, "", "", e)) &&
           file_make_dirs(to, 0700, e);
}

bool cache_spectrum(spectrum *s, const psf *k, const cache_place *place, par *threads, err *e) {
    char dir[CACHE_PATH], folder[CACHE_PATH], path[CACHE_PATH], name[CACHE_NAME];
    const char *shared = host_variable("FFTBLOOM_CACHE_RO");
    bool usable = place->budget > 0 && cache_path(dir, place->dir);
    entry_name(name, psf_hash(k));
    if ((usable && load(s, k, dir, name, true)) ||
        (place->budget > 0 && shared && *shared && load(s, k, shared, name, false)))
        return true;
    if (!spectrum_make(s, k, threads, e)) return false;
    uint64_t bytes = spectrum_floats(s) * sizeof(float);
    cache_trimmed trimmed;
    err failed = {0};
    if (usable && bytes > place->budget)
        log_info("a kernel spectrum of %" PRIu64
                 " bytes is not kept: the whole cache may have %" PRIu64,
                 bytes, place->budget);
    else if (usable &&
             !(cache_folder(folder, dir, "spectra", &failed) &&
               spectrum_path(path, dir, name, &failed) && spectrum_file_write(path, s, &failed) &&
               cache_trim(&trimmed, dir, place->budget, &failed)))
        log_info("the kernel's spectrum is not kept: %s", failed.msg);
    return true;
}

static int last_used_first(const void *a, const void *b) {
    const cache_entry *x = a, *y = b;
    if (x->used != y->used) return x->used < y->used ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool cache_list_make(cache_list *to, const char *dir, err *e) {
    cache_list l = {0};
    size_t room = 0;
    char folder[CACHE_PATH];
    if (!spectrum_path(folder, dir, "", e)) return false;
    DIR *d = opendir(folder);
    bool ok = d || errno == ENOENT || err_errno(e, ERR_IO, "cannot list '%s'", folder);
    for (struct dirent *f; ok && d && (f = readdir(d));) {
        struct stat st; /* a file may go away meanwhile */
        if (!is_entry_name(f->d_name) ||
            fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (l.count == room) {
            cache_entry *more = mem_more(l.entry, l.count * sizeof *more,
                                         (room = 2 * room + 64) * sizeof *more, "cache", e);
            if (!(ok = more)) break;
            l.entry = more;
        }
        cache_entry *entry = &l.entry[l.count++];
        snprintf(entry->name, sizeof entry->name, "%.*s", CACHE_NAME - 1, f->d_name);
        entry->bytes = (uint64_t)st.st_size, entry->used = st.st_mtime;
        l.bytes += entry->bytes;
    }
    if (d) closedir(d);
    if (l.count) qsort(l.entry, l.count, sizeof *l.entry, last_used_first);
    if (ok)
        *to = l;
    else
        cache_list_free(&l);
    return ok;
}

void cache_list_free(cache_list *l) {
    mem_free(l->entry);
    *l = (cache_list){0};
}

bool cache_verify(const char *dir, const cache_entry *entry, err *e) {
    char path[CACHE_PATH];
    OWN(spectrum) s = {0};
    return spectrum_path(path, dir, entry->name, e) && read_entry(&s, path, entry->name, e);
}

bool cache_trim(cache_trimmed *to, const char *dir, uint64_t budget, err *e) {
    char path[CACHE_PATH];
    OWN(cache_list) l = {0};
    cache_trimmed t = {0};
    /* Removes what killed processes left in every folder of the cache that is written to. */
    file_sweep(dir);
    if (spectrum_path(path, dir, "", NULL)) file_sweep(path);
    if (!cache_list_make(&l, dir, e)) return false;
    bool full = false;
    for (size_t i = 0; i < l.count; i++) {
        const cache_entry *x = &l.entry[i];
        /* Everything behind the first that does not fit was used longer ago and goes, too. */
        full = full || x->bytes > budget - t.kept_bytes;
        if (!full) {
            t.kept++, t.kept_bytes += x->bytes;
            continue;
        }
        /* Another process may have been faster: a file that is gone counts as removed. */
        if (spectrum_path(path, dir, x->name, NULL) && unlink(path) != 0 && errno != ENOENT)
            return err_errno(e, ERR_IO, "cannot remove '%s'", path);
        t.removed++, t.removed_bytes += x->bytes;
    }
    *to = t;
    return true;
}
