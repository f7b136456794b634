#include "image/flat/rgbe.h"

#include <math.h>
#include <string.h>

enum { NEW_SHORTEST = 8, NEW_LONGEST = 32767, RUN_FLAG = 128, RUN_LONGEST = 127, RUN_SHORTEST = 4 };

/* --- lines -------------------------------------------------------------------------------- */

static bool cut_off(err *e) {
    return err_set(e, ERR_DATA, "the file is cut off within a scan line");
}

static bool read_new(uint8_t *line, size_t n, const uint8_t **at, const uint8_t *end, err *e) {
    const uint8_t *p = *at;
    for (size_t c = 0; c < 4; c++) {
        for (size_t x = 0; x < n;) {
            if (p == end) return cut_off(e);
            size_t count = *p++;
            bool run = count > RUN_FLAG;
            if (run) count -= RUN_FLAG;
            if (count == 0 || count > n - x)
                return err_set(e, ERR_DATA, "a run of %zu pixels at %zu in a scan line of %zu",
                               count, x, n);
            if ((size_t)(end - p) < (run ? 1 : count)) return cut_off(e);
            for (size_t i = 0; i < count; i++) line[4 * (x + i) + c] = run ? *p : p[i];
            p += run ? 1 : count;
            x += count;
        }
    }
    *at = p;
    return true;
}

/* Runs in a row count in units of 1, 256, 65536: eight bits of the length each. */
static bool read_old(uint8_t *line, size_t n, const uint8_t **at, const uint8_t *end, err *e) {
    const uint8_t *p = *at;
    int shift = 0;
    for (size_t x = 0; x < n;) {
        if (end - p < 4) return cut_off(e);
        if (p[0] == 1 && p[1] == 1 && p[2] == 1) {
            size_t count = shift < 32 ? (size_t)p[3] << shift : 0;
            if (x == 0 || count > n - x || shift >= 32)
                return err_set(e, ERR_DATA, "a run of %zu pixels at %zu in a scan line of %zu",
                               count, x, n);
            for (; count > 0; count--, x++) memcpy(line + 4 * x, line + 4 * (x - 1), 4);
            shift += 8;
        } else {
            memcpy(line + 4 * x++, p, 4);
            shift = 0;
        }
        p += 4;
    }
    *at = p;
    return true;
}

bool rgbe_read_line(uint8_t *line, size_t n, const uint8_t **at, const uint8_t *end, err *e) {
    const uint8_t *p = *at;
    bool is_new = n >= NEW_SHORTEST && n <= NEW_LONGEST && end - p >= 4 && p[0] == 2 && p[1] == 2 &&
                  !(p[2] & 0x80);
    if (!is_new) return read_old(line, n, at, end, e);
    size_t says = (size_t)p[2] << 8 | p[3];
    if (says != n)
        return err_set(e, ERR_DATA, "a scan line says it has %zu pixels, not %zu", says, n);
    *at += 4;
    return read_new(line, n, at, end, e);
}

size_t rgbe_bound(size_t n) {
    return 4 + 4 * (n + n / RUN_FLAG + 1);
}

/* From x on: how many bytes are the same, at most what one run holds. */
static size_t run_at(const uint8_t *from, size_t x, size_t n) {
    size_t count = 1;
    while (x + count < n && count < RUN_LONGEST && from[4 * (x + count)] == from[4 * x]) count++;
    return count;
}

static uint8_t *write_component(uint8_t *to, const uint8_t *from, size_t n) {
    for (size_t x = 0; x < n;) {
        size_t run = run_at(from, x, n), start = x;
        if (run >= RUN_SHORTEST) {
            *to++ = (uint8_t)(RUN_FLAG + run);
            *to++ = from[4 * x];
            x += run;
            continue;
        }
        while (x < n && x - start < RUN_FLAG && run_at(from, x, n) < RUN_SHORTEST) x++;
        *to++ = (uint8_t)(x - start);
        for (size_t i = start; i < x; i++) *to++ = from[4 * i];
    }
    return to;
}

size_t rgbe_write_line(uint8_t *to, const uint8_t *line, size_t n) {
    if (n < NEW_SHORTEST || n > NEW_LONGEST) {
        memcpy(to, line, 4 * n);
        return 4 * n;
    }
    uint8_t *at = to;
    *at++ = 2;
    *at++ = 2;
    *at++ = (uint8_t)(n >> 8);
    *at++ = (uint8_t)n;
    for (int c = 0; c < 4; c++) at = write_component(at, line + c, n);
    return (size_t)(at - to);
}

/* --- pixels ------------------------------------------------------------------------------- */

void rgbe_to_floats(float *to, const uint8_t *from, size_t n) {
    float unit[256];
    unit[0] = 0; /* an exponent of 0 means black */
    for (int i = 1; i < 256; i++) unit[i] = ldexpf(1, i - 136);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            to[3 * i + c] = (float)from[4 * i + c] * unit[from[4 * i + 3]];
}

static float usable(float v) {
    const float largest = ldexpf(255, 255 - 136);
    if (!(v > 0)) return 0;
    return v < largest ? v : largest;
}

static void from_floats(uint8_t *to, const float *from) {
    float v[3] = {usable(from[0]), usable(from[1]), usable(from[2])};
    float most = fmaxf(fmaxf(v[0], v[1]), v[2]);
    int e;
    frexpf(most, &e); /* most < 2^e */
    /* The largest mantissa is rounded to 128..255, or once more to 256: then one step up. */
    if (rintf(ldexpf(most, 8 - e)) > 255) e++;
    if (e < -127) e = -127; /* the smallest exponent, with smaller mantissas */
    memset(to, 0, 4);
    if (most == 0) return;
    for (int c = 0; c < 3; c++) to[c] = (uint8_t)rintf(ldexpf(v[c], 8 - e));
    to[3] = (uint8_t)(e + 128);
}

void rgbe_from_floats(uint8_t *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) from_floats(to + 4 * i, from + 3 * i);
}
