/* tools.h - the commands of this folder, and the actions of `cache`: rows of app/commands.c. */
#pragma once

#include "app/cli/cli.h"

int cmd_precompute(cli *c, text *out, err *e);
int cmd_bench(cli *c, text *out, err *e);
int cmd_devices(cli *c, text *out, err *e);
int cmd_info(cli *c, text *out, err *e);
int cmd_schema(cli *c, text *out, err *e);
int cmd_completion(cli *c, text *out, err *e);
extern const command_action CACHE_ACTIONS[];
