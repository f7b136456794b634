#include "app/run/output.h"

#include "base/path.h"
#include "image/format.h"

uint64_t output_stream_bytes(const output *o, const char *input, const image_header *h) {
    uint64_t bytes = strncmp(input, "/proc/self/fd/", 14) == 0 ? path_bytes(input) : 0;
    for (int i = 0; image_is_stream(o->path) && i < h->parts; i++)
        bytes += image_bytes(&h->part[i]);
    return bytes;
}

bool output_is_picture(const char *path) {
    return path_ends_in(path, "png") || strcmp(path, "png:-") == 0;
}
