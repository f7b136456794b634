/* exr_tiny.cc - PIZ (a wavelet and Huffman codes), through tinyexr's functions, whose
 * implementation lives here and nowhere else.
 *
 * tinyexr trusts sizes and passes over errors of its inner functions with success, so to decode
 * the steps are called one by one here, each with its own check, and Huffman codes are read by
 * exr_huffman.c.
 *
 * Where a chunk uses all 65536 values, tinyexr takes the address one past the end of a vector as
 * `&fHeap[nf]`. That address is right, but the assertions of the C++ library end the program over
 * it, so this file is compiled without them. */
#undef _GLIBCXX_ASSERTIONS
#include <cstdint>

#define TINYEXR_IMPLEMENTATION
#define TINYEXR_USE_MINIZ 0
#include <tinyexr.h>

extern "C" {
#include "image/exr/exr_chunk.h"
}

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <vector>

namespace {

/* A chunk is: the first and last byte of a bitmap of the 16-bit values that occur; those bytes;
 * the length of the Huffman data; that data. */
const size_t RANGE_BYTES = 4;

struct damaged {
    const char *what;
};

/* 16-bit words of a sample: float and uint are coded as two planes each. */
int words(const image_channel &c) {
    return c.type == PIXEL_HALF ? 1 : 2;
}

/* The planes of the channels, one after the other, to lines in which they alternate. */
void interleave(const exr_shape *shape, const unsigned short *planes, uint8_t *raw) {
    for (uint32_t y = 0; y < shape->h; y++) {
        const unsigned short *plane = planes;
        for (int c = 0; c < shape->part->channels; c++) {
            size_t n = size_t(shape->w) * words(shape->part->channel[c]);
            memcpy(raw, plane + y * n, n * 2);
            plane += n * shape->h;
            raw += n * 2;
        }
    }
}

void undo_wavelet(const exr_shape *shape, unsigned short *plane, unsigned short largest) {
    for (int c = 0; c < shape->part->channels; c++) {
        int n = words(shape->part->channel[c]), w = int(shape->w);
        for (int i = 0; i < n; i++)
            tinyexr::wav2Decode(plane + i, w, n, int(shape->h), w * n, largest);
        plane += size_t(shape->w) * shape->h * n;
    }
}

/* Reads the bitmap of values; returns where it ends in `in`, of which `bytes` are the chunk's. */
size_t read_bitmap(const std::vector<uint8_t> &in, size_t bytes, std::vector<uint8_t> &bitmap) {
    size_t low = in[0] | in[1] << 8, high = in[2] | in[3] << 8, at = RANGE_BYTES;
    if (bytes < at) throw damaged{"it is cut off"};
    if (high >= bitmap.size()) throw damaged{"the range of values is wrong"};
    if (low > high) return at; /* nothing but zeros */
    size_t n = high - low + 1;
    if (bytes - at < n) throw damaged{"the bitmap is cut off"};
    memcpy(&bitmap[low], &in[at], n);
    return at + n;
}

bool unpack(const exr_scratch *s, const exr_shape *shape, err *e) {
    size_t bytes = s->bytes;
    std::vector<uint8_t> in(bytes + EXR_HUFFMAN_SLACK); /* zeros behind the end */
    memcpy(in.data(), s->packed, bytes);
    std::vector<uint8_t> bitmap(tinyexr::BITMAP_SIZE);
    size_t at = read_bitmap(in, bytes, bitmap);
    uint32_t length;
    if (bytes - at < sizeof length) throw damaged{"it is cut off"};
    memcpy(&length, &in[at], sizeof length);
    at += sizeof length;
    if (length > bytes - at) throw damaged{"the Huffman data is cut off"};

    std::vector<unsigned short> lut(tinyexr::USHORT_RANGE), data(shape->raw / 2);
    unsigned short largest = tinyexr::reverseLutFromBitmap(bitmap.data(), lut.data());
    if (!exr_huffman_decode(&in[at], length, data.data(), data.size(), e)) return false;
    undo_wavelet(shape, data.data(), largest);
    tinyexr::applyLut(lut.data(), data.data(), int(data.size()));
    interleave(shape, data.data(), s->raw);
    return true;
}

} // namespace

bool exr_piz_decode(exr_scratch *s, const exr_shape *shape, err *e) {
    try {
        return unpack(s, shape, e);
    } catch (const damaged &d) {
        return err_set(e, ERR_DATA, "the PIZ data is damaged: %s", d.what);
    } catch (const std::bad_alloc &) {
        return err_set(e, ERR_RETRY, "out of memory: PIZ decoding of %zu bytes", shape->raw);
    } catch (const std::exception &x) {
        return err_set(e, ERR_DATA, "the PIZ data is damaged: %s", x.what());
    }
}

/* Huffman codes of 16-bit values need at most 58 bits, but on average no more than 17; their
 * table takes 6 bits for each of 65537 values. */
size_t exr_piz_bound(size_t raw) {
    return 2 * raw + 65536 + tinyexr::BITMAP_SIZE + 256;
}

bool exr_piz_encode(exr_scratch *s, const exr_shape *shape, err *e) {
    try {
        std::vector<tinyexr::ChannelInfo> channels(size_t(shape->part->channels));
        for (size_t c = 0; c < channels.size(); c++)
            channels[c].requested_pixel_type = shape->part->channel[c].type;
        unsigned int size = 0;
        if (!tinyexr::CompressPiz(s->packed, &size, s->raw, shape->raw, channels, int(shape->w),
                                  int(shape->h)))
            return err_set(e, ERR_INTERNAL, "PIZ encoding failed");
        s->bytes = size;
        return true;
    } catch (const std::bad_alloc &) {
        return err_set(e, ERR_RETRY, "out of memory: PIZ encoding of %zu bytes", shape->raw);
    } catch (const std::exception &x) {
        return err_set(e, ERR_INTERNAL, "PIZ encoding failed: %s", x.what());
    }
}
