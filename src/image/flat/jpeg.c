#include "image/flat/jpeg.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

static void jpeg_add(void *file, void *data, int bytes) {
    text_add_bytes(file, data, (size_t)bytes);
}

bool jpeg_encode(text *to, const png_picture *p, int quality, err *e) {
    if (p->width > 65535 || p->height > 65535)
        return err_set(e, ERR_DATA,
                       "%u x %u pixels are too many for a JPEG file: a side has at most 65535",
                       p->width, p->height);
    stbi_write_jpg_to_func(jpeg_add, to, (int)p->width, (int)p->height, p->channels, p->pixel,
                           quality);
    return text_check(to, e);
}
