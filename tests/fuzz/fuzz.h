/* fuzz.h - what the fuzzers share: their entry, and a file in memory with the bytes at hand, for
 * readers that take a path. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "base/log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Puts the bytes into the file, and returns its path. */
static inline const char *fuzz_file(const uint8_t *data, size_t n) {
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        log_set_level(LOG_ERROR);
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, (off_t)n) != 0 || (n && pwrite(fd, data, n, 0) != (ssize_t)n))
        abort();
    return path;
}

#endif
