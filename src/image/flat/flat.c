#include "image/flat/flat.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool flat_header(image_header *h, uint64_t width, uint64_t height, int colours, bool alpha,
                 const image_limits *limits, err *e) {
    static const char *const NAME[2][3] = {{"Y"}, {"R", "G", "B"}};
    uint64_t channels = (uint64_t)colours + alpha;
    if (width == 0 || height == 0 || width > limits->side || height > limits->side)
        return err_set(e, ERR_DATA,
                       "%" PRIu64 " x %" PRIu64 " pixels; a side must have 1 to %" PRIu32, width,
                       height, limits->side);
    if (width * height > limits->samples / channels)
        return err_set(e, ERR_DATA,
                       "%" PRIu64 " x %" PRIu64 " pixels in %" PRIu64
                       " channels are more than the %" PRIu64 " samples allowed",
                       width, height, channels, limits->samples);
    image_part *p = mem_new(1, sizeof *p, "a part", e);
    if (!p) return false;
    h->part = p;
    h->parts = 1;
    p->data = p->display = (image_box){0, 0, (int32_t)width - 1, (int32_t)height - 1};
    p->aspect = 1;
    p->packing = COMPRESSION_ZIP;
    for (int c = 0; c < colours; c++)
        if (!image_add_channel(p, NAME[colours == 3][c], PIXEL_FLOAT, e)) return false;
    return !alpha || image_add_channel(p, "A", PIXEL_FLOAT, e);
}

bool flat_find(flat_picture *f, const image_part *p, err *e) {
    int r = image_find_channel(p, "R"), g = image_find_channel(p, "G"),
        b = image_find_channel(p, "B"), y = image_find_channel(p, "Y");
    f->alpha = image_find_channel(p, "A");
    f->colours = r >= 0 && g >= 0 && b >= 0 ? 3 : 1;
    if (f->colours == 3)
        memcpy(f->colour, (int[]){r, g, b}, sizeof f->colour);
    else
        memcpy(f->colour, (int[]){y, y, y}, sizeof f->colour);
    if (f->colour[0] >= 0) return true;
    return err_set(e, ERR_DATA, "there are neither channels R G B nor a channel Y");
}

/* The names of channels that are not in the picture. */
static void note_left_out(const flat_picture *f, const image_part *p, const char *format,
                          bool holds_alpha) {
    text names = {0};
    for (int c = 0; c < p->channels; c++) {
        bool held = c == f->colour[0] || c == f->colour[1] || c == f->colour[2] ||
                    (c == f->alpha && holds_alpha);
        if (!held) text_add(&names, "%s%s", names.n ? ", " : "", p->channel[c].name);
    }
    if (names.n)
        log_note("%s does not hold these channels, they are left out: %s", format, names.s);
    text_free(&names);
}

bool flat_check(flat_picture *f, const image_header *h, const char *format, bool holds_alpha,
                err *e) {
    const image_part *p = &h->part[0];
    if (h->parts > 1)
        return err_set(e, ERR_DATA, "%s holds one part, this image has %d; write exr", format,
                       h->parts);
    if (!flat_find(f, p, e)) return false;
    note_left_out(f, p, format, holds_alpha);
    if (!holds_alpha) f->alpha = -1;
    if (memcmp(&p->data, &p->display, sizeof p->data) != 0)
        log_note("%s holds no windows: the data window is written, (%d,%d)-(%d,%d)", format,
                 p->data.x0, p->data.y0, p->data.x1, p->data.y1);
    return true;
}

void flat_get(float *to, int count, const flat_picture *f, const image_part *p,
              const void *const plane[], size_t first, size_t n) {
    float some[256];
    for (int k = 0; k < count; k++) {
        int c = k < 3 ? f->colour[k] : f->alpha;
        for (size_t at = 0; at < n;) {
            size_t m = n - at < 256 ? n - at : 256;
            if (c >= 0) image_to_float(some, plane[c], p->channel[c].type, first + at, m);
            for (size_t i = 0; i < m; i++)
                to[(at + i) * (size_t)count + (size_t)k] = c >= 0 ? some[i] : 1;
            at += m;
        }
    }
}

uint32_t flat_one_row(const void *state, int part) {
    (void)state, (void)part;
    return 1;
}

float flat_from_srgb(float v) {
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

float flat_to_srgb(float v) {
    return v <= 0.0031308f ? v * 12.92f : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
}
