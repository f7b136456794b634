#include "app/kernel/kernel_picture.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/heat.h"
#include "image/flat/png.h"

#include <math.h>
#include <string.h>

bool kernel_picture_colours(kernel_picture *to, const kernel_page *p, uint32_t most, err *e) {
    uint32_t by = ceil_div_u32(max_u32(p->w, p->h), most);
    *to = (kernel_picture){.w = ceil_div_u32(p->w, by), .h = ceil_div_u32(p->h, by)};
    size_t n = (size_t)to->w * to->h;
    double *light = mem_new(n, sizeof *light, "false colours", e), high = 0;
    float *count = mem_new(n, sizeof *count, "false colours", e);
    to->pixel = mem_raw(n, 3, "false colours", e);
    bool ok = light && count && to->pixel;
    for (uint32_t y = 0; ok && y < p->h; y++)
        for (uint32_t x = 0; x < p->w; x++) {
            size_t at = (size_t)(y / by) * to->w + x / by;
            for (uint32_t c = 0; c < p->channels; c++) {
                float v = p->plane[c][(size_t)y * p->w + x];
                light[at] += isfinite(v) ? (double)v : 0;
            }
            count[at]++;
        }
    for (size_t i = 0; ok && i < n; i++) high = fmax(high, light[i] /= (double)count[i]);
    for (size_t i = 0; ok && i < n; i++) {
        double at = light[i] > 0 ? 1 + log10(light[i] / high) / p->decades : 0;
        heat_colour((float)fmax(at, 0), to->pixel + 3 * i);
    }
    mem_free(light);
    mem_free(count);
    if (!ok) mem_free(to->pixel), to->pixel = NULL;
    return ok;
}

/* --- a picture with its scale -------------------------------------------------------------------
 */

/* Digits of 3 x 5 dots, the highest bit first; then minus. */
static const uint16_t GLYPH[] = {075557, 026227, 071747, 071717, 055711, 074717,
                                 074757, 071122, 075757, 075717, 000700};
enum { MINUS = 10 };

typedef struct {
    kernel_picture p;
    uint32_t dot; /* pixels a side */
} canvas;

static void fill_box(const kernel_picture *p, uint32_t x, uint32_t y, uint32_t w, uint32_t h,
                     const uint8_t rgb[3]) {
    for (uint32_t j = y; j < y + h && j < p->h; j++)
        for (uint32_t i = x; i < x + w && i < p->w; i++)
            memcpy(p->pixel + 3 * ((size_t)j * p->w + i), rgb, 3);
}

/* Draws a digit and returns where the next one begins. */
static uint32_t draw_glyph(const kernel_picture *p, uint32_t x, uint32_t y, uint32_t dot, int glyph,
                           const uint8_t rgb[3]) {
    for (uint32_t i = 0; i < 15; i++)
        if (GLYPH[glyph] >> (14 - i) & 1)
            fill_box(p, x + i % 3 * dot, y + i / 3 * dot, dot, dot, rgb);
    return x + 4 * dot;
}

/* Draws 1, or 10 with a small power above. */
static void draw_power(const canvas *c, uint32_t x, uint32_t y, int below, const uint8_t rgb[3]) {
    uint32_t small = max_u32(1, c->dot * 2 / 3), up = y > 2 * c->dot ? y - 2 * c->dot : 0;
    x = draw_glyph(&c->p, x, y, c->dot, 1, rgb);
    if (!below) return;
    x = draw_glyph(&c->p, x, y, c->dot, 0, rgb);
    x = draw_glyph(&c->p, x, up, small, MINUS, rgb);
    if (below >= 10) x = draw_glyph(&c->p, x, up, small, below / 10, rgb);
    draw_glyph(&c->p, x, up, small, below % 10, rgb);
}

uint8_t *kernel_picture_png(const kernel_page *k, size_t *bytes, err *e) {
    enum { SMALLEST = 480, LARGEST = 2048 };
    static const uint8_t PAPER[3] = {24, 24, 26}, PALE[3] = {225, 225, 225};
    kernel_picture made;
    uint8_t *file = NULL;
    if (!kernel_picture_colours(&made, k, LARGEST, e)) return NULL;
    /* Small kernels are shown larger, a tap as a square. */
    uint32_t by = max_u32(1, SMALLEST / max_u32(made.w, made.h));
    uint32_t w = made.w * by, h = made.h * by, side = max_u32(w, h);
    canvas c = {.dot = max_u32(3, side / 240)};
    uint32_t margin = 8 * c.dot, bar = 6 * c.dot, room = 26 * c.dot;
    c.p =
        (kernel_picture){.w = margin + w + margin + bar + room, .h = max_u32(h, 160) + 2 * margin};
    c.p.pixel = mem_raw((size_t)c.p.w * c.p.h, 3, "a picture", e);
    if (c.p.pixel) {
        fill_box(&c.p, 0, 0, c.p.w, c.p.h, PAPER);
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++)
                memcpy(c.p.pixel + 3 * ((size_t)(y + margin) * c.p.w + x + margin),
                       made.pixel + 3 * ((size_t)(y / by) * made.w + x / by), 3);
        uint32_t x = margin + w + margin, tall = c.p.h - 2 * margin;
        for (uint32_t y = 0; y < tall; y++) {
            uint8_t rgb[3];
            heat_colour(1 - (float)y / (float)(tall - 1), rgb);
            fill_box(&c.p, x, margin + y, bar, 1, rgb);
        }
        for (int d = 0; d <= (int)k->decades; d++) {
            uint32_t y = margin + (uint32_t)(tall * d / k->decades);
            uint32_t half = 5 * c.dot / 2;
            fill_box(&c.p, x + bar, min_u32(y, margin + tall - 1), 2 * c.dot, max_u32(1, c.dot / 2),
                     PALE);
            draw_power(&c, x + bar + 3 * c.dot, min_u32(y - half, c.p.h - 6 * c.dot), d, PALE);
        }
        const png_picture png = {c.p.pixel, c.p.w, c.p.h, 3};
        file = png_encode(&png, bytes, e);
    }
    mem_free(c.p.pixel);
    mem_free(made.pixel);
    return file;
}
