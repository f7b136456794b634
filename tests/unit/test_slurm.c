/* Waiting for a job of Slurm that never answers: tests/cli/farm.bats has the rest. */
#include "app/farm/slurm.h"
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void count(void *ctx) {
    ++*(int *)ctx;
}

static void patience_ends(void **state) {
    (void)state;
    char folder[] = "/tmp/slurm-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/squeue", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#!/bin/sh\necho 'slurm_load_jobs error: Socket timed out' >&2\nexit 1\n", f);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    char *before = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", folder, 1), 0);
    err e = {0};
    int asked = 0;
    assert_false(slurm_wait("77", &(slurm_waiting){0.01, 0.2, count, &asked}, &e));
    setenv("PATH", before, 1);
    free(before);
    unlink(path);
    rmdir(folder);
    assert_int_equal(e.code, ERR_IO);
    assert_non_null(strstr(e.msg, "job 77 may still run"));
    assert_non_null(strstr(e.msg, "squeue says 'Socket timed out'"));
    assert_true(asked >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patience_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
