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

static int run(int argc, char **argv) {
#define PLAIN(name) \
    if (strcmp(argv[1], #name) == 0) return name##_main();
#define TAKES_ARGUMENTS(name) \
    if (strcmp(argv[1], #name) == 0) return name##_main(argc - 1, argv + 1);
#include "tests/names.inc"
#undef PLAIN
#undef TAKES_ARGUMENTS
    fprintf(stderr, "there are no tests of the name %s\n", argv[1]);
    return 64;
}

int main(int argc, char **argv) {
    host_set_variables(variable);
    if (argc < 2) {
#define PLAIN(name)           puts(#name);
#define TAKES_ARGUMENTS(name) puts(#name);
#include "tests/names.inc"
        return 0;
    }
    int status = run(argc, argv);
    engine_rest(); /* while the drivers still stand, which exit takes down */
    return status;
}
