/* mutate.h - seeded changes to a JSON text, for tests that must survive any. */
#ifndef UNIT_MUTATE_H
#define UNIT_MUTATE_H

#include <stdint.h>
#include <string.h>

static uint32_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(random_state >> 8) * below) >> 24);
}

/* One change: a byte, a token of JSON, a cut, or a piece copied elsewhere. */
static size_t mutate(char *s, size_t n, size_t room) {
    static const char *const TOKEN[] = {
        "{",  "}",       "[",    "]",  ",",  ":",    "\"",    "\\",     "null",         "1e999",
        "-0", "\\u0000", "\xff", "//", "\n", "true", "\"a\"", "[[[[[[", "\"version\":", "\\ud800"};
    uint32_t at = next_random((uint32_t)n);
    switch (next_random(4)) {
    case 0: s[at] = (char)next_random(256); return n;
    case 1: {
        const char *t = TOKEN[next_random(sizeof TOKEN / sizeof TOKEN[0])];
        size_t m = strlen(t);
        if (n + m > room) return n;
        memmove(s + at + m, s + at, n - at);
        memcpy(s + at, t, m);
        return n + m;
    }
    case 2: {
        size_t m = next_random(12);
        if (at + m >= n) m = n - at - 1;
        memmove(s + at, s + at + m, n - at - m);
        return n - m;
    }
    default: {
        size_t m = next_random(40), to = next_random((uint32_t)n);
        if (at + m > n || to + m > n) return n;
        memmove(s + to, s + at, m);
        return n;
    }
    }
}

#endif
