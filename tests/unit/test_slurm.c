/* Waiting for a job of Slurm that never answers: tests/cli/farm.bats has the rest. */
#include "app/farm/slurm.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <sys/stat.h>
#include <unistd.h>

static void count(void *ctx) {
    ++*(int *)ctx;
}

/* Waits for job 77 with a squeue that fails until it is asked for the `answers`th time, and then
 * knows of no task. */
static bool wait_with(int answers, slurm_waiting w, int *asked, err *e) {
    char script[400];
    snprintf(script, sizeof script,
             "#!/bin/sh\necho >>\"$0.log\"\nn=0\n"
             "while read x; do n=$((n + 1)); done <\"$0.log\"\n[ $n -lt %d ] || exit 0\n"
             "echo 'slurm_load_jobs error: Socket timed out' >&2\nexit 1\n",
             answers);
    unlink(make_path("squeue.log"));
    assert_int_equal(chmod(make_text("squeue", script), 0755), 0);
    OWN_HEAP char *before = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", make_path("."), 1), 0);
    w.asked = count;
    w.ctx = asked;
    bool over = slurm_wait("77", &w, e);
    setenv("PATH", before, 1);
    return over;
}

TEST(patience_ends) {
    int asked = 0;
    CHECK_REFUSED(wait_with(1000, (slurm_waiting){.pause = 0.001, .patience = 0}, &asked, &e),
                  ERR_IO, "job 77 may still run");
    assert_non_null(strstr(e.msg, "squeue says 'Socket timed out'"));
    assert_int_equal(asked, 1);
}

TEST(failures_are_no_answer) {
    int asked = 0;
    CHECK_OK(wait_with(4, (slurm_waiting){.pause = 0.001, .patience = 1e9}, &asked, &e));
    assert_int_equal(asked, 4);
}

RUN_TESTS(NULL, NULL)
