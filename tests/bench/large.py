#!/usr/bin/env python3
"""Images that do not fit into the memory: time and peak memory from 4K to 32K under one limit.

large.py FFTBLOOM [LIMIT] [FOLDER] [WIDTHS]

Each image has WIDTH x WIDTH / 2 pixels of three floats, grain with a few lights, uncompressed; the
kernel has 1024 taps a side, and the output is ZIP. FOLDER needs room for twice the largest image
(13 GB for 32768). The 16K image is also made whole, if LIMIT cuts it and the machine has the
memory, and the results are compared.
"""
import array, json, os, random, struct, subprocess, sys, tempfile, time

program = os.path.abspath(sys.argv[1])
limit = sys.argv[2] if len(sys.argv) > 2 else "2G"
place = sys.argv[3] if len(sys.argv) > 3 else tempfile.gettempdir()
widths = [int(w) for w in sys.argv[4].split(",")] if len(sys.argv) > 4 else [4096, 8192, 16384, 32768]


def attribute(name, kind, data):
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(data)) + data


def make_image(path, w, h):
    """Writes the image line by line: pieces of one strip of grain, each at another place."""
    random.seed(1)
    grain = array.array("f", (0.1 + 0.3 * random.random() for _ in range(1 << 19))).tobytes()
    channel = lambda name: name + b"\0" + struct.pack("<4I", 2, 0, 1, 1)
    box = struct.pack("<4i", 0, 0, w - 1, h - 1)
    head = struct.pack("<2I", 20000630, 2)
    head += attribute("channels", "chlist", channel(b"B") + channel(b"G") + channel(b"R") + b"\0")
    head += attribute("compression", "compression", b"\0")
    head += attribute("dataWindow", "box2i", box) + attribute("displayWindow", "box2i", box)
    head += attribute("lineOrder", "lineOrder", b"\0")
    head += attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
    head += attribute("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0))
    head += attribute("screenWindowWidth", "float", struct.pack("<f", 1)) + b"\0"
    line, first = 12 * w, len(head) + 8 * h
    with open(path, "wb") as f:
        f.write(head + b"".join(struct.pack("<Q", first + y * (8 + line)) for y in range(h)))
        for y in range(h):
            row = b""
            while len(row) < line:
                at = 4 * random.randrange(1 << 18)
                row += grain[at:at + min(line - len(row), 1 << 20)]
            if y % 509 == 100:  # a light
                x = 4 * random.randrange(w)
                row = row[:x] + struct.pack("<f", 200) + row[x + 4:]
            f.write(struct.pack("<iI", y, line) + row)


def bloom(into, out, *more):
    start = time.perf_counter()
    child = subprocess.Popen([program, into, "kernel.exr", "-o", out, "--device", "cpu", "-q",
                              "--compression", "zip", "--report", "report.json", *more])
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit("fftbloom failed")
    frame = json.load(open("report.json"))["frames"][0]
    return (time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, frame)


def main():
    with tempfile.TemporaryDirectory(dir=place) as folder:
        os.chdir(folder)
        subprocess.run([program, "kernel", "make", "moffat", "--taps", "1024", "-o", "kernel.exr"],
                       check=True, stderr=subprocess.DEVNULL)
        bloom_once = None
        print(f"--mem-limit {limit}\n\n| image | tiles | seconds | CPU time | CPU time per megapixel "
              "| load | bloom | save | peak memory |\n|---|---|---|---|---|---|---|---|---|", flush=True)
        for w in widths:
            make_image("in.exr", w, w // 2)
            if bloom_once is None:  # the kernel's spectrum is in the cache afterwards
                bloom_once = bloom("in.exr", "out.exr")
            seconds, cpu, peak, frame = bloom("in.exr", "out.exr", "--mem-limit", limit)
            t, s = frame.get("tiles"), frame["seconds"]
            tiles = "whole" if not t else (f"{t['count'][0]} x {t['count'][1]} of {t['size'][0]} x "
                                           f"{t['size'][1]}" + (", channel by channel" if t["channels"] == 1 else ""))
            print(f"| {w} x {w // 2} | {tiles} | {seconds:.1f} | {cpu:.1f} | {cpu / (w * w / 2e6):.3f} "
                  f"| {s['load']:.1f} | {s['bloom']:.1f} | {s['save']:.1f} | {peak:.0f} MB |", flush=True)
            if not frame["promise"]["kept"]:
                sys.exit("the promise is not kept")
            if t and w <= 16384:
                bloom("in.exr", "whole.exr")
                told = subprocess.run([program, "diff", "whole.exr", "out.exr", "--fail", "1e-6",
                                       "--failrelative", "1e-3"], capture_output=True, text=True)
                near = "no pixel" if told.returncode == 0 else "SOME PIXELS"
                print(f"\nThe same image, whole: {near} differs by a thousandth of itself.\n", flush=True)
                os.remove("whole.exr")
            os.remove("out.exr")


main()
