/* unit.c - all unit tests in one program. Without arguments it prints the names of their files;
 * with a name it runs the tests of that file, and hands it the arguments that follow. */
#include "base/host.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN(name)           int name##_main(void);
#define TAKES_ARGUMENTS(name) int name##_main(int argc, char **argv);
#include "tests/names.inc"
#undef PLAIN
#undef TAKES_ARGUMENTS

static const char *variable(const char *name) {
    return getenv(name);
}

int main(int argc, char **argv) {
    host_set_variables(variable);
    atexit(engine_rest);
#define PLAIN(name)                       \
    if (argc < 2)                         \
        puts(#name);                      \
    else if (strcmp(argv[1], #name) == 0) \
        return name##_main();
#define TAKES_ARGUMENTS(name)             \
    if (argc < 2)                         \
        puts(#name);                      \
    else if (strcmp(argv[1], #name) == 0) \
        return name##_main(argc - 1, argv + 1);
#include "tests/names.inc"
    if (argc < 2) return 0;
    fprintf(stderr, "there are no tests of the name %s\n", argv[1]);
    return 64;
}
