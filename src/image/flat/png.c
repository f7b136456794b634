/* png.c - reads and writes PNG, and writes JPEG, through stb.
 *
 * Files of 8 or 16 bits are read: sRGB is decoded to linear light and multiplied by alpha, as EXR
 * has it. Files of 8 bits are written, as pictures for the screen: values outside 0..1 are cut off.
 * stb takes and gives whole pictures, so reader and writer hold one. */
#include "image/flat/png.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/flat/flat.h"

#include <libdeflate.h>
#include <stdatomic.h>

/* stb calls its allocator without any context, so that goes by thread: the largest block that may
 * be asked for (a small file can inflate to gigabytes), and why there was no memory. Blocks come
 * from base/mem.h, so they count under --mem-limit. */
static _Thread_local size_t budget;
static _Thread_local err no_memory;

static void *stb_realloc(void *old, size_t old_bytes, size_t bytes) {
    void *p = bytes <= budget ? mem_raw(bytes, 1, "a PNG picture", &no_memory) : NULL;
    if (!p || !old) return p;
    memcpy(p, old, old_bytes < bytes ? old_bytes : bytes);
    mem_free(old);
    return p;
}

static void *stb_malloc(size_t bytes) {
    return stb_realloc(NULL, 0, bytes);
}

static unsigned char *deflate(unsigned char *data, int bytes, int *out_bytes, int quality);

#define STBI_MALLOC(n)                   stb_malloc(n)
#define STBI_REALLOC_SIZED(p, old_n, n)  stb_realloc(p, old_n, n)
#define STBI_FREE(p)                     mem_free(p)
#define STBIW_MALLOC(n)                  stb_malloc(n)
#define STBIW_REALLOC_SIZED(p, old_n, n) stb_realloc(p, old_n, n)
#define STBIW_FREE(p)                    mem_free(p)
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 20)
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ZLIB_COMPRESS deflate
#include <stb/stb_easy_font.h>
#include <stb/stb_image_write.h>

typedef struct {
    flat_file flat; /* pixels: 8 or 16 bits a sample, as in the file */
    bool deep;      /* 16 */
    int channels;
    float *linear; /* of each of the 256 or 65536 values */
} png_reader;

static void png_close(void *reader) {
    png_reader *r = reader;
    if (r) mem_free(r->linear);
    flat_close(r);
}

/* Says why stb failed: no memory, a block beyond the budget, or what it says itself. */
static bool damaged(const char *what, err *e) {
    if (no_memory.code) {
        if (e) *e = no_memory;
        return false;
    }
    const char *why = stbi__g_failure_reason;
    if (!why) why = "a chunk is too long";
    if (strcmp(why, "outofmem") == 0) why = "it inflates to more than its pixels need";
    return err_set(e, ERR_DATA, "%s is damaged: %s", what, why);
}

/* Returns the bytes behind the last chunk, IEND: a chunk is a length, a name, data and a sum. */
static uint64_t bytes_behind(const uint8_t *b, size_t n) {
    for (size_t at = 8; n - at >= 12;) {
        uint32_t length;
        memcpy(&length, b + at, sizeof length);
        length = __builtin_bswap32(length);
        if (length > n - at - 12) break;
        bool last = memcmp(b + at + 4, "IEND", 4) == 0;
        at += 12 + (size_t)length;
        if (last) return n - at;
    }
    return 0;
}

