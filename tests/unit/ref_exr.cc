extern "C" {
#include "base/hash.h"
#include "image/image.h"
}
#include "unit/ref_exr.h"

#include <ImfAttribute.h>
#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputPart.h>
#include <ImfMultiPartInputFile.h>
#include <ImfMultiPartOutputFile.h>
#include <ImfOpaqueAttribute.h>
#include <ImfOutputPart.h>
#include <ImfPartType.h>
#include <ImfThreading.h>
#include <ImfTiledInputPart.h>
#include <ImfTiledOutputPart.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace {

class bytes_out : public Imf::OStream {
  public:
    bytes_out() : OStream("bytes") {}
    void write(const char c[], int n) override { bytes.append(c, size_t(n)); }
    uint64_t tellp() override { return bytes.size(); }
    void seekp(uint64_t) override {}
    std::string bytes;
};

class bytes_in : public Imf::IStream {
  public:
    explicit bytes_in(const image_attr &a)
        : IStream("bytes"), data(reinterpret_cast<const char *>(a.data)), size(a.bytes) {}
    bool read(char c[], int n) override {
        if (uint64_t(n) > size - at) throw std::runtime_error("short attribute");
        memcpy(c, data + at, size_t(n));
        at += uint64_t(n);
        return at < size;
    }
    uint64_t tellg() override { return at; }
    void seekg(uint64_t to) override { at = to; }

  private:
    const char *data;
    uint64_t size, at = 0;
};

Imath::Box2i box(const image_box &b) {
    return Imath::Box2i(Imath::V2i(b.x0, b.y0), Imath::V2i(b.x1, b.y1));
}

void add_attr(Imf::Header &h, const image_attr &a) {
    Imf::Attribute *value = Imf::Attribute::knownType(a.type) ? Imf::Attribute::newAttribute(a.type)
                                                              : new Imf::OpaqueAttribute(a.type);
    bytes_in in(a);
    value->readValueFrom(in, int(a.bytes), 2);
    h.insert(a.name, *value);
    delete value;
}

Imf::Header header_of(const image_part &p, ref_levels levels) {
    Imf::Header h(box(p.display), box(p.data), p.aspect);
    h.compression() = Imf::Compression(p.packing);
    h.lineOrder() = Imf::LineOrder(p.order);
    for (int i = 0; i < p.attrs; i++) add_attr(h, p.attr[i]);
    for (int c = 0; c < p.channels; c++)
        h.channels().insert(p.channel[c].name, Imf::Channel(Imf::PixelType(p.channel[c].type), 1, 1,
                                                            p.channel[c].linear));
    if (p.tile_w)
        h.setTileDescription(
            Imf::TileDescription(p.tile_w, p.tile_h, Imf::LevelMode(levels), Imf::ROUND_DOWN));
    if (p.name) h.setName(p.name);
    h.setType(p.tile_w ? Imf::TILEDIMAGE : Imf::SCANLINEIMAGE);
    return h;
}

Imf::FrameBuffer buffer_of(const image_part &p, void *const plane[]) {
    Imf::FrameBuffer fb;
    for (int c = 0; c < p.channels; c++) {
        size_t size = pixel_bytes(p.channel[c].type);
        fb.insert(p.channel[c].name, Imf::Slice::Make(Imf::PixelType(p.channel[c].type), plane[c],
                                                      box(p.data), size, size * image_width(&p)));
    }
    return fb;
}

void write_smaller_levels(Imf::TiledOutputPart &out, const image_part &p) {
    std::vector<uint32_t> grey(size_t(image_width(&p)) * image_height(&p), 77);
    std::vector<void *> plane(size_t(p.channels), grey.data());
    out.setFrameBuffer(buffer_of(p, plane.data()));
    for (int ly = 0; ly < out.numYLevels(); ly++)
        for (int lx = 0; lx < out.numXLevels(); lx++)
            if ((lx || ly) && out.isValidLevel(lx, ly))
                out.writeTiles(0, out.numXTiles(lx) - 1, 0, out.numYTiles(ly) - 1, lx, ly);
}

void write_tiles(Imf::MultiPartOutputFile &file, int i, const image_part &p, void *const plane[]) {
    Imf::TiledOutputPart out(file, i);
    out.setFrameBuffer(buffer_of(p, plane));
    int w = out.numXTiles(0), n = w * out.numYTiles(0);
    int step = p.order == LINES_RANDOM ? 7 : 1;
    while (n % step == 0 && step > 1) step += 2;
    for (int t = 0; t < n; t++) {
        int k = int(int64_t(t) * step % n);
        out.writeTile(k % w, k / w);
    }
    write_smaller_levels(out, p);
}

void write(const char *path, const image &img, ref_levels levels) {
    std::vector<Imf::Header> headers;
    for (int i = 0; i < img.head.parts; i++) headers.push_back(header_of(img.head.part[i], levels));
    Imf::MultiPartOutputFile file(path, headers.data(), int(headers.size()));
    for (int i = 0; i < img.head.parts; i++) {
        const image_part &p = img.head.part[i];
        if (p.tile_w) {
            write_tiles(file, i, p, img.plane[i]);
            continue;
        }
        Imf::OutputPart out(file, i);
        out.setFrameBuffer(buffer_of(p, img.plane[i]));
        out.writePixels(int(image_height(&p)));
    }
}

void read(const char *path, int i, const image_part &p, void *const plane[]) {
    Imf::MultiPartInputFile file(path);
    if (p.tile_w) {
        Imf::TiledInputPart in(file, i);
        in.setFrameBuffer(buffer_of(p, plane));
        in.readTiles(0, in.numXTiles(0) - 1, 0, in.numYTiles(0) - 1);
        return;
    }
    Imf::InputPart in(file, i);
    in.setFrameBuffer(buffer_of(p, plane));
    in.readPixels(p.data.y0, p.data.y1);
}

std::string dump(const char *path) {
    Imf::MultiPartInputFile file(path);
    std::ostringstream text;
    for (int i = 0; i < file.parts(); i++) {
        const Imf::Header &h = file.header(i);
        for (auto a = h.begin(); a != h.end(); ++a) {
            bytes_out value;
            a.attribute().writeValueTo(value, 2);
            char hash[HASH_TEXT];
            hash_text(hash_bytes(value.bytes.data(), value.bytes.size()), hash);
            text << i << ' ' << a.name() << ' ' << a.attribute().typeName() << ' '
                 << value.bytes.size() << ' ' << hash << '\n';
        }
    }
    return text.str();
}

template <typename F> bool guarded(const char *path, F &&f) {
    try {
        f();
        return true;
    } catch (const std::exception &x) {
        fprintf(stderr, "OpenEXR: %s: %s\n", path, x.what());
        return false;
    }
}

} // namespace

bool ref_exr_write(const char *path, const image *img, ref_levels levels) {
    return guarded(path, [&] { write(path, *img, levels); });
}

bool ref_exr_read(const char *path, int part, const image_part *p, void *const plane[]) {
    return guarded(path, [&] { read(path, part, *p, plane); });
}

void ref_exr_threads(int threads) {
    Imf::setGlobalThreadCount(threads);
}

char *ref_exr_dump(const char *path) {
    std::string text;
    if (!guarded(path, [&] { text = dump(path); })) return nullptr;
    return strdup(text.c_str());
}
