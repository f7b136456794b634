/* kernel_scene.c - the lights of a kernel's page. The light is summed in space, in double. */
#include "app/kernel/kernel_page.h"

#include "base/number.h"

#include <math.h>

enum { MOON = 14 }; /* the disc's radius */

const uint32_t SCENE_PLACE[SCENE_LIGHTS] = {130, 195, 280, 400, 570};
/* Their rows, the disc's last: streaks of one must not lie over another. */
static const int64_t ROW[SCENE_LIGHTS + 1] = {130, 70, 150, 60, 100, 85};

double kernel_scene_light(int i) {
    return pow(10, i + 1);
}

typedef struct {
    const kernel_page *p;
    image *img;
    double scale[PAGE_CHANNELS]; /* a channel sums to 1, so white stays white */
} scene;

static void add_light(const scene *s, uint32_t c, double *row, int64_t y, double light, int64_t px,
                      int64_t py) {
    const kernel_page *p = s->p;
    uint32_t from = p->channels > 1 ? c : 0;
    int64_t ky = y - py + p->h / 2;
    if (ky < 0 || ky >= p->h) return;
    const float *tap = p->plane[from] + (size_t)ky * p->w;
    int64_t first = px - p->w / 2, x0 = max_i64(0, first), x1 = min_i64(SCENE_W, first + p->w);
    for (int64_t x = x0; x < x1; x++)
        if (isfinite(tap[x - first])) row[x] += light * s->scale[from] * (double)tap[x - first];
}

static bool scene_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    const scene *s = ctx;
    double row[SCENE_W];
    for (uint32_t c = 0; c < 3; c++) {
        for (int x = 0; x < SCENE_W; x++) row[x] = SCENE_WALL;
        for (int i = 0; i < SCENE_LIGHTS; i++)
            add_light(s, c, row, (int64_t)y, kernel_scene_light(i), SCENE_PLACE[i], ROW[i]);
        for (int my = -MOON; my <= MOON; my++)
            for (int mx = -MOON; mx <= MOON; mx++)
                if (mx * mx + my * my <= MOON * MOON)
                    add_light(s, c, row, (int64_t)y, SCENE_MOON_LIGHT, SCENE_MOON + mx,
                              ROW[SCENE_LIGHTS] + my);
        float *to = (float *)s->img->plane[0][2 - c] + y * SCENE_W; /* B G R */
        for (int x = 0; x < SCENE_W; x++) to[x] = (float)row[x];
    }
    return true;
}

bool kernel_scene_make(preview_picture *to, const kernel_page *p, par *threads, err *e) {
    scene s = {.p = p, .img = image_plain(SCENE_W, SCENE_H, 3, PIXEL_FLOAT, e)};
    preview_options as = {.width = SCENE_W, .whole = true, .exposed = true, .stops = 0};
    bool ok = s.img && image_set_primaries(&s.img->head.part[0], &p->colour, e);
    for (uint32_t c = 0; c < p->channels; c++)
        s.scale[c] = p->figures->sum[c] > 0 ? 1 / p->figures->sum[c] : 0;
    ok = ok && par_for(threads, SCENE_H, scene_row, &s, e) &&
         preview_make(to, s.img, &as, threads, e);
    image_free(&s.img);
    return ok;
}