static bool decode(png_reader *r, const uint8_t *bytes, int n, const image_limits *limits,
                   image_header *h, err *e) {
    int w, height, channels;
    budget = 2 * (size_t)n + (1 << 20);
    no_memory = (err){0};
    stbi__g_failure_reason = NULL; /* stb does not always give one */
    if (!stbi_info_from_memory(bytes, n, &w, &height, &channels)) {
        /* stb also refuses what has more than 2^30 samples. Its header starts with the sizes. */
        uint32_t size[2] = {0};
        if (n >= 24) memcpy(size, bytes + 16, sizeof size);
        uint64_t pixels = (uint64_t)__builtin_bswap32(size[0]) * __builtin_bswap32(size[1]);
        if (pixels <= 1 << 28) return damaged("the header of the PNG file", e);
        return err_set(e, ERR_DATA,
                       "%" PRIu64 " pixels are too many for a PNG file, of which up to 2^30 "
                       "samples can be read; convert it to EXR",
                       pixels);
    }
    bool alpha = channels == 2 || channels == 4;
    const flat_size size = {(uint64_t)w, (uint64_t)height, channels - alpha, alpha};
    if (!flat_header(&r->flat, h, &size, limits, e)) return false;
    r->channels = channels;
    r->deep = stbi_is_16_bit_from_memory(bytes, n);
    /* Rows with their filter bytes, in 16 bits and four channels; twice while a buffer doubles. */
    budget += ((size_t)w * 8 + 8) * (size_t)height * 2;
    r->flat.pixels =
        r->deep ? (void *)stbi_load_16_from_memory(bytes, n, &w, &height, &channels, r->channels)
                : stbi_load_from_memory(bytes, n, &w, &height, &channels, r->channels);
    if (!r->flat.pixels) return damaged("the PNG file", e);
    h->behind = bytes_behind(bytes, (size_t)n);
    uint32_t values = r->deep ? 65536 : 256;
    if (!(r->linear = mem_raw(values, sizeof *r->linear, "the curve of sRGB", e))) return false;
    for (uint32_t i = 0; i < values; i++)
        r->linear[i] = flat_from_srgb((float)i / (float)(values - 1));
    return true;
}

static uint32_t value_at(const png_reader *r, size_t i) {
    return r->deep ? ((const uint16_t *)r->flat.pixels)[i] : ((const uint8_t *)r->flat.pixels)[i];
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    const png_reader *r = ctx;
    const flat_picture *f = &r->flat.picture;
    size_t width = r->flat.width, n = (size_t)r->channels;
    float *alpha = f->alpha >= 0 ? r->flat.plane[f->alpha] : NULL;
    for (size_t x = 0; x < width; x++) {
        size_t at = ((r->flat.row + i) * width + x) * n;
        float a = 1;
        if (f->alpha >= 0) a = (float)value_at(r, at + n - 1) / (r->deep ? 65535.0f : 255.0f);
        if (alpha) alpha[i * width + x] = a;
        for (int c = 0; c < f->colours; c++) {
            float *to = r->flat.plane[f->colour[c]];
            if (to) to[i * width + x] = r->linear[value_at(r, at + (size_t)c)] * a;
        }
    }
    return true;
}

static void *png_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    png_reader *r = flat_new(sizeof *r, read_row, threads, e);
    size_t n = 0;
    OWN_MEM uint8_t *bytes = r ? file_read_all(path, INT32_MAX, &n, e) : NULL;
    if (bytes && decode(r, bytes, (int)n, limits, h, e)) return r;
    png_close(r);
    return NULL;
}

/* What deflate has made; stb forgets it where it finds no memory for the file. */
static _Thread_local unsigned char *deflated;

static unsigned char *deflate(unsigned char *data, int bytes, int *out_bytes, int quality) {
    /* The frames of a run wait for large pictures. A street at 1080p takes half of the time at
     * level 1, and has 7 % more bytes. */
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(bytes < 4 << 20 ? 6 : 1);
    if (!c) return NULL;
    size_t room = libdeflate_zlib_compress_bound(c, (size_t)bytes), n = 0;
    deflated = stb_malloc(room);
    if (deflated) n = libdeflate_zlib_compress(c, data, (size_t)bytes, deflated, room);
    libdeflate_free_compressor(c);
    *out_bytes = (int)n;
    return deflated;
}

uint8_t *png_encode(const png_picture *p, size_t *bytes, err *e) {
    uint64_t size = (uint64_t)p->width * p->height * (uint64_t)p->channels;
    if (size > INT32_MAX / 2) {
        err_set(e, ERR_DATA, "%u x %u pixels are too many for a PNG file", p->width, p->height);
        return NULL;
    }
    int n;
    budget = SIZE_MAX;
    no_memory = (err){.code = ERR_MEMORY, .msg = "out of memory: deflate"};
    deflated = NULL;
    unsigned char *png =
        stbi_write_png_to_mem(p->pixel, 0, (int)p->width, (int)p->height, p->channels, &n);
    if (png) {
        *bytes = (size_t)n;
    } else {
        mem_free(deflated);
        if (e) *e = no_memory;
    }
    return png;
}

static void jpeg_add(void *file, void *data, int bytes) {
    text_add_bytes(file, data, (size_t)bytes);
}

bool png_encode_jpeg(text *to, const png_picture *p, int quality, err *e) {
    if (p->width > 65535 || p->height > 65535)
        return err_set(e, ERR_DATA,
                       "%u x %u pixels are too many for a JPEG file: a side has at most 65535",
                       p->width, p->height);
    stbi_write_jpg_to_func(jpeg_add, to, (int)p->width, (int)p->height, p->channels, p->pixel,
                           quality);
    return text_check(to, e);
}

