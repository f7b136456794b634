/* street.h - a street at night, for tests and benchmarks: a dark plate with log-normal grain, and
 * lights of 2 x 2 pixels anywhere in it, from 10 to 10,000. */
#ifndef UNIT_STREET_H
#define UNIT_STREET_H

#include "unit/glare.h"

static inline image *street_image(const char *channels, uint32_t w, uint32_t h, uint32_t lights) {
    image *img = glare_image(channels, w, h);
    uint64_t seed = 1;
    int planes = img->head.part[0].channels;
    for (uint32_t i = 0; i < w * h; i++) { /* twelve chances are nearly Gaussian */
        double gauss = -6;
        for (int k = 0; k < 12; k++) gauss += make_chance(&seed);
        for (int c = 0; c < planes; c++) glare_put(img, c, i, (float)(0.01 * exp(gauss)));
    }
    for (uint32_t n = 0; n < lights; n++) {
        uint32_t x = (uint32_t)(make_chance(&seed) * (w - 1)),
                 y = (uint32_t)(make_chance(&seed) * (h - 1));
        double v = pow(10, 1 + 3 * make_chance(&seed));
        for (int c = 0; c < planes; c++) {
            float tint = (float)(v * (0.4 + 0.6 * make_chance(&seed)));
            for (uint32_t i = 0; i < 4; i++)
                glare_put(img, c, (size_t)(y + i / 2) * w + x + i % 2, tint);
        }
    }
    return img;
}

#endif
