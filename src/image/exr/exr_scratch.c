/* exr_scratch.c - the room in which a thread packs and unpacks chunks. */
#include "base/mem.h"
#include "image/exr/exr_chunk.h"

#include <libdeflate.h>
#include <unistd.h>

bool exr_grow(uint8_t **buffer, size_t *room, size_t bytes, err *e) {
    if (bytes <= *room) return true;
    mem_free(*buffer);
    *room = 0;
    *buffer = mem_raw(bytes, 1, "a chunk", e);
    if (*buffer) *room = bytes;
    return *buffer != NULL;
}

bool exr_inflate(exr_scratch *s, const uint8_t *from, size_t bytes, uint8_t *to, size_t raw,
                 err *e) {
    if (!s->inflate && !(s->inflate = libdeflate_alloc_decompressor()))
        return err_set(e, ERR_RETRY, "out of memory: inflate");
    return libdeflate_zlib_decompress(s->inflate, from, bytes, to, raw, NULL) ==
               LIBDEFLATE_SUCCESS ||
           err_set(e, ERR_DATA, "the deflated data is damaged");
}

bool exr_scratch_packed(exr_scratch *s, size_t bytes, err *e) {
    return exr_grow(&s->packed, &s->packed_room, bytes + EXR_HUFFMAN_SLACK, e);
}

void exr_scratch_free(exr_scratch *s) {
    mem_free(s->packed);
    mem_free(s->raw);
    mem_free(s->look);
    mem_free(s->zip);
    if (s->inflate) libdeflate_free_decompressor(s->inflate);
    if (s->child) close(s->child);
    *s = (exr_scratch){0};
}
