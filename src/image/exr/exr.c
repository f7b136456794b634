/* exr.c - EXR's row in the table of formats. */
#include "image/exr/exr_write.h"

#include <string.h>

static bool match(const uint8_t *head, size_t bytes) {
    static const uint8_t MAGIC[4] = {0x76, 0x2f, 0x31, 0x01};
    return bytes >= sizeof MAGIC && memcmp(head, MAGIC, sizeof MAGIC) == 0;
}

const image_format FORMAT_EXR = {
    .name = "exr",
    .extensions = "exr,sxr,mxr",
    .magic = 4,
    .match = match,
    .open = exr_read_open,
    .read = exr_read_band,
    .close = exr_read_close,
    .create = exr_write_create,
    .writer_rows = exr_write_rows,
    .write = exr_write_band,
    .can_copy = exr_write_can_copy,
    .copy_part = exr_write_copy,
    .commit = exr_write_commit,
    .discard = exr_write_discard,
};
