/* Damaged files: cut off at every byte, and with single bytes changed by chance. Each must give an
 * image or an error with a sentence, in no time and within the budget of memory. The sanitizers
 * (make SAN=1) see what is wrong beyond that. */
#include "base/file.h"
#include "base/log.h"
#include "unit/check.h"
#include "unit/make_image.h"
#include "unit/ref_exr.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    CORRUPTIONS = 10000, /* of each format; of EXR a tenth for each of twelve ways to pack it */
    MOST_SAMPLES = 1 << 20,
    MOST_MB =
        400, /* for the whole program: samples, chunks, tables, and the libraries themselves */
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A file without a disk: 60,000 of them come and go here. */
static const char *memory_file(const uint8_t *bytes, size_t n) {
    static int fd = -1;
    static char path[64];
    if (fd < 0) fd = memfd_create("damaged", MFD_CLOEXEC);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)n) == 0);
    assert_true(pwrite(fd, bytes, n, 0) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* Threads would take longer to wake up than these files take to read. */
static par *one_thread(void) {
    static par *one;
    if (!one) one = par_open(1, &e);
    CHECK_OK(one);
    return one;
}

/* Returns whether it gave an image. */
static bool try_bytes(const uint8_t *bytes, size_t n, const char *what, size_t at) {
    const char *path = memory_file(bytes, n);
    image_limits limits = {.samples = MOST_SAMPLES};
    double start = now();
    OWN(image) *img = image_load(path, &limits, one_thread(), &e);
    if (now() - start > 2) fail_msg("%s, damaged at %zu, took %.1f s", what, at, now() - start);
    if (!img && (e.code == ERR_NONE || !e.msg[0] || e.code == ERR_INTERNAL))
        fail_msg("%s, damaged at %zu: no image, and no proper error: '%s'", what, at, e.msg);
    bool ok = img != NULL;
    return ok;
}

/* `whole_only`: nothing but the whole file may give an image. */
static void cut_everywhere(const char *path, bool whole_only) {
    size_t n;
    OWN_MEM uint8_t *bytes = MADE(file_read_all(path, 1 << 20, &n, &e));
    assert_true(try_bytes(bytes, n, path, n));
    for (size_t cut = 0; cut < n; cut++)
        if (try_bytes(bytes, cut, path, cut) && whole_only)
            fail_msg("%s, cut off at %zu of %zu, still gives an image", path, cut, n);
}

static void change_bytes(const char *path, int times, uint64_t seed) {
    size_t n;
    OWN_MEM uint8_t *bytes = MADE(file_read_all(path, 1 << 20, &n, &e));
    for (int i = 0; i < times; i++) {
        size_t at = (size_t)(make_random(&seed) % n);
        uint8_t old = bytes[at];
        bytes[at] = (uint8_t)(old + 1 + make_random(&seed) % 255);
        try_bytes(bytes, n, path, at);
        bytes[at] = old;
    }
}

static const make_part KIND[] = {
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_NONE),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_RLE),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_ZIPS),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_ZIP),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_PIZ),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_PXR24),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_B44),
    PART("R:half Z:float", 0, 0, 9, 18, .packing = COMPRESSION_B44A),
    PART("R:half Z:float A:half", 0, 0, 17, 18, .packing = COMPRESSION_DWAA),
    PART("R:half G:half B:half", 0, 0, 17, 18, .packing = COMPRESSION_DWAB),
    PART("R:half Z:float", 0, 0, 19, 18, .packing = COMPRESSION_ZIP, .tile_w = 8, .tile_h = 8),
    PART("R:half Z:float", 0, 0, 19, 18, .packing = COMPRESSION_PIZ, .tile_w = 8, .tile_h = 8),
};
enum { KINDS = COUNT(KIND) };

static const char *save_kind(int kind) {
    OWN(image) *img = make_image(&KIND[kind], 1);
    const char *path = make_path("kind.exr");
    CHECK_OK(image_save(path, img, make_threads(), &e));
    return path;
}

static bool can_read(int kind) {
    return WITH_OPENEXR || KIND[kind].packing <= COMPRESSION_PIZ;
}

TEST(cut_off_exr_is_an_error) {
    for (int k = 0; k < KINDS; k++)
        if (can_read(k)) cut_everywhere(save_kind(k), true);
}

TEST(changed_exr) {
    for (int k = 0; k < KINDS; k++)
        if (can_read(k)) change_bytes(save_kind(k), CORRUPTIONS / 10, (uint64_t)k);
}

