/* fuzz_zip.c - any bytes through the encoder of ZIP and back. The first byte says how often the
 * bytes stand one after the other, so that small inputs make chunks of several blocks.
 *
 * `make fuzz` builds it with libFuzzer. */
#include "fuzz/fuzz.h"
#include "image/exr/exr_chunk.h"

#include <libdeflate.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static exr_zip *zip;
    static struct libdeflate_decompressor *unzip;
    err e = {0};
    if (!zip) zip = exr_zip_new(SIZE_MAX, &e);
    if (!unzip) unzip = libdeflate_alloc_decompressor();
    if (n < 2) return 0;
    size_t one = n - 1, all = one * (1 + data[0]), room = exr_zip_bound(all);
    uint8_t *bytes = malloc(all), *packed = malloc(room), *back = malloc(all);
    if (!zip || !unzip || !bytes || !packed || !back) abort();
    for (size_t i = 0; i < all; i += one) memcpy(bytes + i, data + 1, one);
    size_t size = exr_zip_pack(zip, bytes, all, packed);
    if (size > room || libdeflate_zlib_decompress(unzip, packed, size, back, all, NULL) != 0 ||
        memcmp(bytes, back, all) != 0)
        abort();
    free(bytes);
    free(packed);
    free(back);
    return 0;
}
