#include "image/flat/flat.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/steady.h"
#include "base/text.h"

/* Finds the picture of a part by the names of its channels. Fails where there is none. */
static bool find_picture(flat_file *f, const image_part *p, err *e) {
    int r = image_find_channel(p, "R"), g = image_find_channel(p, "G"),
        b = image_find_channel(p, "B"), y = image_find_channel(p, "Y");
    bool rgb = r >= 0 && g >= 0 && b >= 0;
    f->width = image_width(p);
    f->height = image_height(p);
    f->picture = (flat_picture){p, {y, y, y}, 1, image_find_channel(p, "A")};
    if (rgb) f->picture = (flat_picture){p, {r, g, b}, 3, f->picture.alpha};
    return rgb || y >= 0 ||
           err_set(e, ERR_DATA, "there are neither channels R G B nor a channel Y");
}

void flat_get(float *to, int count, const flat_picture *f, const void *const plane[], size_t y) {
    size_t n = image_width(f->part);
    float some[256];
    for (int k = 0; k < count; k++) {
        int c = k < 3 ? f->colour[k] : f->alpha;
        for (size_t at = 0; at < n;) {
            size_t m = min_size(n - at, 256);
            if (c >= 0) image_to_float(some, plane[c], f->part->channel[c].type, y * n + at, m);
            for (size_t i = 0; i < m; i++)
                to[(at + i) * (size_t)count + (size_t)k] = c >= 0 ? some[i] : 1;
            at += m;
        }
    }
}

void *flat_new(size_t bytes, par_fn *each, par *threads, err *e) {
    flat_file *f = mem_new(1, bytes, "reader or writer of a picture", e);
    if (f) *f = (flat_file){.threads = threads, .each = each};
    return f;
}

bool flat_header(flat_file *f, image_header *h, const flat_size *s, const image_limits *limits,
                 err *e) {
    static const char *const NAME[2][3] = {{"Y"}, {"R", "G", "B"}};
    uint64_t channels = (uint64_t)s->colours + s->alpha;
    if (s->width == 0 || s->height == 0 || s->width > limits->side || s->height > limits->side)
        return err_set(e, ERR_DATA, "%" PRIu64 " x %" PRIu64 " pixels; a side must have 1 to %u",
                       s->width, s->height, limits->side);
    if (s->width * s->height > limits->samples / channels)
        return err_set(e, ERR_DATA,
                       "%" PRIu64 " x %" PRIu64 " pixels in %" PRIu64
                       " channels are more than the %" PRIu64 " samples allowed",
                       s->width, s->height, channels, limits->samples);
    image_part *p = mem_new(1, sizeof *p, "a part", e);
    if (!p) return false;
    h->part = p;
    h->parts = 1;
    p->data = p->display = (image_box){0, 0, (int32_t)s->width - 1, (int32_t)s->height - 1};
    p->aspect = 1;
    p->packing = COMPRESSION_ZIP;
    for (int c = 0; c < s->colours; c++)
        if (!image_add_channel(p, NAME[s->colours == 3][c], PIXEL_FLOAT, e)) return false;
    return (!s->alpha || image_add_channel(p, "A", PIXEL_FLOAT, e)) && find_picture(f, p, e);
}

bool flat_take(flat_file *f, file_out *file, const image_header *h, const image_format *format,
               err *e) {
    const image_part *p = &h->part[0];
    flat_picture *picture = &f->picture;
    OWN(text) left_out = {0};
    f->out = file;
    if (h->parts > 1)
        return err_set(e, ERR_DATA, "%s holds one part, this image has %d; write exr", format->name,
                       h->parts);
    if (!find_picture(f, p, e)) return false;
    for (int c = 0; c < p->channels; c++) {
        bool held = c == picture->colour[0] || c == picture->colour[1] || c == picture->colour[2] ||
                    (c == picture->alpha && format->holds_alpha);
        if (!held) text_add(&left_out, "%s%s", left_out.n ? ", " : "", p->channel[c].name);
    }
    if (left_out.n)
        log_say_once(LOG_NOTE, "%s cannot hold these channels, which are left out: %s",
                     format->name, left_out.s);
    if (!format->holds_alpha) picture->alpha = -1;
    if (memcmp(&p->data, &p->display, sizeof p->data) != 0)
        log_say_once(LOG_NOTE, "%s holds no windows: the data window is written, (%d,%d)-(%d,%d)",
                     format->name, p->data.x0, p->data.y0, p->data.x1, p->data.y1);
    return true;
}

