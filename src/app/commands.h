/* commands.h - the table of commands. To add a command: one cmd_*.c, its bit in app/cli/options.h,
 * one row in commands.c. */
#pragma once

#include "app/cli/cli.h"

extern const commands COMMANDS;

int cmd_apply(cli *c, text *out, err *e);
int cmd_farm(cli *c, text *out, err *e);
int cmd_plan(cli *c, text *out, err *e);
