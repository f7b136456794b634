/* The corpus of the fuzzer, without a fuzzer: the seeds, and every file that was once a finding.
 * This test sees that nothing hangs or aborts; the sanitizers (make SAN=1) see the rest. */
#include "base/file.h"
#include "base/mem.h"
#include "fuzz/fuzz_image.c"
#include "unit/check.h"

#include <dirent.h>
#include <string.h>

TEST(every_file_of_the_corpus) {
    const char *root = getenv("FFTBLOOM_ROOT");
    char folder[400], path[800];
    snprintf(folder, sizeof folder, "%s/testdata/corpus", root ? root : ".");
    DIR *d = opendir(folder);
    assert_non_null(d);
    int files = 0;
    for (struct dirent *f; (f = readdir(d));) {
        if (f->d_name[0] == '.') continue;
        err e = {0};
        size_t n;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        uint8_t *bytes = file_read_all(path, 1 << 20, &n, &e);
        CHECK_OK(bytes, e);
        LLVMFuzzerTestOneInput(bytes, n);
        mem_free(bytes);
        files++;
    }
    closedir(d);
    assert_true(files > 10);
}

int main(void) {
    return check_run(NULL, NULL);
}
