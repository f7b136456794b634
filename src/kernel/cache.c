#include "kernel/cache.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "kernel/spectrum_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- places ------------------------------------------------------------------------------ */

static bool joined(char to[CACHE_PATH], const char *a, const char *b) {
    int n = snprintf(to, CACHE_PATH, "%s%s", a, b);
    return n > 0 && n < CACHE_PATH;
}

bool cache_path(char to[CACHE_PATH], const char *asked) {
    const char *own = getenv("FFTBLOOM_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (asked && *asked) return joined(to, asked, "");
    if (own && *own) return joined(to, own, "");
    if (xdg && *xdg == '/') return joined(to, xdg, "/fftbloom"); /* others are to be ignored */
    if (home && *home) return joined(to, home, "/.cache/fftbloom");
    return false;
}

static bool spectra_folder(char to[CACHE_PATH], const char *dir) {
    return joined(to, dir, "/spectra");
}

static bool entry_path(char to[CACHE_PATH], const char *dir, const char *name) {
    int n = snprintf(to, CACHE_PATH, "%s/spectra/%s", dir, name);
    return n > 0 && n < CACHE_PATH;
}

/* --- names ------------------------------------------------------------------------------- */

static void entry_name(char to[CACHE_NAME], const psf *k) {
    char hash[HASH_TEXT];
    hash_text(psf_hash(k), hash);
    snprintf(to, CACHE_NAME, "%s.v%d.spectrum", hash, SPECTRUM_FILE_VERSION);
}

/* 32 hexadecimal digits, ".v", a version of any program, ".spectrum". */
static bool is_entry_name(const char *name) {
    size_t hash = strspn(name, "0123456789abcdef");
    if (hash != HASH_TEXT - 1 || strncmp(name + hash, ".v", 2) != 0) return false;
    const char *version = name + hash + 2;
    size_t digits = strspn(version, "0123456789");
    return digits > 0 && digits < 10 && strcmp(version + digits, ".spectrum") == 0;
}

/* --- one entry --------------------------------------------------------------------------- */

static bool same_kernel(const psf *k, const char *name) {
    char own[CACHE_NAME];
    entry_name(own, k);
    return strcmp(own, name) == 0;
}

static bool read_entry(spectrum *s, const char *path, const char *name, err *e) {
    if (!spectrum_file_read(s, path, e)) return false;
    if (same_kernel(&s->kernel, name)) return true;
    spectrum_free(s);
    return err_set(e, ERR_DATA, "spectrum '%s': it is of another kernel than its name says", path);
}

/* From one tier; false, silently, when the entry is not there. */
static bool load(spectrum *s, const psf *k, const char *dir, const char *name, bool own) {
    char path[CACHE_PATH];
    err e = {0};
    if (!entry_path(path, dir, name) || access(path, F_OK) != 0) return false;
    if (!read_entry(s, path, name, &e)) {
        if (e.code == ERR_DATA)
            log_warn("the cache holds a broken entry, which is not used: %s", e.msg);
        else
            log_info("the cache cannot be read: %s", e.msg);
        return false;
    }
    /* How the psf came about is not part of the key, only what it is. */
    s->kernel.made = k->made;
    if (own) utimensat(AT_FDCWD, path, NULL, 0); /* now: what trimming goes by */
    log_info("kernel spectrum from the cache: %s", path);
    return true;
}

static void store(const spectrum *s, const char *dir, const char *name, uint64_t budget) {
    char folder[CACHE_PATH], path[CACHE_PATH];
    cache_trimmed trimmed;
    err e = {0};
    uint64_t bytes = spectrum_floats(s) * sizeof(float);
    if (bytes > budget) {
        log_info("a kernel spectrum of %" PRIu64 " bytes is not kept: the whole cache may have "
                 "%" PRIu64,
                 bytes, budget);
        return;
    }
    if (!spectra_folder(folder, dir) || !entry_path(path, dir, name)) return;
    if (!file_make_dirs(folder, &e) || !spectrum_file_write(path, s, &e) ||
        !cache_trim(&trimmed, dir, budget, &e))
        log_info("the kernel's spectrum is not kept: %s", e.msg);
}

bool cache_spectrum(spectrum *s, const psf *k, const cache_place *place, par *threads, bool *hit,
                    err *e) {
    char dir[CACHE_PATH], name[CACHE_NAME];
    const char *shared = getenv("FFTBLOOM_CACHE_RO");
    bool usable = place->budget > 0 && cache_path(dir, place->dir);
    entry_name(name, k);
    *hit = (usable && load(s, k, dir, name, true)) ||
           (place->budget > 0 && shared && *shared && load(s, k, shared, name, false));
    if (*hit) return true;
    if (!spectrum_make(s, k, threads, e)) return false;
    if (usable) store(s, dir, name, place->budget);
    return true;
}

/* --- all entries ------------------------------------------------------------------------- */

static int last_used_first(const void *a, const void *b) {
    const cache_entry *x = a, *y = b;
    if (x->used != y->used) return x->used < y->used ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool add_entry(cache_list *l, size_t *room, const char *name, const struct stat *st,
                      err *e) {
    if (l->count == *room) {
        size_t more = *room ? 2 * *room : 64;
        cache_entry *larger = mem_new(more, sizeof *larger, "list of the cache", e);
        if (!larger) return false;
        if (l->count) memcpy(larger, l->entry, l->count * sizeof *larger);
        mem_free(l->entry);
        l->entry = larger;
        *room = more;
    }
    cache_entry *to = &l->entry[l->count++];
    snprintf(to->name, sizeof to->name, "%s", name);
    to->bytes = (uint64_t)st->st_size;
    to->used = st->st_mtime;
    l->bytes += to->bytes;
    return true;
}

/* Calls `each` for every file of the folder; a file that goes away meanwhile is passed over. */
typedef bool each_file(void *ctx, const char *name, const struct stat *st, err *e);
static bool for_each_file(const char *dir, each_file *each, void *ctx, err *e) {
    char folder[CACHE_PATH];
    if (!spectra_folder(folder, dir))
        return err_set(e, ERR_CONFIG, "the cache folder's name is too long: '%.80s...'", dir);
    DIR *d = opendir(folder);
    if (!d) return errno == ENOENT || err_errno(e, ERR_IO, "cannot list '%s'", folder);
    bool ok = true;
    for (struct dirent *f; ok && (f = readdir(d));) {
        struct stat st;
        if (fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            ok = each(ctx, f->d_name, &st, e);
    }
    closedir(d);
    return ok;
}

typedef struct {
    cache_list *list;
    size_t room;
} listing;

static bool list_file(void *ctx, const char *name, const struct stat *st, err *e) {
    listing *l = ctx;
    return !is_entry_name(name) || add_entry(l->list, &l->room, name, st, e);
}

bool cache_list_make(cache_list *to, const char *dir, err *e) {
    cache_list l = {0};
    if (!for_each_file(dir, list_file, &(listing){&l, 0}, e)) {
        cache_list_free(&l);
        return false;
    }
    if (l.count) qsort(l.entry, l.count, sizeof *l.entry, last_used_first);
    *to = l;
    return true;
}

void cache_list_free(cache_list *l) {
    mem_free(l->entry);
    *l = (cache_list){0};
}

bool cache_verify(const char *dir, const cache_entry *entry, err *e) {
    char path[CACHE_PATH];
    spectrum s;
    if (!entry_path(path, dir, entry->name))
        return err_set(e, ERR_CONFIG, "the cache folder's name is too long: '%.80s...'", dir);
    if (!read_entry(&s, path, entry->name, e)) return false;
    spectrum_free(&s);
    return true;
}

/* --- trimming ---------------------------------------------------------------------------- */

/* Another process may have been faster: what is not there any more is removed, too. */
static bool remove_file(const char *dir, const char *name, err *e) {
    char path[CACHE_PATH];
    if (!entry_path(path, dir, name)) return true;
    return unlink(path) == 0 || errno == ENOENT || err_errno(e, ERR_IO, "cannot remove '%s'", path);
}

/* Removes what killed processes left, in every folder of the cache that is written to. */
static void sweep(const char *dir) {
    static const char *const FOLDER[] = {"", "/spectra", "/stamps"};
    char path[CACHE_PATH];
    for (size_t i = 0; i < sizeof FOLDER / sizeof FOLDER[0]; i++)
        if (joined(path, dir, FOLDER[i])) file_sweep(path);
}

bool cache_trim(cache_trimmed *to, const char *dir, uint64_t budget, err *e) {
    cache_list l;
    cache_trimmed t = {0};
    sweep(dir);
    if (!cache_list_make(&l, dir, e)) return false;
    bool ok = true, full = false;
    for (size_t i = 0; ok && i < l.count; i++) {
        const cache_entry *x = &l.entry[i];
        /* Everything behind the first that does not fit was used longer ago and goes, too. */
        full = full || x->bytes > budget - t.kept_bytes;
        if (full) {
            ok = remove_file(dir, x->name, e);
            t.removed++, t.removed_bytes += x->bytes;
        } else {
            t.kept++, t.kept_bytes += x->bytes;
        }
    }
    cache_list_free(&l);
    if (ok) *to = t;
    return ok;
}
