#include "app/cli/kernel_option.h"

#include "app/cli/frame_pattern.h"
#include "app/cli/option_rules.h"
#include "app/cli/terminal.h"
#include "base/log.h"
#include "base/path.h"
#include "image/format.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

void kernel_finder_open(kernel_finder *f, const char *kernels, const char *cache_dir,
                        uint32_t jobs) {
    char program[4096];
    ssize_t n = kernels ? 0 : readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    bool shipped = kernels ? snprintf(f->shipped, KERNEL_PATH, "%s", kernels) < KERNEL_PATH &&
                                 path_is_folder(f->shipped)
                           : n > 0 && kernel_word_folder(f->shipped, program);
    f->in = (kernel_places){.shipped = shipped ? f->shipped : NULL,
                            .cache = cache_path(f->cache, cache_dir) ? f->cache : NULL,
                            .shared = getenv("FFTBLOOM_CACHE_RO"),
                            .lists = " ('fftbloom kernel list' lists them)"};
    f->jobs = jobs;
}

void kernel_finder_names(const kernel_finder *f, text *to) {
    if (f->in.shipped) kernel_word_names(f->in.shipped, to);
}

bool kernel_finder_file(char to[KERNEL_PATH], const kernel_word *k, kernel_making *how,
                        const kernel_finder *f, err *e) {
    bool there;
    char what[160];
    if (!k->recipe && !k->mix && !k->field) return snprintf(to, KERNEL_PATH, "%s", k->path) > 0;
    kernel_making as = *how;
    if (!k->recipe) as.scale = 1;
    if (!kernel_word_kept(to, k, &as, &f->in, &there, e)) return false;
    const char *name = k->mix ? k->path : path_name(k->path);
    snprintf(what, sizeof what, "making the kernel '%.*s'",
             (int)(k->mix ? strlen(name) : strcspn(name, ".")), name);
    OPEN(par) *threads = there ? NULL : par_open((int)f->jobs, e);
    /* Drafts are made side by side. */
    OPEN(ticker) *told = threads && !how->draft ? ticker_open(what) : NULL;
    bool ok = there || (threads && kernel_word_keep(to, k, &as, &f->in, threads, e));
    if (k->recipe) how->scale = 1;
    return ok;
}