TEST(damaged_exr_of_several_parts) {
    const make_part parts[] = {
        PART("R:half G:half", 0, 0, 9, 18, .name = "a", .packing = COMPRESSION_ZIP),
        PART("Z:float", 3, 3, 9, 18, .name = "b", .packing = COMPRESSION_RLE, .tile_w = 8,
             .tile_h = 8),
    };
    OWN(image) *img = make_image(parts, 2);
    const char *path = make_path("parts.exr");
    CHECK_OK(image_save(path, img, make_threads(), &e));
    cut_everywhere(path, true);
    change_bytes(path, 2000, 77);
}

#if WITH_OPENEXR
TEST(damaged_mipmaps) {
    OWN(image) *img =
        MAKE("R:half", 0, 0, 20, 13, .packing = COMPRESSION_ZIP, .tile_w = 8, .tile_h = 8);
    const char *path = make_path("mip.exr");
    assert_true(ref_exr_write(path, img, REF_RIPMAP));
    cut_everywhere(path, false);
    change_bytes(path, 2000, 78);
}
#endif

TEST(damaged_files_of_other_formats) {
    static const struct {
        const char *name, *channels;
        bool whole_only; /* a PNG file is a picture before its last bytes */
    } OTHER[] = {{"a.pfm", "R:float G:float B:float", true},
                 {"b.pfm", "Y:float", true},
                 {"a.png", "R:float G:float B:float A:float", false},
                 {"b.png", "Y:float", false}};
    for (size_t i = 0; i < COUNT(OTHER); i++) {
        OWN(image) *img = MAKE(OTHER[i].channels, 0, 0, 23, 11);
        const char *path = make_path(OTHER[i].name);
        CHECK_OK(image_save(path, img, make_threads(), &e));
        cut_everywhere(path, OTHER[i].whole_only);
        change_bytes(path, CORRUPTIONS, i);
    }
    uint8_t hdr[400] = "#?RADIANCE\n\n-Y 11 +X 23\n";
    size_t n = strlen((char *)hdr);
    for (int y = 0; y < 11; y++) /* of each line and component: a run of 20, and three bytes */
        for (int c = -1; c < 4; c++) {
            memcpy(hdr + n, c < 0 ? (uint8_t[]){2, 2, 0, 23} : (uint8_t[]){128 + 20, 7, 3, 1}, 4);
            n += 4;
            for (int i = 0; c >= 0 && i < 2; i++) hdr[n++] = (uint8_t)(y + c);
        }
    const char *path = make_file("a.hdr", hdr, n);
    OWN(image) *img = MADE(image_load(path, NULL, make_threads(), &e));
    cut_everywhere(path, true);
    change_bytes(path, CORRUPTIONS, 9);
}

typedef struct {
    const char *attr; /* whose value is changed */
    size_t at;        /* in its value */
    uint32_t value;
    int bytes;
    const char *says;
} wrong;

static const wrong WRONG[] = {
    {"compression", 0, 200, 1, "compression 200 is unknown"},
    {"compression", 0, 10, 1, "compression 10 (HTJ2K256) is not supported"},
    {"compression", 0, 12, 1, "compression 12 (ZSTD or LJ2K) is not supported"},
    {"lineOrder", 0, 9, 1, "line order 9 is unknown"},
    {"dataWindow", 0, 500, 4, "data window (500,0)-(8,17) has -491 x 18 pixels"},
    {"dataWindow", 8, 70000, 4, "has 70001 x 18 pixels; a side may have 1 to 65536"},
    {"dataWindow", 8, 0x7fffffff, 4, "has 2147483648 x 18 pixels"},
    {"dataWindow", 8, 65000, 4, "more than the 1048576 samples"},
    {"dataWindow", 12, 15000, 4, "incomplete file: the table of 938 chunks"},
    {"displayWindow", 8, 0x80000000, 4, "display window"},
    {"displayWindow", 0, 0x80000000, 4, "has 2147483748 x 78 pixels; a side may have 1 to 65536"},
    {"displayWindow", 12, 70000, 4, "display window"},
    {"channels", 2, 7, 1, "unknown pixel type 7"},
    {"channels", 10, 2, 1, "'R' (2 x 1) is chroma-subsampled"},
    {"channels", 0, 0, 1, "there are no channels"},
    {"channels", 18, 'R', 1, "two channels with the name 'R'"},
};

/* Where the value of an attribute starts in a header: name, type, size, value. */
static size_t value_of(const uint8_t *bytes, size_t n, const char *attr) {
    size_t length = strlen(attr) + 1;
    for (size_t at = 8; at + length < n; at++)
        if (memcmp(bytes + at, attr, length) == 0)
            return at + length + strlen((const char *)bytes + at + length) + 1 + 4;
    fail_msg("no attribute %s", attr);
    return 0;
}

