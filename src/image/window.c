#include "image/window.h"

#include "base/mem.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* EXR readers take corners up to this; beyond, widths would not fit 32 bits. */
enum { FARTHEST = INT32_MAX / 2 };

image_box image_box_union(const image_box *a, const image_box *b) {
    return (image_box){min_int(a->x0, b->x0), min_int(a->y0, b->y0), max_int(a->x1, b->x1),
                       max_int(a->y1, b->y1)};
}

bool image_box_holds(const image_box *box, const image_box *in) {
    return in->x0 >= box->x0 && in->y0 >= box->y0 && in->x1 <= box->x1 && in->y1 <= box->y1;
}

bool image_box_grow(image_box *box, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom,
                    err *e) {
    const int64_t at[4] = {(int64_t)box->x0 - left, (int64_t)box->y0 - top,
                           (int64_t)box->x1 + right, (int64_t)box->y1 + bottom};
    for (int i = 0; i < 4; i++)
        if (llabs(at[i]) > FARTHEST)
            return err_set(e, ERR_CONFIG,
                           "the data window would reach to %c = %" PRId64 "; up to %d is possible",
                           "xy"[i & 1], at[i], FARTHEST);
    *box = (image_box){(int32_t)at[0], (int32_t)at[1], (int32_t)at[2], (int32_t)at[3]};
    return true;
}

/* The part of `from` that is in `to`, both with the corner of their own plane at 0. */
static void copy_plane(uint8_t *to, const image_box *tb, const uint8_t *from, const image_box *fb,
                       size_t bytes) {
    image_box both = {max_int(tb->x0, fb->x0), max_int(tb->y0, fb->y0), min_int(tb->x1, fb->x1),
                      min_int(tb->y1, fb->y1)};
    if (both.x0 > both.x1 || both.y0 > both.y1) return;
    size_t n = ((size_t)(both.x1 - both.x0) + 1) * bytes;
    size_t tw = (size_t)((int64_t)tb->x1 - tb->x0 + 1), fw = (size_t)((int64_t)fb->x1 - fb->x0 + 1);
    for (int64_t y = both.y0; y <= both.y1; y++) {
        size_t ty = (size_t)(y - tb->y0), fy = (size_t)(y - fb->y0);
        memcpy(to + (ty * tw + (size_t)((int64_t)both.x0 - tb->x0)) * bytes,
               from + (fy * fw + (size_t)((int64_t)both.x0 - fb->x0)) * bytes, n);
    }
}

bool image_box_check(const image_box *b, const char *what, uint32_t most, err *e) {
    int64_t w = (int64_t)b->x1 - b->x0 + 1, h = (int64_t)b->y1 - b->y0 + 1;
    if (w > 0 && h > 0 && w <= most && h <= most) return true;
    return err_set(e, ERR_DATA,
                   "the %s window (%d,%d)-(%d,%d) has %" PRId64 " x %" PRId64
                   " pixels; a side may have 1 to %" PRIu32,
                   what, b->x0, b->y0, b->x1, b->y1, w, h, most);
}

bool image_set_window(image *img, int part, const image_box *box, err *e) {
    image_part *p = &img->head.part[part];
    if (memcmp(&p->data, box, sizeof *box) == 0) return true;
    if (!image_box_check(box, "new data", IMAGE_SIDE, e)) return false;
    image_part made = *p;
    made.data = *box;
    if (!mem_check(image_bytes(&made), "the new data window", e)) return false;
    size_t samples = (size_t)image_width(&made) * image_height(&made);
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    /* All memory is there before any of it is touched. */
    for (int c = 0; ok && c < p->channels; c++)
        ok = (plane[c] = mem_raw(samples, pixel_bytes(p->channel[c].type), "a plane", e));
    for (int c = 0; ok && c < p->channels; c++) {
        size_t each = pixel_bytes(p->channel[c].type);
        memset(plane[c], 0, samples * each);
        copy_plane(plane[c], box, img->plane[part][c], &p->data, each);
    }
    void **old = ok ? img->plane[part] : plane;
    if (ok) {
        img->plane[part] = plane;
        p->data = *box;
    }
    for (int c = 0; old && c < p->channels; c++) mem_free(old[c]);
    mem_free(old);
    return ok;
}
