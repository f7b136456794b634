/* hash.h - content hashes (XXH3, 128 bits): cache keys and checksums.
 *
 * Fast enough that hashing a kernel costs nothing beside reading it. Not cryptographic: it tells
 * different contents apart, it does not resist an attacker who may write to the cache. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t lo, hi;
} hash128;

typedef struct hash_state hash_state;

hash128 hash_bytes(const void *data, size_t bytes);

/* Of several pieces in turn: the same as of their concatenation. */
hash_state *hash_begin(void);
void hash_add(hash_state *s, const void *data, size_t bytes);
hash128 hash_end(hash_state **s); /* frees the state */

enum { HASH_TEXT = 33 };
/* 32 lower-case hexadecimal digits and a zero. */
void hash_text(hash128 h, char out[HASH_TEXT]);

#endif
