#include "base/hash.h"

#include "base/mem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct hash_state {
    XXH3_state_t *xxh;
};

hash128 hash_bytes(const void *data, size_t bytes) {
    XXH128_hash_t h = XXH3_128bits(data, bytes);
    return (hash128){h.low64, h.high64};
}

hash_state *hash_begin(void) {
    hash_state *s = calloc(1, sizeof *s);
    if (!s || !(s->xxh = XXH3_createState())) mem_exhausted("a content hash");
    XXH3_128bits_reset(s->xxh);
    return s;
}

void hash_add(hash_state *s, const void *data, size_t bytes) {
    XXH3_128bits_update(s->xxh, data, bytes);
}

hash128 hash_end(hash_state **s) {
    XXH128_hash_t h = XXH3_128bits_digest((*s)->xxh);
    XXH3_freeState((*s)->xxh);
    free(*s);
    *s = NULL;
    return (hash128){h.low64, h.high64};
}

void hash_text(hash128 h, char out[HASH_TEXT]) {
    snprintf(out, HASH_TEXT, "%016" PRIx64 "%016" PRIx64, h.hi, h.lo);
}