void label_box(const label_picture *to, uint32_t x, uint32_t y, uint32_t w, uint32_t h,
               const uint8_t rgb[3]) {
    for (uint32_t j = y; j < y + h && j < to->h; j++)
        for (uint32_t i = x; i < x + w && i < to->w; i++)
            memcpy(to->pixel + 3 * ((size_t)j * to->w + i), rgb, 3);
}

void label_words(const label_picture *to, uint32_t x, uint32_t y, uint32_t scale, const char *words,
                 const uint8_t rgb[3]) {
    struct {
        float x, y, z;
        uint8_t colour[4];
    } corner[4 * 1500];
    char room[100];
    snprintf(room, sizeof room, "%s", words);
    int quads = stb_easy_font_print(0, 0, room, NULL, corner, sizeof corner);
    for (int q = 0; q < quads; q++) { /* corners 0 and 2 lie across from each other */
        const float x0 = corner[4 * q].x, y0 = corner[4 * q].y;
        const float x1 = corner[4 * q + 2].x, y1 = corner[4 * q + 2].y;
        label_box(to, x + (uint32_t)(x0 * (float)scale), y + (uint32_t)(y0 * (float)scale),
                  (uint32_t)((x1 - x0) * (float)scale), (uint32_t)((y1 - y0) * (float)scale), rgb);
    }
}

typedef struct {
    flat_file flat; /* pixels: the bytes of the picture */
    int channels;
    atomic_bool cut_off; /* a value was above 1; the rows' threads set it */
} png_writer;

static uint8_t to_byte(float v) {
    if (!(v > 0)) return 0;
    return v < 1 ? (uint8_t)(v * 255 + 0.5f) : 255;
}

/* Packs a row. Colour is divided by alpha; if alpha is 0, no colour is seen. */
static bool pack_row(void *ctx, size_t i, int worker, err *e) {
    png_writer *w = ctx;
    const flat_picture *f = &w->flat.picture;
    size_t width = w->flat.width, n = (size_t)w->channels, colours = (size_t)f->colours;
    OWN_MEM float *line = mem_raw(width * 4, sizeof *line, "a row", e);
    if (!line) return false;
    flat_get(line, 4, f, w->flat.from, i);
    uint8_t *to = (uint8_t *)w->flat.pixels + (w->flat.row + i) * width * n;
    for (size_t x = 0; x < width; x++, to += n) {
        float a = line[4 * x + 3];
        for (size_t c = 0; c < colours; c++) {
            float v = line[4 * x + c];
            if (f->alpha >= 0) v = a > 0 ? v / a : 0;
            if (v > 1) w->cut_off = true;
            to[c] = to_byte(v < 1 ? flat_to_srgb(v) : v);
        }
        if (n > colours) to[colours] = to_byte(a);
    }
    return true;
}

static void *png_create(file_out *file, image_header *h, par *threads, err *e) {
    png_writer *w = flat_new(sizeof *w, pack_row, threads, e);
    if (w && flat_take(&w->flat, file, h, &FORMAT_PNG, e)) {
        w->channels = w->flat.picture.colours + (w->flat.picture.alpha >= 0);
        w->flat.pixels =
            mem_raw((size_t)w->flat.width * w->flat.height, (size_t)w->channels, "the picture", e);
        if (w->flat.pixels) return w;
    }
    flat_close(w);
    return NULL;
}

static bool png_commit(void *writer, err *e) {
    const png_writer *w = writer;
    const png_picture p = {w->flat.pixels, w->flat.width, w->flat.height, w->channels};
    if (w->cut_off)
        log_note("'%s': values above 1 are cut off, png holds 8 bits of sRGB",
                 file_out_path(w->flat.out));
    size_t n = 0;
    OWN_MEM uint8_t *png = png_encode(&p, &n, e);
    return png && file_out_write(w->flat.out, 0, png, n, e);
}

const image_format FORMAT_PNG = {
    .name = "png",
    .extensions = "png",
    .holds_alpha = true,
    .magic = {"\x89PNG\r\n\x1a\n"},
    .open = png_open,
    .close = png_close,
    .create = png_create,
    .read = flat_read,
    .write = flat_write,
    .commit = png_commit,
    .discard = flat_close,
};
