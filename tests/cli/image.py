"""Small EXR files for tests, and the values of their pixels, without the half second that oiiotool takes to start.

image.py make FILE WxH[+X+Y] half|float VALUES [X,Y=VALUES]... [names=A,B] [full=WxH] [KEY=TEXT] [-- FILE ...]
    As many channels as VALUES: Y, R G B or R G B A if they have no names. chromaticities=N,N,... is an
    attribute of 8 floats, any other KEY one of text.
image.py pixel FILE X Y [A,B]
    Prints the values, rounded to a hundred thousandth. It reads what is not compressed, ZIP and ZIPS.
image.py check FILE 'X Y [A,B]=VALUES'...
    Fails where a pixel has other values.
"""
import os
import re
import struct
import sys
import zlib

CHANNELS = {1: "Y", 3: "RGB", 4: "RGBA"}


def attribute(name, kind, data):
    return b"%s\0%s\0%s%s" % (name.encode(), kind.encode(), struct.pack("<I", len(data)), data)


def box(size):
    w, h, x, y = (int(n or 0) for n in re.fullmatch(r"(\d+)x(\d+)(?:([+-]\d+)([+-]\d+))?", size).groups())
    return x, y, x + w - 1, y + h - 1


def packed(raw):
    halves = raw[::2] + raw[1::2]
    coded = bytes(halves[:1]) + bytes((b - a + 128) & 255 for a, b in zip(halves, halves[1:]))
    small = zlib.compress(coded)
    return small if len(small) < len(raw) else raw


def unpacked(data, size):
    if len(data) == size:
        return data
    coded = bytearray(zlib.decompress(data))
    for i in range(1, size):
        coded[i] = (coded[i - 1] + coded[i] - 128) & 255
    raw = bytearray(size)
    raw[::2], raw[1::2] = coded[: (size + 1) // 2], coded[(size + 1) // 2 :]
    return bytes(raw)


def make(path, size, kind, fill, *rest):
    window, numbers = box(size), lambda text: [float(v) for v in text.split(",")]
    fill, points, full, extra = numbers(fill), {}, window, b""
    names = CHANNELS.get(len(fill))
    for word in rest:
        key, value = word.split("=", 1)
        if key == "names":
            names = value.split(",")
        elif key == "full":
            full = box(value)
        elif re.fullmatch(r"\d+,\d+", key):
            points[tuple(map(int, key.split(",")))] = numbers(value)
        elif key == "chromaticities":
            extra += attribute(key, key, struct.pack("<8f", *numbers(value)))
        else:
            extra += attribute(key, "string", value.encode())
    order = sorted(range(len(fill)), key=lambda i: names[i])
    letter, code = {"half": ("e", 1), "float": ("f", 2)}[kind]
    head = b"\x76\x2f\x31\x01\2\0\0\0" + attribute("channels", "chlist", b"".join(
        os.fsencode(names[i]) + b"\0" + struct.pack("<4I", code, 0, 1, 1) for i in order) + b"\0")
    head += attribute("compression", "compression", b"\3") + attribute("dataWindow", "box2i", struct.pack("<4i", *window))
    head += attribute("displayWindow", "box2i", struct.pack("<4i", *full)) + attribute("lineOrder", "lineOrder", b"\0")
    head += attribute("pixelAspectRatio", "float", struct.pack("<f", 1)) + extra
    head += attribute("screenWindowCenter", "v2f", bytes(8)) + attribute("screenWindowWidth", "float", struct.pack("<f", 1)) + b"\0"
    x0, y0, x1, y1 = window
    chunks = []
    for top in range(y0, y1 + 1, 16):
        raw = b"".join(struct.pack("<%d%s" % (x1 - x0 + 1, letter), *(points.get((x, y), fill)[i] for x in range(x0, x1 + 1)))
                       for y in range(top, min(top + 16, y1 + 1)) for i in order)
        data = packed(raw)
        chunks.append(struct.pack("<iI", top, len(data)) + data)
    at = len(head) + 8 * len(chunks)
    with open(path, "wb") as f:
        f.write(head)
        for c in chunks:
            f.write(struct.pack("<Q", at))
            at += len(c)
        f.writelines(chunks)


def pixel(path, x, y, wanted=None):
    data, x, y = open(path, "rb").read(), int(x), int(y)
    at, head = 8, {}
    while data[at]:
        name, kind, rest = data[at : at + 512].split(b"\0", 2)
        at += len(name) + len(kind) + 6
        n, = struct.unpack_from("<I", data, at - 4)
        head[name.decode()] = data[at : at + n]
        at += n
    channels = [(m[1].decode(), "ef"[m[2][0] - 1]) for m in re.finditer(rb"([^\0]+)\0([\1\2])\0{3}.{12}", head["channels"], re.S)]
    lines = {0: 1, 2: 1, 3: 16}[head["compression"][0]]
    x0, y0, x1, y1 = struct.unpack("<4i", head["dataWindow"])
    width, height = x1 - x0 + 1, y1 - y0 + 1
    start, = struct.unpack_from("<Q", data, at + 1 + 8 * ((y - y0) // lines))
    top, n = struct.unpack_from("<iI", data, start)
    row = sum(struct.calcsize(t) for _, t in channels) * width
    raw = unpacked(data[start + 8 : start + 8 + n], row * min(lines, y1 + 1 - top))
    at, value = row * (y - top), {}
    for name, letter in channels:
        value[name], = struct.unpack_from("<" + letter, raw, at + (x - x0) * struct.calcsize(letter))
        at += struct.calcsize(letter) * width
    usual = [c for c in "RGBA" if c in value]
    names = wanted.split(",") if wanted else usual + sorted(value.keys() - usual)
    return " ".join("%.6g" % (round(value[c], 5) + 0.0) for c in names)


if sys.argv[1] == "pixel":
    print(pixel(*sys.argv[2:]))
elif sys.argv[1] == "check":
    for place, want in (word.split("=") for word in sys.argv[3:]):
        got = pixel(sys.argv[2], *place.split())
        if got != want:
            sys.exit(f"{sys.argv[2]} has {got} at {place}, not {want}")
else:
    words = sys.argv[2:]
    while words:
        end = words.index("--") if "--" in words else len(words)
        make(*words[:end])
        words = words[end + 1 :]
