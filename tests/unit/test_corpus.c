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
#include "base/file.h"
#include "unit/check.h"

#include <dirent.h>

static void run_folder(const char *name, int least, int (*target)(const uint8_t *, size_t)) {
    const char *root = getenv("FFTBLOOM_ROOT");
    char folder[400], path[800];
    snprintf(folder, sizeof folder, "%s/testdata/corpus/%s", root ? root : ".", name);
    DIR *d = opendir(folder);
    assert_non_null(d);
    int files = 0;
    for (struct dirent *f; (f = readdir(d));) {
        if (f->d_name[0] == '.') continue;
        size_t n;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        uint8_t *bytes = file_read_all(path, 1 << 20, &n, &e);
        CHECK_OK(bytes);
        target(bytes, n);
        mem_free(bytes);
        files++;
    }
    closedir(d);
    assert_true(files >= least);
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

RUN_TESTS(NULL, NULL)
