/* hash.h - makes hashes of contents (XXH3, 128 bits), for cache keys and checksums.
 *
 * Hashing is fast enough to cost nothing beside reading a kernel. It is not cryptographic: it tells
 * different contents apart, but does not resist an attacker who can write to the cache. The module
 * does not know what is hashed. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t lo, hi;
} hash128;

typedef struct hash_state hash_state;

/* Returns the hash of one block of bytes. */
hash128 hash_bytes(const void *data, size_t bytes);

/* Hash several pieces in turn, with the same result as for all of them in one block. hash_begin
 * ends the program if there is no memory (mem_exhausted); hash_end frees the state. */
hash_state *hash_begin(void);
void hash_add(hash_state *s, const void *data, size_t bytes);
hash128 hash_end(hash_state **s);

enum { HASH_TEXT = 33 };
/* Writes 32 lower-case hexadecimal digits and a zero. */
void hash_text(hash128 h, char out[HASH_TEXT]);

#endif
