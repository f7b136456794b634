#include "base/hash.h"

#include "base/mem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>

hash128 hash_bytes(const void *data, size_t bytes) {
    XXH128_hash_t h = XXH3_128bits(data, bytes);
    return (hash128){h.low64, h.high64};
}

/* A hash_state is an XXH3_state_t, whose name the header does not show. */
hash_state *hash_begin(void) {
    XXH3_state_t *s = XXH3_createState();
    if (!s) mem_exhausted("a content hash");
    XXH3_128bits_reset(s);
    return (hash_state *)s;
}

void hash_add(hash_state *s, const void *data, size_t bytes) {
    XXH3_128bits_update((XXH3_state_t *)s, data, bytes);
}

hash128 hash_end(hash_state **s) {
    XXH128_hash_t h = XXH3_128bits_digest((XXH3_state_t *)*s);
    XXH3_freeState((XXH3_state_t *)*s);
    *s = NULL;
    return (hash128){h.low64, h.high64};
}

void hash_text(hash128 h, char out[HASH_TEXT]) {
    snprintf(out, HASH_TEXT, "%016" PRIx64 "%016" PRIx64, h.hi, h.lo);
}
