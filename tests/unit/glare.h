/* glare.h - images in memory that are bloomed as the program does it, for tests. */
#ifndef UNIT_GLARE_H
#define UNIT_GLARE_H

#include "bloom/bloom.h"
#include "unit/check.h"
#include "unit/make_image.h"

/* One part with these channels, as "R:half G:half". */
static inline image *glare_image(const char *channels, uint32_t w, uint32_t h) {
    const make_part p = PART(channels, 0, 0, w, h);
    image *img = make_image(&p, 1);
    img->head.part[0].aspect = 1; /* spectra that tests make are of square pixels */
    return img;
}

static inline float glare_get(const image *img, int channel, size_t i) {
    float v;
    if (img->head.part[0].channel[channel].type == PIXEL_FLOAT)
        return ((const float *)img->plane[0][channel])[i];
    image_to_float(&v, img->plane[0][channel], img->head.part[0].channel[channel].type, i, 1);
    return v;
}
static inline void glare_put(image *img, int channel, size_t i, float v) {
    image_from_float(img->plane[0][channel], img->head.part[0].channel[channel].type, i, &v, 1);
}

/* What is dark in a channel, as the program has it. */
static inline double glare_dark(const image *img, int channel) {
    const image_part *p = &img->head.part[0];
    const void *plane = img->plane[0][channel];
    pixel_type type = p->channel[channel].type;
    OWN(scan) s;
    const scan_request r = {
        .w = image_width(p), .h = image_height(p), .channels = 1, .plane = &plane, .type = &type};
    CHECK_OK(scan_make(&s, &r, make_threads(), &e));
    return accuracy_dark(&s.channel[0], type == PIXEL_HALF);
}

static inline image *glare_copy(const image *from) {
    image *to = MADE(image_new(&from->head, &e));
    const image_part *p = &from->head.part[0];
    for (int c = 0; c < p->channels; c++)
        memcpy(to->plane[0][c], from->plane[0][c],
               (size_t)image_width(p) * image_height(p) * pixel_bytes(p->channel[c].type));
    return to;
}

typedef double glare_tap(double x, double y, int channel);

/* Written as a file; the path is make_path's. */
static inline const char *glare_kernel(const char *name, glare_tap *tap, uint32_t w, uint32_t h,
                                       const char *channels) {
    image *k = glare_image(channels, w, h);
    for (int c = 0; c < k->head.part[0].channels; c++)
        for (uint32_t i = 0; i < w * h; i++)
            glare_put(k, c, i, (float)tap((double)(i % w) - w / 2, (double)(i / w) - h / 2, c));
    const char *path = make_path(name);
    CHECK_OK(image_save(path, k, make_threads(), &e));
    image_free(&k);
    return path;
}

/* The human eye's glare, roughly as Spencer and others have it: nine tenths in the middle, a core,
 * and veils that fall with the third and the second power. */
static inline double glare_eye(double x, double y, int channel) {
    double r = sqrt(x * x + y * y), wide = 1 + 0.1 * channel;
    double middle = 2.61e6 * exp(-pow(r / (0.5 * wide), 2)), third = 20.91 / pow(0.4 * r + 0.02, 3);
    return middle + third + 72.37 / pow(0.4 * r + 0.02, 2);
}
static inline double glare_power(double x, double y, int channel) {
    return pow(1 + x * x + y * y, -1.3 - 0.05 * channel);
}
static inline double glare_bell(double x, double y, int channel) {
    return exp(-(x * x + y * y) / (60 + 20 * channel));
}
static inline double glare_lopsided(double x, double y, int channel) {
    double r = sqrt(x * x + y * y);
    return (r < 1 ? 4 : 0) + (x > 0 ? 2 + channel : 1) / (1 + r) + (y < -2 ? 0.3 : 0);
}

#ifdef TESTS_PIPELINE_H
#define GLARE_ON_DEVICES true
#else
#define GLARE_ON_DEVICES !WITH_SAN
#endif

/* "cpu" and, where there is one, the name of a Vulkan device; NULL beyond. With sanitizers
 * tests/gpu alone has the device: a driver compiles for minutes there, and the code around it is
 * the same. */
static inline const char *glare_device(int i) {
    static engine_device d[ENGINE_DEVICES];
    static const char *found[3];
    static bool listed;
    if (!listed) {
        uint32_t n = engine_devices(d, ENGINE_DEVICES), k = 0;
        found[k++] = "cpu";
        for (uint32_t j = 0; j < n && k < 2 && GLARE_ON_DEVICES; j++)
            if (d[j].class != ENGINE_CPU) found[k++] = d[j].name;
        listed = true;
    }
    return found[i];
}

static inline bloom_settings glare_settings(const char *device) {
    bloom_settings s;
    bloom_defaults(&s);
    s.device = device;
    s.cache_size = 0;
    return s;
}

/* Blooms in place; the error is the caller's to look at. */
static inline bool glare_try(image *img, const char *kernel, const bloom_settings *s,
                             bloom_report *r, err *e) {
    bloom *b = bloom_open(s, kernel, make_threads(), e);
    bool ok = b && bloom_image(b, img, r, e);
    bloom_close(&b);
    return ok;
}
static inline void glare_bloom(image *img, const char *kernel, const bloom_settings *s,
                               bloom_report *r) {
    CHECK_OK(glare_try(img, kernel, s, r, &e));
}

/* The same in float64 on the CPU. */
static inline image *glare_truth(const image *img, const char *kernel, const bloom_settings *s) {
    image *to = glare_copy(img);
    bloom_settings exact = *s;
    OWN_HEAP bloom_report *r = malloc(sizeof *r);
    exact.device = "cpu";
    exact.precision = PRECISION_FLOAT64;
    exact.verify = 0;
    glare_bloom(to, kernel, &exact, r);
    return to;
}

#endif
