/* bytes.h - the bytes of a fuzzer's input, one after the other; behind the last one all are 0. */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

typedef struct {
    const uint8_t *at, *end;
} bytes;

static inline uint8_t byte(bytes *b) {
    return b->at < b->end ? *b->at++ : 0;
}

static inline void fill(bytes *b, void *to, size_t n) {
    for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = byte(b);
}

#endif
