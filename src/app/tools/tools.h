/* tools.h - the commands of this folder, and the actions of `cache`: rows of app/commands.c. */
#pragma once

#include "app/cli/cli.h"

int cmd_precompute(const cli *c, text *out, err *e);
int cmd_bench(const cli *c, text *out, err *e);
int cmd_devices(const cli *c, text *out, err *e);
int cmd_info(const cli *c, text *out, err *e);
int cmd_schema(const cli *c, text *out, err *e);
int cmd_completion(const cli *c, text *out, err *e);
extern const command_action CACHE_ACTIONS[];
