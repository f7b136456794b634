/* cmd_completion.c - `fftbloom completion`: a small script for bash, zsh and fish, which asks the
 * program at each press of Tab for the words that may follow (`completion words -- WORD...`), and
 * the answer: a line for each word, with a tab and its meaning if it has one; ":files" where a file
 * may stand, ":more" where the value may go on behind the word. */
#include "app/cli/cli.h"
#include "app/cli/kernel_option.h"
#include "app/cli/page.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "image/format.h"
#include "image/layers.h"
#include "kernel/make/model.h"

#include <string.h>
#include <unistd.h>

/* clang-format off */
static const char *const SCRIPT[][2] = {
{"bash", "# Completions of fftbloom for bash; made by `fftbloom completion bash`.\n"
"_fftbloom() {\n"
"    local line lines cur=${COMP_WORDS[COMP_CWORD]#=}\n"
"    mapfile -t lines < <(fftbloom completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
"    COMPREPLY=()\n"
"    for line in \"${lines[@]}\"; do\n"
"        case $line in\n"
"        :files) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames ;;\n"
"        :more) compopt -o nospace ;;\n"
"        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
"        esac\n"
"    done\n"
"}\n"
"complete -F _fftbloom fftbloom\n"},
{"zsh", "#compdef fftbloom\n"
"# Completions of fftbloom for zsh; made by `fftbloom completion zsh`.\n"
"_fftbloom() {\n"
"    local line files\n"
"    local -a found shown more\n"
"    for line in \"${(@f)$(fftbloom completion words -- \"${(@Q)words[2,CURRENT-1]}\" \"$PREFIX\" 2>/dev/null)}\"; do\n"
"        case $line in\n"
"        :files) files=1 ;;\n"
"        :more) more=(-S '') ;;\n"
"        ?*) found+=(\"${line%%$'\\t'*}\"); shown+=(\"${line/$'\\t'/  -- }\") ;;\n"
"        esac\n"
"    done\n"
"    if (($#found)); then compadd -l \"${(@)more}\" -d shown -a found; fi\n"
"    if [[ -n $files ]]; then compset -P '--*='; _files; fi\n"
"}\n"
"if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _fftbloom \"$@\"\n"
"else\n    compdef _fftbloom fftbloom\nfi\n"},
{"fish", "# Completions of fftbloom for fish; made by `fftbloom completion fish`.\n"
"function __fftbloom\n"
"    set -l token (commandline -ct)\n"
"    for line in (fftbloom completion words -- (commandline -opc)[2..] \"$token\" 2>/dev/null)\n"
"        switch $line\n"
"            case :more\n"
"            case :files\n"
"                set -l flag (string match -r -- '^--[a-z-]+=' $token; or echo)\n"
"                printf '%s\\n' $flag(__fish_complete_path (string replace -- \"$flag\" '' $token))\n"
"            case '*'\n"
"                printf '%s\\n' $line\n"
"        end\n"
"    end\n"
"end\n"
"complete -c fftbloom -f -a '(__fftbloom)'\n"},
};
/* clang-format on */

/* An answer that is being made: a format of pages (page.h) that has a line for each item. */
typedef struct {
    page page;
    cli *c;
    char *const *line; /* the words before the one that is typed */
    int words;
    const char *typed; /* what a word must begin with */
    text before;       /* stands before each word: "--layers=", or the items of a list */
    bool more;
} answer;

static void complete_add(answer *a, const char *word, const char *behind, const char *means) {
    if (!*word || strncmp(word, a->typed, strlen(a->typed)) != 0) return;
    text_add(a->page.to, "%s%s%s%s%s\n", a->before.s ? a->before.s : "", word, behind,
             *means ? "\t" : "", means);
    a->more |= *behind != 0;
}

static void complete_item(page *p, const page_item *i) {
    complete_add((answer *)p, i->name, "", i->means);
}

