/* main.c - the process: picks the command, prints the one error, turns it into the exit status. */
#include "app/cli/cli.h"
#include "app/cli/terminal.h"
#include "app/commands.h"
#include "base/file.h"
#include "base/host.h"
#include "base/log.h"
#include "engine/engine.h"
#include "image/exr/exr_chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static void end_without_memory(void) {
    file_out_remove_all();
    terminal_last_words("fftbloom: error: out of memory\n");
    _exit(ERR_RETRY);
}

/* Ends the program: the frame at hand is dropped and no temporary file stays. An abort is an alarm
 * of ours or of the C library's, and leaves its core. */
static void on_signal(int number) {
    file_out_remove_all();
    terminal_last_words(NULL);
    if (number != SIGABRT) _exit(128 + number);
    signal(SIGABRT, SIG_DFL);
    sigset_t abort_only;
    sigemptyset(&abort_only);
    sigaddset(&abort_only, SIGABRT);
    raise(SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &abort_only, NULL);
}

/* Catches every signal that would end the program and leave temporary files. A signal that is
 * ignored stays ignored: nohup and background jobs rely on that. SIGXFSZ and SIGPIPE become errors
 * of write. */
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

/* Where standard input, output or error is closed, the next file would get its number, and messages
 * would be written into an output. What is opened in its place fails when it is used. */
static void fill_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", way) < 0 && open("/", O_RDONLY) < 0)
            _exit(ERR_RETRY);
    }
}

/* Asks for the stack that the deepest calls need. The limit of the shell, which is also the size of
 * the stacks of threads, may be lower. Where it must be, what is left may not hold log_error. */
static bool have_stack(void) {
    enum { STACK = 512 << 10 };
    static char said[256];
    struct rlimit l;
    pthread_attr_t threads;
    if (getrlimit(RLIMIT_STACK, &l) != 0 || l.rlim_cur >= STACK) return true;
    struct rlimit more = {STACK, l.rlim_max > STACK ? l.rlim_max : STACK};
    if (setrlimit(RLIMIT_STACK, &more) != 0) {
        snprintf(said, sizeof said,
                 "fftbloom: error: the stack may have %llu KB here, and fftbloom needs %d KB; "
                 "raise the limit: ulimit -s %d\n",
                 (unsigned long long)l.rlim_max >> 10, STACK >> 10, STACK >> 10);
        terminal_last_words(said);
        return false;
    }
    pthread_attr_init(&threads);
    pthread_attr_setstacksize(&threads, STACK);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
    return true;
}

static const char *variable(const char *name) {
    return getenv(name);
}

/* Runs the command of the first argument. `fftbloom IN KERNEL -o OUT` is `fftbloom apply ...`. */
static int run(int argc, char **argv, err *e) {
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help", argc = 2;
    const command *c = command_find(&COMMANDS, name);
    if (c) return cli_run(&COMMANDS, c, argc - 1, argv + 1, e);
    const char *near = command_nearest(&COMMANDS, name);
    if (command_is_bare_word(name) && near)
        err_set(e, ERR_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
    else
        return cli_run(&COMMANDS, command_find(&COMMANDS, "apply"), argc, argv, e);
    return err_status(e->code);
}

int main(int argc, char **argv) {
    fill_descriptors();
    if (!have_stack()) return ERR_USAGE;
    catch_signals();
    text_on_failure(end_without_memory);
    exr_ilm_without_memory(end_without_memory);
    host_set_variables(variable);
    terminal_open();
    err e = {0};
    if (argc < 2) {
        OWN(text) out = {0};
        help_short(&out, &COMMANDS);
        fputs(out.s, stderr);
        return ERR_USAGE;
    }
    int status = run(argc, argv, &e);
    engine_rest();
    if (e.code) log_error("%s", e.msg);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
        /* A reader that has seen enough, such as head, needs no message. */
        if (errno == EPIPE) return ERR_IO;
        err_errno(&e, ERR_IO, "cannot write to standard output");
        log_error("%s", e.msg);
        return err_status(e.code);
    }
    return status;
}
