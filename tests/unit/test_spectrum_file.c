/* .spectrum files: what is written is read, and anything else is refused with a sentence. */
#include "base/file.h"
#include "base/hash.h"
#include "kernel/spectrum_file.h"
#include "unit/kernels.h"
#include "unit/make_image.h"

#include <sys/stat.h>
#include <unistd.h>

static char path[600];
static uint8_t *good; /* the bytes of a good file */
static size_t size;
static const size_t HEAD = 136;

static spectrum make(kernel_kind kind, uint32_t w, uint32_t h, uint32_t channels) {
    OWN(psf) k = kernel_make(kind, w, h, channels, w / 3, h - 1);
    spectrum s;
    CHECK_OK(spectrum_make(&s, &k, make_threads(), &e));
    return s;
}

FIXTURE(set_up) {
    snprintf(path, sizeof path, "%s", make_path("k.spectrum"));
    spectrum s = make(STAR, 7, 5, 2);
    CHECK_OK(spectrum_file_write(path, &s, &e));
    spectrum_free(&s);
    good = file_read_all(path, 1 << 20, &size, &e);
    return good ? 0 : 1;
}

FIXTURE(tear_down) {
    mem_free(good);
    return 0;
}

static void check_round_trip(spectrum s) {
    OWN(spectrum) r;
    CHECK_OK(spectrum_file_write(path, &s, &e));
    assert_true(spectrum_file_is(path));
    CHECK_OK(spectrum_file_read(&r, path, &e));
    const psf *a = &s.kernel, *b = &r.kernel;
    assert_true(a->w == b->w && a->h == b->h && a->channels == b->channels);
    assert_true(a->cx == b->cx && a->cy == b->cy && s.m[0] == r.m[0] && s.m[1] == r.m[1]);
    assert_memory_equal(a->scale, b->scale, a->channels * sizeof *a->scale);
    assert_memory_equal(a->sum, b->sum, a->channels * sizeof *a->sum);
    assert_memory_equal(a->tap, b->tap, (size_t)a->w * a->h * a->channels * sizeof *a->tap);
    assert_memory_equal(s.value, r.value, spectrum_floats(&s) * sizeof *s.value);
    CHECK_OK(psf_made_with(b, &a->made, &e));
    assert_memory_equal(a->made.luminance, b->made.luminance, sizeof a->made.luminance);
    spectrum_free(&s);
}

TEST(round_trips) {
    check_round_trip(make(RANDOM, 1, 1, 1));
    check_round_trip(make(STAR, 7, 5, 2));
    check_round_trip(make(POWER_LAW, 64, 31, 3));
    check_round_trip(make(RANDOM, 3, 90, PSF_CHANNELS));
}

/* Two writings give the same bytes: no time, no name in it, no memory that was never set. */
TEST(the_same_bytes_again) {
    OWN(spectrum) s = make(STAR, 7, 5, 2);
    CHECK_OK(spectrum_file_write(path, &s, &e));
    size_t n;
    OWN_MEM uint8_t *again = file_read_all(path, 1 << 20, &n, &e);
    assert_true(n == size);
    assert_memory_equal(again, good, n);
}

/* Refused, with words of the sentence (NULL: any), and nothing written to the result. */
static void refused(const uint8_t *data, size_t n, const char *words) {
    make_file("k.spectrum", data, n);
    spectrum s, before;
    memset(&s, 0x5a, sizeof s);
    before = s;
    if (spectrum_file_read(&s, path, &e)) fail_msg("%zu bytes were taken for a spectrum", n);
    assert_memory_equal(&s, &before, sizeof s);
    assert_int_equal(e.code, ERR_DATA);
    if (!strstr(e.msg, path)) fail_msg("'%s' does not name the file", e.msg);
    if (words && !strstr(e.msg, words)) fail_msg("'%s' does not say '%s'", e.msg, words);
}

TEST(cut_short) {
    /* In the magic, the sizes, the head's end, scale, taps, values, checksum. */
    const size_t cuts[] = {0,         1,         7,        8,         12,        HEAD - 1, HEAD,
                           HEAD + 15, HEAD + 40, size / 2, size - 17, size - 16, size - 1};
    for (size_t i = 0; i < COUNT(cuts); i++)
        refused(good, cuts[i], cuts[i] < HEAD ? "too few" : "cut short");
    OWN_MEM uint8_t *longer = mem_new(size + 5, 1, "bytes", NULL);
    memcpy(longer, good, size);
    refused(longer, size + 5, "5 bytes follow");
}

