#include "app/run/swap.h"

#include "app/cli/options.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"
#include "image/layers.h"
#include "kernel/kernel_source.h"
#include "kernel/spectrum_file.h"

#include <math.h>

/* The brightest pixel, by the sum of the colour channels. */
typedef struct {
    uint32_t w, h, x, y;
    double peak, sum;
} brightest;

/* A part of the colour channels that can be read row by row. */
typedef struct {
    uint32_t w, h;
    int channels;
    const void *plane[LAYER_MAX_CHANNELS];
    pixel_type type[LAYER_MAX_CHANNELS];
} planes;

/* At most so far from the centre, as a part of the size, is at the centre; farther than FAR is far
 * from it. */
static const double NEAR = 1.0 / 16, FAR = 1.0 / 8;
/* An image whose brightest pixel is this many times its mean looks like a kernel. */
static const double PEAKED = 20;

static bool is_within(const brightest *b, double part) {
    return fabs(b->x - (b->w - 1) / 2.0) <= fmax(1, part * b->w) &&
           fabs(b->y - (b->h - 1) / 2.0) <= fmax(1, part * b->h);
}

static void look_at_row(brightest *to, const planes *p, uint32_t y, float *row, float *sum) {
    for (uint32_t x = 0; x < p->w; x++) sum[x] = 0;
    for (int c = 0; c < p->channels; c++) {
        image_to_float(row, p->plane[c], p->type[c], (size_t)y * p->w, p->w);
        for (uint32_t x = 0; x < p->w; x++) sum[x] += row[x];
    }
    for (uint32_t x = 0; x < p->w; x++) {
        if (!isfinite(sum[x])) continue;
        to->sum += fabs((double)sum[x]);
        if (sum[x] <= to->peak) continue;
        to->peak = sum[x];
        to->x = x;
        to->y = y;
    }
}

/* Looks at the middle rows first. With `give_up` it stops as soon as a pixel far from the centre is
 * brighter than those before it, which in most images is soon. */
static bool find_brightest(brightest *to, const planes *p, bool give_up) {
    float *row = mem_raw(2 * (size_t)p->w, sizeof *row, "a row", NULL);
    uint32_t from = p->h / 2 - p->h / 16, n = p->h / 8 + 1;
    *to = (brightest){.w = p->w, .h = p->h, .peak = -INFINITY};
    for (uint32_t i = 0; row && i < p->h; i++) {
        look_at_row(to, p, (from + i) % p->h, row, row + p->w);
        if (give_up && i >= n && !is_within(to, NEAR)) break;
    }
    mem_free(row);
    return row && to->peak > -INFINITY;
}

/* --- the image -------------------------------------------------------------------------------- */

static bool image_looks_like_kernel(const image *img) {
    layer_map m;
    planes p = {0};
    for (int part = 0; !p.channels && part < img->head.parts; part++) {
        const image_part *from = &img->head.part[part];
        if (!layer_map_make(&m, from, NULL, NULL, NULL)) return false;
        p.w = image_width(from);
        p.h = image_height(from);
        for (int c = 0; m.groups && c < m.group[0].channels; c++) {
            int at = m.group[0].channel[c];
            if (!img->plane[part] || !img->plane[part][at]) continue;
            p.type[p.channels] = from->channel[at].type;
            p.plane[p.channels++] = img->plane[part][at];
        }
        layer_map_free(&m);
    }
    brightest b;
    return p.channels && find_brightest(&b, &p, true) && is_within(&b, NEAR) &&
           b.peak * b.w * b.h > PEAKED * b.sum;
}

/* --- the kernel ------------------------------------------------------------------------------- */

/* Adds the names of up to four channels that are neither the kernel's colour nor its alpha. */
static void add_other_channels(const image_header *h, text *to) {
    int named = 0;
    bool found = false; /* the part whose first group is the kernel */
    for (int part = 0; part < h->parts; part++) {
        layer_map m;
        const image_part *p = &h->part[part];
        if ((h->parts == 1 && p->channels == 1) || !layer_map_make(&m, p, NULL, NULL, NULL)) return;
        const layer_group *kernel = m.groups && !found ? &m.group[0] : NULL;
        found = found || kernel;
        for (int c = 0; c < p->channels; c++) {
            bool plain = kernel && kernel->alpha == c;
            for (int i = 0; kernel && i < kernel->channels; i++) plain |= kernel->channel[i] == c;
            if (!plain && named++ < 4) text_add(to, "%s%s", to->n ? ", " : "", p->channel[c].name);
        }
        layer_map_free(&m);
    }
    if (named > 4) text_add(to, ", and %d more", named - 4);
}

static bool kernel_is_off_centre(const settings *s, brightest *b, par *threads) {
    kernel_source k;
    planes p = {0};
    bool found = kernel_source_load(&k, s->kernel, threads, NULL);
    if (!found) return false;
    p.w = k.w;
    p.h = k.h;
    for (; p.channels < (int)k.channels; p.channels++) {
        p.plane[p.channels] = k.plane[p.channels];
        p.type[p.channels] = PIXEL_FLOAT;
    }
    found = find_brightest(b, &p, false) && !is_within(b, FAR);
    kernel_source_free(&k);
    return found;
}

/* --- both ------------------------------------------------------------------------------------- */

static bool is_set(const settings *s, const char *name) {
    return s->value[option_find(name, FOR_APPLY) - OPTIONS].origin != ORIGIN_DEFAULT;
}

void swap_warn(const settings *s, const image *img, par *threads) {
    static const char MAYBE[] = "IN and KERNEL may be swapped";
    const image_part *in = &img->head.part[0];
    image_reader *r = spectrum_file_is(s->kernel) ? NULL
                                                  : image_open(s->kernel, NULL, threads, NULL);
    if (!r) return;
    const image_header *head = image_reader_header(r);
    uint32_t w = image_width(&head->part[0]), h = image_height(&head->part[0]);
    text others = {0};
    brightest b;
    add_other_channels(head, &others);
    image_close(&r);
    double scale = s->bloom.kernel.size;
    if (s->bloom.kernel_relative) scale *= (double)image_height(in) / h;
    bool larger = w * scale > image_width(in) && h * scale > image_height(in);
    if (others.n) {
        log_warn("%s: the kernel '%s' has channels that a kernel has no use for (%s)", MAYBE,
                 s->kernel, others.s);
    } else if (!is_set(s, "kernel_center") && (larger || image_looks_like_kernel(img)) &&
               kernel_is_off_centre(s, &b, threads)) {
        log_warn("%s: the kernel '%s' is brightest at %u, %u, far from its centre, and %s", MAYBE,
                 s->kernel, b.x, b.y,
                 larger ? "larger than the image" : "the image is brightest at its own centre");
    }
    text_free(&others);
}
