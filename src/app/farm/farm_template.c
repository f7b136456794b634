#include "app/farm/farm.h"
#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/* The template of OpenJD. Its scheduler maps the folder for each worker, copies nothing, and cuts
 * the frames into chunks. The person who submits it may change its parameters. */
static const char OPENJD[] =
    "{\n"
    "  \"specificationVersion\": \"jobtemplate-2023-09\",\n"
    "  \"extensions\": [\"TASK_CHUNKING\"],\n"
    "  \"name\": \"@NAME@\",\n"
    "  \"parameterDefinitions\": [\n"
    "    {\"name\": \"Program\", \"type\": \"STRING\", \"default\": @JSON_PROGRAM@,\n"
    "     \"description\": \"fftbloom on the workers\"},\n"
    "    {\"name\": \"Folder\", \"type\": \"PATH\", \"objectType\": \"DIRECTORY\",\n"
    "     \"dataFlow\": \"NONE\", \"default\": @JSON_FOLDER@,\n"
    "     \"description\": \"the folder at which relative paths start\"},\n"
    "    {\"name\": \"Frames\", \"type\": \"STRING\", \"default\": @JSON_FRAMES@,\n"
    "     \"description\": \"the frames to make\"}],\n"
    "  \"steps\": [{\n"
    "    \"name\": \"bloom\",\n"
    "    \"parameterSpace\": {\"taskParameterDefinitions\": [\n"
    "      {\"name\": \"Frame\", \"type\": \"CHUNK[INT]\", \"range\": \"{{Param.Frames}}\",\n"
    "       \"chunks\": {\"defaultTaskCount\": @CHUNK@, \"rangeConstraint\": "
    "\"NONCONTIGUOUS\"}}]},\n"
    "    \"script\": {\"actions\": {\"onRun\": {\n"
    "      \"command\": \"{{Param.Program}}\",\n"
    "      \"args\": [@JSON_ARGS@, \"--frames={{Task.Param.Frame}}\", "
    "\"--progress=openjd\"]}}}}]\n"
    "}\n";

static void add_plain(text *to, const char *word) {
    text_add(to, "%s", word);
}

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

/* Words are of a kind, and quoted for their reader. */
typedef enum { NAME, PROGRAM, ARGS, FOLDER, FRAMES, FIRST, LAST, COUNT, CHUNK } word_kind;
static const struct {
    const char *name;
    word_kind is;
    void (*add)(text *to, const char *word);
} WORDS[] = {
    {"NAME", NAME, add_plain},
    {"PROGRAM", PROGRAM, add_plain},
    {"SHELL_PROGRAM", PROGRAM, text_add_quoted},
    {"JSON_PROGRAM", PROGRAM, text_add_json},
    {"ARGS", ARGS, add_double_quoted},
    {"SHELL_ARGS", ARGS, text_add_quoted},
    {"JSON_ARGS", ARGS, text_add_json},
    {"FOLDER", FOLDER, add_plain},
    {"SHELL_FOLDER", FOLDER, text_add_quoted},
    {"JSON_FOLDER", FOLDER, text_add_json},
    {"FRAMES", FRAMES, add_plain},
    {"JSON_FRAMES", FRAMES, text_add_json},
    {"FIRST", FIRST, add_plain},
    {"LAST", LAST, add_plain},
    {"COUNT", COUNT, add_plain},
    {"CHUNK", CHUNK, add_plain},
};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

/* Fills in a word; --frames is no part of ARGS. OpenJD has another mark before a step. */
static void fill_word(const farm *f, int i, text *to) {
    const bool json = WORDS[i].add == text_add_json;
    text word = {0};
    switch (WORDS[i].is) {
    case NAME: farm_job_name(f, &word); break;
    case PROGRAM: add_plain(&word, f->program); break;
    case ARGS: add_plain(&word, "apply"); break;
    case FOLDER: add_plain(&word, f->here); break;
    case FRAMES: farm_ranges(f->left, f->frames, json ? ':' : 'x', &word); break;
    case FIRST: text_add(&word, "%d", f->left[0]); break;
    case LAST: text_add(&word, "%d", f->left[f->frames - 1]); break;
    case COUNT: text_add(&word, "%zu", f->frames); break;
    case CHUNK: text_add(&word, "%zu", f->each); break;
    }
    WORDS[i].add(to, word.s);
    for (size_t k = 0; WORDS[i].is == ARGS && k < f->flags; k++) {
        add_plain(to, json ? ", " : " ");
        WORDS[i].add(to, f->flag[k].s);
    }
    text_free(&word);
}

static bool add_word(const farm *f, const char *s, size_t n, text *to, err *e) {
    const char *names[WORD_COUNT];
    for (int i = 0; i < WORD_COUNT; i++) {
        names[i] = WORDS[i].name;
        if (strlen(names[i]) != n - 2 || strncmp(names[i], s + 1, n - 2) != 0) continue;
        size_t start = to->n;
        fill_word(f, i, to);
        /* Deadline fills in words such as <STARTFRAME>, also those of our names. */
        bool quoted = WORDS[i].add == text_add_quoted || WORDS[i].add == text_add_json;
        return quoted || !text_glob("*<*>*", to->s + start) ||
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

/* Fills in the words of a template. */
static bool fill(const farm *f, const char *from, text *to, err *e) {
    bool ok = true;
    while (ok && *from) {
        size_t n = 1;
        while (*from == '@' && (isupper((unsigned char)from[n]) || from[n] == '_')) n++;
        if (n > 1 && from[n] == '@') {
            ok = add_word(f, from, ++n, to, e);
        } else {
            n = 1;
            text_add_bytes(to, from, n);
        }
        from += n;
    }
    return ok;
}

bool farm_template_fill(const farm *f, text *to, err *e) {
    enum { MOST = 1 << 20 };
    size_t size = 0;
    char *file = (char *)file_read_all(f->c->s.farm_template, MOST, &size, e);
    text whole = {0};
    if (!file) return false;
    text_add_bytes(&whole, file, size);
    bool ok = !size || fill(f, whole.s, to, e);
    text_free(&whole);
    mem_free(file);
    return ok;
}

bool farm_openjd_template(const farm *f, text *to, err *e) {
    enum { MOST = 1024 }; /* characters of a parameter's value */
    text frames = {0};
    farm_ranges(f->left, f->frames, ':', &frames);
    size_t n = frames.n, folder = strlen(FARM_OPENJD_FOLDER);
    text_free(&frames);
    bool braces = strstr(f->here, "{{") || strstr(f->program, "{{");
    for (size_t i = 0; i < f->flags; i++) {
        const char *found = strstr(f->flag[i].s, "{{");
        if (found && strncmp(found, FARM_OPENJD_FOLDER, folder) == 0)
            found = strstr(found + folder, "{{");
        braces |= found != NULL;
    }
    if (braces)
        return err_set(e, ERR_USAGE,
                       "a path or value with '{{' cannot stand in an OpenJD template");
    if (n > MOST)
        return err_set(e, ERR_USAGE,
                       "the list of frames has %zu characters, and a parameter of an OpenJD "
                       "template may have %d; give fewer ranges with --frames",
                       n, MOST);
    return fill(f, OPENJD, to, e);
}