bool kernel_finder_path(char to[KERNEL_PATH], const char *word, const kernel_finder *f, err *e) {
    kernel_word k;
    return kernel_word_find(&k, word, &f->in, e) &&
           kernel_finder_file(to, &k, &(kernel_making){.scale = 1}, f, e);
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
    if (!word[n] || (kernel_word_is_mix(word) && !strchr(word, ',')) || n >= sizeof name ||
        access(word, F_OK) == 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    OWN(text) list = {0};
    if (word[n] == '(')
        return err_set(e, ERR_USAGE,
                       "'%s': make the kernel first: fftbloom kernel make %s --param '%s' -o "
                       "KERNEL.exr",
                       word, name, replaced(&list, rest, strcspn(rest, ")"), ";", ','));
    if (word[n] == ':' && strspn(rest, "0123456789."))
        return err_set(e, ERR_USAGE, "'%s': the kernels of a mix have + between them: '%s'", word,
                       replaced(&list, word, strlen(word), ",", '+'));
    if (word[n] == '@' && kernel_word_is_name(name) && *rest && !rest[strspn(rest, "0123456789.%")])
        return err_set(e, ERR_USAGE, "'%s': the strength is an option: write %s --amount %s", word,
                       name, rest);
    return true;
}

static bool is_name_of_kernel(const kernel_finder *f, const char *word) {
    kernel_word k;
    return kernel_word_is_name(word) && kernel_word_find(&k, word, &f->in, NULL);
}

bool kernel_option_no_image(const settings *s, const kernel_finder *f, const char *word,
                            const char *kernel, err *e) {
    OWN(text) hint = {0};
    if (!is_name_of_kernel(f, word)) {
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
static bool check_order(const settings *s, const kernel_finder *f, err *e) {
    return !s->input || access(s->input, F_OK) == 0 || access(s->kernel, F_OK) != 0 ||
           !is_name_of_kernel(f, s->input) || kernel_option_no_image(s, f, s->input, s->kernel, e);
}

/* Finds a frame of the input: the file itself, or the first of a pattern. NULL: there is none. */
static char *first_frame(const char *input) {
    char folder[PATH_MAX];
    int number, least = INT_MAX;
    OWN(frame_pattern) p = {0};
    OWN_MEM char *seen = frame_view_path(input, "left", NULL);
    if (!seen || !frame_pattern_is(seen)) return mem_str(input, NULL);
    if (!frame_pattern_parse(&p, seen, NULL) || !path_folder(p.before, folder)) return NULL;
    DIR *d = opendir(folder);
    for (struct dirent *f; d && (f = readdir(d));)
        if (frame_pattern_number(&p, f->d_name, &number) && number < least) least = number;
    if (d) closedir(d);
    return least < INT_MAX ? frame_path(&p, least, NULL) : NULL;
}

double kernel_frame(const settings *s, const image_part *p) {
    const double said = s->bloom.pixel_aspect, own = p->aspect > 0 ? (double)p->aspect : 1,
                 aspect = isnan(said) ? own
                          : said > 0  ? said
                                      : 1;
    const double side =
        fmax((double)image_box_width(&p->display) * aspect, (double)image_box_height(&p->display));
    return kernel_word_scale(side);
}

/* Returns that of the first frame; 0 of standard input, and 1 where no image can be opened. */
static double first_size(const settings *s) {
    if (s->input && strcmp(s->input, "-") == 0) return 0;
    OWN_MEM char *path = s->input ? first_frame(s->input) : NULL;
    OPEN(par) *one = path ? par_open(1, NULL) : NULL;
    OPEN(image_reader) *r = one ? image_open(path, NULL, one, NULL) : NULL;
    return r ? kernel_frame(s, image_reader_header(r)->part) : 1;
}

/* Returns whether a word names shipped kernels alone. */
static bool is_shipped(const char *word) {
    char part[KERNEL_PATH];
    double share;
    bool shipped = true;
    if (!kernel_word_is_mix(word)) return kernel_word_is_name(word) && access(word, F_OK) != 0;
    while (shipped && kernel_word_part(&word, part, &share)) shipped = is_shipped(part);
    return shipped;
}

bool kernel_choice_at(char to[KERNEL_PATH], double *left, const settings *s, const kernel_finder *f,
                      double scale, err *e) {
    kernel_word means;
    kernel_making how = {.scale = scale};
    bool ok = kernel_word_find(&means, s->kernel, &f->in, e) &&
              kernel_finder_file(to, &means, &how, f, e);
    *left = how.scale;
    return ok;
}

bool kernel_choose(kernel_choice *k, const settings *s, const kernel_finder *f, uint32_t users,
                   err *e) {
    char path[KERNEL_PATH];
    kernel_word means;
    *k = (kernel_choice){.size = s->bloom.kernel.size};
    if (!s->kernel || !option_find("kernel", users)) return true;
    if (users == FOR_BENCH && !s->kernel[strspn(s->kernel, "0123456789")]) return true;
    if (!check_phrase(s->kernel, e) || !check_order(s, f, e)) return false;
    if (path_is_folder(s->kernel))
        return err_set(e, ERR_NO_INPUT,
                       "the kernel '%s' is a folder; its kernels are listed by: fftbloom kernel "
                       "list --kernels '%s'",
                       s->kernel, s->kernel);
    if (!kernel_word_find(&means, s->kernel, &f->in, e)) return false;
    const bool unsaid = means.recipe && is_shipped(s->kernel) &&
                        settings_of(s, option_find("kernel_scale", FOR_APPLY))->origin ==
                            ORIGIN_DEFAULT;
    k->follows = users & (FOR_APPLY | FOR_PLAN) && (s->kernel_auto || unsaid);
    if (k->follows) k->scale = first_size(s);
    /* A recipe is made at the size that is wanted, unless that follows from the image's height:
     * stretching would make squares of its core. For standard input it is made later. */
    kernel_making how = {.scale = k->follows                 ? k->scale
                                  : s->bloom.kernel_relative ? 1
                                                             : s->bloom.kernel.size};
    bool ok =
        (how.scale == 0 ? snprintf(path, sizeof path, "%s", means.path) > 0
                        : kernel_finder_file(path, &means, &how, f, e)) &&
        (k->file = mem_str(path, e)) &&
        ((!means.recipe && !means.field) || means.mix || (k->recipe = mem_str(means.path, e)));
    if (ok && !s->bloom.kernel_relative) k->size = how.scale;
    return ok;
}

void kernel_choice_free(kernel_choice *k) {
    mem_free(k->file);
    mem_free(k->recipe);
    *k = (kernel_choice){0};
}
