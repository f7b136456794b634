#include "app/cli/kernel_shelf.h"

#include "app/cli/ticker.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kernel_shelf_path(char to[SHELF_PATH], const char *recipe, double scale, const settings *s,
                       err *e) {
    char folder[CACHE_PATH], from[SHELF_PATH], what[160];
    const char *slash = strrchr(recipe, '/'), *name = slash ? slash + 1 : recipe;
    bool there, any = cache_path(folder, s->bloom.cache_dir);
    const shelf_places in = {any ? folder : NULL, getenv("FFTBLOOM_CACHE_RO")};
    snprintf(from, sizeof from, "%s", recipe);
    snprintf(what, sizeof what, "making the kernel '%.*s' for the first time",
             (int)strlen(name) - 5, name);
    if (!shelf_entry(to, from, scale, &in, &there, e)) return false;
    if (there) return true;
    par *threads = par_open((int)s->jobs, e);
    ticker *told = threads ? ticker_open(what) : NULL;
    bool ok = threads && shelf_make(to, from, scale, threads, e);
    ticker_close(&told);
    par_close(&threads);
    return ok;
}
