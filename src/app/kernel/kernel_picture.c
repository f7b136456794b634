#include "app/kernel/kernel_picture.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/heat.h"
#include "image/flat/label.h"
#include "image/flat/png.h"

#include <math.h>
#include <stdio.h>
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

/* Draws 1, or 10 with a small power above. */
static void draw_power(const label_picture *to, uint32_t x, uint32_t y, uint32_t scale, int below,
                       const uint8_t rgb[3]) {
    char power[16];
    label_words(to, x, y, scale, below ? "10" : "1", rgb);
    if (!below) return;
    snprintf(power, sizeof power, "-%d", below);
    label_words(to, x + scale * label_width("10"), y > 4 * scale ? y - 4 * scale : 0,
                max_u32(1, scale * 2 / 3), power, rgb);
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
    const uint32_t dot = max_u32(2, side / 240);
    uint32_t margin = 8 * dot, bar = 6 * dot, room = 30 * dot;
    label_picture all = {.w = margin + w + margin + bar + room, .h = max_u32(h, 160) + 2 * margin};
    all.pixel = mem_raw((size_t)all.w * all.h, 3, "a picture", e);
    if (all.pixel) {
        label_box(&all, 0, 0, all.w, all.h, PAPER);
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++)
                memcpy(all.pixel + 3 * ((size_t)(y + margin) * all.w + x + margin),
                       made.pixel + 3 * ((size_t)(y / by) * made.w + x / by), 3);
        uint32_t x = margin + w + margin, tall = all.h - 2 * margin;
        for (uint32_t y = 0; y < tall; y++) {
            uint8_t rgb[3];
            heat_colour(1 - (float)y / (float)(tall - 1), rgb);
            label_box(&all, x, margin + y, bar, 1, rgb);
        }
        for (int d = 0; d <= (int)k->decades; d++) {
            uint32_t y = margin + (uint32_t)(tall * d / k->decades);
            uint32_t half = 7 * dot / 2;
            label_box(&all, x + bar, min_u32(y, margin + tall - 1), 2 * dot, max_u32(1, dot / 2),
                      PALE);
            draw_power(&all, x + bar + 3 * dot, min_u32(y - half, all.h - 8 * dot), dot, d, PALE);
        }
        const png_picture png = {all.pixel, all.w, all.h, 3};
        file = png_encode(&png, bytes, e);
    }
    mem_free(all.pixel);
    mem_free(made.pixel);
    return file;
}
