/* Files: outputs that are whole or not there, and what processes that end in the middle leave. */
#include "base/file.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void holds(const char *name, const char *want) {
    size_t n;
    OWN_MEM uint8_t *got = file_read_all(make_path(name), 1000, &n, &e);
    if (!got) fail_msg("%s", e.msg);
    assert_string_equal((char *)got, want);
}

static bool is_there(const char *name) {
    struct stat st;
    return lstat(make_path(name), &st) == 0;
}

static int temporaries(void) {
    DIR *d = opendir(make_path("."));
    int n = 0;
    for (struct dirent *f; (f = readdir(d));) n += strstr(f->d_name, ".tmp") != NULL;
    closedir(d);
    return n;
}

TEST(replaces) {
    struct stat st;
    make_text("a", "old");
    chmod(make_path("a"), 0604);
    file_out *f = file_out_open(make_path("a"), true, &e);
    CHECK_OK(f && file_out_write(f, 3, "er", 2, &e) && file_out_write(f, 0, "new", 3, &e));
    holds("a", "old");
    assert_int_equal(temporaries(), 1);
    CHECK_OK(file_out_commit(&f, &e));
    assert_null(f);
    holds("a", "newer");
    assert_int_equal(temporaries(), 0);
    stat(make_path("a"), &st);
    assert_int_equal(st.st_mode & 0777, 0604);
    CHECK_REFUSED(file_out_open(make_path("."), true, &e), ERR_CANT_CREATE, "");
}

/* The group of the old file keeps its access. */
TEST(keeps_the_owner) {
    struct stat st;
    make_text("owned", "old");
    if (geteuid() != 0 || chown(make_path("owned"), 65534, 1) != 0 ||
        chmod(make_path("owned"), 0640) != 0)
        skip();
    CHECK_OK(file_write_all(make_path("owned"), "new", 3, &e));
    stat(make_path("owned"), &st);
    assert_int_equal(st.st_uid, 65534);
    assert_int_equal(st.st_gid, 1);
    assert_int_equal(st.st_mode & 0777, 0640);
}

TEST(never_replaces) {
    make_text("here", "mine");
    CHECK_REFUSED(file_out_open(make_path("here"), false, &e), ERR_SKIPPED, "");
    file_out *f = file_out_open(make_path("later"), false, &e);
    CHECK_OK(f && file_out_write(f, 0, "late", 4, &e));
    make_text("later", "mine");
    CHECK_REFUSED(file_out_commit(&f, &e), ERR_SKIPPED, "");
    holds("later", "mine");
    f = file_out_open(make_path("fresh"), false, &e);
    CHECK_OK(f && file_out_write(f, 0, "fresh", 5, &e) && file_out_commit(&f, &e));
    holds("fresh", "fresh");
    assert_int_equal(temporaries(), 0);
}

/* A link to nothing stays a link, and what it points to is made. */
TEST(follows_links) {
    struct stat st;
    make_folder("sub");
    assert_int_equal(symlink("sub/second", make_path("first")), 0);
    assert_int_equal(symlink("target", make_path("sub/second")), 0);
    for (int i = 0; i < 2; i++) {
        assert_true(file_out_possible(make_path("first"), &e));
        CHECK_OK(file_write_all(make_path("first"), i ? "b" : "a", 1, &e));
        lstat(make_path("first"), &st);
        assert_true(S_ISLNK(st.st_mode));
        lstat(make_path("sub/second"), &st);
        assert_true(S_ISLNK(st.st_mode));
        holds("sub/target", i ? "b" : "a");
    }
    assert_int_equal(symlink("no/target", make_path("astray")), 0);
    CHECK_REFUSED(file_out_possible(make_path("astray"), &e), ERR_CANT_CREATE, "");
    assert_int_equal(symlink("loop", make_path("loop")), 0);
    CHECK_REFUSED(file_write_all(make_path("loop"), "a", 1, &e), ERR_CANT_CREATE, "");
    lstat(make_path("loop"), &st);
    assert_true(S_ISLNK(st.st_mode));
}

/* A process that was killed leaves its file; one that lives keeps it, whatever others do. */
TEST(sweeps) {
    make_text("swept/.x.exr.fftbloom-0123456789abcdef.tmp", "dead");
    make_text("swept/.y.exr.fftbloom-0123456789abcdef.tmp", "alive");
    make_text("swept/.z.exr.12-0.tmp", "of another program");
    int fd = open(make_path("swept/.y.exr.fftbloom-0123456789abcdef.tmp"), O_WRONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    file_out *own = MADE(file_out_open(make_path("swept/own"), true, &e));
    assert_false(is_there("swept/.x.exr.fftbloom-0123456789abcdef.tmp"));
    assert_true(is_there("swept/.y.exr.fftbloom-0123456789abcdef.tmp"));
    assert_true(is_there("swept/.z.exr.12-0.tmp"));
    file_sweep(make_path("swept")); /* our own file is locked, too */
    CHECK_OK(file_out_commit(&own, &e));
    close(fd);
    file_sweep(make_path("swept"));
    assert_false(is_there("swept/.y.exr.fftbloom-0123456789abcdef.tmp"));
}

static void *write_for_ever(void *arg) {
    char name[20];
    snprintf(name, sizeof name, "out%d", *(int *)arg);
    for (;;) {
        file_out *f = file_out_open(make_path(name), true, NULL);
        if (f && (rand() & 1)) file_out_commit(&f, NULL);
        file_out_free(&f);
    }
    return NULL;
}

/* Whatever moment it comes at, nothing stays, and nothing waits for ever. */
TEST(ends_at_any_moment) {
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0) {
            static int number[4] = {0, 1, 2, 3};
            pthread_t t;
            for (int i = 0; i < 4; i++) pthread_create(&t, NULL, write_for_ever, &number[i]);
            struct timespec a_moment = {0, 2000000 + 700000 * round};
            nanosleep(&a_moment, NULL);
            file_out_remove_all();
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        assert_int_equal(temporaries(), 0);
    }
}

TEST(folders) {
    CHECK_OK(file_make_dirs(make_path("deep/er/and/deeper"), 0777, &e));
    CHECK_OK(file_make_dirs(make_path("deep/er/"), 0777, &e));
    CHECK_REFUSED(file_make_dirs("", 0777, &e), ERR_CANT_CREATE, "");
    make_text("file", "");
    CHECK_REFUSED(file_make_dirs(make_path("file/sub"), 0777, &e), ERR_CANT_CREATE, "");
}

RUN_TESTS(NULL, NULL)
