/* ocean_view.c - a view of the sea from above: rays that spread a little meet the water as if it
 * were flat, and mirror the sky by its slopes. A low sun stands ahead. */
#include "image/format.h"
#include "lab/ocean.h"

#include <math.h>

enum { FLAT = 2 }; /* rows of the grid for a row of the picture, which is seen aslant */

static const double SUN_AT[3] = {0.05, 0.985, 0.165}, SUN_WIDTH = 0.015; /* radians */
static const double SUN[3] = {900, 560, 260}, GLOW[3] = {1.5, 0.75, 0.3},
                    ZENITH[3] = {0.06, 0.14, 0.32}, HORIZON[3] = {0.62, 0.55, 0.52},
                    DEEP[3] = {0.003, 0.012, 0.018}, CREST[3] = {0.007, 0.06, 0.055};

/* Adds what a point of the sea sends back on a ray that goes to the right, ahead and down: it
 * mirrors the sky by Fresnel's law, and shows its own colour, which is green where a wave is high.
 */
static void ocean_shade(double rgb[3], const double ray[3], const double *height,
                        const double *slope) {
    double size = sqrt(1 + slope[0] * slope[0] + slope[1] * slope[1]);
    double facing = (ray[0] * slope[0] + ray[1] * slope[1] - ray[2]) / size;
    double twice = 2 * fmax(facing, 0.02) / size, fresnel = pow(1 - fmax(facing, 0.02), 5);
    double x = ray[0] - twice * slope[0], y = ray[1] - twice * slope[1], z = fabs(ray[2] + twice);
    double angle = acos(fmin(x * SUN_AT[0] + y * SUN_AT[1] + z * SUN_AT[2], 1));
    double thin = fmin(fmax((*height + 0.6) / 3.5, 0), 1);
    for (int c = 0; c < 3; c++) {
        double low = pow(1 - fmin(z, 1), 5), water = DEEP[c] + thin * thin * (CREST[c] - DEEP[c]);
        double sky = ZENITH[c] + low * (HORIZON[c] - ZENITH[c]) + GLOW[c] * exp(-5 * angle) +
                     SUN[c] * exp(-pow(angle / SUN_WIDTH, 4));
        rgb[c] += water + (0.02 + 0.98 * fresnel) * (sky - water);
    }
}

bool ocean_view(const char *path, const ocean *o, par *threads, err *e) {
    uint32_t w = o->n, h = o->n / FLAT;
    image *picture = image_plain(w, h, 3, PIXEL_HALF, e);
    for (size_t i = 0; picture && i < (size_t)w * h; i++) {
        double rgb[3] = {0, 0, 0}, x = (double)(i % w) / w, y = (double)(i / w) / h;
        double ray[3] = {0.8 * (x - 0.6), 1, -0.07 - 0.49 * y};
        double size = sqrt(ray[0] * ray[0] + 1 + ray[2] * ray[2]);
        for (int k = 0; k < 3; k++) ray[k] /= size;
        for (uint32_t k = 0; k < FLAT; k++) {
            size_t from = 2 * (((size_t)FLAT * (h - 1 - i / w) + k) * w + i % w);
            ocean_shade(rgb, ray, &o->image[0][from], &o->image[2][from]);
        }
        for (int c = 0; c < 3; c++) {
            float value = (float)(rgb[c] / FLAT);
            image_from_float(picture->plane[0][2 - c], PIXEL_HALF, i, &value, 1);
        }
    }
    bool ok = picture && image_save(path, picture, threads, e);
    image_free(&picture);
    return ok;
}
