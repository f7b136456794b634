#include "kernel/make/shelf.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"
#include "kernel/make/kernel_recipe.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- names ------------------------------------------------------------------------------------ */

bool shelf_is_name(const char *word) {
    return *word && !strpbrk(word, "./#%$@,: ");
}

bool shelf_is_recipe(const char *path) {
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

bool shelf_near(char to[SHELF_PATH], const char *file) {
    static const char *const NEAR[] = {"../share/fftbloom/kernels", "../../share/fftbloom/kernels",
                                       "kernels", "../kernels"};
    const char *slash = strrchr(file, '/');
    struct stat st;
    for (size_t i = 0; slash && i < sizeof NEAR / sizeof NEAR[0]; i++)
        if (snprintf(to, SHELF_PATH, "%.*s/%s", (int)(slash - file), file, NEAR[i]) < SHELF_PATH &&
            stat(to, &st) == 0 && S_ISDIR(st.st_mode))
            return true;
    return false;
}

bool shelf_find(char to[SHELF_PATH], const char *folder, const char *name) {
    static const char *const KIND[] = {"exr", "json"};
    for (int i = 0; i < 2; i++)
        if (snprintf(to, SHELF_PATH, "%s/%s.%s", folder, name, KIND[i]) < SHELF_PATH &&
            access(to, F_OK) == 0)
            return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum { MOST = 1024 };

void shelf_names(const char *folder, text *to) {
    const char *name[MOST];
    text all = {0}; /* each name with its zero byte; without memory the program ends */
    int n = 0;
    DIR *dir = opendir(folder);
    if (!dir) log_warn("the folder of kernels '%s' cannot be read: %s", folder, strerror(errno));
    for (struct dirent *d; dir && (d = readdir(dir));) {
        char *dot = strrchr(d->d_name, '.');
        if (!dot || (strcmp(dot, ".exr") != 0 && strcmp(dot, ".json") != 0)) continue;
        *dot = 0;
        if (shelf_is_name(d->d_name)) text_add_bytes(&all, d->d_name, strlen(d->d_name) + 1);
    }
    if (dir) closedir(dir);
    for (size_t at = 0; n < MOST && at < all.n; at += strlen(all.s + at) + 1)
        name[n++] = all.s + at;
    qsort(name, (size_t)n, sizeof name[0], by_name);
    for (int i = 0; i < n; i++)
        if (i == 0 || strcmp(name[i - 1], name[i]) != 0)
            text_add(to, "%s%s", to->n ? " " : "", name[i]);
    text_free(&all);
}

bool shelf_no_such(const char *word, const char *folder, const char *list, err *e) {
    const char *name[MOST];
    char meant[TEXT_MEANT], *at;
    text names = {0};
    int n = 0;
    if (folder) shelf_names(folder, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w && n < MOST;
         w = strtok_r(NULL, " ", &at))
        name[n++] = w;
    err_set(e, ERR_NO_INPUT, "'%s' is neither a file nor the name of a shipped kernel%s%s", word,
            text_meant(meant, word, name, n, '\''), n ? list : "");
    text_free(&names);
    return false;
}

/* --- what recipes make ------------------------------------------------------------------------ */

/* Changes when recipes make other taps. */
#define SHELF_VERSION "2"

/* Writes the name of an entry: that of the recipe's file, and a hash. */
static bool shelf_name(char to[160], const shelf_want *w, err *e) {
    const char *slash = strrchr(w->recipe, '/'), *name = slash ? slash + 1 : w->recipe;
    char hash[HASH_TEXT], more[64];
    hash_state state;
    size_t n;
    uint8_t *bytes = file_read_all(w->recipe, 1 << 30, &n, e);
    if (!bytes) return false;
    hash_begin(&state);
    hash_add(&state, bytes, n);
    mem_free(bytes);
    hash_add(&state, more,
             (size_t)snprintf(more, sizeof more, "%.17g %d " SHELF_VERSION, w->scale, w->draft));
    hash_text(hash_end(&state), hash);
    snprintf(to, 160, "%.*s-%.16s.exr", (int)strlen(name) - 5, name, hash);
    return true;
}

/* Returns whether an entry is there and ours, as cache.c asks of spectra: what others may write is
 * not believed. */
static bool shelf_has(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) &&
           access(path, R_OK) == 0;
}

bool shelf_entry(char to[SHELF_PATH], const shelf_want *w, const shelf_places *in, bool *there,
                 err *e) {
    char name[160], path[SHELF_PATH];
    if (!shelf_name(name, w, e)) return false;
    *there = in->shared && *in->shared &&
             snprintf(path, sizeof path, "%s/kernels/%s", in->shared, name) < SHELF_PATH &&
             shelf_has(path);
    err why = {0};
    if (!*there &&
        (!in->cache || snprintf(path, sizeof path, "%s/kernels", in->cache) >= SHELF_PATH - 170 ||
         !file_make_dirs(path, 0755, &why)))
        return err_set(e, ERR_CANT_CREATE,
                       "the kernel '%s' is made at its first use and kept in the cache folder, "
                       "which cannot be used%s%s; give another with --cache-dir",
                       w->recipe, why.code ? ": " : "", why.msg);
    if (!*there) {
        strcat(strcat(path, "/"), name);
        *there = shelf_has(path);
    }
    snprintf(to, SHELF_PATH, "%s", path);
    return true;
}

/* The name of an entry says nothing of other files that a recipe names. */
static bool shelf_stands_alone(const kernel_recipe *r, const char *path, err *e) {
    bool alone = true;
    for (int i = 0; i < r->layers; i++) alone = alone && !r->layer[i].mask;
    return alone || err_set(e, ERR_CONFIG,
                            "the recipe '%s' takes its opening from an image; make the kernel with "
                            "'fftbloom kernel make' and give its file",
                            path);
}

bool shelf_make(const char *entry, const shelf_want *w, par *threads, err *e) {
    kernel_recipe r = {0};
    float *plane[MODEL_CHANNELS] = {0};
    uint32_t channels = 0;
    image *img = NULL;
    bool ok = kernel_recipe_file(&r, w->recipe, threads, e) &&
              shelf_stands_alone(&r, w->recipe, e) &&
              (w->scale == 1 || kernel_recipe_scale(&r, w->scale, e));
    r.draft = w->draft;
    ok = ok && kernel_recipe_make(plane, &channels, &r, threads, e) &&
         (img = kernel_recipe_image(plane, channels, &r, e)) && image_save(entry, img, threads, e);
    if (ok) chmod(entry, 0644); /* for its owner alone to change, whatever the umask */
    image_free(&img);
    for (int c = 0; c < MODEL_CHANNELS; c++) mem_free(plane[c]);
    kernel_recipe_free(&r);
    return ok;
}
