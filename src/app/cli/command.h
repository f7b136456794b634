/* command.h - what a command is, and the table of exit statuses. The commands themselves are handed
 * down by main (app/commands.h): what reads a command line knows none by name. */
#pragma once

#include "base/err.h"
#include "base/text.h"

typedef struct cli cli; /* cli.h */

typedef struct {
    const char *does; /* "Bloom one image" */
    const char *line; /* "fftbloom in.exr star.exr -o out.exr" */
} command_example;

enum { COMMAND_WORDS = 3, COMMAND_EXAMPLES = 6, COMMAND_ACTION_EXAMPLES = 2 };
enum { COMMAND_LINE_WORDS = 1 << 20 }; /* as many as there are */

/* What some commands do is named by their first word: `fftbloom kernel make`. Each such action is a
 * row of the command's table, from which help, completions and refusals follow. */
typedef struct command_action {
    const char *name;
    int (*run)(const cli *c, text *out, err *e); /* as command.run */
    int min_words, max_words;                    /* the arguments after the name */
    const char *usage;   /* what follows the name: "MODEL -o OUT [options]" */
    const char *options; /* names with blanks between; besides, it takes those for messages */
    const char *help; /* sentences, the first of which says all in short; \n\n between paragraphs */
    void (*words)(text *to); /* appends the words that may follow, blanks between; NULL: files */
    /* Appends "name\thelp\n" for each parameter that --param sets; NULL: it has none. */
    void (*parameters)(const struct command_action *a, text *to);
    command_example example[COMMAND_ACTION_EXAMPLES];
} command_action;

typedef struct {
    const char *name;
    uint32_t bit; /* of option_users: the options it takes */
    /* Writes the result to `out`, which is printed unless there is an error, and returns the exit
     * status of a run without an error. NULL: each action has its own. */
    int (*run)(const cli *c, text *out, err *e);
    int min_words, max_words; /* the arguments that are no flags */
    const char *usage;        /* "IN KERNEL -o OUT [options]" */
    const char *summary;      /* one line */
    const char *sets;         /* the value of the option "command"; NULL: as it is given */
    const char *about;        /* paragraphs for the help, with \n\n between; may be NULL */
    const char *stands_for[COMMAND_WORDS]; /* the options that the first arguments set, */
    const char *needs[COMMAND_WORDS];      /* and those without which it cannot run */
    /* The words that the first argument may be, such as "bash zsh", and the name of such a word;
     * "*" stands for the names of the commands. NULL: they are the names of `actions`, or, if this
     * is NULL, too, the arguments are files. */
    const char *word_choices, *word_name;
    const command_action *actions; /* a row without a name ends them */
    command_example example[COMMAND_EXAMPLES];
} command;

/* The commands of the program. */
enum { COMMAND_MOST = 32 };
typedef struct {
    const command *row;
    int count;
} commands;

/* Returns the command of that name, or NULL. */
const command *command_find(const commands *list, const char *name);
/* Returns the name nearest to `name`, or NULL if none is near. */
const char *command_nearest(const commands *list, const char *name);
/* Returns true for a word that could be a command but no path: it has no dot, slash or frame field,
 * and no file has this name. */
bool command_is_bare_word(const char *word);
/* Returns the action of that name, or NULL; also where the command has no actions. */
const command_action *command_find_action(const command *c, const char *name);
/* Appends the words that may follow the command, with `between` between them. */
void command_choices(const commands *list, const command *c, const char *between, text *to);
/* Returns true where the word is one of them, or anything may follow; else false with ERR_USAGE. */
bool command_check_choice(const commands *list, const command *c, const char *word, err *e);

/* The exit statuses of the program, for help and man pages. */
typedef struct {
    const char *code, *means;
} exit_code;
extern const exit_code EXIT_CODES[];
extern const int EXIT_CODE_COUNT;