/* Adds words with blanks between, which it frees. */
static void complete_add_words(answer *a, text *words) {
    char *at = NULL;
    for (char *w = words->s ? strtok_r(words->s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        complete_add(a, w, "", "");
    text_free(words);
}

/* --- values that depend on this machine or on the files of the line --------------------------- */

static void add_devices(answer *a) {
    engine_device *d = mem_new(ENGINE_DEVICES, sizeof *d, "devices", NULL);
    uint32_t n = d ? engine_devices(d, ENGINE_DEVICES) : 0;
    text words = {0};
    text_add(&words, "auto cpu gpu gpus software all");
    for (uint32_t i = 0; i < n; i++) text_add(&words, " %u", i);
    complete_add_words(a, &words);
    mem_free(d);
}

/* Adds the layers of the first image of the line. */
static void complete_add_layers(answer *a) {
    par *threads = par_open(1, NULL);
    image_reader *r = NULL;
    for (int i = 0; i < a->words && threads && !r; i++)
        if (access(a->line[i], R_OK) == 0) r = image_open(a->line[i], NULL, threads, NULL);
    const image_header *h = r ? image_reader_header(r) : NULL;
    for (int part = 0; h && part < h->parts; part++) {
        const image_part *p = &h->part[part];
        layer_map m;
        if (!layer_map_make(&m, p, NULL, NULL, NULL)) break;
        for (int g = 0; g < m.groups; g++)
            complete_add(a, *m.group[g].name ? m.group[g].name : "rgba", "", "");
        for (int c = 0; c < p->channels; c++)
            if (m.is_data[c]) complete_add(a, p->channel[c].name, "", "");
        layer_map_free(&m);
    }
    image_close(&r);
    par_close(&threads);
}

/* Adds the parameters of the model in the line. */
static void complete_add_parameters(answer *a) {
    const model *m = NULL;
    for (int i = 0; i < a->words && !m; i++) m = model_find(a->line[i]);
    for (int k = 0; m && k < model_parameters(m); k++)
        complete_add(a, m->parameter[k].name, "=", "");
}

static void add_kernels(answer *a) {
    text names = {0};
    kernel_option_names(&a->c->s, &names);
    complete_add_words(a, &names);
}

static const struct {
    const char *name;
    void (*add)(answer *a);
} ASKED[] = {
    {"device", add_devices},         {"require_device", add_devices},
    {"layers", complete_add_layers}, {"exclude", complete_add_layers},
    {"mask", complete_add_layers},   {"param", complete_add_parameters},
    {"kernel", add_kernels},
};

static void complete_value(answer *a, const option *o) {
    bool is_list = o->type == OPTION_LIST || o->type == OPTION_LAYERS;
    const char *comma = is_list ? strrchr(a->typed, ',') : NULL;
    if (comma) text_add_bytes(&a->before, a->typed, (size_t)(comma + 1 - a->typed));
    if (comma) a->typed = comma + 1;
    for (size_t i = 0; i < sizeof ASKED / sizeof ASKED[0]; i++)
        if (strcmp(ASKED[i].name, o->name) == 0) ASKED[i].add(a);
    for (int i = 0; o->words && o->words[i]; i++) complete_add(a, o->words[i], "", "");
    if (a->more || is_list) text_add(a->page.to, ":more\n");
    if (option_type_is_path(o->type)) text_add(a->page.to, ":files\n");
}

/* --- the line --------------------------------------------------------------------------------- */

/* Returns the option of "--name", "--name=..." or "-n", or NULL. */
static const option *complete_option(const char *word, uint32_t users) {
    char name[OPTION_NAME_ROOM];
    if (word[0] != '-') return NULL;
    if (word[1] != '-') return option_find_letter(word[1], users);
    size_t n = strcspn(word + 2, "=");
    if (n >= sizeof name) return NULL;
    memcpy(name, word + 2, n);
    name[n] = 0;
    return option_find(name, users);
}

/* Adds what may stand where `words` words of the command stand before, its name included. */
static void complete_word(answer *a, const command *cmd) {
    text words = {0};
    const command_action *act = a->words > 1 ? command_find_action(cmd, a->line[1]) : NULL;
    const command *named = a->words == 2 ? command_find(a->line[1]) : NULL;
    if (a->words == 0) page_commands(&a->page);
    if (a->words == 1)
        command_choices(cmd, " ", &words);
    else if (a->words == 2 && act && act->words)
        act->words(&words);
    else if (a->words == 2 && cmd->bit == FOR_HELP && named && named->actions)
        command_choices(named, " ", &words);
    else if (a->words == 2 && cmd->bit == FOR_DOCS && strcmp(a->line[1], "man") == 0)
        command_choices(command_find("help"), " ", &words);
    if (!words.n) text_add(a->page.to, ":files\n");
    complete_add_words(a, &words);
}

static void complete(cli *c, text *to) {
    int last = c->words - 1;
    static const page_format FORMAT = {.item = complete_item};
    answer a = {.page = {.as = &FORMAT, .to = to},
                .c = c,
                .line = c->word + 1,
                .words = last - 1,
                .typed = c->word[last]};
    const command *cmd = a.words > 0 ? command_find(a.line[0]) : NULL;
    if (!cmd) cmd = command_find("apply");
    /* bash parts "--padding=mi" into three words. */
    int before = a.words - 1;
    if (strcmp(a.typed, "=") == 0)
        a.typed = "";
    else if (before > 0 && strcmp(a.line[before], "=") == 0)
        before--;
    const option *o = before >= 0 ? complete_option(a.line[before], cmd->bit) : NULL;
    const char *sign = strncmp(a.typed, "--", 2) == 0 ? strchr(a.typed, '=') : NULL;
    if (sign) {
        o = complete_option(a.typed, cmd->bit);
        text_add_bytes(&a.before, a.typed, (size_t)(sign + 1 - a.typed));
        a.typed = sign + 1;
    }
    if (o && (sign || o->type != OPTION_BOOL)) {
        complete_value(&a, o);
    } else if (*a.typed == '-') {
        a.page.command = cmd;
        a.page.action = a.words > 1 ? command_find_action(cmd, a.line[1]) : NULL;
        page_options(&a.page);
    } else {
        complete_word(&a, cmd);
    }
    text_free(&a.before);
}

int cmd_completion(cli *c, text *out, err *e) {
    const char *shell = c->word[0]; /* the command line has checked the word */
    if ((strcmp(shell, "words") == 0) != (c->words > 1))
        return err_set(e, ERR_USAGE, "usage: fftbloom completion %s", c->cmd->usage), 0;
    if (c->words > 1) complete(c, out);
    for (size_t i = 0; i < sizeof SCRIPT / sizeof SCRIPT[0]; i++)
        if (strcmp(SCRIPT[i][0], shell) == 0) text_add(out, "%s", SCRIPT[i][1]);
    return 0;
}
