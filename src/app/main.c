/* main.c - the process: picks the command, prints the one error, turns it into the exit status. */
#include "app/cli/command.h"
#include "app/cli/help.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
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

static int show_help(int argc) {
    text out = {0};
    if (argc > 1) {
        help_general(&out);
        fputs(out.s, stdout);
    } else {
        help_short(&out);
        fputs(out.s, stderr);
    }
    text_free(&out);
    return argc > 1 ? 0 : ERR_USAGE;
}

/* A lone word that is no file and nearly a command is a slip of the finger. */
static bool is_slip(int argc, char **argv, err *e) {
    const char *near = command_nearest(argv[1]);
    if (argv[1][0] == '-' || strpbrk(argv[1], "./#%$") || access(argv[1], F_OK) == 0) return false;
    if (!near && argc > 2) return false;
    err_set(e, ERR_USAGE, "there is no command '%s'%s%s%s", argv[1], near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    return true;
}

/* `fftbloom IN KERNEL -o OUT` is `fftbloom apply IN KERNEL -o OUT`. */
static int run(int argc, char **argv, err *e) {
    const command *c = command_find(argv[1]);
    if (c) return c->run(argc - 1, argv + 1, e);
    if (is_slip(argc, argv, e)) return (int)e->code;
    static char apply[] = "apply";
    argv[0] = apply;
    return command_find(apply)->run(argc, argv, e);
}

int main(int argc, char **argv) {
    catch_signals();
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_help(argc);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        print_version();
        return 0;
    }
    err e = {0};
    int status = run(argc, argv, &e);
    if (e.code) log_error("%s", e.msg);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
        /* A reader that has seen enough, such as head, needs no message. */
        if (errno != EPIPE) log_error("cannot write to standard output");
        return ERR_IO;
    }
    return status;
}
