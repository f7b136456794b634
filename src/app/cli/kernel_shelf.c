#include "app/cli/kernel_shelf.h"

#include "app/cli/ticker.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kernel_shelf_path(char to[SHELF_PATH], const shelf_want *w, const settings *s, err *e) {
    char folder[CACHE_PATH], entry[SHELF_PATH], what[160];
    const char *slash = w->recipe ? strrchr(w->recipe, '/') : NULL;
    const char *name = slash ? slash + 1 : w->recipe ? w->recipe : "mix.json";
    bool there, any = cache_path(folder, s->bloom.cache_dir);
    const shelf_places in = {any ? folder : NULL, getenv("FFTBLOOM_CACHE_RO")};
    snprintf(what, sizeof what, "making the kernel '%.*s'", (int)strlen(name) - 5, name);
    if (!shelf_entry(entry, w, &in, &there, e)) return false;
    par *threads = there ? NULL : par_open((int)s->jobs, e);
    ticker *told = threads && !w->draft ? ticker_open(what)
                                        : NULL; /* drafts are made side by side */
    bool ok = there || (threads && shelf_make(entry, w, threads, e));
    ticker_close(&told);
    par_close(&threads);
    return ok && snprintf(to, SHELF_PATH, "%s", entry) > 0;
}
