/* commands.h - the table of commands. To add a command: one cmd_*.c, its bit in app/cli/options.h,
 * one row in commands.c. */
#pragma once

#include "app/cli/cli.h"

extern const commands COMMANDS;

/* Serves apply, deglare, farm, and plan where it has an output. */
int cmd_apply(const cli *c, text *out, err *e);
int cmd_plan(const cli *c, text *out, err *e);
