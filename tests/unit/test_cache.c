/* The spectrum cache: hits, repairs, tiers, trimming, and many processes at once. */
#include "kernel/cache.h"

#include "base/file.h"
#include "base/log.h"
#include "kernel/spectrum_file.h"
#include "unit/kernels.h"
#include "unit/make_image.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static par *threads;

FIXTURE(set_up) {
    unsetenv("FFTBLOOM_CACHE_RO");
    log_set_level(LOG_ERROR); /* the warnings are meant */
    return (threads = par_open(1, &e)) ? 0 : 1;
}

FIXTURE(tear_down) {
    par_close(&threads);
    return 0;
}

/* A folder of its own for each test. */
static cache_place place(const char *name) {
    static char dir[600];
    snprintf(dir, sizeof dir, "%s", make_path(name));
    return (cache_place){dir, CACHE_BUDGET};
}

/* Asks for the spectrum of `k`, checks that it is right, and tells whether it was a hit. */
static bool ask(const psf *k, cache_place p) {
    OWN(spectrum) is, want;
    CHECK_OK(cache_spectrum(&is, k, &p, threads, &e));
    bool hit = is.cached;
    CHECK_OK(spectrum_make(&want, k, threads, &e));
    assert_memory_equal(is.value, want.value, spectrum_floats(&want) * sizeof *want.value);
    assert_memory_equal(is.kernel.tap, k->tap, (size_t)k->w * k->h * k->channels * sizeof *k->tap);
    assert_true(is.kernel.made.center == k->made.center);
    return hit;
}

static cache_list list(cache_place p) {
    cache_list l;
    CHECK_OK(cache_list_make(&l, p.dir, &e));
    return l;
}

static size_t count(cache_place p) {
    OWN(cache_list) l = list(p);
    return l.count;
}

static void path_of(char to[1024], cache_place p, const char *name) {
    snprintf(to, 1024, "%s/spectra/%s", p.dir, name);
}

