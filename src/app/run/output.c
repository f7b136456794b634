#include "app/run/output.h"

#include "base/path.h"
#include "image/format.h"

#include <sys/stat.h>

uint64_t output_stream_bytes(const output *o, const char *input, const image_header *h) {
    struct stat st;
    bool here = strncmp(input, "/proc/self/fd/", 14) == 0 && stat(input, &st) == 0;
    uint64_t bytes = here ? (uint64_t)st.st_size : 0;
    for (int i = 0; image_is_stream(o->path) && i < h->parts; i++)
        bytes += image_bytes(&h->part[i]);
    return bytes;
}

bool output_is_picture(const char *path) {
    return path_ends_in(path, "png") || strcmp(path, "png:-") == 0;
}
