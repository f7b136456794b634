/* Waiting for a job of Slurm that never answers: tests/cli/farm.bats has the rest. */
#include "app/farm/farm.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <sys/stat.h>

static void count(void *ctx) {
    ++*(int *)ctx;
}

TEST(patience_ends) {
    int asked = 0;
    const slurm_waiting w = {.pause = 0.001, .patience = 0, .asked = count, .ctx = &asked};
    const char *fake = make_text(
        "squeue", "#!/bin/sh\necho 'slurm_load_jobs error: Socket timed out' >&2\nexit 1\n");
    assert_int_equal(chmod(fake, 0755), 0);
    OWN_HEAP char *before = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", make_path("."), 1), 0);
    CHECK_REFUSED(slurm_wait("77", &w, &e), ERR_IO, "job 77 may still run");
    setenv("PATH", before, 1);
    assert_non_null(strstr(e.msg, "squeue says 'Socket timed out'"));
    assert_int_equal(asked, 1);
}

RUN_TESTS(NULL, NULL)