TEST(paths) {
    char to[CACHE_PATH], home[256] = "";
    if (getenv("HOME")) snprintf(home, sizeof home, "%s", getenv("HOME"));
    const char *own = getenv("FFTBLOOM_CACHE_DIR");
    OWN_HEAP char *kept = own ? strdup(own) : NULL;
    setenv("HOME", "/home/me", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("FFTBLOOM_CACHE_DIR", "/own", 1);
    assert_true(cache_path(to, "asked"));
    assert_string_equal(to, "asked");
    assert_true(cache_path(to, NULL));
    assert_string_equal(to, "/own");
    setenv("FFTBLOOM_CACHE_DIR", "", 1);
    assert_true(cache_path(to, NULL));
    assert_string_equal(to, "/xdg/fftbloom");
    setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored, says its specification */
    assert_true(cache_path(to, NULL));
    assert_string_equal(to, "/home/me/.cache/fftbloom");
    unsetenv("HOME");
    assert_false(cache_path(to, NULL));
    char longest[CACHE_PATH + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_false(cache_path(to, longest));
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    if (kept) setenv("FFTBLOOM_CACHE_DIR", kept, 1);
}

TEST(hits) {
    cache_place p = place("hits");
    OWN(psf) a = kernel_make(STAR, 20, 15, 3, 10, 7), b = kernel_make(STAR, 20, 15, 3, 10, 8);
    assert_int_equal(count(p), 0); /* no folder yet: an empty list */
    assert_false(ask(&a, p));
    assert_true(ask(&a, p));
    assert_false(ask(&b, p)); /* another centre is another kernel */
    assert_true(ask(&b, p));
    a.made.center = PSF_PEAK; /* how it came about is not */
    assert_true(ask(&a, p));
    OWN(cache_list) l = list(p);
    assert_int_equal(l.count, 2);
    for (size_t i = 0; i < 2; i++) CHECK_OK(cache_verify(p.dir, &l.entry[i], &e));
    p.budget = 0; /* off */
    assert_false(ask(&a, p));
}

static void overwrite(const char *path, long at, const char *bytes, size_t n) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    assert_true(fwrite(bytes, 1, n, f) == n);
    fclose(f);
}

/* Entries of others are passed over, one that has failed a proof is removed, and nobody else can
 * write into the folder, whatever the umask. */
TEST(whom_to_trust) {
    cache_place p = place("trust");
    OWN(psf) k = kernel_make(STAR, 9, 9, 1, 4, 4);
    struct stat st;
    char path[1024];
    mode_t mask = umask(0);
    assert_false(ask(&k, p));
    umask(mask);
    snprintf(path, sizeof path, "%s/spectra", p.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    cache_distrust(psf_hash(&k), p.dir);
    assert_false(ask(&k, p));
    assert_true(ask(&k, p));
    OWN(cache_list) l = list(p);
    assert_int_equal(l.count, 1);
    path_of(path, p, l.entry[0].name);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_false(ask(&k, p));
    }
}

TEST(broken_ones_are_made_again) {
    cache_place p = place("broken");
    OWN(psf) k = kernel_make(RANDOM, 9, 9, 1, 4, 4), other = kernel_make(RANDOM, 9, 8, 1, 4, 4);
    char path[1024], second[1024];
    ask(&k, p);
    OWN(cache_list) l = list(p);
    path_of(path, p, l.entry[0].name);

    overwrite(path, -100, "\1\2\3\4", 4);
    CHECK_REFUSED(cache_verify(p.dir, &l.entry[0], &e), ERR_DATA, "");
    assert_false(ask(&k, p));
    assert_true(ask(&k, p));

    assert_int_equal(truncate(path, 300), 0);
    assert_false(ask(&k, p));
    assert_int_equal(truncate(path, 0), 0);
    assert_false(ask(&k, p));
    assert_true(ask(&k, p));

    /* A whole spectrum, but of another kernel. */
    ask(&other, p);
    OWN(cache_list) two = list(p);
    assert_int_equal(two.count, 2);
    for (int i = 0; i < 2; i++)
        if (strcmp(two.entry[i].name, l.entry[0].name) != 0) path_of(second, p, two.entry[i].name);
    assert_int_equal(rename(second, path), 0);
    assert_false(cache_verify(p.dir, &l.entry[0], &e));
    assert_false(ask(&k, p));
    assert_true(ask(&k, p));

    /* Not even a file. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_false(ask(&k, p));
    assert_int_equal(rmdir(path), 0);
}

TEST(an_unwritable_folder_is_no_failure) {
    OWN(psf) k = kernel_make(RANDOM, 4, 4, 1, 2, 2);
    assert_false(ask(&k, (cache_place){"/proc/nothing/here", CACHE_BUDGET}));
    assert_false(ask(&k, (cache_place){"/dev/null", CACHE_BUDGET}));
}

static void tree_state(const char *dir, char to[4096]) {
    char command[700];
    snprintf(command, sizeof command, "cd '%s' && find . -printf '%%p %%s %%T@\\n' | sort", dir);
    FILE *f = popen(command, "r");
    to[fread(to, 1, 4095, f)] = 0;
    pclose(f);
}

TEST(the_read_only_tier) {
    char shared[600], before[4096], after[4096];
    OWN(psf) k = kernel_make(DISC, 12, 12, 1, 6, 6), other = kernel_make(DISC, 13, 12, 1, 6, 6);
    cache_place p = place("shared");
    snprintf(shared, sizeof shared, "%s", p.dir);
    ask(&k, p);
    tree_state(shared, before);
    setenv("FFTBLOOM_CACHE_RO", shared, 1);
    p = place("own");
    assert_true(ask(&k, p));
    assert_false(ask(&other, p)); /* goes to the own tier */
    assert_true(ask(&other, p));
    tree_state(shared, after);
    assert_string_equal(before, after);
    assert_int_equal(count(p), 1);
    setenv("FFTBLOOM_CACHE_RO", "/nowhere", 1);
    assert_false(ask(&k, p));
    unsetenv("FFTBLOOM_CACHE_RO");
}

static void set_age(cache_place p, const char *name, time_t seconds) {
    char path[1024];
    path_of(path, p, name);
    struct timespec t[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void put_file(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "trim/%s", name);
    make_text(path, "not a spectrum");
}

static bool is_there(cache_place p, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", p.dir, name);
    return access(path, F_OK) == 0;
}

TEST(the_oldest_go_first) {
    cache_place p = place("trim");
    psf k[4];
    for (uint32_t i = 0; i < 4; i++) {
        k[i] = kernel_make(RANDOM, 16, 16, 1, i, i);
        ask(&k[i], p);
        OWN(cache_list) l = list(p); /* the newest is first: make it older than what comes */
        set_age(p, l.entry[0].name, 1000 - 100 * (time_t)i);
    }
    assert_true(ask(&k[0], p)); /* used: now the newest */
    static const char *const beside[] = {"pipelines.bin", "spectra/notes.txt",
                                         "spectra/0123.v1.spectrum", "spectra/.other.tmp"};
    for (int i = 0; i < 4; i++) put_file(beside[i]);
    /* A temporary file that is being written is locked; the others are left over. */
    static const char *const temps[] = {"spectra/.a.spectrum.fftbloom-0123456789abcdef.tmp",
                                        "spectra/.b.spectrum.fftbloom-0123456789abcdef.tmp",
                                        ".pipelines.bin.fftbloom-0123456789abcdef.tmp"};
    char path[1024];
    for (int i = 0; i < 3; i++) put_file(temps[i]);
    snprintf(path, sizeof path, "%s/%s", p.dir, temps[0]);
    int used = open(path, O_WRONLY);
    assert_int_equal(flock(used, LOCK_EX), 0);

    cache_list l = list(p);
    assert_int_equal(l.count, 4);
    uint64_t each = l.entry[0].bytes;
    assert_true(l.bytes == 4 * each);
    cache_list_free(&l);
    cache_trimmed t;
    CHECK_OK(cache_trim(&t, p.dir, 4 * each, &e));
    assert_true(t.removed == 0 && t.kept == 4 && t.kept_bytes == 4 * each);
    CHECK_OK(cache_trim(&t, p.dir, 2 * each + 1, &e));
    assert_true(t.removed == 2 && t.kept == 2 && t.removed_bytes == 2 * each);
    assert_true(ask(&k[0], p));
    assert_true(ask(&k[3], p));
    p.budget = 2 * each;
    assert_false(ask(&k[1], p)); /* putting it there trims, too */
    assert_int_equal(count(p), 2);
    p.budget = each / 2; /* too small for any */
    assert_false(ask(&k[2], p));
    CHECK_OK(cache_trim(&t, p.dir, 0, &e));
    assert_true(t.kept == 0 && t.removed == 2);
    for (int i = 0; i < 4; i++) assert_true(is_there(p, beside[i]));
    for (int i = 0; i < 3; i++) assert_int_equal(is_there(p, temps[i]), i == 0);
    close(used);
    for (int i = 0; i < 4; i++) psf_free(&k[i]);
}

/* Each child asks for all kernels in its own order while entries are cut and trimmed away; every
 * answer must be right. */
static void a_child(cache_place p, const psf *k, int kernels, int number) {
    for (int round = 0; round < 12; round++) {
        const psf *mine = &k[(round * (number + 1) + number) % kernels];
        ask(mine, p);
        if (round % 4 == 3) {
            cache_trimmed t;
            if (!cache_trim(&t, p.dir, 20000, &e)) _exit(3);
        }
        if (round % 5 == 4) {
            OWN(cache_list) l;
            if (!cache_list_make(&l, p.dir, &e)) _exit(4);
            char path[1024];
            if (l.count) path_of(path, p, l.entry[l.count / 2].name);
            if (l.count && truncate(path, 200) != 0 && access(path, F_OK) == 0) _exit(5);
        }
    }
    _exit(0);
}

TEST(many_processes) {
    enum { KERNELS = 5, CHILDREN = 6 };
    cache_place p = place("many");
    psf k[KERNELS];
    pid_t child[CHILDREN];
    for (uint32_t i = 0; i < KERNELS; i++) k[i] = kernel_make(RANDOM, 16 + i, 20, 1, 3, i);
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            a_child(p, k, KERNELS, i);
            _exit(1);
        }
        assert_true(child[i] > 0);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int i = 0; i < KERNELS; i++) {
        ask(&k[i], p);
        assert_true(ask(&k[i], p));
        psf_free(&k[i]);
    }
    OWN(cache_list) l = list(p);
    for (size_t i = 0; i < l.count; i++) CHECK_OK(cache_verify(p.dir, &l.entry[i], &e));
}

RUN_TESTS(set_up, tear_down)
