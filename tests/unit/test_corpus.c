/* The corpus of the fuzzers, without a fuzzer: the seeds, and every file that was once a finding.
 * This test sees that nothing hangs or aborts; the sanitizers (make SAN=1) see the rest. */
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
#define LLVMFuzzerTestOneInput fuzz_lib
#include "fuzz/fuzz_lib.c"
#undef LLVMFuzzerTestOneInput
#include "base/file.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <glob.h>

static void run_folder(const char *name, size_t least, int (*target)(const uint8_t *, size_t)) {
    const char *root = getenv("FFTBLOOM_ROOT");
    char pattern[400];
    glob_t all;
    snprintf(pattern, sizeof pattern, "%s/testdata/corpus/%s/*", root ? root : ".", name);
    assert_int_equal(glob(pattern, 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        size_t n;
        OWN_MEM uint8_t *bytes = MADE(file_read_all(all.gl_pathv[i], 1 << 20, &n, &e));
        target(bytes, n);
    }
    assert_true(all.gl_pathc >= least);
    globfree(&all);
}

TEST(images) {
    run_folder("image", 20, fuzz_image);
    run_folder("image", 20, fuzz_zip);
}

TEST(texts) {
    run_folder("text", 10, fuzz_text);
}

TEST(spectra) {
    run_folder("spectrum", 2, fuzz_spectrum);
}

TEST(calls_of_the_library) {
    run_folder("lib", 1, fuzz_lib);
}

RUN_TESTS(NULL, NULL)
