#include "app/cli/library.h"

#include "app/cli/old_words.h"
#include "app/cli/options.h"
#include "app/cli/ticker.h"
#include "base/mem.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool library_folder(char to[LIBRARY_PATH], const settings *s) {
    char program[4096];
    struct stat st;
    if (s->kernels)
        return snprintf(to, LIBRARY_PATH, "%s", s->kernels) < LIBRARY_PATH && stat(to, &st) == 0 &&
               S_ISDIR(st.st_mode);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    return n > 0 && shelf_near(to, program);
}

/* Finds NAME.exr or NAME.json in the library, and recipes by their path. */
static bool find(char to[LIBRARY_PATH], const char *word, const settings *s) {
    char folder[LIBRARY_PATH];
    bool there = access(word, F_OK) == 0;
    if (there && shelf_is_recipe(word))
        return snprintf(to, LIBRARY_PATH, "%s", word) < LIBRARY_PATH;
    return shelf_is_name(word) && !there && library_folder(folder, s) &&
           shelf_find(to, folder, word);
}

void library_names(const settings *s, text *to) {
    char folder[LIBRARY_PATH];
    if (library_folder(folder, s)) shelf_names(folder, to);
}

static bool no_such(const char *word, const settings *s, err *e) {
    char folder[LIBRARY_PATH];
    bool any = library_folder(folder, s);
    return shelf_no_such(word, any ? folder : NULL, " ('fftbloom kernel list' lists them)", e);
}

bool library_make(char to[SHELF_PATH], const shelf_want *w, const settings *s, err *e) {
    char folder[CACHE_PATH], entry[SHELF_PATH], what[160];
    const char *slash = strrchr(w->recipe, '/'), *name = slash ? slash + 1 : w->recipe;
    bool there, any = cache_path(folder, s->bloom.cache_dir);
    const shelf_places in = {any ? folder : NULL, getenv("FFTBLOOM_CACHE_RO")};
    snprintf(what, sizeof what, "making the kernel '%.*s'", (int)strlen(name) - 5, name);
    if (!shelf_entry(entry, w, &in, &there, e)) return false;
    par *threads = there ? NULL : par_open((int)s->jobs, e);
    /* Drafts are made side by side. */
    ticker *told = threads && !w->draft ? ticker_open(what) : NULL;
    bool ok = there || (threads && shelf_make(entry, w, threads, e));
    ticker_close(&told);
    par_close(&threads);
    return ok && snprintf(to, SHELF_PATH, "%s", entry) > 0;
}

bool library_recipe(char room[LIBRARY_PATH], const char *word, const settings *s) {
    return find(room, word, s) && shelf_is_recipe(room);
}

char *library_path(char room[LIBRARY_PATH], char *word, const settings *s, err *e) {
    bool file = !shelf_is_name(word) || access(word, F_OK) == 0;
    if (file && !shelf_is_recipe(word)) return word;
    if (!find(room, word, s)) return no_such(word, s, e), NULL;
    return !shelf_is_recipe(room) || library_make(room, &(shelf_want){room, 1, false}, s, e) ? room
                                                                                             : NULL;
}

const char *library_name_of(char room[LIBRARY_PATH], const char *path, const settings *s) {
    char folder[LIBRARY_PATH], recipe[2 * LIBRARY_PATH];
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!slash || !dot || dot < slash || strcmp(dot, ".exr") != 0 || !library_folder(folder, s))
        return NULL;
    size_t n = (size_t)(dot - slash) - 1;
    bool shipped = strncmp(path, folder, (size_t)(slash - path)) == 0 &&
                   !folder[(size_t)(slash - path)];
    if (!shipped && n > 17 && slash[n - 16] == '-') n -= 17; /* the hash of an entry of the cache */
    snprintf(room, LIBRARY_PATH, "%.*s", (int)n, slash + 1);
    snprintf(recipe, sizeof recipe, "%s/%s.json", folder, room);
    return shipped || (n < (size_t)(dot - slash) - 1 && access(recipe, F_OK) == 0) ? room : NULL;
}