static void expect_error(const uint8_t *bytes, size_t n, const image_limits *limits,
                         const char *says) {
    const char *path = memory_file(bytes, n);
    image *img = image_load(path, limits, make_threads(), &e);
    assert_null(img);
    assert_int_equal(e.code, ERR_DATA);
    if (!strstr(e.msg, says)) fail_msg("'%s' does not say '%s'", e.msg, says);
}

TEST(each_error_says_what_is_wrong) {
    size_t n;
    OWN_MEM uint8_t *bytes = MADE(file_read_all(save_kind(3), 1 << 20, &n, &e));
    image_limits limits = {.samples = MOST_SAMPLES};
    for (size_t i = 0; i < COUNT(WRONG); i++) {
        const wrong *w = &WRONG[i];
        OWN_MEM uint8_t *copy = mem_raw(n, 1, "copy", &e);
        memcpy(copy, bytes, n);
        memcpy(copy + value_of(copy, n, w->attr) + w->at, &w->value, (size_t)w->bytes);
        expect_error(copy, n, &limits, w->says);
    }
}

/* A renderer that crashes leaves zeros in the table. */
TEST(unfinished_renders_are_called_incomplete) {
    size_t n;
    OWN_MEM uint8_t *bytes = MADE(file_read_all(save_kind(0), 1 << 20, &n, &e));
    size_t data = (9 * 6 + 8) * 18; /* 18 chunks of 9 pixels and their heads end the file */
    memset(bytes + n - data - 5 * 8, 0, 5 * 8);
    expect_error(bytes, n, NULL, "incomplete file: 5 of 18 chunks were never written");
}

TEST(limits_can_be_raised_and_lowered) {
    const char *path = save_kind(3);
    image_limits few = {.channels = 1}, small = {.side = 17}, none = {.samples = 18 * 9 * 2 - 1},
                 enough = {.channels = 2, .side = 103, .samples = 18 * 9 * 2, .parts = 1};
    CHECK_REFUSED(image_load(path, &few, make_threads(), &e), ERR_DATA, "more than the 1 channels");
    CHECK_REFUSED(image_load(path, &small, make_threads(), &e), ERR_DATA,
                  "a side may have 1 to 17");
    CHECK_REFUSED(image_load(path, &none, make_threads(), &e), ERR_DATA,
                  "more than the 323 samples");
    OWN(image) *img = MADE(image_load(path, &enough, make_threads(), &e));
}

/* Every allocation of a reader in turn is the one that is refused. */
TEST(no_memory_is_not_damage) {
    for (int k = 0; k < KINDS; k++) {
        if (!can_read(k)) continue;
        const char *path = save_kind(k);
        uint64_t before = mem_used();
        int refused = 0;
        for (uint64_t room = 0; room < 600000; room += 10000) {
            mem_set_limit(before + room + 1);
            OWN(image) *img = image_load(path, NULL, one_thread(), &e);
            if (!img && (e.code != ERR_MEMORY || strstr(e.msg, "damaged")))
                fail_msg("%s with %d bytes: code %d, '%s'", path, (int)room, e.code, e.msg);
            refused += !img;
        }
        mem_set_limit(0);
        assert_in_range(refused, 1, 59);
    }
}

TEST(windows_are_cut_and_grown) {
    OWN(image) *img = MAKE("R:float", 5, 7, 4, 3);
    float *v = img->plane[0][0], inner = v[4 + 1];
    assert_true(inner != 0);
    const image_box larger = {3, 6, 9, 9}, one = {6, 8, 6, 8};
    CHECK_OK(image_set_window(&img->head.part[0], img->plane[0], &larger, &e));
    v = img->plane[0][0];
    assert_true(v[2 * 7 + 3] == inner && v[0] == 0 && v[4 * 7 - 1] == 0);
    CHECK_OK(image_set_window(&img->head.part[0], img->plane[0], &one, &e));
    assert_int_equal(image_width(&img->head.part[0]), 1);
    assert_true(*(float *)img->plane[0][0] == inner);
}

/* The last test: what all the others took at most. */
TEST(memory_stayed_within_the_budget) {
    if (WITH_SAN) skip(); /* which keeps freed memory */
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    CHECK_LE(use.ru_maxrss / 1024, MOST_MB);
}

int main(void) {
    log_set_level(LOG_ERROR);
    return check_run(NULL, NULL);
}
