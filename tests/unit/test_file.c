/* Files: outputs that are whole or not there, and what processes that end in the middle leave. */
#include "base/file.h"
#include "base/mem.h"
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

static char dir[256];

static const char *at(const char *name) {
    static char buf[4][400];
    static int n;
    char *to = buf[n++ % 4];
    snprintf(to, sizeof buf[0], "%s/%s", dir, name);
    return to;
}

static void put(const char *name, const char *content) {
    FILE *f = fopen(at(name), "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void holds(const char *name, const char *want) {
    size_t n;
    uint8_t *got = file_read_all(at(name), 1000, &n, &e);
    if (!got) fail_msg("%s", e.msg);
    assert_string_equal((char *)got, want);
    mem_free(got);
}

static bool is_there(const char *name) {
    struct stat st;
    return lstat(at(name), &st) == 0;
}

static int temporaries(void) {
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *f; (f = readdir(d));) n += strstr(f->d_name, ".tmp") != NULL;
    closedir(d);
    return n;
}

TEST(replaces) {
    struct stat st;
    put("a", "old");
    chmod(at("a"), 0604);
    file_out *f = file_out_open(at("a"), true, &e);
    CHECK_OK(f && file_out_write(f, 3, "er", 2, &e) && file_out_write(f, 0, "new", 3, &e), e);
    holds("a", "old");
    assert_int_equal(temporaries(), 1);
    CHECK_OK(file_out_commit(&f, &e), e);
    assert_null(f);
    holds("a", "newer");
    assert_int_equal(temporaries(), 0);
    stat(at("a"), &st);
    assert_int_equal(st.st_mode & 0777, 0604);
    CHECK_REFUSED(file_out_open(dir, true, &e), ERR_CANT_CREATE, "");
}

/* The group of the old file keeps its access. */
TEST(keeps_the_owner) {
    struct stat st;
    put("owned", "old");
    if (geteuid() != 0 || chown(at("owned"), 65534, 1) != 0 || chmod(at("owned"), 0640) != 0)
        skip();
    CHECK_OK(file_write_all(at("owned"), "new", 3, &e), e);
    stat(at("owned"), &st);
    assert_int_equal(st.st_uid, 65534);
    assert_int_equal(st.st_gid, 1);
    assert_int_equal(st.st_mode & 0777, 0640);
}

TEST(never_replaces) {
    put("here", "mine");
    CHECK_REFUSED(file_out_open(at("here"), false, &e), ERR_SKIPPED, "");
    file_out *f = file_out_open(at("later"), false, &e);
    CHECK_OK(f && file_out_write(f, 0, "late", 4, &e), e);
    put("later", "mine");
    CHECK_REFUSED(file_out_commit(&f, &e), ERR_SKIPPED, "");
    holds("later", "mine");
    f = file_out_open(at("fresh"), false, &e);
    CHECK_OK(f && file_out_write(f, 0, "fresh", 5, &e) && file_out_commit(&f, &e), e);
    holds("fresh", "fresh");
    assert_int_equal(temporaries(), 0);
}

/* A link to nothing stays a link, and what it points to is made. */
TEST(follows_links) {
    struct stat st;
    mkdir(at("sub"), 0777);
    assert_int_equal(symlink("sub/second", at("first")), 0);
    assert_int_equal(symlink("target", at("sub/second")), 0);
    for (int i = 0; i < 2; i++) {
        assert_true(file_out_possible(at("first"), &e));
        CHECK_OK(file_write_all(at("first"), i ? "b" : "a", 1, &e), e);
        lstat(at("first"), &st);
        assert_true(S_ISLNK(st.st_mode));
        lstat(at("sub/second"), &st);
        assert_true(S_ISLNK(st.st_mode));
        holds("sub/target", i ? "b" : "a");
    }
    assert_int_equal(symlink("no/target", at("astray")), 0);
    CHECK_REFUSED(file_out_possible(at("astray"), &e), ERR_CANT_CREATE, "");
    assert_int_equal(symlink("loop", at("loop")), 0);
    CHECK_REFUSED(file_write_all(at("loop"), "a", 1, &e), ERR_CANT_CREATE, "");
    lstat(at("loop"), &st);
    assert_true(S_ISLNK(st.st_mode));
}

/* A process that was killed leaves its file; one that lives keeps it, whatever others do. */
TEST(sweeps) {
    mkdir(at("swept"), 0777);
    put("swept/.x.exr.fftbloom-0123456789abcdef.tmp", "dead");
    put("swept/.y.exr.fftbloom-0123456789abcdef.tmp", "alive");
    put("swept/.z.exr.12-0.tmp", "of another program");
    int fd = open(at("swept/.y.exr.fftbloom-0123456789abcdef.tmp"), O_WRONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    file_out *own = file_out_open(at("swept/own"), true, &e);
    assert_non_null(own);
    assert_false(is_there("swept/.x.exr.fftbloom-0123456789abcdef.tmp"));
    assert_true(is_there("swept/.y.exr.fftbloom-0123456789abcdef.tmp"));
    assert_true(is_there("swept/.z.exr.12-0.tmp"));
    file_sweep(at("swept")); /* our own file is locked, too */
    CHECK_OK(file_out_commit(&own, &e), e);
    close(fd);
    file_sweep(at("swept"));
    assert_false(is_there("swept/.y.exr.fftbloom-0123456789abcdef.tmp"));
}

/* --- the end of the program ------------------------------------------------------------------- */

static void *write_for_ever(void *arg) {
    char name[20];
    snprintf(name, sizeof name, "out%d", *(int *)arg);
    for (;;) {
        file_out *f = file_out_open(at(name), true, NULL);
        if (f && (rand() & 1)) file_out_commit(&f, NULL);
        file_out_discard(&f);
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
    CHECK_OK(file_make_dirs(at("deep/er/and/deeper"), 0777, &e), e);
    CHECK_OK(file_make_dirs(at("deep/er/"), 0777, &e), e);
    CHECK_REFUSED(file_make_dirs("", 0777, &e), ERR_CANT_CREATE, "");
    put("file", "");
    CHECK_REFUSED(file_make_dirs(at("file/sub"), 0777, &e), ERR_CANT_CREATE, "");
}

static int set_up(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "%s", make_folder("files"));
    return 0;
}

RUN_TESTS(set_up, NULL)
