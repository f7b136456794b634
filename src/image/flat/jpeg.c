#include "image/flat/jpeg.h"

#include "base/mem.h"

#include <string.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

/* A file that grows. */
typedef struct {
    uint8_t *bytes;
    size_t n, room;
    err *e;
    bool failed;
} jpeg_file;

static void jpeg_add(void *ctx, void *data, int bytes) {
    jpeg_file *f = ctx;
    size_t n = (size_t)bytes;
    if (f->failed) return;
    if (f->room - f->n < n) {
        size_t room = 2 * (f->room + n);
        uint8_t *more = mem_raw(room, 1, "a JPEG picture", f->e);
        if (more && f->n) memcpy(more, f->bytes, f->n);
        mem_free(f->bytes);
        f->bytes = more, f->room = room, f->failed = !more;
        if (f->failed) return;
    }
    memcpy(f->bytes + f->n, data, n);
    f->n += n;
}

uint8_t *jpeg_encode(const png_picture *p, int quality, size_t *bytes, err *e) {
    jpeg_file f = {.e = e};
    if (p->width > 65535 || p->height > 65535) {
        err_set(e, ERR_DATA,
                "%u x %u pixels are too many for a JPEG file: a side has at most 65535", p->width,
                p->height);
        return NULL;
    }
    stbi_write_jpg_to_func(jpeg_add, &f, (int)p->width, (int)p->height, p->channels, p->pixel,
                           quality);
    *bytes = f.n;
    return f.bytes;
}
