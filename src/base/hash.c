#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>

hash128 hash_bytes(const void *data, size_t bytes) {
    XXH128_hash_t h = XXH3_128bits(data, bytes);
    return (hash128){h.low64, h.high64};
}

_Static_assert(sizeof(hash_state) == sizeof(XXH3_state_t), "a hash_state is an XXH3_state_t");

void hash_begin(hash_state *s) {
    XXH3_INITSTATE((XXH3_state_t *)s);
    XXH3_128bits_reset((XXH3_state_t *)s);
}

void hash_add(hash_state *s, const void *data, size_t bytes) {
    XXH3_128bits_update((XXH3_state_t *)s, data, bytes);
}

hash128 hash_end(const hash_state *s) {
    XXH128_hash_t h = XXH3_128bits_digest((const XXH3_state_t *)s);
    return (hash128){h.low64, h.high64};
}

void hash_text(hash128 h, char out[HASH_TEXT]) {
    snprintf(out, HASH_TEXT, "%016" PRIx64 "%016" PRIx64, h.hi, h.lo);
}
