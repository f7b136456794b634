/* The corpus of the fuzzers, without a fuzzer: the seeds, every file that was once a finding, and
 * texts that are a few changes away from one. This test sees that nothing hangs or aborts; the
 * sanitizers (make SAN=1) see the rest. */
#define LLVMFuzzerTestOneInput fuzz_image
#include "fuzz/fuzz_image.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_zip
#include "fuzz/fuzz_zip.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_text
#include "fuzz/fuzz_text.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_spectrum
#include "fuzz/fuzz_spectrum.c"
#undef LLVMFuzzerTestOneInput
#include "base/file.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <glob.h>

/* One change to a text: a byte, a token of JSON, a cut, or a piece copied elsewhere. */
static size_t mutate(char *s, size_t n, size_t room, uint64_t *seed) {
    static const char *const TOKEN[] = {
        "{",  "}",       "[",    "]",  ",",  ":",    "\"",    "\\",     "null",         "1e999",
        "-0", "\\u0000", "\xff", "//", "\n", "true", "\"a\"", "[[[[[[", "\"version\":", "\\ud800"};
    size_t at = make_below(seed, (uint32_t)n), to = make_below(seed, (uint32_t)n), some;
    const char *t = TOKEN[make_below(seed, COUNT(TOKEN))];
    switch (make_below(seed, 4)) {
    case 0: s[at] = (char)make_below(seed, 256); return n;
    case 1:
        some = strlen(t);
        if (n + some > room) return n;
        memmove(s + at + some, s + at, n - at);
        memcpy(s + at, t, some);
        return n + some;
    case 2:
        some = make_below(seed, 12);
        if (at + some >= n) some = n - at - 1;
        memmove(s + at, s + at + some, n - at - some);
        return n - some;
    default:
        some = make_below(seed, 40);
        if (at + some <= n && to + some <= n) memmove(s + to, s + at, some);
        return n;
    }
}

/* The first byte of a text chooses its reader, and stays. */
static void run_mutations(const uint8_t *bytes, size_t n, int (*target)(const uint8_t *, size_t)) {
    enum { RUNS = 700, ROOM = 4096 };
    for (uint64_t seed = 0; seed < RUNS && n > 2 && n < ROOM; seed++) {
        uint64_t stream = seed;
        char copy[ROOM];
        size_t m = n - 1;
        memcpy(copy, bytes, n);
        for (uint32_t k = 1 + make_below(&stream, 6); k > 0; k--)
            m = mutate(copy + 1, m, ROOM - 1, &stream);
        target((const uint8_t *)copy, m + 1);
    }
}

static void run_folder(const char *name, size_t least, bool mutated,
                       int (*target)(const uint8_t *, size_t)) {
    const char *root = getenv("FFTBLOOM_ROOT");
    char pattern[400];
    glob_t all;
    snprintf(pattern, sizeof pattern, "%s/testdata/corpus/%s/*", root ? root : ".", name);
    assert_int_equal(glob(pattern, 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        size_t n;
        OWN_MEM uint8_t *bytes = MADE(file_read_all(all.gl_pathv[i], 1 << 20, &n, &e));
        target(bytes, n);
        if (mutated) run_mutations(bytes, n, target);
    }
    assert_true(all.gl_pathc >= least);
    globfree(&all);
}

TEST(images) {
    run_folder("image", 20, false, fuzz_image);
    run_folder("image", 20, false, fuzz_zip);
}

TEST(texts) {
    run_folder("text", 10, true, fuzz_text);
}

TEST(spectra) {
    run_folder("spectrum", 2, false, fuzz_spectrum);
}

RUN_TESTS(NULL, NULL)
