/* label.h - writes words onto pictures, in the small letters of stb_easy_font. */
#ifndef IMAGE_LABEL_H
#define IMAGE_LABEL_H

#include <stdint.h>

/* A picture of bytes R G B, rows from the top. */
typedef struct {
    uint8_t *pixel;
    uint32_t w, h;
} label_picture;

/* Fills a box; what lies outside the picture is left out. */
void label_box(const label_picture *to, uint32_t x, uint32_t y, uint32_t w, uint32_t h,
               const uint8_t rgb[3]);
/* Writes ASCII words with their upper left corner at x, y, a dot as `scale` x `scale` pixels. */
void label_words(const label_picture *to, uint32_t x, uint32_t y, uint32_t scale, const char *words,
                 const uint8_t rgb[3]);

#endif
