#include "kernel/make/kernel_word.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "image/format.h"
#include "kernel/cache.h"
#include "kernel/make/kernel_recipe.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool kernel_word_folder(char to[KERNEL_PATH], const char *file) {
    static const char *const NEAR[] = {"../share/fftbloom/kernels", "../../share/fftbloom/kernels",
                                       "kernels", "../kernels",
                                       "../Resources/kernels"}; /* of an OpenFX bundle */
    const int folder = (int)(path_name(file) - file);           /* with its slash */
    struct stat st;
    for (size_t i = 0; folder && i < COUNT(NEAR); i++)
        if (snprintf(to, KERNEL_PATH, "%.*s%s", folder, file, NEAR[i]) < KERNEL_PATH &&
            stat(to, &st) == 0 && S_ISDIR(st.st_mode))
            return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum { MOST = 1024 };

void kernel_word_names(const char *folder, text *to) {
    const char *name[MOST];
    OWN(text) all = {0}; /* each name with its zero byte; without memory the program ends */
    int n = 0;
    DIR *dir = opendir(folder);
    if (!dir) log_warn("the folder of kernels '%s' cannot be read: %s", folder, strerror(errno));
    for (struct dirent *d; dir && (d = readdir(dir));) {
        const char *ending = path_ending(d->d_name);
        if (strcmp(ending, "exr") != 0 && strcmp(ending, "json") != 0) continue;
        d->d_name[path_stem(d->d_name)] = 0;
        if (kernel_word_is_name(d->d_name)) text_add_bytes(&all, d->d_name, strlen(d->d_name) + 1);
    }
    if (dir) closedir(dir);
    for (size_t at = 0; n < MOST && at < all.n; at += strlen(all.s + at) + 1)
        name[n++] = all.s + at;
    qsort(name, (size_t)n, sizeof name[0], by_name);
    for (int i = 0; i < n; i++)
        if (i == 0 || strcmp(name[i - 1], name[i]) != 0)
            text_add(to, "%s%s", to->n ? " " : "", name[i]);
}

bool kernel_word_is_name(const char *word) {
    return *word && !strpbrk(word, "./#%$@,: ");
}

/* Says that a word names nothing, and what was probably meant. Returns false. */
static bool no_such(const char *word, const kernel_places *in, err *e) {
    const char *name[MOST];
    char meant[TEXT_MEANT], *at;
    OWN(text) names = {0};
    int n = 0;
    if (in->shipped) kernel_word_names(in->shipped, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w && n < MOST;
         w = strtok_r(NULL, " ", &at))
        name[n++] = w;
    return err_set(e, ERR_NO_INPUT, "'%s' is neither a file nor the name of a shipped kernel%s%s",
                   word, text_meant(meant, word, name, n, '\''), n && in->lists ? in->lists : "");
}

bool kernel_word_find(kernel_word *k, const char *word, const kernel_places *in, err *e) {
    static const char *const KIND[] = {"exr", "json"};
    bool there = access(word, F_OK) == 0;
    if (!there && strcmp(word, "star") == 0) {
        log_warn("the kernel 'star' is gone, and 'star-six' is taken in its place; a later version "
                 "will not know the name 'star'");
        word = "star-six";
    }
    k->recipe = strcmp(path_ending(word), "json") == 0;
    if (there || (!k->recipe && !kernel_word_is_name(word)))
        return snprintf(k->path, KERNEL_PATH, "%s", word) < KERNEL_PATH ||
               err_set(e, ERR_NO_INPUT, "the path of the kernel is too long: '%.80s...'", word);
    for (int i = 0; i < 2 && !k->recipe && in->shipped; i++) {
        if (snprintf(k->path, KERNEL_PATH, "%s/%s.%s", in->shipped, word, KIND[i]) >= KERNEL_PATH ||
            access(k->path, F_OK) != 0)
            continue;
        k->recipe = i == 1;
        return true;
    }
    return no_such(word, in, e);
}

/* Changes when recipes make other taps. */
#define TAPS_VERSION "3"

static bool entry_name(char to[160], const kernel_word *k, const kernel_making *how, err *e) {
    const char *name = path_name(k->path);
    char hash[HASH_TEXT], more[64];
    hash_state state;
    size_t n;
    uint8_t *bytes = file_read_all(k->path, 1 << 30, &n, e);
    if (!bytes) return false;
    hash_begin(&state);
    hash_add(&state, bytes, n);
    mem_free(bytes);
    hash_add(&state, more,
             (size_t)snprintf(more, sizeof more, "%.17g %d " TAPS_VERSION, how->scale, how->draft));
    hash_text(hash_end(&state), hash);
    snprintf(to, 160, "%.*s-%.16s.exr", (int)strlen(name) - 5, name, hash);
    return true;
}

bool kernel_word_kept(char to[KERNEL_PATH], const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, bool *there, err *e) {
    char name[160], folder[CACHE_PATH];
    err why = {0};
    if (!entry_name(name, k, how, e)) return false;
    *there = in->shared && *in->shared && cache_file(to, in->shared, "kernels", name, NULL) &&
             file_is_own(to);
    if (*there) return true;
    if (!in->cache || !cache_folder(folder, in->cache, "kernels", &why) ||
        !cache_file(to, in->cache, "kernels", name, &why))
        return err_set(e, ERR_CANT_CREATE,
                       "the kernel '%s' is made at its first use and kept in the cache folder, "
                       "which cannot be used%s%s; give another with --cache-dir",
                       k->path, why.code ? ": " : "", why.msg);
    *there = file_is_own(to);
    return true;
}

image *kernel_word_make(const kernel_word *k, const kernel_making *how, par *threads, err *e) {
    OWN(kernel_recipe) r = {0};
    if (!kernel_recipe_file(&r, k->path, e)) return NULL;
    const char *other = kernel_recipe_names_image(&r);
    if (other)
        return err_set(
                   e, ERR_CONFIG,
                   "the recipe '%s' takes its opening from an image, '%s'; make the kernel with "
                   "'fftbloom kernel make %s -o KERNEL.exr' and give its file",
                   k->path, other, k->path),
               NULL;
    if (how->scale != 1 && !kernel_recipe_scale(&r, how->scale, e)) return NULL;
    r.draft = how->draft;
    return kernel_recipe_make(&r, threads, e);
}

bool kernel_word_keep(const char *path, const kernel_word *k, const kernel_making *how,
                      par *threads, err *e) {
    OWN(image) *img = kernel_word_make(k, how, threads, e);
    if (!img || !image_save_to(image_create(path, &img->head, FILE_OWN, threads, e), img, e))
        return false;
    file_set_mode(path, 0644); /* for its owner alone to change, whatever the umask */
    return true;
}
