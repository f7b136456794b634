#include "app/cli/kernel_option.h"

#include "app/cli/option_rules.h"
#include "app/cli/terminal.h"
#include "base/path.h"
#include "kernel/cache.h"

#include <unistd.h>

bool kernel_option_folder(char to[KERNEL_PATH], const settings *s) {
    char program[4096];
    if (s->kernels)
        return snprintf(to, KERNEL_PATH, "%s", s->kernels) < KERNEL_PATH && path_is_folder(to);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    return n > 0 && kernel_word_folder(to, program);
}

void kernel_option_names(const settings *s, text *to) {
    char folder[KERNEL_PATH];
    if (kernel_option_folder(folder, s)) kernel_word_names(folder, to);
}

/* Where kernels are, with room for the names of the folders. */
typedef struct {
    kernel_places in;
    char shipped[KERNEL_PATH], cache[CACHE_PATH];
} places;

static void find_places(places *p, const settings *s) {
    bool shipped = kernel_option_folder(p->shipped, s),
         cache = cache_path(p->cache, s->bloom.cache_dir);
    p->in = (kernel_places){.shipped = shipped ? p->shipped : NULL,
                            .cache = cache ? p->cache : NULL,
                            .shared = getenv("FFTBLOOM_CACHE_RO"),
                            .lists = " ('fftbloom kernel list' lists them)"};
}

bool kernel_option_find(kernel_word *k, const char *word, const settings *s, err *e) {
    places p;
    find_places(&p, s);
    return kernel_word_find(k, word, &p.in, e);
}

bool kernel_option_file(char to[KERNEL_PATH], const kernel_word *k, kernel_making *how,
                        const settings *s, err *e) {
    places p;
    bool there;
    char what[160];
    if (!k->recipe) return snprintf(to, KERNEL_PATH, "%s", k->path) > 0;
    find_places(&p, s);
    if (!kernel_word_kept(to, k, how, &p.in, &there, e)) return false;
    const char *name = path_name(k->path);
    snprintf(what, sizeof what, "making the kernel '%.*s'", (int)strcspn(name, "."), name);
    OPEN(par) *threads = there ? NULL : par_open((int)s->jobs, e);
    /* Drafts are made side by side. */
    OPEN(ticker) *told = threads && !how->draft ? ticker_open(what) : NULL;
    bool ok = there || (threads && kernel_word_keep(to, k, how, threads, e));
    how->scale = 1;
    return ok;
}

bool kernel_option_path(char to[KERNEL_PATH], const char *word, const settings *s, err *e) {
    kernel_word k;
    return kernel_option_find(&k, word, s, e) &&
           kernel_option_file(to, &k, &(kernel_making){.scale = 1}, s, e);
}

/* Adds n bytes with `to` in place of each of the characters `from`. */
static const char *replaced(text *t, const char *s, size_t n, const char *from, char to) {
    text_add(t, "%.*s", (int)n, s);
    for (char *p = t->s; *p; p++)
        if (strchr(from, *p)) *p = to;
    return t->s;
}

/* Refuses what stands for several kernels, or for a kernel and something else. */
static bool check_phrase(const char *word, err *e) {
    char name[64];
    size_t n = strcspn(word, "(:@");
    const char *rest = word + n + 1;
    if (!word[n] || n >= sizeof name || access(word, F_OK) == 0) return true;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    OWN(text) list = {0};
    if (word[n] == '(')
        return err_set(e, ERR_USAGE,
                       "'%s': make the kernel first: fftbloom kernel make %s --param '%s' -o "
                       "KERNEL.exr",
                       word, name, replaced(&list, rest, strcspn(rest, ")"), ";", ','));
    if (word[n] == ':' && strspn(rest, "0123456789."))
        return err_set(e, ERR_USAGE,
                       "'%s': mix the kernels first: fftbloom kernel mix %s -o KERNEL.exr", word,
                       replaced(&list, word, strlen(word), ",+", ' '));
    if (word[n] == '@' && kernel_word_is_name(name) && *rest && !rest[strspn(rest, "0123456789.%")])
        return err_set(e, ERR_USAGE, "'%s': the strength is an option: write %s --amount %s", word,
                       name, rest);
    return true;
}

static bool is_name_of_kernel(const settings *s, const char *word) {
    kernel_word k;
    return kernel_word_is_name(word) && kernel_option_find(&k, word, s, NULL);
}

bool kernel_option_no_image(const settings *s, const char *word, const char *kernel, err *e) {
    OWN(text) hint = {0};
    if (!is_name_of_kernel(s, word)) {
        option_foreign(word, FOR_HELP, &hint);
        return err_set(e, ERR_USAGE, "'%s' is neither a command nor a file%s", word,
                       hint.s ? hint.s : "");
    }
    return err_set(e, ERR_USAGE,
                   "'%s' is the name of a kernel, which stands behind the image: fftbloom %s %s -o "
                   "%s",
                   word, kernel ? kernel : "IN", word, s->output ? s->output : "OUT");
}

/* Refuses the name of a kernel where an image is expected, if the kernel is a file. */
static bool check_order(const settings *s, err *e) {
    return !s->input || access(s->input, F_OK) == 0 || access(s->kernel, F_OK) != 0 ||
           !is_name_of_kernel(s, s->input) || kernel_option_no_image(s, s->input, s->kernel, e);
}

bool kernel_option_settle(settings *s, uint32_t users, err *e) {
    char path[KERNEL_PATH];
    kernel_word k;
    if (!s->kernel || !option_find("kernel", users)) return true;
    if (users == FOR_BENCH && !s->kernel[strspn(s->kernel, "0123456789")]) return true;
    if (!check_phrase(s->kernel, e) || !check_order(s, e)) return false;
    if (path_is_folder(s->kernel))
        return err_set(e, ERR_NO_INPUT,
                       "the kernel '%s' is a folder; its kernels are listed by: fftbloom kernel "
                       "list --kernels '%s'",
                       s->kernel, s->kernel);
    /* A recipe is made at the size that is wanted, unless that follows from the image: stretching
     * would make squares of its core. */
    kernel_making how = {.scale = s->bloom.kernel_relative ? 1 : s->bloom.kernel.size};
    if (!kernel_option_find(&k, s->kernel, s, e) || !kernel_option_file(path, &k, &how, s, e) ||
        !(s->kernel_file = mem_str(path, e)) || (k.recipe && !(s->recipe = mem_str(k.path, e))))
        return false;
    if (!s->bloom.kernel_relative) s->bloom.kernel.size = how.scale;
    s->kernel = s->kernel_file;
    return true;
}
