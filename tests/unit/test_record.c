/* What --existing update remembers of a frame whose files change while it is made. */
#include "app/cli/options.h"
#include "app/run/frame.h"
#include "base/file.h"
#include "unit/check.h"
#include "unit/load_save.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The program's own calls, which the linker takes instead of the C library's: another process that
 * moves a file over `target` while `victim` is read, and a count of syncs. */
static char victim[PATH_MAX + 256], target[PATH_MAX + 256];
static const char *replacement; /* NULL: nobody moves anything */
static int syncs;

ssize_t pread(int fd, void *to, size_t n, off_t at) {
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t len = replacement ? readlink(name, path, sizeof path - 1) : -1;
    if (len > 0 && (path[len] = 0, strcmp(path, victim) == 0)) {
        if (rename(replacement, target) != 0) abort();
        replacement = NULL;
    }
    return syscall(SYS_pread64, fd, to, n, at);
}
int fsync(int fd) {
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

static void make_frame(const char *name, uint64_t seed) {
    OWN(image) *img = make_image((const make_part[]){PART("R:float G:float B:float", 0, 0, 32, 24,
                                                          .packing = COMPRESSION_ZIP)},
                                 1);
    float *first = img->plane[0][0];
    first[0] = (float)seed;
    for (int c = 0; c < 3; c++) /* a kernel that the linter has nothing against */
        ((float *)img->plane[0][c])[12 * 32 + 16] = 1e6f;
    save(make_path(name), img);
}

/* One frame, in.exr to out.exr, of a run that has just begun. */
typedef struct {
    settings s;
    kernel_choice kernel;
    settings presets;
    run_choice choice;
    picture_look look;
    light_told told;
    job j;
    record_run all;
    frame_maker maker;
    device_pool *devices;
    device_queue queue;
    bloom_report made;
    frame_result f;
    job_files files;
    record record;
    err e;
} run;

static void set(settings *s, const char *name, const char *value) {
    const option *o = option_find(name, FOR_APPLY);
    CHECK_OK(settings_set(s, o, value, (setting_origin){ORIGIN_FLAG, name}, &e));
}

static const char *mask; /* of the next run; NULL: none */

static run *begin(const char *output) {
    run *r = calloc(1, sizeof *r);
    bloom_defaults(&r->s.bloom);
    CHECK_OK(settings_init(&r->presets, &r->e) && settings_init(&r->s, &r->e), r->e);
    set(&r->s, "kernel", make_path("kernel.exr"));
    set(&r->s, "device", "cpu");
    set(&r->s, "cache_dir", make_path("cache"));
    set(&r->s, "input", make_path("in.exr"));
    set(&r->s, "output", make_path(output));
    if (mask) set(&r->s, "mask", make_path(mask));
    r->kernel = (kernel_choice){.file = (char *)(uintptr_t)r->s.kernel, .size = 1};
    r->choice = (run_choice){
        .s = &r->s, .presets = &r->presets, .kernel = &r->kernel, .cache = r->s.bloom.cache_dir};
    r->look = picture_look_asked(&r->s);
    CHECK_OK(job_open(&r->j, &r->choice, &r->e), r->e);
    CHECK_OK(job_frame(&r->j, 0, &r->files, &r->e), r->e);
    CHECK_OK(record_run_open(&r->all, &r->j, &r->look, true, &r->e), r->e);
    r->maker = (frame_maker){.run = &r->choice,
                             .look = r->look,
                             .records = &r->all,
                             .told = &r->told,
                             .threads = make_threads(),
                             .forgets = ATOMIC_FLAG_INIT};
    r->devices = device_pool_open(r->maker.threads, r->s.bloom.cache_dir, 0, &r->e);
    CHECK_OK(r->devices, r->e);
    device_queue_open(&r->queue, &r->s.bloom, r->devices);
    CHECK_OK(record_make(&r->record, &r->all, &r->files, &r->e), r->e);
    return r;
}

static void run_close(run **r) {
    device_queue_close(&(*r)->queue);
    device_pool_close(&(*r)->devices);
    job_files_free(&(*r)->files);
    job_close(&(*r)->j);
    settings_free(&(*r)->presets);
    settings_free(&(*r)->s);
    free(*r);
}

static bool make(run *r) {
    return frame_make(&r->maker, &r->queue, &r->files, &r->f, &r->made, &r->e);
}

static bool is_current(const run *r) {
    const char *why;
    return record_look(&r->record, true, &why) == FRAME_CURRENT;
}

static void put_while_read(const char *file, const char *by, const char *at) {
    snprintf(victim, sizeof victim, "%s", make_path(file));
    snprintf(target, sizeof target, "%s", make_path(at));
    replacement = make_path(by);
}

TEST(undisturbed) {
    OPEN(run) *r = begin("out.exr");
    assert_false(is_current(r));
    CHECK_OK(make(r), r->e);
    assert_true(is_current(r));
    assert_int_equal(r->made.notes, 0);
}

/* The renderer is done again while the old image is read. */
TEST(input_replaced_while_read) {
    make_frame("next.exr", 7);
    OPEN(run) *r = begin("out.exr");
    put_while_read("in.exr", "next.exr", "in.exr");
    CHECK_OK(make(r), r->e);
    assert_null(replacement);
    assert_false(is_current(r));
    assert_int_equal(r->made.notes, 1);
    assert_non_null(strstr(r->made.note[0], "changed while it was read"));
}

/* So is its mask. */
TEST(mask_replaced_while_read) {
    make_frame("mask.exr", 3);
    make_frame("next.exr", 4);
    mask = "mask.exr";
    OPEN(run) *r = begin("masked.exr");
    mask = NULL;
    put_while_read("mask.exr", "next.exr", "mask.exr");
    CHECK_OK(make(r), r->e);
    assert_null(replacement);
    assert_false(is_current(r));
    CHECK_OK(make(r), r->e);
    assert_true(is_current(r));
}

/* Read before it was replaced: the record is of what was read. */
TEST(input_replaced_afterwards) {
    OPEN(run) *r = begin("out.exr");
    CHECK_OK(make(r), r->e);
    file_mark read = file_mark_of(r->files.input);
    make_frame("in.exr", 8);
    CHECK_OK(record_write(&r->record, &read, &(file_mark){0}, &e));
    assert_false(is_current(r));
    CHECK_OK(make(r), r->e);
    assert_true(is_current(r));
}

/* Writes other bytes into a file, and gives it back the time that it had. */
static void put_in_place(const char *name, bool other) {
    struct stat st;
    int fd = open(make_path(name), O_RDWR);
    uint8_t byte;
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    assert_int_equal(syscall(SYS_pread64, fd, &byte, 1, st.st_size - 1), 1);
    usleep(20000); /* the kernel's clock of files has ticks */
    byte = (uint8_t)(other ? ~byte : byte);
    assert_int_equal(pwrite(fd, &byte, 1, st.st_size - 1), 1);
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

/* Same inode, size and time: the time of the last change alone tells, and then the content. */
TEST(rewritten_in_place) {
    static const char *const NAME[] = {"in.exr", "out.exr"};
    for (int i = 0; i < 2; i++) {
        OPEN(run) *r = begin("out.exr");
        CHECK_OK(make(r), r->e);
        assert_true(is_current(r));
        put_in_place(NAME[i], false);
        assert_true(is_current(r)); /* and the record is written again, with the new time */
        chmod(make_path(NAME[i]), 0600);
        assert_true(is_current(r));
        unlink(make_path("more"));
        assert_int_equal(link(make_path(NAME[i]), make_path("more")), 0);
        assert_true(is_current(r));
        put_in_place(NAME[i], true);
        assert_false(is_current(r));
        put_in_place(NAME[i], true); /* what it was */
        assert_true(is_current(r));
    }
    /* While the frame was made: nobody knows what was read. */
    OPEN(run) *r = begin("out.exr");
    CHECK_OK(make(r), r->e);
    file_mark read = file_mark_of(r->files.input);
    put_in_place("in.exr", true);
    CHECK_OK(record_write(&r->record, &read, &(file_mark){0}, &e));
    assert_false(is_current(r));
    put_in_place("in.exr", true);
    assert_false(is_current(r));
}

TEST(kernel_replaced) {
    OPEN(run) *r = begin("out.exr");
    make_frame("kernel.exr", 10);
    CHECK_OK(make(r), r->e);
    assert_false(is_current(r));
    /* While its content is hashed, too. */
    make_frame("next.exr", 11);
    put_while_read("kernel.exr", "next.exr", "kernel.exr");
    OPEN(run) *again = begin("out.exr");
    assert_null(replacement);
    CHECK_OK(make(again), again->e);
    assert_false(is_current(again));
}

/* --existing skip keeps what appears after the frame was begun, EXR or PNG. */
TEST(output_appears) {
    static const char *const NAME[] = {"new.exr", "new.png"};
    for (size_t i = 0; i < 2; i++) {
        make_frame("next.exr", 12);
        OPEN(run) *r = begin(NAME[i]);
        r->s.existing = EXISTING_SKIP;
        put_while_read("in.exr", "next.exr", NAME[i]);
        CHECK_OK(make(r), r->e);
        assert_null(replacement);
        assert_int_equal(r->f.state, FRAME_SKIPPED);
        assert_false(is_current(r));
        OWN(image) *img = load(make_path(NAME[i]));
        const float *first = img->plane[0][0];
        assert_true(first[0] == 12);
    }
}

TEST(records_are_not_synced) {
    OPEN(run) *r = begin("out.exr");
    CHECK_OK(make(r), r->e);
    file_mark read = file_mark_of(r->files.input);
    syncs = 0;
    CHECK_OK(record_write(&r->record, &read, &(file_mark){0}, &e));
    assert_int_equal(syncs, 0);
    CHECK_OK(file_write_all(make_path("x"), "x", 1, &e)); /* they are counted */
    assert_true(syncs > 0);
}

static void make_old(const char *name, int days) {
    make_text(name, "x");
    struct timespec t[2] = {{time(NULL) - days * 86400 - 60, 0},
                            {time(NULL) - days * 86400 - 60, 0}};
    utimensat(AT_FDCWD, make_path(name), t, 0);
}

/* Records that were of no use for 90 days go when a run opens the folder, once a day; nothing else
 * goes. */
TEST(old_records_go) {
    records_kept kept;
    static const char OLD[] = "full/records/000000000000000000000000000000ff.record",
                      NEW[] = "full/records/000000000000000000000000000000ee.record",
                      MINE[] = "full/records/mine.record";
    CHECK_OK(records_sweep(&kept, make_path("none"), 0, &e));
    assert_int_equal(kept.count, 0);
    make_old(OLD, RECORD_DAYS);
    make_old(NEW, RECORD_DAYS - 1);
    make_old(MINE, 10 * RECORD_DAYS);
    CHECK_OK(records_sweep(&kept, make_path("full"), INFINITY, &e));
    assert_true(kept.count == 2 && kept.removed == 0);
    OPEN(run) *r = begin("out.exr");
    record_run all;
    r->choice.cache = make_path("full");
    CHECK_OK(record_run_open(&all, &r->j, &r->look, true, &e));
    assert_int_not_equal(access(make_path(OLD), F_OK), 0);
    assert_int_equal(access(make_path(NEW), F_OK), 0);
    make_old(OLD, RECORD_DAYS);
    CHECK_OK(record_run_open(&all, &r->j, &r->look, true, &e));
    assert_int_equal(access(make_path(OLD), F_OK), 0);
    make_old("full/records/swept", 1);
    CHECK_OK(record_run_open(&all, &r->j, &r->look, true, &e));
    assert_int_not_equal(access(make_path(OLD), F_OK), 0);
    CHECK_OK(records_sweep(&kept, make_path("full"), 0, &e));
    assert_true(kept.count == 0 && kept.removed == 1);
    assert_int_equal(access(make_path(MINE), F_OK), 0);
}

FIXTURE(open_folder) {
    make_frame("in.exr", 1);
    make_frame("kernel.exr", 2);
    return 0;
}

RUN_TESTS(open_folder, NULL)
