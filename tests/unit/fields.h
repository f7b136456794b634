/* fields.h - kernels that vary over the frame, and their definition: sums with the kernel of each
 * source pixel, in double. Slow and obvious. */
#ifndef UNIT_FIELDS_H
#define UNIT_FIELDS_H

#include "kernel/kernel_field.h"
#include "unit/glare.h"
#include "unit/reference.h"

enum { SIDE = 4, NODES = SIDE * SIDE + 1 };

typedef struct {
    uint32_t nx, ny;
    double x[SIDE], y[SIDE]; /* places, which increase */
    uint32_t channels;
    image *node[NODES]; /* one part each, its channels in the order B G R, or Y */
    double common;      /* the share of one more node, behind the others; 0: there is none */
} grid;

static inline uint32_t nodes_of(const grid *g) {
    return g->nx * g->ny + (g->common > 0);
}

/* Returns how much of a pixel's light goes to node n of an axis: by the words of
 * docs/inside/math.md. */
static inline double hat(const double *at, uint32_t nodes, uint32_t n, double share) {
    if (share <= at[0]) return n == 0;
    if (share >= at[nodes - 1]) return n == nodes - 1;
    for (uint32_t i = 0; i + 1 < nodes; i++) {
        const double t = (share - at[i]) / (at[i + 1] - at[i]);
        if (share < at[i] || share > at[i + 1]) continue;
        if (n == i) return 1 - t;
        if (n == i + 1) return t;
    }
    return 0;
}

/* The image of a field: a part for each node, in an order that nobody should rely on. */
static inline image *field_image(const grid *g) {
    make_part part[NODES];
    char name[NODES][16], at[64];
    const uint32_t n = nodes_of(g);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t of = n - 1 - i;
        const image_part *p = &g->node[of]->head.part[0];
        snprintf(name[i], sizeof name[i], "node %u", i);
        part[i] = (make_part)PART(g->channels == 3 ? "B:float G:float R:float" : "Y:float", 0, 0,
                                  image_width(p), image_height(p), .name = name[i]);
    }
    image *img = make_image(part, (int)n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t of = n - 1 - i;
        image_part *p = &img->head.part[i];
        p->aspect = 1;
        if (of == g->nx * g->ny)
            snprintf(at, sizeof at, "everywhere %.17g", g->common);
        else
            snprintf(at, sizeof at, "%.17g %.17g", g->x[of % g->nx], g->y[of / g->nx]);
        CHECK_OK(image_set_text(p, KERNEL_NODE_ATTR, at, &e));
        for (uint32_t c = 0; c < g->channels; c++)
            memcpy(img->plane[i][c], g->node[of]->plane[0][c],
                   (size_t)image_width(p) * image_height(p) * sizeof(float));
    }
    return img;
}

static inline psf node_psf(const grid *g, uint32_t n, psf_options o) {
    psf k;
    const image_part *p = &g->node[n]->head.part[0];
    const float *taps[3];
    for (uint32_t c = 0; c < g->channels; c++)
        taps[c] = g->node[n]->plane[0][g->channels - 1 - c]; /* R G B */
    image_luminance(&(image_part){0}, o.luminance);
    CHECK_OK(psf_make(&k, &(psf_planes){image_width(p), image_height(p), g->channels, taps, NULL},
                      &o, &e));
    return k;
}

static inline double excess(double v, double threshold, double knee) {
    if (!(threshold > 0)) return v;
    const double over = v - threshold;
    if (over < knee) return over <= -knee ? 0 : (over + knee) * (over + knee) / (4 * knee);
    return over > 0 ? over : 0;
}

/* A channel's result by the definition. */
static inline void define(long double *want, const float *in, const float *mask,
                          const image_part *p, const grid *g, uint32_t c, const bloom_settings *s) {
    const int64_t w = image_width(p), h = image_height(p);
    const double across = (double)image_box_width(&p->display),
                 down = (double)image_box_height(&p->display);
    double *spread = malloc((size_t)(w * h) * 2 * sizeof *spread), *part = spread + w * h;
    for (int64_t i = 0; i < w * h; i++) {
        const double m = mask ? fmax(0, fmin(1, (double)mask[i])) : 1;
        spread[i] = excess(m * (double)in[i], s->threshold, s->knee);
        want[i] = (long double)in[i] - (long double)spread[i] * (1 - (long double)s->sharpen);
    }
    for (uint32_t n = 0; n < nodes_of(g); n++) {
        const bool all = n == g->nx * g->ny;
        psf k = node_psf(g, n, s->kernel);
        const float *tap = k.tap + (k.channels == 1 ? 0 : (size_t)c * k.w * k.h);
        const double scale = k.scale[k.channels == 1 ? 0 : c] * (1 - s->sharpen) *
                             (all ? g->common : 1 - g->common);
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++) {
                const double px = ((double)(p->data.x0 - p->display.x0 + x) + 0.5) / across,
                             py = ((double)(p->data.y0 - p->display.y0 + y) + 0.5) / down;
                part[y * w + x] =
                    spread[y * w + x] *
                    (all ? 1 : hat(g->x, g->nx, n % g->nx, px) * hat(g->y, g->ny, n / g->nx, py));
            }
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++)
                for (uint32_t q = 0; q < k.h; q++) {
                    const int64_t from = reference_source(y - q + k.cy, h, s->border[1]);
                    for (uint32_t r = 0; from >= 0 && r < k.w; r++) {
                        const int64_t at = reference_source(x - r + k.cx, w, s->border[0]);
                        if (at >= 0)
                            want[y * w + x] += (long double)part[from * w + at] * scale *
                                               (double)tap[q * k.w + r];
                    }
                }
        psf_free(&k);
    }
    free(spread);
}

/* A field of 3 x 2 uneven nodes with a kernel of its own in each, none of which is like another, or
 * like itself turned or mirrored. */
static inline grid uneven(void) {
    grid g = {.nx = 3, .ny = 2, .x = {0, 0.3, 1}, .y = {0.1, 0.9}, .channels = 1};
    for (uint32_t n = 0; n < 6; n++) {
        g.node[n] = glare_image("Y:float", 7 + 2 * (n % 3), 5 + n);
        const image_part *p = &g.node[n]->head.part[0];
        const uint32_t w = image_width(p), h = image_height(p);
        for (uint32_t i = 0; i < w * h; i++)
            glare_put(g.node[n], 0, i, (float)(1 + i % w) * (float)(2 + n) / (float)(1 + i / w));
    }
    return g;
}
/* A black frame whose display window is what it has. */
static inline image *black(uint32_t w, uint32_t h) {
    image *img = make_blank("Y:float", 0, 0, w, h);
    img->head.part[0].aspect = 1;
    img->head.part[0].display = img->head.part[0].data;
    return img;
}
static inline void free_grid(grid *g) {
    for (uint32_t i = 0; i < g->nx * g->ny; i++) image_free(&g->node[i]);
}
static inline kernel_source source_of(const grid *g) {
    kernel_source k;
    OWN(image) *img = field_image(g);
    CHECK_OK(kernel_field_image(&k, "field", img, &e));
    return k;
}

#endif
