/* file_bytes.h - files from bytes, and what comes of reading them, for the tests of formats. */
#ifndef TESTS_FILE_BYTES_H
#define TESTS_FILE_BYTES_H

#include "unit/load_save.h"

static inline void refuse(const char *path, const char *says) {
    CHECK_REFUSED(image_load(path, NULL, make_threads(), &e), ERR_DATA, says);
}

static inline float sample(const image *img, const char *channel, uint32_t x, uint32_t y) {
    const image_part *p = &img->head.part[0];
    int c = image_find_channel(p, channel);
    assert_true(c >= 0);
    float v;
    image_to_float(&v, img->plane[0][c], p->channel[c].type, y * image_width(p) + x, 1);
    return v;
}

/* A file of text and pixels. */
typedef struct {
    uint8_t bytes[4096];
    size_t n;
} buffer;

static inline void add(buffer *b, const void *bytes, size_t n) {
    assert_true(b->n + n <= sizeof b->bytes);
    if (n) memcpy(b->bytes + b->n, bytes, n);
    b->n += n;
}

static inline void add_text(buffer *b, const char *s) {
    add(b, s, strlen(s));
}

#endif