/* Sets a kernel that is made for this run, and what is left of the scale. */
static bool set_made(settings *s, const option *o, const char *path, double scale, err *e) {
    const setting *is = &s->value[o - OPTIONS];
    char where[4200];
    if (scale > 0) s->bloom.kernel.size = scale;
    snprintf(where, sizeof where, "%s", is->where ? is->where : "");
    return settings_set(s, (int)(o - OPTIONS), path,
                        (setting_origin){is->origin, *where ? where : NULL}, e);
}

/* The scale at which recipes are made: 0 where it is not known before the image is. */
static double made_scale(const settings *s) {
    return s->bloom.kernel_relative ? 0 : s->bloom.kernel.size;
}

/* Refuses what stands for several kernels, or for a kernel and something else, with the command
 * that does it. Returns false for all other words: the error is not set. */
static bool refuse_phrase(const char *word, err *e) {
    char name[64];
    size_t n = strcspn(word, "(:@");
    const char *rest = word + n + 1;
    if (!word[n] || access(word, F_OK) == 0) return false;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    if (word[n] == '(') {
        text list = {0};
        text_add(&list, "%.*s", (int)strcspn(rest, ")"), rest);
        for (char *p = list.s; p && *p; p++)
            if (*p == ';') *p = ',';
        err_set(e, ERR_USAGE,
                "'%s': make the kernel first: fftbloom kernel make %s --param '%s' -o KERNEL.exr",
                word, name, list.s ? list.s : "");
        text_free(&list);
    } else if (word[n] == ':' && *name && !name[strspn(name, "-0123456789")]) {
        err_set(e, ERR_USAGE, "kernel '%s' is gone: %s", word, old_value("kernel", word));
    } else if (word[n] == ':' && strspn(rest, "0123456789.")) {
        text list = {0};
        text_add(&list, "%s", word);
        for (char *p = list.s; p && *p; p++)
            if (*p == ',' || *p == '+') *p = ' ';
        err_set(e, ERR_USAGE, "'%s': mix the kernels first: fftbloom kernel mix %s -o KERNEL.exr",
                word, list.s ? list.s : "");
        text_free(&list);
    } else if (word[n] == '@' && shelf_is_name(name) && *rest &&
               !rest[strspn(rest, "0123456789.%")]) {
        err_set(e, ERR_USAGE, "'%s': the strength is an option: write %s --amount %s", word, name,
                rest);
    }
    return e->code != 0;
}

bool library_set_kernel(settings *s, uint32_t users, err *e) {
    const option *o = option_find("kernel", users);
    const char *word = s->kernel;
    char path[LIBRARY_PATH];
    if (!o || o->at != offsetof(settings, kernel) || !word) return true;
    /* In a config file a word has the folder of the file in front. */
    const char *slash = strrchr(word, '/');
    if (s->value[o - OPTIONS].origin == ORIGIN_FILE && slash && access(word, F_OK) != 0)
        word = slash + 1;
    if (refuse_phrase(word, e)) return false;
    if (!shelf_is_recipe(word) && (!shelf_is_name(word) || access(word, F_OK) == 0)) return true;
    if (users == FOR_BENCH && !word[strspn(word, "0123456789")]) return true;
    if (!find(path, word, s)) return no_such(word, s, e);
    /* A recipe is made at the size that is wanted, where that is known already: stretching would
     * make squares of its core. */
    double scale = made_scale(s);
    if (!shelf_is_recipe(path)) return set_made(s, o, path, 0, e);
    if (!(s->recipe = mem_str(path, e))) return false;
    return library_make(path, &(shelf_want){path, scale > 0 ? scale : 1, false}, s, e) &&
           set_made(s, o, path, scale > 0 ? 1 : 0, e);
}
