/* png.h - makes PNG and JPEG files of 8 bits from bytes, for pictures to look at, and writes words
 * onto such pictures, in the small letters of stb_easy_font. It knows nothing of light. */
#pragma once

#include "base/text.h"

typedef struct {
    const uint8_t *pixel; /* rows from the top, `channels` bytes a pixel, colour as sRGB */
    uint32_t width, height;
    int channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; colour not multiplied by alpha */
} png_picture;

/* Returns the file, of *bytes bytes, to be freed with mem_free. */
uint8_t *png_encode(const png_picture *p, size_t *bytes, err *e);
/* Adds the JPEG file of a picture with 3 channels, a tenth as large. `quality` is 1 to 100. */
bool png_encode_jpeg(text *to, const png_picture *p, int quality, err *e);

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
