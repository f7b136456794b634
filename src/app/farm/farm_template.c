#include "app/farm/farm.h"
#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/* Adds a word as Deadline and Windows read it (CommandLineToArgvW): in double quotes where it has a
 * blank or a quote. Backslashes mean themselves unless a quote follows; then each is doubled. */
static void add_double_quoted(text *to, const char *word) {
    const char *quote = *word && !strpbrk(word, " \t\"") ? "" : "\"";
    text_add(to, "%s", quote);
    for (;; word++) {
        size_t n = strspn(word, "\\");
        text_add_bytes(to, word, n);
        word += n;
        if (*word == '"' || (!*word && *quote)) text_add_bytes(to, word - n, n);
        if (!*word) break;
        text_add(to, *word == '"' ? "\\\"" : "%c", *word);
    }
    text_add(to, "%s", quote);
}

/* Adds the arguments of a task but for --frames. */
static void add_args(const farm *f, void (*add)(text *, const char *), text *to) {
    text_add(to, "apply");
    for (size_t i = 0; i < f->flags; i++) {
        text_add(to, " ");
        add(to, f->flag[i].s);
    }
}

static void add_name(const farm *f, text *to) {
    farm_job_name(f, to);
}
static void add_program(const farm *f, text *to) {
    text_add(to, "%s", f->program);
}
static void add_arguments(const farm *f, text *to) {
    add_args(f, add_double_quoted, to);
}
static void add_shell_arguments(const farm *f, text *to) {
    add_args(f, text_add_quoted, to);
}
static void add_folder(const farm *f, text *to) {
    text_add(to, "%s", f->here);
}
static void add_shell_program(const farm *f, text *to) {
    text_add_quoted(to, f->program);
}
static void add_shell_folder(const farm *f, text *to) {
    text_add_quoted(to, f->here);
}
static void add_frames(const farm *f, text *to) {
    farm_ranges(f->left, f->frames, 'x', to);
}
static void add_first(const farm *f, text *to) {
    text_add(to, "%d", f->left[0]);
}
static void add_last(const farm *f, text *to) {
    text_add(to, "%d", f->left[f->frames - 1]);
}
static void add_count(const farm *f, text *to) {
    text_add(to, "%zu", f->frames);
}
static void template_add_chunk(const farm *f, text *to) {
    text_add(to, "%zu", f->each);
}

static const struct {
    const char *name;
    void (*add)(const farm *f, text *to);
} WORDS[] = {
    {"NAME", add_name},
    {"PROGRAM", add_program},
    {"SHELL_PROGRAM", add_shell_program},
    {"ARGS", add_arguments},
    {"SHELL_ARGS", add_shell_arguments},
    {"FOLDER", add_folder},
    {"SHELL_FOLDER", add_shell_folder},
    {"FRAMES", add_frames},
    {"FIRST", add_first},
    {"LAST", add_last},
    {"COUNT", add_count},
    {"CHUNK", template_add_chunk},
};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

/* Returns the length of "@NAME@" at s, or 0. */
static size_t word_at(const char *s) {
    size_t n = 1;
    if (*s != '@') return 0;
    while (isupper((unsigned char)s[n]) || s[n] == '_') n++;
    return n > 1 && s[n] == '@' ? n + 1 : 0;
}

static bool add_word(const farm *f, const char *s, size_t n, text *to, err *e) {
    const char *names[WORD_COUNT];
    for (int i = 0; i < WORD_COUNT; i++) {
        names[i] = WORDS[i].name;
        if (strlen(names[i]) != n - 2 || strncmp(names[i], s + 1, n - 2) != 0) continue;
        size_t start = to->n;
        WORDS[i].add(f, to);
        /* Deadline fills in words such as <STARTFRAME>, also those of our names. */
        return strncmp(names[i], "SHELL_", 6) == 0 || !text_glob("*<*>*", to->s + start) ||
               err_set(e, ERR_USAGE,
                       "@%s@ would be '%s': schedulers fill in what stands in angle brackets, so "
                       "no path or value may have them",
                       names[i], to->s + start);
    }
    text word = {0};
    char meant[TEXT_MEANT];
    text_add_bytes(&word, s + 1, n - 2);
    err_set(e, ERR_CONFIG, "'%s': @%s@ is not a word of templates%s", f->c->s.farm_template, word.s,
            text_meant(meant, word.s, names, WORD_COUNT, '\''));
    text_free(&word);
    return false;
}

bool farm_template_fill(const farm *f, text *to, err *e) {
    enum { MOST = 1 << 20 };
    size_t size = 0;
    char *file = (char *)file_read_all(f->c->s.farm_template, MOST, &size, e);
    text whole = {0};
    bool ok = file != NULL;
    if (ok) text_add_bytes(&whole, file, size);
    for (const char *s = whole.s; ok && s && *s;) {
        size_t n = word_at(s);
        if (n)
            ok = add_word(f, s, n, to, e);
        else
            text_add_bytes(to, s, 1);
        s += n ? n : 1;
    }
    text_free(&whole);
    mem_free(file);
    return ok;
}
