/* cmd_schema.c - `fftbloom schema`: prints the tables of options and of a suite's keys as JSON
 * Schema, draft 2020-12. It knows how values are written, and no option by name. */
#include "app/check/suite.h"
#include "app/cli/kernel_option.h"
#include "app/cli/option_rules.h"
#include "app/tools/tools.h"
#include "kernel/make/model.h"

/* --- schemas --- */

#define VERSION_ONLY "{\"const\": 1}"
#define TEXT         "{\"type\": \"string\", \"minLength\": 1}"

/* Adds a fragment in which @words stands for those of the row, and @range for its limits. */
static void add_fragment(const char *from, const option *o, text *to) {
    while (*from) {
        size_t n = strcspn(from, "@");
        text_add_bytes(to, from, n);
        from += n;
        if (strncmp(from, "@words", 6) == 0) {
            for (int i = 0; o->words && o->words[i]; i++)
                text_add(to, "%s\"%s\"", i ? ", " : "", o->words[i]);
            from += 6;
        } else if (*from) {
            text_add(to, "\"minimum\": %.15g", o->min);
            if (o->max > 0 && !isinf(o->max)) text_add(to, ", \"maximum\": %.15g", o->max);
            from += strlen("@range");
        }
    }
}

/* Adds the options as properties. In a suite a string may have a ${NAME} in it. */
static void add_options(json_out *j, const settings *defaults, uint32_t users, bool in_suite) {
    for (const option *o = NULL; (o = option_next(o, users));) {
        if (in_suite && o->type == OPTION_SANDBOX) continue;
        OWN(text) words = {0};
        text_add(&words, "%s%s%s", o->help, o->about ? " " : "", o->about ? o->about : "");
        json_block(j, o->name);
        json_string(j, "description", words.s);
        if (o->preset) settings_json(defaults, o, j, "default");
        json_array(j, "anyOf");
        const bool number = o->type == OPTION_FLOAT;
        if (number && o->words) add_fragment("{\"enum\": [@words]}", o, json_here(j, NULL));
        if (number && isinf(o->max)) json_raw(j, NULL, "{\"const\": \"inf\"}");
        add_fragment(KINDS[o->type].schema, o, json_here(j, NULL));
        if (in_suite && kind_types(o) >> JSON_STRING & 1)
            json_raw(j, NULL, "{\"$ref\": \"#/$defs/variable\"}");
        json_close(j);
        json_close(j);
    }
}

static void add_keys(json_out *j, suite_key_place place) {
    for (int i = 0; i < SUITE_KEY_COUNT; i++) {
        const suite_key *k = &SUITE_KEYS[i];
        if (!(k->in & place)) continue;
        json_block(j, k->name);
        json_string(j, "description", k->help);
        json_array(j, "allOf");
        json_raw(j, NULL, k->schema);
        json_close(j);
        json_close(j);
    }
}

