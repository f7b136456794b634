#include "app/command.h"

#include <string.h>

const command COMMANDS[] = {
    {0},
};
const int COMMAND_COUNT = (int)(sizeof COMMANDS / sizeof COMMANDS[0]) - 1;

const command *command_find(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(COMMANDS[i].name, name) == 0) return &COMMANDS[i];
    return NULL;
}
