/* exr_ilm.cc - PXR24, B44, B44A, DWAA and DWAB, through OpenEXR's C++ library.
 *
 * The library reads and writes files, not chunks; so it is handed a file in memory that consists of
 * a fresh header and the one chunk. Of a damaged file it sees only that chunk's data, of which
 * exr_sound has said that it gives every sample. It runs on the calling thread.
 *
 * Where the library gets no memory it may throw, say nothing, or break down. What it writes is
 * looked at, and what it cannot do with sound data counts as want of memory. */
extern "C" {
#include "image/exr/exr_chunk.h"
}

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputFile.h>
#include <ImfOutputFile.h>
#include <ImfTiledInputFile.h>
#include <ImfTiledOutputFile.h>
#include <ImfVersion.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <malloc.h>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

/* Two runs of bytes, one after the other, as a file. */
class memory_in : public Imf::IStream {
  public:
    memory_in(const std::vector<char> &first, const uint8_t *second, size_t bytes)
        : IStream("a chunk"), head(first), data(reinterpret_cast<const char *>(second)),
          end(first.size() + bytes) {}
    bool read(char to[], int n) override {
        if (n < 0 || uint64_t(n) > end - at) throw std::runtime_error("the data is cut off");
        uint64_t left = uint64_t(n);
        if (at < head.size()) {
            uint64_t some = std::min<uint64_t>(left, head.size() - at);
            memcpy(to, head.data() + at, some);
            to += some;
            at += some;
            left -= some;
        }
        if (left) memcpy(to, data + (at - head.size()), left);
        at += left;
        return at < end;
    }
    uint64_t tellg() override { return at; }
    void seekg(uint64_t to) override {
        if (to > end) throw std::runtime_error("the data is cut off");
        at = to;
    }

  private:
    const std::vector<char> &head;
    const char *data;
    uint64_t at = 0, end;
};

class memory_out : public Imf::OStream {
  public:
    memory_out() : OStream("a chunk") {}
    void write(const char from[], int n) override {
        if (at + size_t(n) > bytes.size()) bytes.resize(at + size_t(n));
        memcpy(bytes.data() + at, from, size_t(n));
        at += size_t(n);
    }
    uint64_t tellp() override { return at; }
    void seekp(uint64_t to) override {
        first_seek = std::min(first_seek, to);
        at = to;
    }
    std::vector<char> bytes;
    uint64_t first_seek = UINT64_MAX; /* the nearest to the start */

  private:
    uint64_t at = 0;
};

void put32(memory_out &to, uint64_t v) {
    uint32_t word = uint32_t(v);
    to.write(reinterpret_cast<const char *>(&word), sizeof word);
}

bool is_tiled(const exr_shape *s) {
    return s->part->tile_w != 0;
}

/* OpenEXR keeps the level beside the header; the attribute of the file says what it was. */
void set_dwa_level(Imf::Header &h, const image_part *p) {
    const image_attr *a = image_find_attr(p, "dwaCompressionLevel");
    float level;
    if (!a || a->bytes != sizeof level || strcmp(a->type, "float") != 0) return;
    memcpy(&level, a->data, sizeof level);
    if (level >= 0 && level <= 1e6f) h.dwaCompressionLevel() = level;
}

/* A side of a tile in whole blocks of four: for B44 the library reserves by the tile's size, and
 * writes whole blocks also where the image ends within one. */
unsigned blocks(uint32_t side) {
    return (side + 3) / 4 * 4;
}

/* The header of a file that is this chunk and nothing else, with its first pixel at (0, 0). */
Imf::Header header_of(const exr_shape *s) {
    int w = int(s->w), h = int(s->h);
    Imf::Header header(w, h);
    header.compression() = Imf::Compression(s->part->packing);
    for (int c = 0; c < s->part->channels; c++) {
        const image_channel &ch = s->part->channel[c];
        header.channels().insert(ch.name, Imf::Channel(Imf::PixelType(ch.type), 1, 1, ch.linear));
    }
    if (is_tiled(s)) header.setTileDescription(Imf::TileDescription(blocks(s->w), blocks(s->h)));
    set_dwa_level(header, s->part);
    return header;
}

/* The samples of a chunk as one run: line by line, within a line channel by channel. */
Imf::FrameBuffer buffer_of(const exr_shape *s, uint8_t *raw) {
    Imf::FrameBuffer fb;
    size_t line = s->raw / s->h, at = 0;
    for (int c = 0; c < s->part->channels; c++) {
        const image_channel &ch = s->part->channel[c];
        size_t size = pixel_bytes(ch.type);
        fb.insert(ch.name, Imf::Slice(Imf::PixelType(ch.type), reinterpret_cast<char *>(raw) + at,
                                      size, line));
        at += size * s->w;
    }
    return fb;
}

