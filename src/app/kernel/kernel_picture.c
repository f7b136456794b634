#include "app/kernel/kernel_picture.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/heat.h"

#include <math.h>

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
