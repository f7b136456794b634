/* load_save.h - a whole file read or written in a test that fails where that does. */
#ifndef TESTS_LOAD_SAVE_H
#define TESTS_LOAD_SAVE_H

#include "image/format.h"
#include "unit/check.h"
#include "unit/make_image.h"

static inline image *load(const char *path) {
    image *img = MADE(image_load(path, NULL, make_threads(), &e));
    return img;
}

static inline void save(const char *path, const image *img) {
    CHECK_OK(image_save(path, img, make_threads(), &e));
}

#endif
