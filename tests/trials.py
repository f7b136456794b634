#!/usr/bin/env python3
"""Random attacks on the program from outside: make trials [RUNS=n] [SEED=n] [DEVICE=cpu|software|gpu].

    trials.py FFTBLOOM fields|files|stored|pieces|kills|codecs|pairs|doubles RUNS SEED [DEVICE]

fields   kernels that vary over the frame, by tests/unit/test_field.c: sums with the kernel of each source pixel.
files    EXR files of random sizes, windows, layers, types and codecs, with random kernels and settings: the colour
         layers against a sum over the taps in doubles, all other channels bit for bit.
stored   files of one to three parts in random codecs, most of which lose, with names of data that they take for light;
         with --compression, types, and glare in a layer or a file: the samples that are stored keep the promise and are
         bit for bit where they are data, or the report says lossy and names the data.
pieces   the same files under a limit of memory that makes tiles, against the whole image.
kills    a frame, a frame over an older one, and a sequence with --existing update end by a signal at a random moment:
         each output is whole or what it was, and the next run is as if nothing had been.
codecs   tiles and scan lines of every codec that end 1 to 3 pixels beyond a tile: OpenEXR reads what was written as this
         program does; the same under a random limit of memory, in and out: status 75, or the file; and damaged chunks
         of DWA: status 65, or samples that do not depend on what memory held.
pairs    eight config files each, of two settings that decide what becomes of pixels, in the order of all such pairs,
         with pixels beyond halfs, NaN and windows: each run ends in its time, by a status and not by a signal.
doubles  arrays of float64 with masks and thresholds in Python: no pixel is farther off than the report says, by sums in
         long doubles, nor than the tolerance where it is called kept.

Each trial draws from its own number, so `=N` for RUNS repeats trial N. The promise itself is attacked by
tests/unit/test_promise.c, calls that fail by tests/faults/sweep.py, calls of the system by tests/cli/sandbox.bats, links
of others and notes of sequences by tests/trials_guard.py.
"""
import itertools
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np
import OpenImageIO as oiio

program, kind, runs, seed = sys.argv[1:5]
device = sys.argv[5] if len(sys.argv) > 5 else "cpu"
if kind == "fields":  # of other numbers in the next seed
    unit, first = os.path.join(os.path.dirname(program), "tests/unit"), str(int(seed) * 1000000)
    os.execv(unit, [unit, "test_field", runs, first, device])
program, folder = os.path.abspath(program), tempfile.mkdtemp()
if kind == "pairs":
    os.chdir(folder)
os.environ["FFTBLOOM_CACHE_DIR"] = folder + "/cache"
BORDER = {"mirror": "symmetric", "zero": "constant", "clamp": "edge", "wrap": "wrap"}
COLOUR = ("RGB", "Y")  # of the unnamed layer, where a Y beside R, G and B is data
LAYERS = (["rim.R", "rim.G", "rim.B"], ["fog.Y"])
DATA = (["Z"], ["A"], ["id.x"], ["N.x", "N.y", "N.z"], ["crypto00.r", "crypto00.g"])


