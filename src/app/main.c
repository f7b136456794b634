/* main.c - the process: picks the command, prints the one error, turns it into the exit status. */
#include "app/command.h"
#include "base/file.h"
#include "base/log.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Interrupted: the frame at hand is dropped and no temporary file stays. */
static void on_signal(int number) {
    file_out_remove_all();
    _exit(128 + number);
}

static void catch_signals(void) {
    struct sigaction a = {.sa_handler = on_signal};
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGHUP, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void print_version(void) {
    printf("fftbloom " VERSION "\nVulkan engine: yes\nCPU engine (FFTW): %s\n"
           "PXR24, B44, DWA (OpenEXR): %s\n",
           WITH_FFTW ? "yes" : "no", WITH_OPENEXR ? "yes" : "no");
}

int main(int argc, char **argv) {
    catch_signals();
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        print_version();
        return 0;
    }
    err e = {0};
    const command *c = argc > 1 ? command_find(argv[1]) : NULL;
    int status;
    if (c) {
        status = c->run(argc - 1, argv + 1, &e);
    } else {
        err_set(&e, ERR_USAGE, "usage: fftbloom IN KERNEL -o OUT");
        status = ERR_USAGE;
    }
    if (e.code) log_error("%s", e.msg);
    if (status == 0 && fflush(stdout) != 0) return ERR_IO;
    return status;
}