/* Every bit of the head, and bits all over the rest. */
TEST(any_bit_flipped) {
    uint64_t seed = 7;
    for (size_t i = 0; i < HEAD * 8 + 300; i++) {
        size_t bit = i < HEAD * 8 ? i : make_random(&seed) % (size * 8);
        good[bit / 8] ^= (uint8_t)(1u << bit % 8);
        refused(good, size, NULL);
        good[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void refused_with(size_t at, const void *bytes, size_t n, const char *words) {
    OWN_MEM uint8_t *bad = mem_raw(size, 1, "bytes", NULL);
    memcpy(bad, good, size);
    memcpy(bad + at, bytes, n);
    hash128 sum = hash_bytes(bad, size - sizeof sum);
    memcpy(bad + size - sizeof sum, &sum, sizeof sum);
    refused(bad, size, words);
}

/* Version 1 was the same for square pixels. */
TEST(the_first_version) {
    OWN(spectrum) s = make(STAR, 7, 5, 2), r;
    size_t n;
    CHECK_OK(spectrum_file_write(path, &s, &e));
    OWN_MEM uint8_t *old = file_read_all(path, 1 << 20, &n, &e);
    old[8] = 1;
    hash128 sum = hash_bytes(old, n - sizeof sum);
    memcpy(old + n - sizeof sum, &sum, sizeof sum);
    make_file("k.spectrum", old, n);
    CHECK_OK(spectrum_file_read(&r, path, &e));
    assert_true(r.kernel.made.wide == 1);
    assert_memory_equal(s.value, r.value, spectrum_floats(&s) * sizeof *s.value);
}

/* A kernel that is turned has its angle behind all that version 2 has. */
TEST(a_turn) {
    static const float tap[6] = {1, 2, 3, 4, 5, 6};
    const float *plane = tap;
    psf k;
    CHECK_OK(psf_make(&k, &(psf_planes){3, 2, 1, &plane, NULL}, &(psf_options){.turn = -30}, &e));
    spectrum s;
    CHECK_OK(spectrum_make(&s, &k, make_threads(), &e));
    psf_free(&k);
    check_round_trip(s);
    size_t n;
    OWN_MEM uint8_t *file = file_read_all(path, 1 << 20, &n, &e);
    assert_true(file[8] == 3 && file[12] == 144);
    for (double wrong = 0; wrong <= 360; wrong += 360) {
        memcpy(file + HEAD, &wrong, sizeof wrong);
        hash128 sum = hash_bytes(file, n - sizeof sum);
        memcpy(file + n - sizeof sum, &sum, sizeof sum);
        refused(file, n, "a turn of ");
    }
}

static void refused_u32(size_t at, uint32_t value, const char *words) {
    refused_with(at, &value, sizeof value, words);
}

TEST(wrong_on_purpose) {
    refused_with(0, "\x89PNG", 4, "does not begin as a .spectrum");
    refused_u32(8, 4, "version 4, newer than the 3");
    refused_u32(8, 3, "136 bytes of head and 8 filter taps; 144 and 8");
    refused_u32(8, 0, "its version is 0");
    refused_u32(12, 144, "144 bytes of head");
    refused_u32(24, 0, "0 x 5 taps");
    refused_u32(24, 4000000000u, "4000000000 x 5 taps");
    refused_u32(32, 1000, "1000 channels");
    refused_u32(32, 3, "claims to have");
    refused_u32(36, 7, "the centre 7");
    refused_u32(44, 24, "the grid 24 x 10");
    refused_u32(52, 6, "6 filter taps");
    refused_u32(56, 9, "normalize 9");
    refused_u32(60, 5, "kernel_center 5");
    refused_u32(64, 2, "correlate 2");
    refused_u32(68, 0x7fc00000, "a width of nan by the height, in version 2");
    uint32_t squeezed[16];
    float half = -0.5f;
    memcpy(squeezed, good + 8, sizeof squeezed);
    squeezed[0] = 1;
    memcpy(&squeezed[15], &half, sizeof half);
    refused_with(8, squeezed, sizeof squeezed, "a width of 0.5 by the height, in version 1");
    /* 32768 x 32768 taps are allowed by themselves; the length says no before memory is asked for.
     */
    static const uint32_t huge[] = {32768, 32768, 2, 0, 0, 65536, 65536};
    refused_with(24, huge, sizeof huge, "claims to have");
    static const float not_a_number = NAN, one = 1;
    refused_with(HEAD + 4 * 8, &not_a_number, 4, "not finite");
    refused_with(size - 16 - 4, &not_a_number, 4, "not finite");
    static const double infinite = INFINITY;
    refused_with(HEAD, &infinite, 8, "not finite");
    refused_with(HEAD + 4 * 8 + 12, &one, 4, "not the one whose hash");
}

TEST(other_files) {
    spectrum s;
    assert_false(spectrum_file_is("/nowhere/k.spectrum"));
    CHECK_REFUSED(spectrum_file_read(&s, "/nowhere/k.spectrum", &e), ERR_NO_INPUT, "");
    assert_false(spectrum_file_is(make_path(".")));
    make_file("k.spectrum",
              "\x89"
              "FB",
              3);
    assert_false(spectrum_file_is(path));
    make_text("k.spectrum", "# no spectrum at all\n");
    assert_false(spectrum_file_is(path));

    OWN(spectrum) k = make(RANDOM, 2, 2, 1);
    e = (err){0};
    assert_false(spectrum_file_write("/nowhere/k.spectrum", &k, &e));
    assert_true(e.code == ERR_CANT_CREATE || e.code == ERR_NO_INPUT);
}

RUN_TESTS(set_up, tear_down)