def run(*words, seconds=None):
    """Runs the program; seconds: of the processors, so that a busy machine looks like no endless loop."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))) if seconds else None
    return subprocess.run([program, *map(str, words), "--device", device], capture_output=True, text=True, preexec_fn=limit)


def write(path, channels, types, window, full, codec):
    """Writes {name: plane}; `types` gives half, float or uint32 for each name."""
    h, w = next(iter(channels.values())).shape
    spec = oiio.ImageSpec(w, h, len(channels), "float")
    spec.channelnames, spec.channelformats = tuple(channels), tuple(oiio.TypeDesc(types[n]) for n in channels)
    spec.x, spec.y = window
    spec.full_x, spec.full_y, spec.full_width, spec.full_height = full
    spec["compression"] = codec
    image = oiio.ImageBuf(spec)
    image.set_write_format(tuple(oiio.TypeDesc(types[n]) for n in channels))
    image.set_pixels(oiio.ROI.All, np.stack(list(channels.values()), 2).astype("f4"))
    assert image.write(path), image.geterror()


def read(path):
    """Returns {name: plane} of a file of one part."""
    file = oiio.ImageInput.open(path)
    assert file, oiio.geterror()
    pixels, names = file.read_image(oiio.FLOAT), file.spec().channelnames
    file.close()
    return {n: np.ascontiguousarray(pixels[:, :, i]) for i, n in enumerate(names)}


def draw_frame(rng):
    """Draws a file of light and data; returns its planes, their types and the names of what is bloomed."""
    w, h = rng.randint(1, 70), rng.randint(1, 70)
    numbers = np.random.default_rng(rng.getrandbits(32))
    planes, types, bloomed = {}, {}, []
    for names in [rng.choice(COLOUR), *rng.sample(LAYERS, rng.randint(0, 2))]:
        kind = rng.choice(["half", "float"])
        for n in names:
            plane = numbers.random((h, w)) ** rng.choice([1, 4]) * 10 ** rng.uniform(-3, 2)
            plane[rng.randrange(h), rng.randrange(w)] += 10 ** rng.uniform(0, 3)
            planes[n], types[n] = plane.astype("f2" if kind == "half" else "f4").astype("f4"), kind
            bloomed.append(n)
    for names in rng.sample(DATA, rng.randint(0, 3)):
        kind = rng.choice(["half", "float", "uint32"]) if names != ["A"] else "half"
        for n in names:
            plane = numbers.integers(0, 2048, (h, w)).astype("f4")
            planes[n], types[n] = (plane if kind == "uint32" else plane / 7).astype("f2" if kind == "half" else "f4").astype("f4"), kind
    return planes, types, bloomed


def draw_run(rng, name):
    """Draws a frame, a kernel and settings, and writes the files; returns what judges the result."""
    planes, types, bloomed = draw_frame(rng)
    h, w = next(iter(planes.values())).shape
    window = (rng.randint(-9, 9), rng.randint(-9, 9)) if rng.random() < 0.3 else (0, 0)
    write(name, planes, types, window, (*window, w, h), rng.choice(["none", "rle", "zips", "zip", "piz"]))
    taps = np.random.default_rng(rng.getrandbits(32)).random((rng.randint(1, 40), rng.randint(1, 40))) ** 6
    taps = (taps / taps.sum()).astype("f4")
    write(folder + "/kernel.exr", {"Y": taps}, {"Y": "float"}, (0, 0), (0, 0, *taps.shape[::-1]), "zip")
    padding = [rng.choice(list(BORDER)) for _ in "xy"]
    amount, axis = rng.choice([1, 0.5, 0.125]), rng.choice(["auto", "x", "y"])
    words = [name, folder + "/kernel.exr", "--padding", ",".join(padding), "--amount", amount, "--axis", axis]
    return planes, types, bloomed, taps / np.float64(taps.sum(dtype="f8")), padding, amount, words


def bordered(plane, margin, padding):
    return np.pad(plane, ((margin[0],) * 2, (0, 0)), BORDER[padding[1]]), lambda p: np.pad(p, ((0, 0), (margin[1],) * 2), BORDER[padding[0]])


def spread(plane, taps, padding):
    """Convolves by the definition: one shifted copy of the image for each tap, in doubles."""
    h, w = taps.shape
    tall, wide = bordered(plane.astype("f8"), taps.shape, padding)
    around, out = wide(tall), np.zeros(plane.shape)
    for j in range(h):
        for i in range(w):
            top, left = h - j + h // 2, w - i + w // 2
            out += taps[j, i] * around[top:top + plane.shape[0], left:left + plane.shape[1]]
    return out


def near(got, want, tolerance, kind):
    """Is each pixel within the tolerance, and what its type rounds off?"""
    least = 1e-4 * np.median(np.abs(want))
    step = np.abs(want) * (2.0 ** -10 if kind == "half" else 2.0 ** -23) + (2.0 ** -24 if kind == "half" else 1e-38)
    return bool((np.abs(got - want) <= tolerance * np.maximum(np.abs(want), least) + step).all())


def trial_files(rng):
    planes, types, bloomed, taps, padding, amount, words = draw_run(rng, folder + "/in.exr")
    done = run(*words, "-o", folder + "/out.exr", "--report", folder + "/r.json")
    if done.returncode:
        return f"status {done.returncode}: {done.stderr.strip()}"
    got = read(folder + "/out.exr")
    if set(got) != set(planes):
        return f"channels {sorted(got)}, not {sorted(planes)}"
    with open(folder + "/r.json") as f:
        kept = json.load(f)["frames"][0]["promise"]["kept"]
    for n, plane in planes.items():
        if n not in bloomed:
            if not np.array_equal(got[n].view("u4"), plane.view("u4")):
                return f"data channel {n} changed"
        elif kept and not near(got[n], (1 - amount) * plane + amount * spread(plane, taps, padding), 1e-3, types[n]):
            return f"channel {n} is called kept, and is not"
    return ""


LOSSLESS = ["none", "rle", "zips", "zip", "piz"]
WITH_LOSS = ["pxr24", "b44", "b44a", "dwaa", "dwab"]
TEMPTING = (["Z"], ["CryptoObject00.R", "CryptoObject00.G", "CryptoObject00.B"], ["N.X", "N.Y"], ["u.r"], ["x.BY", "x.RY"], ["id.G"])


def write_parts(path, parts):
    """Writes parts, each a dict of name, codec, planes and types, which are one where the parts are several."""
    if len(parts) == 1:
        h, w = next(iter(parts[0]["planes"].values())).shape
        return write(path, parts[0]["planes"], parts[0]["types"], (0, 0), (0, 0, w, h), parts[0]["codec"])
    specs = []
    for p in parts:
        h, w = next(iter(p["planes"].values())).shape
        spec = oiio.ImageSpec(w, h, len(p["planes"]), next(iter(p["types"].values())))
        spec.channelnames, spec["compression"], spec["oiio:subimagename"] = tuple(p["planes"]), p["codec"], p["name"]
        spec.full_width, spec.full_height = (specs or [spec])[0].width, (specs or [spec])[0].height
        specs.append(spec)
    out = oiio.ImageOutput.create(path)
    assert out.open(path, tuple(specs)), out.geterror()
    for i, p in enumerate(parts):
        assert i == 0 or out.open(path, specs[i], "AppendSubimage"), out.geterror()
        assert out.write_image(np.stack(list(p["planes"].values()), 2).astype("f4")), out.geterror()
    out.close()


def read_parts(path):
    """Returns the planes, the types and the codec of each part."""
    file, parts = oiio.ImageInput.open(path), []
    assert file, oiio.geterror()
    while file.seek_subimage(len(parts), 0):
        spec = file.spec()
        pixels = file.read_image(len(parts), 0, 0, spec.nchannels, oiio.FLOAT)
        kinds = spec.channelformats or [spec.format] * spec.nchannels
        parts.append(({n: np.ascontiguousarray(pixels[:, :, i]) for i, n in enumerate(spec.channelnames)},
                      dict(zip(spec.channelnames, map(str, kinds))), spec["compression"]))
    file.close()
    return parts


def may_lose(codec, kind, name):
    """What docs/images.md says."""
    if codec == "pxr24":
        return kind == "float"
    if codec in ("b44", "b44a"):
        return kind == "half"
    return codec in ("dwaa", "dwab") and kind != "uint" and name.split(".")[-1] in ("R", "G", "B", "Y", "BY", "RY")


def draw_parts(rng):
    numbers, parts = np.random.default_rng(rng.getrandbits(32)), []
    count = rng.choice([1, 1, 2, 3])
    for i in range(count):
        planes, types, bloomed = draw_frame(rng)
        h, w = next(iter(planes.values())).shape
        if i and rng.random() < 0.5:
            planes, types, bloomed = {}, {}, []
        for names in rng.sample(TEMPTING, rng.randint(0 if bloomed else 2, 4)):
            kind = rng.choice(["half", "float", "uint32"])
            for n in names:
                plane = numbers.random((h, w)) * 10 ** rng.uniform(-2, 3)
                planes[n], types[n] = (np.floor(plane) if kind == "uint32" else plane.astype("f2" if kind == "half" else "f4")).astype("f4"), kind
        if count > 1:
            kind = rng.choice(["half", "float"] if bloomed else ["half", "float", "uint32"])
            types = dict.fromkeys(types, kind)
        codecs = WITH_LOSS * 2 + LOSSLESS if with_openexr else LOSSLESS
        parts.append({"name": f"p{i}", "codec": rng.choice(codecs), "planes": planes, "types": types, "bloomed": bloomed})
    return parts


def rounding(size, kind):
    return size * (2.0 ** -10 if kind == "half" else 2.0 ** -22) + (2.0 ** -23 if kind == "half" else 1e-37)


def trial_stored(rng):
    parts = draw_parts(rng)
    write_parts(folder + "/in.exr", parts)
    came = read_parts(folder + "/in.exr")
    taps = np.random.default_rng(rng.getrandbits(32)).random((rng.randint(1, 20), rng.randint(1, 20))) ** 6
    taps = (taps / taps.sum()).astype("f4")
    write(folder + "/kernel.exr", {"Y": taps}, {"Y": "float"}, (0, 0), (0, 0, *taps.shape[::-1]), "zip")
    taps = taps / np.float64(taps.sum(dtype="f8"))
    amount, glare = rng.choice([1, 0.5, 0.125, 0]), rng.choice(["", "", "layer", "file"])
    named = rng.choice(["", "", *WITH_LOSS, *LOSSLESS])
    kind = rng.choice(["", "", "half", "float"]) if amount else ""
    glare = glare if amount else ""
    words = [folder + "/in.exr", folder + "/kernel.exr", "--amount", amount, "-o", folder + "/out.exr", "--report", folder + "/r.json"]
    words += ["--compression", named] if named else []
    words += ["--pixel-type", kind] if kind else []
    words += {"": [], "layer": ["--emit", "additive", "--emit-layer", "glow"], "file": ["--emit", "additive", "--emit-file", folder + "/glare.exr"]}[glare]
    how = f"{[(p['codec'], p['types']) for p in parts]} {' '.join(map(str, words[2:]))}: "
    done = run(*words)
    if done.returncode:
        return f"{how}status {done.returncode}: {done.stderr.strip()}"
    with open(folder + "/r.json") as f:
        frame = json.load(f)["frames"][0]
    promise = frame.get("promise", {"kept": True, "stored": "lossy" if named in WITH_LOSS else "rounded"})
    lossy, told = promise["stored"] == "lossy", " ".join(frame["notes"])
    if lossy != (promise["kept"] is None) and amount:
        return f"{how}kept is {promise['kept']}, and stored {promise['stored']}"
    if lossy and named not in WITH_LOSS:
        return f"{how}lossy, and nobody asked for it"
    made, alone = read_parts(folder + "/out.exr"), iter(read_parts(folder + "/glare.exr") if glare == "file" else [])
    for p, (old, _, packed), (new, kinds, codec) in zip(parts, came, made):
        layer = {n: f"glow.{n}" for n in p["bloomed"]} if glare == "layer" else {}
        light = next(alone)[0] if glare == "file" and p["bloomed"] else {}
        if set(new) != set(old) | set(layer.values()):
            return f"{how}channels {sorted(new)}, not {sorted(old)}"
        for n, plane in old.items():
            same = np.array_equal(new[n].view("u4"), plane.view("u4"))
            loses = lossy and p["bloomed"] and may_lose(codec, kinds[n], n)
            if n not in p["bloomed"] or not amount:
                if not same and not loses:
                    return f"{how}channel {n} of {p['name']} in {codec} changed"
                if not same and n not in p["bloomed"] + ["A"] and "changes data: " not in told:
                    return f"{how}data channel {n} of {p['name']} in {codec} changed in silence"
            elif promise["kept"] and not near(new[n], (1 - amount) * plane + amount * spread(plane, taps, ["mirror"] * 2), 1e-3, kinds[n]):
                return f"{how}channel {n} of {p['name']} in {codec} is called kept, and is not"
            if n in p["bloomed"] and glare and promise["kept"]:
                add = light[n] if glare == "file" else new[layer[n]]
                size = np.maximum(np.abs(new[n]), 1e-4 * np.median(np.abs(new[n])))
                if not (np.abs(plane.astype("f8") + add - new[n]) <= 2e-3 * size + rounding(size, kinds[n]) + rounding(np.abs(add), kinds[n])).all():
                    return f"{how}in + additive is not the output: {n} of {p['name']} in {codec}"
        if not p["bloomed"] and codec not in (packed, named if with_openexr or named in LOSSLESS else "zip"):
            return f"{how}data in {packed} was packed as {codec}"
    return ""


def trial_pieces(rng):
    *_, words = draw_run(rng, folder + "/small.exr")
    types = {n: rng.choice(["half", "float"]) for n in ("R", "G", "B")}
    numbers = np.random.default_rng(rng.getrandbits(32))
    h, w = rng.randint(400, 600), rng.randint(400, 600)
    planes = {n: (numbers.random((h, w)) + 500 * (numbers.random((h, w)) > 0.9999)).astype("f2").astype("f4") for n in types}
    write(folder + "/in.exr", planes, types, (0, 0), (0, 0, w, h), "zip")
    words[0] = folder + "/in.exr"
    limit = rng.choice([5, 6]) + 2 * (device != "cpu")  # a device's planes go through memory of the host
    for out, more in (("whole", []), ("tiles", ["--mem-limit", f"{limit}MB", "-v"])):
        done = run(*words, "-o", f"{folder}/{out}.exr", *more)
        if done.returncode:
            return f"{out}: status {done.returncode}: {done.stderr.strip()}"
    if " tiles of " not in done.stderr:
        return "the limit of memory made no tiles"
    whole, tiles = read(folder + "/whole.exr"), read(folder + "/tiles.exr")
    for n in planes:
        if not near(tiles[n], whole[n].astype("f8"), 2e-3, types[n]):
            return f"channel {n} in tiles is not that of the whole image"
    return ""


def whole_file(path):
    with open(path, "rb") as f:
        return f.read()


def trial_kills(rng):
    if not os.path.exists(folder + "/want.exr"):
        *_, words = draw_run(random.Random(1), folder + "/in.exr")
        for i in range(4):
            shutil.copy(folder + "/in.exr", f"{folder}/i.000{i}.exr")
        trial_kills.words = words[1:]
        assert run(*words, "-o", folder + "/want.exr").returncode == 0
        trial_kills.want = whole_file(folder + "/want.exr")
    many, old = rng.random() < 0.5, rng.random() < 0.5
    outs = [f"{folder}/o.000{i}.exr" for i in range(4)] if many else [folder + "/o.exr"]
    for o in outs:
        with open(o, "wb") as f:
            f.write(b"old")
        if not old:
            os.remove(o)
    if rng.random() < 0.3:
        shutil.rmtree(folder + "/cache", ignore_errors=True)
    files = [folder + "/i.####.exr", *trial_kills.words, "-o", folder + "/o.####.exr", "--existing", "update"] if many else [
        folder + "/in.exr", *trial_kills.words, "-o", outs[0]]
    ends = rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
    p = subprocess.Popen([program, *map(str, files), "--device", device], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.uniform(0, 0.15))
    p.send_signal(ends)
    p.wait()
    for o in outs:
        if os.path.exists(o) and whole_file(o) not in (trial_kills.want, b"old"):
            return f"{ends.name}: {os.path.basename(o)} is a part of a file"
        if not os.path.exists(o) and old:
            return f"{ends.name}: the older {os.path.basename(o)} is gone"
    if ends != signal.SIGKILL and [f for f in os.listdir(folder) if f.endswith(".tmp")]:
        return f"{ends.name}: a temporary file is left"
    if run(*files).returncode or any(whole_file(o) != trial_kills.want for o in outs):
        return f"{ends.name}: the next run is wrong"
    return ""


CODECS = LOSSLESS + WITH_LOSS


def limited(words, megabytes):
    most = megabytes << 20
    # A driver of Vulkan takes more addresses than this, so the CPU does it.
    return subprocess.run([program, *map(str, words), "--device", "cpu"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))


def damage(rng, path):
    """Damages the first chunk of a DWA file of scan lines, in one part; returns whether it must be refused."""
    with open(path, "rb") as f:
        b = f.read()
    at = 8
    while b[at]:
        kind = b.index(b"\0", at) + 1
        size = b.index(b"\0", kind) + 1
        at = size + 4 + struct.unpack_from("<i", b, size)[0]
    start, = struct.unpack_from("<Q", b, at + 1)
    n, = struct.unpack_from("<i", b, start + 4)
    chunk = bytearray(b[start + 8:start + 8 + n])
    head = list(struct.unpack_from("<11Q", chunk))  # 2, 3, 4, 5: bytes of the streams; 1, 9, 6: what three of them give
    base = 88 + struct.unpack_from("<H", chunk, 88)[0]
    stream, gives = rng.choice([(2, 1), (4, 9), (5, 6)])
    whole = rng.random() < 0.5 or not head[stream]
    if whole:
        for _ in range(rng.randint(1, 4)):
            chunk[rng.randrange(rng.choice([base, n]))] ^= rng.randint(1, 255)
    else:
        first = base + sum(head[2:stream])
        raw = zlib.decompress(chunk[first:first + head[stream]])
        short = raw[:rng.randrange(len(raw))]
        packed = zlib.compress(short)
        chunk[first:first + head[stream]] = packed
        head[stream] = len(packed)
        if rng.random() < 0.5:
            head[gives] = len(short) // (2 if gives == 9 else 1)
        struct.pack_into("<11Q", chunk, 0, *head)
    with open(path, "wb") as f:
        f.write(b[:start + 4] + struct.pack("<i", len(chunk)) + chunk + (b[start + 8 + n:] if whole else b""))
    return not whole


def trial_codecs(rng):
    codec, source, out, back = rng.choice(CODECS + 3 * WITH_LOSS), folder + "/in.exr", folder + "/out.exr", folder + "/back.exr"
    tile = rng.choice([None, (rng.choice([4, 8, 16, 32, 64]), rng.choice([4, 8, 16, 32, 64]))])
    w, h = (rng.randint(0, 2) * side + rng.randint(1, 3) for side in tile or (16, 32))
    names = rng.choice([("R", "G", "B"), ("R", "G", "B", "A", "Z"), ("Y",), ("R", "G", "B", "N.X", "u.r")])
    types = {n: rng.choice(["half", "float"]) for n in names}
    numbers = np.random.default_rng(rng.getrandbits(32))
    spec = oiio.ImageSpec(w, h, len(names), "float")
    spec.channelnames, spec.channelformats = names, tuple(oiio.TypeDesc(types[n]) for n in names)
    spec["compression"] = rng.choice(CODECS)
    spec.tile_width, spec.tile_height = tile or (0, 0)
    image = oiio.ImageBuf(spec)
    image.set_write_format(spec.channelformats)
    flat = numbers.random((1, 1, len(names))) if rng.random() < 0.3 else numbers.random((h, w, len(names))) ** 4
    image.set_pixels(oiio.ROI.All, np.broadcast_to(flat, (h, w, len(names))).astype("f4"))
    assert image.write(source), image.geterror()
    write(folder + "/k.exr", {"Y": np.eye(3, dtype="f4")}, {"Y": "float"}, (0, 0), (0, 0, 3, 3), "zip")
    words = [source, folder + "/k.exr", "-o", out, "--compression", codec, "--sandbox", rng.choice(["auto", "off"])]
    what = f"{spec['compression']} to {codec}, {w} x {h}, tiles {tile}"
    done = run(*words)
    if done.returncode:
        return f"{what}: status {done.returncode}: {done.stderr.strip()}"
    want, theirs = whole_file(out), read(out)
    done = run(out, folder + "/k.exr", "-o", back, "--compression", "none", "--amount", 0)
    ours = read(back)
    if done.returncode or any(not np.array_equal(ours[n].view("u4"), theirs[n].view("u4")) for n in theirs):
        return f"{what}: OpenEXR reads other pixels ({done.returncode} {done.stderr.strip()})"
    if device != "cpu":
        limited(words, 1 << 20)
        want = whole_file(out)
    for _ in range(4):
        os.remove(out)
        done = limited(words, rng.randint(50, 110))
        if done.returncode not in (0, 75, 127) and "shared libraries" not in done.stderr:
            return f"{what}: short of memory: status {done.returncode}: {done.stderr.strip()}"
        if done.returncode == 0 and whole_file(out) != want and run("diff", out, back).returncode > 1:
            return f"{what}: short of memory: another file"
        with open(out, "wb") as f:
            f.write(want)
    for _ in range(0 if tile or not codec.startswith("dwa") else 4):
        with open(out, "wb") as f:
            f.write(want)
        try:
            refused = damage(rng, out)
        except (struct.error, zlib.error, IndexError, ValueError):
            return ""  # a chunk that is stored as it is
        made = []
        for was in "17", "238":
            os.environ["MALLOC_PERTURB_"] = was
            done = run(out, folder + "/k.exr", "-o", back, "--compression", "none", "--amount", 0, *words[-2:])
            del os.environ["MALLOC_PERTURB_"]
            made.append((done.returncode, whole_file(back) if done.returncode == 0 else done.stderr))
        if made[0][0] != made[1][0] or (made[0][0] == 0 and made[0] != made[1]):
            return f"{what}: old memory in the samples of a damaged chunk"
        if made[0][0] not in (0, 65) or (refused and made[0][0] != 65):
            return f"{what}: a damaged chunk has status {made[0][0]}: {str(made[0][1])[:200]}"
    return ""


with_openexr = "openexr yes" in subprocess.run([program, "--version"], capture_output=True, text=True).stdout
PIXELS = [("pixel_type", v) for v in ("keep", "half", "float")] + [("half_overflow", v) for v in ("clamp", "float", "error")] + [
    ("emit", v) for v in ("glare", "additive", "source")] + [("nan", v) for v in ("zero", "interpolate")] + [
    ("window", v) for v in ("grow", "display")] + [("precision", v) for v in ("float32", "float64")] + [
    ("emit_layer", "e"), ("emit_file", "e.exr"), ("alpha", "convolve"), ("mask", "m"), ("threshold", 1000), ("layers", "rgba"),
    ("exclude", "fog"), ("amount", 0), ("amount", 0.5), ("padding", "wrap"), ("output_space", "logc3"), ("input_space", "acescg"),
    ("mem_limit", "6MB"), ("tolerance", 1e-9), ("verify", 9), ("normalize", "none"), ("per_layer", {"fog": {"amount": 0.5}}),
    ("compression", "dwaa"), ("compression", "b44")]
PAIRS = [dict(p) for p in itertools.combinations(PIXELS, 2) if p[0][0] != p[1][0]]


def trial_pairs(rng):
    """Half of the runs have an overflow to floats in halfs as well, where frames are made again."""
    h, w = rng.choice([(9, 7), (300, 400)]) if rng.random() < 0.2 else (rng.randint(1, 30), rng.randint(1, 30))
    numbers, kind = np.random.default_rng(rng.getrandbits(32)), rng.choice(["half", "float"])
    planes = {}
    for n in ("R", "G", "B", "A", "fog.Y", "m"):
        plane = numbers.random((h, w))
        plane[rng.randrange(h), rng.randrange(w)] = 1 if n == "m" else rng.choice([1, 6e4, 6e4, 3e38 if kind == "float" else 6e4])
        if rng.random() < 0.1:
            plane[rng.randrange(h), rng.randrange(w)] = np.nan
        planes[n] = plane.astype("f2" if kind == "half" else "f4").astype("f4")
    write("in.exr", planes, {n: "float" if n == "m" else kind for n in planes}, (0, 0), (-2, -3, w + 4, h + 1), "zip")
    write("k.exr", {"Y": numbers.random((rng.randint(1, 9), rng.randint(1, 9))).astype("f4")}, {"Y": "float"}, (0, 0), (0, 0, 9, 9), "zip")
    for i in range(8):
        config = {"version": 1, **PAIRS[(8 * trial.number + i) % len(PAIRS)]}
        if i % 2:
            config = {"pixel_type": "half", "half_overflow": "float", **config}
        with open("c.json", "w") as f:
            json.dump(config, f)
        done = run("in.exr", "k.exr", "-o", "out.exr", "--config", "c.json", "-q", seconds=60)
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"{config}: no end in 60 s of the processors"
        if done.returncode not in (0, 6, 7, 64, 65, 75):
            return f"{config}: status {done.returncode}: {done.stderr.strip()}"
    return ""


def trial_doubles(rng):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../python")
    os.environ["LIBFFTBLOOM"] = os.path.dirname(program) + "/libfftbloom.so.0"
    import fftbloom as fb
    numbers = np.random.default_rng(rng.getrandbits(32))
    x = numbers.random((rng.randint(1, 20), rng.randint(1, 20))) ** rng.choice([1, 6]) * 10 ** rng.uniform(-3, 3)
    if rng.random() < 0.3:
        x[numbers.random(x.shape) < 0.3] *= -1
    k = numbers.random((rng.randint(1, 7), rng.randint(1, 7))) ** rng.choice([1, 9])
    k /= k.sum()
    mask = numbers.choice([0, 1, 0.5, numbers.random()], x.shape).astype("f4") if rng.random() < 0.7 else None
    top = float(np.abs(x).max())
    threshold, knee = (0, 0) if mask is not None and rng.random() < 0.5 else (rng.uniform(0, 1.2) * top, rng.choice([0, rng.random() * top]))
    amount, tolerance, border = rng.choice([1, 0.5, 0.3, 0]), 10 ** rng.uniform(-12, -2), rng.choice(list(BORDER))
    b = fb.Bloom(k, padding=border, amount=amount, tolerance=tolerance, threshold=threshold, knee=knee, normalize="none",
                 kernel_center=(k.shape[1] // 2, k.shape[0] // 2), precision=rng.choice(["auto", "auto", "float32", "float64"]),
                 context=fb.Context(device=device, messages=False))
    got, report = b(x, mask=mask, report=True)
    v = x.astype("g")
    over = v * (1 if mask is None else mask.astype("g"))
    if threshold > 0:
        t, n = np.longdouble(threshold), np.longdouble(knee)
        soft = np.minimum(over, (over - t + n) ** 2 / (4 * n)) if knee else 0 * over
        over = np.where((over - t >= n) & (over > t), over - t, np.where((over - t > -n) & (over - t < n) & (over > 0), soft, 0))
    (kh, kw), glare = k.shape, 0 * v
    around = np.pad(over, ((kh, kh), (kw, kw)), BORDER[border])
    for j in range(kh):
        for i in range(kw):
            top, left = kh - j + kh // 2, kw - i + kw // 2
            glare += k[j, i].astype("g") * around[top:top + x.shape[0], left:left + x.shape[1]]
    a = np.longdouble(amount)
    want = v - over + (1 - a) * over + a * glare
    off, below, median = np.abs(got - want), -x[x < 0], np.median(np.abs(x[x != 0]))
    noise = min(np.median(below), 1e-2 * median) if below.size * 100 >= x.size else 0
    dark = 1.07 * max(1e-4 * median, noise)  # the program's medians are of bins
    if (off > report.error_bound + 2.0 ** -52 * np.abs(want)).any():
        return f"off by {off.max()}, and the bound is {report.error_bound}"
    if report.kept and (off > tolerance * np.maximum(np.abs(want), dark) + 2.0 ** -52 * np.abs(want)).any():
        return f"called kept within {tolerance}, and off by {off.max()}"
    return ""


trial = {"files": trial_files, "stored": trial_stored, "pieces": trial_pieces, "kills": trial_kills, "codecs": trial_codecs,
         "pairs": trial_pairs, "doubles": trial_doubles}[kind]
numbers = [int(runs[1:])] if runs.startswith("=") else range(int(runs))
wrong = 0
for n in numbers:
    trial.number = n
    said = trial(random.Random(f"{seed} {kind} {n}"))
    if said:
        wrong += 1
        print(f"{kind}: trial ={n} of seed {seed} on {device}: {said}")
shutil.rmtree(folder)
print(f"{kind}: {len(numbers)} trials of seed {seed} on {device}, {wrong} wrong")
sys.exit(wrong > 0)
