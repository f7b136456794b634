#include "image/flat/label.h"

#include <stb/stb_easy_font.h>
#include <stdio.h>
#include <string.h>

void label_box(const label_picture *to, uint32_t x, uint32_t y, uint32_t w, uint32_t h,
               const uint8_t rgb[3]) {
    for (uint32_t j = y; j < y + h && j < to->h; j++)
        for (uint32_t i = x; i < x + w && i < to->w; i++)
            memcpy(to->pixel + 3 * ((size_t)j * to->w + i), rgb, 3);
}

void label_words(const label_picture *to, uint32_t x, uint32_t y, uint32_t scale, const char *words,
                 const uint8_t rgb[3]) {
    struct {
        float x, y, z;
        uint8_t colour[4];
    } corner[4 * 1500];
    char room[100];
    snprintf(room, sizeof room, "%s", words);
    int quads = stb_easy_font_print(0, 0, room, NULL, corner, sizeof corner);
    for (int q = 0; q < quads; q++) { /* corners 0 and 2 lie across from each other */
        const float x0 = corner[4 * q].x, y0 = corner[4 * q].y;
        const float x1 = corner[4 * q + 2].x, y1 = corner[4 * q + 2].y;
        label_box(to, x + (uint32_t)(x0 * (float)scale), y + (uint32_t)(y0 * (float)scale),
                  (uint32_t)((x1 - x0) * (float)scale), (uint32_t)((y1 - y0) * (float)scale), rgb);
    }
}