/* Everything up to the chunk's data: version, header, a table of one, the chunk's own head. */
std::vector<char> file_head(const exr_shape *s, const Imf::Header &header, size_t bytes) {
    memory_out out;
    put32(out, uint64_t(Imf::MAGIC));
    put32(out, Imf::EXR_VERSION | Imf::LONG_NAMES_FLAG | (is_tiled(s) ? Imf::TILED_FLAG : 0));
    header.writeTo(out, is_tiled(s));
    put32(out, out.tellp() + 8);
    put32(out, 0);
    for (int i = 0; i < (is_tiled(s) ? 4 : 1); i++) put32(out, 0); /* the first line, or tile */
    put32(out, bytes);
    return std::move(out.bytes);
}

void decode(const exr_shape *s, const uint8_t *packed, size_t bytes, uint8_t *raw) {
    std::vector<char> head = file_head(s, header_of(s), bytes);
    memory_in in(head, packed, bytes);
    if (is_tiled(s)) {
        Imf::TiledInputFile file(in, 0);
        file.setFrameBuffer(buffer_of(s, raw));
        file.readTile(0, 0);
    } else {
        Imf::InputFile file(in, 0);
        file.setFrameBuffer(buffer_of(s, raw));
        file.readPixels(0, int(s->h) - 1);
    }
}

/* Copies the data of the one chunk. The library goes back to its table, and nowhere before that;
 * the chunk follows the table: its place (0), its size, and its data up to the end of the file. */
size_t data_of(const exr_shape *s, const memory_out &out, uint8_t *packed) {
    const char *file = out.bytes.data();
    uint64_t size = out.bytes.size(), table = out.first_seek, offset, head = is_tiled(s) ? 20 : 8;
    if (size < 8 + head || table > size - 8 - head)
        throw std::runtime_error("no chunk was written");
    memcpy(&offset, file + table, sizeof offset);
    if (offset != table + 8) throw std::runtime_error("the table does not lead to the chunk");
    const char *chunk = file + offset;
    if (std::any_of(chunk, chunk + head - 4, [](char c) { return c != 0; }))
        throw std::runtime_error("another chunk was written");
    uint32_t bytes;
    memcpy(&bytes, chunk + head - 4, sizeof bytes);
    if (bytes > s->raw || bytes != size - head - offset)
        throw std::runtime_error("the chunk has a wrong size");
    memcpy(packed, chunk + head, bytes);
    return bytes;
}

size_t encode(const exr_shape *s, const uint8_t *raw, uint8_t *packed) {
    Imf::Header header = header_of(s);
    memory_out out;
    uint8_t *samples = const_cast<uint8_t *>(raw); /* a frame buffer is for both directions */
    if (is_tiled(s)) {
        Imf::TiledOutputFile file(out, header, 0);
        file.setFrameBuffer(buffer_of(s, samples));
        file.writeTile(0, 0);
    } else {
        Imf::OutputFile file(out, header, 0);
        file.setFrameBuffer(buffer_of(s, samples));
        file.writePixels(int(s->h));
    }
    return data_of(s, out, packed);
}

thread_local bool within; /* the library, which goes wrong where it gets no memory */
void (*without_memory)(void);

void on_no_memory() {
    if (within && without_memory) without_memory();
    throw std::bad_alloc();
}

struct inside {
    inside() { within = true; }
    ~inside() { within = false; }
};

} // namespace

void exr_ilm_without_memory(void (*fn)(void)) {
    without_memory = fn;
    std::set_new_handler(on_no_memory);
}

/* The program's, before that of the C library: the DWA codec does not look whether it got a block.
 */
__attribute__((visibility("default"))) int posix_memalign(void **to, size_t alignment,
                                                          size_t bytes) noexcept {
    void *got = memalign(alignment, bytes); /* aligned_alloc refuses bytes that are no multiple */
    if (!got && within && without_memory) without_memory();
    if (got) *to = got;
    return got ? 0 : ENOMEM;
}

bool exr_ilm_decode(exr_scratch *s, const exr_shape *shape, err *e) {
    if (!exr_sound(s, shape, e)) return false;
    try {
        inside library;
        decode(shape, s->packed, s->bytes, s->raw);
        return true;
    } catch (const std::exception &x) {
        /* Of Huffman codes exr_sound takes some that the library does not. Whatever else is wrong
         * with a chunk, exr_sound has seen. */
        bool huffman = strstr(x.what(), "Huffman");
        return err_set(e, huffman ? ERR_DATA : ERR_RETRY, "OpenEXR cannot decode it%s: %s",
                       huffman ? "" : "; there may be too little memory", x.what());
    }
}

bool exr_ilm_encode(exr_scratch *s, const exr_shape *shape, err *e) {
    try {
        inside library;
        s->bytes = encode(shape, s->raw, s->packed);
        return true;
    } catch (const std::exception &x) {
        return err_set(e, ERR_RETRY,
                       "OpenEXR cannot encode %zu bytes; there may be too little "
                       "memory: %s",
                       shape->raw, x.what());
    }
}
