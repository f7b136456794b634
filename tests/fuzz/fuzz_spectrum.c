/* fuzz_spectrum.c - any bytes as a .spectrum file. The length, the kernel's hash and the checksum
 * are made right first, for else nothing behind them would ever be read.
 *
 * `make fuzz` builds it with libFuzzer; tests/unit/test_corpus.c runs the corpus through it. */
#include "fuzz/fuzz.h"
#include "kernel/spectrum_file.h"

#include <string.h>

/* Where the head of docs/inside/formats.md has its fields. */
enum { BYTES = 16, WIDTH = 24, HASH = 120, HEAD = 136, SUM = 16 };

static void make_right(uint8_t *file, uint64_t n) {
    uint32_t is[5];
    memcpy(file + BYTES, &n, sizeof n);
    memcpy(is, file + WIDTH, sizeof is);
    psf k = {.w = is[0], .h = is[1], .channels = is[2], .cx = is[3], .cy = is[4]};
    if (k.w <= 64 && k.h <= 64 && k.channels <= PSF_CHANNELS &&
        HEAD + k.channels * (16 + 4 * k.w * k.h) + SUM <= n) {
        memcpy(k.scale, file + HEAD, 8 * k.channels);
        memcpy(k.sum, file + HEAD + 8 * k.channels, 8 * k.channels);
        k.tap = (float *)(void *)(file + HEAD + 16 * k.channels);
        hash128 hash = psf_hash(&k);
        memcpy(file + HASH, &hash, sizeof hash);
    }
    hash128 sum = hash_bytes(file, n - SUM);
    memcpy(file + n - SUM, &sum, sizeof sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    err e = {0};
    spectrum s;
    uint8_t *file = malloc(n + !n);
    if (!file) abort();
    memcpy(file, data, n);
    if (n >= HEAD + SUM) make_right(file, n);
    if (spectrum_file_read(&s, fuzz_file(file, n), &e))
        spectrum_free(&s);
    else if (e.code == ERR_INTERNAL)
        abort();
    free(file);
    return 0;
}
