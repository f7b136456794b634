#include "app/farm/slurm.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The status of a program that is not there, as a shell gives it. */
enum { NOT_FOUND = 127 };

/* Runs a program and takes all that it prints, errors included. Returns its exit status, NOT_FOUND
 * where there is no program of the name, and -1 where it could not be run or was killed. */
static int slurm_run(const char *const argv[], text *said) {
    int ends[2];
    text_add(said, "%s", "");
    if (pipe(ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(argv[0], (char *const *)argv);
        _exit(NOT_FOUND);
    }
    close(ends[1]);
    char piece[4096];
    for (ssize_t n = 1; child > 0 && n != 0;) {
        n = read(ends[0], piece, sizeof piece);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) text_add_bytes(said, piece, (size_t)n);
    }
    close(ends[0]);
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Returns the last line, cut out of `said`, without "sbatch: error: " before it: in an error of
 * several lines it is the one that says why. A hint at --help behind it is cut off. */
static const char *last_line(text *said) {
    char *hint = strstr(said->s, "Try \"sbatch");
    if (hint) said->n = (size_t)(hint - said->s);
    while (said->n && isspace((unsigned char)said->s[said->n - 1])) said->n--;
    said->s[said->n] = 0;
    const char *line = strrchr(said->s, '\n'), *word;
    line = line ? line + 1 : said->s;
    if ((word = strstr(line, "error: ")) || (word = strstr(line, "fatal: "))) line = word + 7;
    return *line ? line : "nothing";
}

/* The line of a job's or task's number, or NULL: warnings of Slurm may stand around it. */
static const char *find_number(const char *said) {
    for (; said; said = strchr(said, '\n')) {
        said += *said == '\n';
        if (isdigit((unsigned char)*said)) return said;
    }
    return NULL;
}

/* What sbatch says where the same command may succeed later; it refuses anything else for good. */
static const char TEMPORARY[] = "*imed out*,*nable to contact*,*emporarily*,*onnection refused*,"
                                "*standby mode*,*ero Bytes*";

bool slurm_submit(const char *script, char id[SLURM_ID], err *e) {
    OWN(text) said = {0};
    int status = slurm_run((const char *[]){"sbatch", "--parsable", script, NULL}, &said);
    const char *number = find_number(said.s);
    size_t digits = number ? strspn(number, "0123456789") : 0;
    bool ok = status == 0 && digits > 0 && digits < SLURM_ID;
    if (ok)
        snprintf(id, SLURM_ID, "%.*s", (int)digits, number);
    else if (status == NOT_FOUND)
        err_set(e, ERR_NO_DEVICE,
                "there is no sbatch on this machine; --dry-run prints the script");
    else if (strstr(said.s, "fatal: "))
        err_set(e, ERR_NO_DEVICE,
                "Slurm cannot be used on this machine: sbatch says '%s'; --dry-run prints the "
                "script",
                last_line(&said));
    else
        err_set(e, !said.n || text_glob_any(TEMPORARY, said.s) ? ERR_RETRY : ERR_USAGE,
                "sbatch refused '%s' with exit status %d: it says '%s'", script, status,
                last_line(&said));
    return ok;
}

bool slurm_can_wait(err *e) {
    OWN(text) said = {0};
    int status = slurm_run((const char *[]){"squeue", "--version", NULL}, &said);
    return status != NOT_FOUND ||
           err_set(e, ERR_NO_DEVICE, "--wait needs squeue, which is not on this machine");
}

typedef enum { OVER, QUEUED, UNKNOWN } answer;

/* Asks whether tasks of the job are pending or running. Slurm forgets a job some minutes after its
 * end, and squeue then fails with "Invalid job id"; any other failure says nothing of the job. */
static answer ask(const char *id, text *said) {
    text_free(said);
    int status =
        slurm_run((const char *[]){"squeue", "-h", "-r", "-o", "%i", "-j", id, NULL}, said);
    if (status == 0) return find_number(said->s) ? QUEUED : OVER;
    return strstr(said->s, "Invalid job id") ? OVER : UNKNOWN;
}

bool slurm_wait(const char *id, const slurm_waiting *w, err *e) {
    enum { LONGEST = 10 };
    OWN(text) said = {0};
    answer a = QUEUED;
    double pause = w->pause, answered = clock_now();
    bool patient = true;
    while (a != OVER && patient) {
        struct timespec left = {(time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9)};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
        pause = pause < LONGEST / 2 ? 2 * pause : LONGEST;
        answer before = a;
        a = ask(id, &said);
        if (a != UNKNOWN) answered = clock_now();
        if (a == UNKNOWN && before != UNKNOWN)
            log_warn("squeue failed and will be asked again; it says '%s'", last_line(&said));
        patient = clock_now() - answered < w->patience;
        w->asked(w->ctx);
    }
    if (a != OVER)
        err_set(e, ERR_IO,
                "job %s may still run, but Slurm has not answered for %.0f seconds: squeue says "
                "'%s'",
                id, clock_now() - answered, last_line(&said));
    return a == OVER;
}
