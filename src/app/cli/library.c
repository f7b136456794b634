#include "app/cli/library.h"

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

static bool find(char to[LIBRARY_PATH], const char *word, const settings *s) {
    char folder[LIBRARY_PATH];
    if (!is_name(word) || access(word, F_OK) == 0 || !library_folder(folder, s)) return false;
    return snprintf(to, LIBRARY_PATH, "%s/%s.exr", folder, word) < LIBRARY_PATH &&
           access(to, F_OK) == 0;
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
        if (!dot || strcmp(dot, ".exr") != 0) continue;
        *dot = 0;
        if (is_name(d->d_name) && (name[n] = mem_str(d->d_name, NULL))) n++;
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

char *library_path(char room[LIBRARY_PATH], char *word, const settings *s, err *e) {
    if (!is_name(word) || access(word, F_OK) == 0) return word;
    return find(room, word, s) ? room : (no_such(word, s, e), NULL);
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
    char where[4200];
    snprintf(where, sizeof where, "%s", is->where ? is->where : "");
    return settings_set(s, (int)(o - OPTIONS), path,
                        (setting_origin){is->origin, *where ? where : NULL}, e);
}
