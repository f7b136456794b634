#include "bloom/mask.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* --- the mask --------------------------------------------------------------------------------- */

static int find_in(const image_part *p, const char *name) {
    int at = image_find_channel(p, name), found = -1, count = 0;
    size_t n = strlen(name);
    for (int c = 0; c < p->channels; c++)
        if (strncmp(p->channel[c].name, name, n) == 0 && p->channel[c].name[n] == '.' &&
            !strchr(p->channel[c].name + n + 1, '.')) {
            found = c;
            count++;
        }
    return at >= 0 ? at : count == 1 ? found : -1;
}

bool mask_find(mask_place *to, const image_header *h, int part, const char *name, err *e) {
    *to = (mask_place){part, find_in(&h->part[part], name)};
    for (int i = 0; to->channel < 0 && i < h->parts; i++)
        *to = (mask_place){i, find_in(&h->part[i], name)};
    return to->channel >= 0 ||
           err_set(e, ERR_USAGE,
                   "the mask '%s' is neither a channel of the image nor a layer with one channel",
                   name);
}

/* Reads rows of the mask's own window, and copies what lies beside the others. */
static bool copy_rows(float *to, const rows_source *in, const mask_place *at, const image_box *box,
                      const image_box *both, err *e) {
    enum { SOME = 64 };
    const image_part *p = &in->head->part[at->part];
    const image_box *own = &p->data;
    size_t wide = (size_t)((int64_t)box->x1 - box->x0 + 1), width = image_width(p);
    size_t n = (size_t)((int64_t)both->x1 - both->x0 + 1);
    pixel_type type = p->channel[at->channel].type;
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane && (plane[at->channel] = mem_raw(width * SOME, pixel_bytes(type), "a mask", e));
    for (int64_t y = both->y0; ok && y <= both->y1; y += SOME) {
        uint32_t rows = (uint32_t)min_i64(SOME, (int64_t)both->y1 - y + 1);
        ok = in->read(in->ctx, at->part, (uint32_t)(y - own->y0), rows, plane, e);
        for (uint32_t i = 0; ok && i < rows; i++) {
            float *v = to + (size_t)(y + i - box->y0) * wide +
                       (size_t)((int64_t)both->x0 - box->x0);
            image_to_float(v, plane[at->channel], type,
                           i * width + (size_t)((int64_t)both->x0 - own->x0), n);
            for (size_t x = 0; x < n; x++) v[x] = clamp_float(v[x], 0, 1);
        }
    }
    if (plane) mem_free(plane[at->channel]);
    mem_free(plane);
    return ok;
}

bool mask_read(float *to, const rows_source *in, const mask_place *at, const image_part *beside,
               uint32_t row, uint32_t rows, err *e) {
    const image_box *own = &in->head->part[at->part].data;
    image_box box = beside->data;
    box.y0 += (int32_t)row;
    box.y1 = box.y0 + (int32_t)rows - 1;
    const image_box both = {max_int(box.x0, own->x0), max_int(box.y0, own->y0),
                            min_int(box.x1, own->x1), min_int(box.y1, own->y1)};
    memset(to, 0, (size_t)image_width(beside) * rows * sizeof *to);
    return both.x0 > both.x1 || both.y0 > both.y1 || copy_rows(to, in, at, &box, &both, e);
}

/* --- pixels that stay ------------------------------------------------------------------------- */

/* Visits the pixels that stay; returns their number. to: NULL to count them alone. */
static size_t find_pixels(struct mask_pixel *to, const image *img, const float *mask, size_t n) {
    enum { SOME = 1024 };
    const image_part *p = &img->head.part[0];
    float v[SOME];
    size_t count = 0;
    for (int c = 0; c < p->channels; c++)
        for (size_t at = 0; at < n; at += SOME) {
            size_t some = min_size(SOME, n - at);
            image_to_float(v, img->plane[0][c], p->channel[c].type, at, some);
            for (size_t i = 0; i < some; i++) {
                if (isfinite(v[i]) || mask[at + i] > 0) continue;
                if (to) {
                    to[count] = (struct mask_pixel){(uint32_t)c, at + i, v[i]};
                    image_from_float(img->plane[0][c], p->channel[c].type, at + i, &(float){0}, 1);
                }
                count++;
            }
        }
    return count;
}

bool mask_set_aside(mask_aside *to, const image *img, const float *mask, size_t n, err *e) {
    *to = (mask_aside){.count = find_pixels(NULL, img, mask, n)};
    if (!to->count) return true;
    to->pixel = mem_raw(to->count, sizeof *to->pixel, "pixels beside the mask", e);
    if (to->pixel) find_pixels(to->pixel, img, mask, n);
    return to->pixel != NULL;
}

void mask_put_back(const mask_aside *a, const image *img) {
    for (size_t i = 0; i < a->count; i++) {
        const struct mask_pixel *p = &a->pixel[i];
        pixel_type type = img->head.part[0].channel[p->channel].type;
        image_from_float(img->plane[0][p->channel], type, p->at, &p->v, 1);
    }
}

void mask_aside_free(mask_aside *a) {
    mem_free(a->pixel);
    *a = (mask_aside){0};
}