bool flat_read(void *file, int part, uint32_t row, uint32_t rows, void *const plane[], err *e) {
    flat_file *f = file;
    f->row = row;
    f->plane = plane;
    return par_for(f->threads, rows, f->each, f, e);
}

bool flat_write(void *file, int part, uint32_t row, uint32_t rows, const void *const plane[],
                err *e) {
    flat_file *f = file;
    f->row = row;
    f->from = plane;
    return par_for(f->threads, rows, f->each, f, e);
}

void flat_close(void *file) {
    flat_file *f = file;
    if (!f) return;
    file_in_close(&f->in);
    mem_free(f->pixels);
    mem_free(f);
}

static size_t row_bytes(const flat_file *f) {
    return f->width * (size_t)f->numbers.count * sizeof(float);
}

static uint64_t row_at(const flat_file *f, size_t i) {
    return f->numbers.start + (f->height - 1 - (f->row + i)) * row_bytes(f);
}

bool flat_numbers_there(const flat_file *f, uint64_t *behind, err *e) {
    uint64_t need = f->height * (uint64_t)row_bytes(f),
             there = file_in_size(f->in) - f->numbers.start;
    if (need > there)
        return err_set(e, ERR_DATA,
                       "the file is cut off: its samples need %" PRIu64 " bytes, %" PRIu64
                       " are there",
                       need, there);
    *behind = there - need;
    return true;
}

bool flat_read_numbers(void *file, size_t i, int worker, err *e) {
    const flat_file *f = file;
    size_t width = f->width, count = (size_t)f->numbers.count;
    OWN_MEM uint32_t *line = mem_raw(row_bytes(f), 1, "a row", e);
    if (!line || !file_in_read(f->in, row_at(f, i), line, row_bytes(f), e)) return false;
    for (size_t k = 0; k < count; k++) {
        uint32_t *plane = f->plane[f->picture.colour[k]], *to = plane + i * width;
        for (size_t x = 0, at = k; plane && x < width; x++, at += count)
            to[x] = f->numbers.swapped ? __builtin_bswap32(line[at]) : line[at];
    }
    return true;
}

bool flat_write_numbers(void *file, size_t i, int worker, err *e) {
    const flat_file *f = file;
    OWN_MEM float *line = mem_raw(row_bytes(f), 1, "a row", e);
    if (!line) return false;
    flat_get(line, f->numbers.count, &f->picture, f->from, i);
    return file_out_write(f->out, row_at(f, i), line, row_bytes(f), e);
}

float flat_from_srgb(float v) {
    return v <= 0.04045f ? v / 12.92f : (float)steady_pow(((double)v + 0.055) / 1.055, 2.4);
}

/* Returns v^(1 / 2.4), which is c c^(1/4) of the cube root c. A third of the exponent's bits begins
 * within 5 %, and each of Halley's steps cubes that. Roots are rounded alike everywhere. */
static double root_of_srgb(double v) {
    uint64_t bits;
    double c;
    memcpy(&bits, &v, sizeof bits);
    bits = bits / 3 + ((uint64_t)715094163 << 32);
    memcpy(&c, &bits, sizeof c);
    for (int step = 0; step < 2; step++) {
        const double cube = c * c * c;
        c *= (cube + 2 * v) / (2 * cube + v);
    }
    return c * sqrt(sqrt(c));
}

float flat_to_srgb(float v) {
    return v <= 0.0031308f ? v * 12.92f : (float)(1.055 * root_of_srgb((double)v) - 0.055);
}
