#include "app/cli/library.h"

#include "app/cli/kernel_shelf.h"
#include "app/cli/keyed.h"
#include "app/cli/options.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool library_folder(char to[LIBRARY_PATH], const settings *s) {
    static const char *const NEAR[] = {"../share/fftbloom/kernels", "kernels", "../kernels"};
    char program[4096];
    if (s->kernels)
        return snprintf(to, LIBRARY_PATH, "%s", s->kernels) < LIBRARY_PATH && is_folder(to);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return false;
    program[n] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof NEAR / sizeof NEAR[0]; i++) {
        snprintf(to, LIBRARY_PATH, "%s/%s", program, NEAR[i]);
        if (is_folder(to)) return true;
    }
    return false;
}

/* A word that can only be the name of a shipped kernel, if anything. */
static bool is_name(const char *word) {
    return *word && !strpbrk(word, "./#%$@,: ");
}

/* Finds NAME.exr or NAME.json in the library. */
static bool find(char to[LIBRARY_PATH], const char *word, const settings *s) {
    static const char *const KIND[] = {"exr", "json"};
    char folder[LIBRARY_PATH];
    if (!is_name(word) || access(word, F_OK) == 0 || !library_folder(folder, s)) return false;
    for (int i = 0; i < 2; i++)
        if (snprintf(to, LIBRARY_PATH, "%s/%s.%s", folder, word, KIND[i]) < LIBRARY_PATH &&
            access(to, F_OK) == 0)
            return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void library_names(const settings *s, text *to) {
    enum { MOST = 512 };
    char folder[LIBRARY_PATH], *name[MOST];
    int n = 0;
    DIR *dir = library_folder(folder, s) ? opendir(folder) : NULL;
    for (struct dirent *d; dir && n < MOST && (d = readdir(dir));) {
        char *dot = strrchr(d->d_name, '.');
        if (!dot || (strcmp(dot, ".exr") != 0 && strcmp(dot, ".json") != 0)) continue;
        *dot = 0;
        bool twice = false;
        for (int i = 0; i < n && !twice; i++) twice = strcmp(name[i], d->d_name) == 0;
        if (!twice && is_name(d->d_name) && (name[n] = mem_str(d->d_name, NULL))) n++;
    }
    if (dir) closedir(dir);
    qsort(name, (size_t)n, sizeof name[0], by_name);
    for (int i = 0; i < n; i++) {
        text_add(to, "%s%s", to->n ? " " : "", name[i]);
        mem_free(name[i]);
    }
}

/* Says that a word names nothing, and what was probably meant. */
static bool no_such(const char *word, const settings *s, err *e) {
    enum { MOST = 512 };
    const char *name[MOST];
    char meant[TEXT_MEANT], *at;
    text names = {0};
    int n = 0;
    library_names(s, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w && n < MOST;
         w = strtok_r(NULL, " ", &at))
        name[n++] = w;
    err_set(e, ERR_NO_INPUT, "'%s' is neither a file nor the name of a shipped kernel%s%s", word,
            text_meant(meant, word, name, n, '\''),
            n ? " ('fftbloom kernel list' lists them)" : "");
    text_free(&names);
    return false;
}

static bool is_recipe(const char *path) {
    return strcmp(path + strlen(path) - 5, ".json") == 0;
}

bool library_recipe(char room[LIBRARY_PATH], const char *word, const settings *s) {
    return find(room, word, s) && is_recipe(room);
}

char *library_path(char room[LIBRARY_PATH], char *word, const settings *s, err *e) {
    if (!is_name(word) || access(word, F_OK) == 0) return word;
    if (!find(room, word, s)) return no_such(word, s, e), NULL;
    return !is_recipe(room) || kernel_shelf_path(room, room, 1, s, e) ? room : NULL;
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

bool library_set_kernel(settings *s, uint32_t users, err *e) {
    const option *o = option_find("kernel", users);
    const char *word = s->kernel;
    char path[LIBRARY_PATH];
    if (!o || o->at != offsetof(settings, kernel) || !word) return true;
    const setting *is = &s->value[o - OPTIONS];
    /* In a config file a word has the folder of the file in front. */
    const char *slash = strrchr(word, '/');
    if (is->origin == ORIGIN_FILE && slash && access(word, F_OK) != 0) word = slash + 1;
    if (!is_name(word) || access(word, F_OK) == 0) return true;
    if (users == FOR_BENCH && !word[strspn(word, "0123456789")]) return true;
    if (!find(path, word, s)) return no_such(word, s, e);
    /* A recipe is made at the size that is wanted, where that is known already: stretching would
     * make squares of its core. */
    const option *sized = option_find("kernel_scale", users);
    bool varies = sized && s->value[sized - OPTIONS].text &&
                  keyed_is(s->value[sized - OPTIONS].text);
    double scale = s->bloom.kernel_relative || varies ? 0 : s->bloom.kernel.size;
    bool recipe = is_recipe(path);
    if (recipe && !kernel_shelf_path(path, path, scale > 0 ? scale : 1, s, e)) return false;
    if (recipe && scale > 0) s->bloom.kernel.size = 1;
    char where[4200];
    snprintf(where, sizeof where, "%s", is->where ? is->where : "");
    return settings_set(s, (int)(o - OPTIONS), path,
                        (setting_origin){is->origin, *where ? where : NULL}, e);
}
