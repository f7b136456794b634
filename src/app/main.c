/* main.c - the process: picks the command, prints the one error, turns it into the exit status. */
#include "app/cli/command.h"
#include "app/cli/help.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ends the program: the frame at hand is dropped and no temporary file stays. Abort is what FFTW's
 * planner does when memory ends, so it is told as that. */
static void on_signal(int number) {
    static const char ABORTED[] =
        "fftbloom: error: a library ended the program, most likely because memory ran out\n";
    file_out_remove_all();
    if (number != SIGABRT) _exit(128 + number);
    ssize_t unused = write(STDERR_FILENO, ABORTED, sizeof ABORTED - 1);
    (void)unused;
    _exit(ERR_RETRY);
}

/* Catches every signal that would end the program and leave temporary files. A signal that is
 * ignored stays ignored: nohup and background jobs of scripts rely on that. A file that grows
 * beyond the limit of the shell (SIGXFSZ) and a reader that goes away (SIGPIPE) become errors of
 * write. */
static void catch_signals(void) {
    static const int ENDS[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGABRT,
                               SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGALRM};
    struct sigaction a = {.sa_handler = on_signal}, old;
    sigfillset(&a.sa_mask);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
        if (sigaction(ENDS[i], NULL, &old) != 0 || old.sa_handler != SIG_IGN)
            sigaction(ENDS[i], &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* Where standard input, output or error is closed, the next file that is opened would get its
 * number, and messages would be written into an output. What takes the place fails when it is
 * used. */
static void fill_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", way) < 0 && open("/", O_RDONLY) < 0)
            _exit(ERR_RETRY);
    }
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

/* Returns true if the first word was probably meant as a command: it names no file, and it is
 * close to a command's name or the only argument. */
static bool is_slip(int argc, char **argv, err *e) {
    const char *near = command_nearest(argv[1]);
    if (argv[1][0] == '-' || strpbrk(argv[1], "./#%$@") || access(argv[1], F_OK) == 0) return false;
    if (near) err_set(e, ERR_USAGE, "unknown command '%s'; did you mean '%s'?", argv[1], near);
    if (!near && argc == 2) err_set(e, ERR_USAGE, "'%s' is neither a command nor a file", argv[1]);
    return e->code != 0;
}

/* `fftbloom IN KERNEL -o OUT` is `fftbloom apply IN KERNEL -o OUT`. */
static int run(int argc, char **argv, err *e) {
    static char version[] = "version";
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) argv[1] = version;
    const command *c = command_find(argv[1]);
    if (c) return c->run(argc - 1, argv + 1, e);
    return is_slip(argc, argv, e) ? (int)e->code : command_find("apply")->run(argc, argv, e);
}

int main(int argc, char **argv) {
    fill_descriptors();
    catch_signals();
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_help(argc);
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
