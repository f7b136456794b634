#include "app/cli/kernel_shelf.h"

#include "app/cli/kernel_recipe.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/ticker.h"
#include "image/format.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Changes when recipes make other taps. */
#define SHELF_VERSION "1"

/* Returns the name of an entry: that of the recipe's file, and a hash. */
static bool entry_name(char to[160], const char *recipe, double scale, err *e) {
    const char *slash = strrchr(recipe, '/'), *name = slash ? slash + 1 : recipe;
    char hash[HASH_TEXT], more[64];
    size_t n;
    uint8_t *bytes = file_read_all(recipe, 1 << 20, &n, e);
    if (!bytes) return false;
    hash_state state;
    hash_begin(&state);
    hash_add(&state, bytes, n);
    hash_add(&state, more, (size_t)snprintf(more, sizeof more, "%.17g " SHELF_VERSION, scale));
    hash_text(hash_end(&state), hash);
    snprintf(to, 160, "%.*s-%.16s.exr", (int)(strlen(name) - 5), name, hash);
    mem_free(bytes);
    return true;
}

static bool save(const char *path, const kernel_recipe *r, float *const plane[], uint32_t channels,
                 par *threads, err *e) {
    image *img = kernel_recipe_image(plane, channels, r, e);
    bool ok = img && image_save(path, img, threads, e);
    image_free(&img);
    return ok;
}

/* Makes the kernel. */
static bool make(const char *path, const char *recipe, double scale, const settings *s, err *e) {
    kernel_recipe r = {0};
    float *plane[MODEL_CHANNELS] = {0};
    uint32_t channels = 0;
    char what[160];
    const char *slash = strrchr(recipe, '/');
    snprintf(what, sizeof what, "making the kernel '%.*s' for the first time",
             (int)strlen(slash ? slash + 1 : recipe) - 5, slash ? slash + 1 : recipe);
    par *threads = par_open((int)s->jobs, e);
    ticker *told = ticker_open(what);
    bool ok = threads && kernel_recipe_file(&r, recipe, threads, e) &&
              (scale == 1 || kernel_recipe_scale(&r, scale, e)) &&
              kernel_recipe_make(plane, &channels, &r, threads, e) &&
              save(path, &r, plane, channels, threads, e);
    ticker_close(&told);
    for (int c = 0; c < MODEL_CHANNELS; c++) mem_free(plane[c]);
    kernel_recipe_free(&r);
    par_close(&threads);
    return ok;
}

bool kernel_shelf_path(char to[SHELF_PATH], const char *recipe, double scale, const settings *s,
                       err *e) {
    char name[160], folder[CACHE_PATH], path[SHELF_PATH], from[SHELF_PATH];
    const char *shared = getenv("FFTBLOOM_CACHE_RO");
    snprintf(from, sizeof from, "%s", recipe);
    if (!entry_name(name, from, scale, e)) return false;
    if (shared && *shared &&
        snprintf(path, sizeof path, "%s/kernels/%s", shared, name) < SHELF_PATH &&
        access(path, R_OK) == 0)
        return snprintf(to, SHELF_PATH, "%s", path) > 0;
    err why = {0};
    bool have = cache_path(folder, s->bloom.cache_dir) &&
                snprintf(path, sizeof path, "%s/kernels", folder) < SHELF_PATH - 170 &&
                file_make_dirs(path, 0755, &why);
    if (!have)
        return err_set(e, ERR_CANT_CREATE,
                       "the kernel '%s' is made at its first use and kept in the cache folder, "
                       "which cannot be used%s%s; give another with --cache-dir",
                       from, why.code ? ": " : "", why.msg);
    strcat(strcat(path, "/"), name);
    if (access(path, R_OK) != 0 && !make(path, from, scale, s, e)) return false;
    return snprintf(to, SHELF_PATH, "%s", path) > 0;
}