/* Opens an object that is closed to other keys, and its properties. close_object closes both. */
static void open_object(json_out *j, const char *key, const char *title, const char *required) {
    json_block(j, key);
    if (title) json_string(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    if (title) json_string(j, "title", title);
    json_string(j, "type", "object");
    json_bool(j, "additionalProperties", false);
    if (required) json_raw(j, "required", required);
    json_block(j, "properties");
}

static void close_object(json_out *j) {
    json_close(j);
    json_close(j);
}

static void add_config(json_out *j, const settings *defaults, bool in_suite) {
    json_raw(j, "$schema", "{\"type\": \"string\"}");
    json_raw(j, "version", VERSION_ONLY);
    add_options(j, defaults, FOR_CONFIG, in_suite);
}

static void add_suite(json_out *j, const settings *defaults) {
    json_raw(j, "$schema", "{\"type\": \"string\"}");
    json_raw(j, "version", VERSION_ONLY);
    add_keys(j, KEY_OF_SUITE);
    json_close(j);
    json_block(j, "$defs");
    json_raw(j, "variable", "{\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"}");
    json_raw(j, "paths",
             "{\"anyOf\": [" TEXT ", {\"type\": \"array\", \"minItems\": 1, \"items\": " TEXT
             "}]}");
    open_object(j, "config", NULL, NULL);
    add_config(j, defaults, true);
    close_object(j);
    for (int is_case = 1; is_case >= 0; is_case--) {
        open_object(j, is_case ? "case" : "defaults", NULL, is_case ? "[\"name\"]" : NULL);
        add_keys(j, is_case ? KEY_OF_CASE : KEY_OF_DEFAULTS);
        add_options(j, defaults, FOR_CASE, true);
        close_object(j);
    }
}

int cmd_schema(const cli *c, text *out, err *e) {
    OWN(settings) defaults;
    json_out j = {.to = out};
    bool of_suite = c->words && strcmp(c->word[0], "suite") == 0;
    if (settings_init(&defaults, e)) {
        open_object(&j, NULL, of_suite ? "fftbloom suite" : "fftbloom config file",
                    "[\"version\"]");
        if (of_suite)
            add_suite(&j, &defaults);
        else
            add_config(&j, &defaults, false);
        close_object(&j);
    }
    text_add(out, "\n");
    return 0;
}

/* --- completions --- */

static const char BASH[] = {
#include "pages/completion.bash.inc"
    0};
static const char ZSH[] = {
#include "pages/completion.zsh.inc"
    0};
static const char FISH[] = {
#include "pages/completion.fish.inc"
    0};

/* An answer that is being made. */
typedef struct {
    text *to;
    const kernel_finder *kernels;
    char *const *line; /* the words before the one that is typed; the first is the command */
    int words;
    const char *typed; /* what a word must begin with */
    text before;       /* stands before each word: "--layers=", or the items of a list */
    bool more;
} answer;

static void complete_add(answer *a, const char *word, const char *behind, const char *means) {
    if (!*word || strncmp(word, a->typed, strlen(a->typed)) != 0) return;
    text_add(a->to, "%s%s%s%s%s\n", a->before.s ? a->before.s : "", word, behind,
             *means ? "\t" : "", means);
    a->more |= *behind != 0;
}

static void complete_add_words(answer *a, const text *words) {
    char *at = NULL;
    for (char *w = words->s ? strtok_r(words->s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        complete_add(a, w, "", "");
}

/* Adds the parameters of the model in the line. */
static void add_parameters(answer *a) {
    const model *m = NULL;
    for (int i = 0; i < a->words && !m; i++) m = model_find(a->line[i]);
    for (int k = 0; m && k < model_parameters(m); k++)
        complete_add(a, m->parameter[k].name, "=", "");
}

static void complete_value(answer *a, const option *o) {
    bool is_list = o->type == OPTION_LIST || o->type == OPTION_LAYERS;
    const char *comma = is_list ? strrchr(a->typed, ',') : NULL;
    OWN(text) names = {0};
    if (comma) text_add_bytes(&a->before, a->typed, (size_t)(comma + 1 - a->typed));
    if (comma) a->typed = comma + 1;
    if (strcmp(o->name, "param") == 0) add_parameters(a);
    if (o->type == OPTION_KERNEL) kernel_finder_names(a->kernels, &names);
    complete_add_words(a, &names);
    for (int i = 0; o->words && o->words[i]; i++) complete_add(a, o->words[i], "", "");
    if (a->more || is_list) text_add(a->to, ":more\n");
    if (option_type_is_path(o->type) || o->type == OPTION_MASK) text_add(a->to, ":files\n");
}

/* --- the line --------------------------------------------------------------------------------- */

/* Returns the option of "--name", "--name=..." or "-n", or NULL. */
static const option *option_of(const char *word, uint32_t users) {
    char name[OPTION_NAME_ROOM];
    if (word[0] != '-') return NULL;
    if (word[1] != '-') return option_find_letter(word[1], users);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    return option_find(name, users);
}

static void complete_word(answer *a, const commands *list, const command *cmd,
                          const command_action *act) {
    OWN(text) words = {0};
    const command *named = a->words == 2 ? command_find(list, a->line[1]) : NULL;
    for (int i = 0; !a->words && i < list->count; i++)
        complete_add(a, list->row[i].name, "", list->row[i].summary);
    if (a->words == 1)
        command_choices(list, cmd, " ", &words);
    else if (a->words == 2 && act && act->words)
        act->words(&words);
    else if (cmd->bit == FOR_HELP && named && named->actions)
        command_choices(list, named, " ", &words);
    else if (a->words == 2 && cmd->bit == FOR_DOCS)
        command_choices(list, command_find(list, "help"), " ", &words);
    if (!words.n) text_add(a->to, ":files\n");
    complete_add_words(a, &words);
}

static void complete(const cli *c, text *to) {
    int last = c->words - 1, before = last - 2; /* the word before the typed one, in a.line */
    answer a = {to, &c->kernels, c->word + 1, last - 1, c->word[last], {0}, false};
    const command *cmd = a.words > 0 ? command_find(c->commands, a.line[0]) : NULL;
    if (!cmd) cmd = command_find(c->commands, "apply");
    const command_action *act = a.words > 1 ? command_find_action(cmd, a.line[1]) : NULL;
    /* bash parts "--padding=mi" into three words. */
    if (strcmp(a.typed, "=") == 0)
        a.typed = "";
    else if (before > 0 && strcmp(a.line[before], "=") == 0)
        before--;
    const option *o = before >= 0 ? option_of(a.line[before], cmd->bit) : NULL;
    const char *sign = strncmp(a.typed, "--", 2) == 0 ? strchr(a.typed, '=') : NULL;
    if (sign) {
        o = option_of(a.typed, cmd->bit);
        text_add_bytes(&a.before, a.typed, (size_t)(sign + 1 - a.typed));
        a.typed = sign + 1;
    }
    const bool value = o && (sign || o->type != OPTION_BOOL), flag = !value && *a.typed == '-';
    if (value) complete_value(&a, o);
    for (const option *f = NULL; flag && (f = option_next(f, cmd->bit));)
        if (option_is_for(f, cmd, act)) complete_add(&a, FLAG_OF(f), "", f->help);
    if (flag) complete_add(&a, "--help", "", "");
    if (!value && !flag) complete_word(&a, c->commands, cmd, act);
    text_free(&a.before);
}

int cmd_completion(const cli *c, text *out, err *e) {
    const char *shell = c->word[0]; /* the command line has checked the word */
    if ((strcmp(shell, "words") == 0) != (c->words > 1))
        return err_set(e, ERR_USAGE, "usage: fftbloom completion %s", c->cmd->usage);
    if (c->words > 1)
        complete(c, out);
    else
        text_add(out, "%s", *shell == 'b' ? BASH : *shell == 'z' ? ZSH : FISH);
    return 0;
}
