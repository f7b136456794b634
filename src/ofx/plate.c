#include "ofx/plate.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 65536 };

static int sample_bytes(int type) {
    return type == FB_BYTE ? 1 : type == FB_FLOAT ? 4 : 2;
}

static ptrdiff_t pixel_bytes(const plate *p) {
    return (ptrdiff_t)p->channels * sample_bytes(p->type);
}

static char *pixel(const plate *p, int x, int y) {
    return p->data + (y - p->at.y1) * p->row + (x - p->at.x1) * pixel_bytes(p);
}

ofx_rect_i rect_common(ofx_rect_i a, ofx_rect_i b) {
    return (ofx_rect_i){a.x1 > b.x1 ? a.x1 : b.x1, a.y1 > b.y1 ? a.y1 : b.y1,
                        a.x2 < b.x2 ? a.x2 : b.x2, a.y2 < b.y2 ? a.y2 : b.y2};
}

bool rect_empty(ofx_rect_i r) {
    return r.x1 >= r.x2 || r.y1 >= r.y2;
}

/* Returns whether it is no larger than an image may be. */
static bool has_size(ofx_rect_i r) {
    return !rect_empty(r) && (int64_t)r.x2 - r.x1 <= SIDE && (int64_t)r.y2 - r.y1 <= SIDE;
}

void plate_open(plate *p, ofx_clip_handle clip, ofx_time time) {
    static const struct {
        const char *word;
        int means;
    } DEPTH[] = {{OFX_FLOAT, FB_FLOAT},
                 {OFX_HALF, FB_HALF},
                 {OFX_SHORT, FB_SHORT},
                 {OFX_BYTE, FB_BYTE}},
      CHANNELS[] = {{OFX_RGBA, 4}, {OFX_RGB, 3}, {OFX_ALPHA, 1}};
    int row = 0;
    *p = (plate){.data = NULL};
    if (!clip || fx.effect->get_image(clip, time, NULL, &p->image) != OFX_OK || !p->image) {
        p->image = NULL;
        return;
    }
    for (int i = 0; i < 4; i++)
        if (!strcmp(fx_string(p->image, OFX_DEPTH), DEPTH[i].word)) p->type = DEPTH[i].means;
    for (int i = 0; i < 3; i++)
        if (!strcmp(fx_string(p->image, OFX_COMPONENTS), CHANNELS[i].word))
            p->channels = CHANNELS[i].means;
    const bool whole = fx_ints(p->image, OFX_BOUNDS, 4, &p->at.x1) && has_size(p->at) &&
                       fx_ints(p->image, OFX_ROW_BYTES, 1, &row) &&
                       llabs(row) >= (p->at.x2 - p->at.x1) * pixel_bytes(p);
    if (!fx_ints(p->image, OFX_IMAGE_WHOLE, 4, &p->whole.x1) || !has_size(p->whole) ||
        rect_empty(rect_common(p->whole, p->at)))
        p->whole = p->at;
    p->row = row;
    if (whole && p->type && p->channels) p->data = fx_pointer(p->image, OFX_DATA);
}

bool plate_new(plate *p, ofx_rect_i at, int channels, int type) {
    *p = (plate){.at = at, .whole = at, .channels = channels, .type = type};
    p->row = (ptrdiff_t)(at.x2 - at.x1) * pixel_bytes(p);
    if (has_size(at)) p->data = calloc((size_t)(at.y2 - at.y1), (size_t)p->row);
    return p->data != NULL;
}

void plate_close(plate *p) {
    if (p->image)
        fx.effect->release_image(p->image);
    else
        free(p->data);
    *p = (plate){.data = NULL};
}

void plate_planes(const plate *p, ofx_rect_i r, fb_plane to[4]) {
    for (int c = 0; c < p->channels; c++)
        to[c] = (fb_plane){pixel(p, r.x1, r.y2 - 1) + c * sample_bytes(p->type), pixel_bytes(p),
                           -p->row, p->type, 0};
}

void plate_copy(const plate *to, const plate *from, ofx_rect_i r) {
    const ofx_rect_i in = rect_common(r, to->at), both = rect_common(in, from->at);
    for (int y = in.y1; y < in.y2 && in.x1 < in.x2; y++) {
        memset(pixel(to, in.x1, y), 0, (size_t)((in.x2 - in.x1) * pixel_bytes(to)));
        if (from->data && y >= both.y1 && y < both.y2 && both.x1 < both.x2)
            memcpy(pixel(to, both.x1, y), pixel(from, both.x1, y),
                   (size_t)((both.x2 - both.x1) * pixel_bytes(to)));
    }
}

void plate_copy_alpha(const plate *to, const plate *from) {
    const ofx_rect_i r = rect_common(to->at, from->at);
    const int n = sample_bytes(to->type);
    for (int y = r.y1; y < r.y2; y++)
        for (int x = r.x1; x < r.x2; x++)
            memcpy(pixel(to, x, y) + 3 * n, pixel(from, x, y) + 3 * n, (size_t)n);
}

uint64_t plate_hash_bytes(uint64_t h, const void *data, size_t n) {
    for (size_t i = 0; i < n; i += sizeof h) {
        uint64_t v = 0;
        memcpy(&v, (const char *)data + i, n - i < sizeof v ? n - i : sizeof v);
        h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

uint64_t plate_hash(uint64_t h, const plate *p) {
    const int shape[] = {p->channels, p->type, !p->data};
    const ofx_rect_i place[] = {p->at, p->whole};
    h = plate_hash_bytes(plate_hash_bytes(h, shape, sizeof shape), place, sizeof place);
    for (int y = p->at.y1; p->data && y < p->at.y2; y++)
        h = plate_hash_bytes(h, pixel(p, p->at.x1, y),
                             (size_t)((p->at.x2 - p->at.x1) * pixel_bytes(p)));
    return h;
}
