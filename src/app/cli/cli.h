/* cli.h - runs one command: reads its command line by the table of options, calls it, and prints
 * its result.
 *
 *   --name value   --name=value   --flag   --no-flag   -o value   -ovalue   --   (ends options)
 *
 * A name may be written with one dash, too, as idiff's users do. Flags win over FFTBLOOM_*
 * variables, these over --config, this over the defaults. The reader refuses what no command takes
 * and what has no effect in this one; it does not know what the options mean. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/kernel_option.h"

/* The command at hand, which cli_run makes and the command reads. */
struct cli {
    const commands *commands;
    const command *cmd;
    const command_action *action; /* NULL where the command has none */
    settings presets;             /* of all options */
    settings s;                   /* what config, variables and flags say */
    kernel_finder kernels;        /* where kernels are, and the cache folder */
    kernel_choice kernel;         /* what --kernel means */
    char **word; /* the arguments that stand for no option, in order; they point into argv */
    int words;
    par *threads;   /* as many as --jobs says; NULL where the command does not take --jobs */
    err *e;         /* of cli_run */
    bool *answered; /* set by a command whose report or JSON is written although it fails */
};

/* Runs a command; argv[0] is its name, or any word where none was given. Returns the exit status.
 * --help and --print-config are answered here, and a failure with --json unless the command has. */
int cli_run(const commands *list, const command *cmd, int argc, char **argv, err *e);
/* Prints a text now, even if the command fails later, and frees it. */
void cli_print(text *t);
/* Adds the member "error", with the code and the message, where there is one. */
void cli_error_json(json_out *j, const err *e);
/* Write help of a command or an action, as --help shows it; and of a call without arguments. */
void help_write(text *to, const commands *list, const command *c, const command_action *a);
void help_short(text *to, const commands *list);
/* The commands that print the tables: rows of app/commands.c. */
int cmd_help(const cli *c, text *out, err *e);
int cmd_docs(const cli *c, text *out, err *e);
int cmd_version(const cli *c, text *out, err *e);

/* Enters the sandbox, unless the settings or the device forbid it, and says at LOG_INFO which: a
 * command that takes --sandbox gives up its rights before it reads any image. It keeps those on the
 * folders of its inputs, its outputs, the cache and the system. Where a GPU may do the work there
 * is no sandbox, since drivers start helpers; `on` starts them first. For `check` only seccomp is
 * in force (docs/security.md). *bound: files outside of those folders are out of reach. Returns
 * false where the settings insist on a sandbox and there is none. */
bool rights_give_up(const cli *c, bool *bound, err *e);
