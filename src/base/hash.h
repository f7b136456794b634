/* hash.h - makes hashes of contents (XXH3, 128 bits), for cache keys and checksums. It is fast, and
 * not cryptographic: it does not resist an attacker who can write to the cache. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t lo, hi;
} hash128;

/* The state of XXH3, whose name this header does not show. */
typedef struct {
    uint8_t bytes[576] __attribute__((aligned(64)));
} hash_state;

hash128 hash_bytes(const void *data, size_t bytes);

/* Hash several pieces in turn, with the same result as for all of them in one block. */
void hash_begin(hash_state *s);
void hash_add(hash_state *s, const void *data, size_t bytes);
hash128 hash_end(const hash_state *s);

enum { HASH_TEXT = 33 };
/* Writes 32 lower-case hexadecimal digits and a zero. */
void hash_text(hash128 h, char out[HASH_TEXT]);
